"""A function of somebody's own, in each of the three places where it can be named: what it may do, and what is said.

An example: ``verify`` divides by zero for 'Final: 1'. The command ends with one line that names the file, the line, the
function, the row and the exception, and leaves no run. A reward of 0 would have called the policy wrong.
"""

import hashlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, lines_of

from course.errors import UserError
from course.guest import Guest, GuestError, OwnPick, OwnRubric, OwnUpdate, read_reward
from course.picking import Sample

SEVEN = {"id": "q1", "prompt": "What is 3 + 4?", "expected_answer": 7}
SOLVED = ROOT / "data" / "keys" / "exercises"

# ---- Contracts: one table for --rubric, --pick and --update

RUBRIC = ("eval", "--rubric", "def f(example, completion):\n    ", "return float(completion == 'Final: 7')")
PICK = ("selection_demo", "--pick", "def f(samples):\n    ", "return samples[0]")
UPDATE = ("bandit_train", "--update", "def f(theta, actions, reward, baseline, lr):\n    ", "return theta")
PLACES = {"rubric": RUBRIC, "pick": PICK, "update": UPDATE}
ROW = {"rubric": "q1, 'Final: 7'", "pick": "q1", "update": "update 1"}
each_place = pytest.mark.parametrize("place", PLACES)


def run(lab: Lab, place: str, source: str, *more: object, process: bool = False) -> Any:
    """The command with this file. ``source``: ``{}`` stands for the head of a function ``f``."""
    command, option, head, _ = PLACES[place]
    lab.write("mine.py", source.replace("{}", head))
    words: list[object] = [option, "mine.py:f", "--outdir", "run", *more]
    if place == "rubric":
        words += ["--dataset", lab.dataset([7] * 40), "--completions", lab.completions(["Final: 7", "no"] * 20)]
    elif place == "pick":
        words += ["--dataset", lab.dataset([7] * 40), "--samples", lab.pack([["Final: 7", "no"]] * 40), "--n", 2]
    else:
        words += ["--steps", 40]
    return (lab.process if process else lab)(command, *words)


def right(place: str) -> str:
    return PLACES[place][3]


@each_place
@pytest.mark.parametrize(
    ("body", "line", "said"),
    [
        ("x = 1\n    1 / 0", 3, "ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", 2, "SystemExit: 0"),
        ("raise ValueError('\\x1b[31m')", 2, "ValueError: <U+001B ESCAPE>[31m"),
        ("return None", 1, "got "),
        ("return 'yes'", 1, "yes"),
        ("return float('nan')", 1, "got "),
        ("import random\n    return random.choice([1, 2])", 1, "got "),
    ],
)
def test_what_is_no_answer_is_one_line_and_no_run(lab: Lab, place: str, body: str, line: int, said: str) -> None:
    if place == "rubric" and "random" in body:
        body = "import random\n    return random.random()"
    done = run(lab, place, f"{{}}{body}\n")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"error: mine.py:{line} f: ")
    assert said in done.err
    assert done.err[:-1].isprintable()
    if "random" not in body:
        assert f" f: {ROW[place]}: " in done.err
    assert not Path("run").exists()


@each_place
@pytest.mark.parametrize("calls", [1, 31, 33, 40])
def test_memory_shows_where_the_first_calls_are_made_again(lab: Lab, place: str, calls: int) -> None:
    """A function that answers otherwise from its n-th call on, whether there are as many calls or not."""
    other = {"rubric": "return 0.5", "pick": "return samples[1]", "update": "return [[1.0] * 4]"}[place]
    source = f"seen = []\n{{}}seen.append(0)\n    if len(seen) > {calls}: {other}\n    {right(place)}\n"
    done = run(lab, place, source)
    assert done.status == 2
    assert done.err.startswith("error: mine.py:2 f: ")
    assert not Path("run").exists()


@each_place
def test_arguments_are_its_own_and_the_labs_draws_are_the_labs(lab: Lab, place: str) -> None:
    """Changing what it is given, and reseeding the generators that all code shares, changes no byte."""
    spoil = {
        "rubric": "example['expected_answer'] = 0; example.clear()",
        "pick": "best = samples[0]; samples.reverse(); samples.pop(); return best",
        "update": "theta[0][0] = 99.0; actions.clear(); return [[0.0] * 4]",
    }[place]
    seeds = "import random, numpy\n    random.seed(0); numpy.random.seed(0)\n    "
    plain = {"update": "return [[0.0] * 4]"}.get(place, right(place))
    results = []
    for body in (plain, f"{seeds}{spoil}\n    {plain}"):
        assert run(lab, place, f"{{}}{body}\n").status == 0
        results.append(Path("run/results.jsonl").read_bytes())
        for path in sorted(Path("run").rglob("*"), reverse=True):
            path.unlink()
        Path("run").rmdir()
    assert results[0] == results[1]


@each_place
def test_what_it_prints_is_on_standard_error(lab: Lab, place: str) -> None:
    more = [] if place == "update" else ["--json"]
    done = run(lab, place, f"print('loaded')\n{{}}print('asked')\n    {right(place)}\n", *more)
    assert done.status == 0
    assert done.err.startswith("loaded\nasked\n")
    assert "asked" not in done.out
    if more:
        assert json.loads(done.out)["summary"]["n"] == 40


@each_place
@pytest.mark.parametrize("loading", [False, True])
def test_ctrl_c_says_where_it_was(lab: Lab, place: str, loading: bool) -> None:
    source = "raise KeyboardInterrupt\n" if loading else "{}raise KeyboardInterrupt\n"
    done = run(lab, place, source)
    where = "while it was loaded" if loading else ROW[place]
    assert (done.status, done.err.startswith(f"error: interrupted in mine.py:f, {where}; ")) == (130, True)
    assert not Path("run").exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX only")
def test_ctrl_c_ends_an_endless_function(lab: Lab) -> None:
    lab.write("mine.py", "def f(samples):\n    print('asked', flush=True)\n    while True: pass\n")
    words = ["--dataset", lab.dataset([7]), "--samples", lab.pack([["Final: 7", "no"]]), "--n", 2]
    process = lab.start("selection_demo", *words, "--pick", "mine.py:f")
    assert process.stderr is not None
    assert process.stderr.readline() == b"asked\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert err.startswith(b"error: interrupted in mine.py:f, q1; ")


@each_place
def test_a_hard_exit_leaves_no_run(lab: Lab, place: str) -> None:
    done = run(lab, place, f"import os\n{{}}os._exit(3)\n    {right(place)}\n", process=True)
    assert done.status == 3
    assert [*lab.folder.rglob("manifest.json")] == []


@each_place
@pytest.mark.parametrize(
    ("helper", "line"),
    [
        ("tools.py", "import tools"),
        ("parts/tools.py", "import parts.tools"),
        ("exercises/deep/tools.py", "from exercises.deep import tools"),
    ],
)
def test_a_run_keeps_what_ran_and_says_so(lab: Lab, place: str, helper: str, line: str) -> None:
    """One line for each file, in order: its SHA-256 and its path; the course and the packages are left out."""
    lab.write(helper, "X = 1\n")
    late = "" if place == "pick" else f"{line}\n    "
    early = f"{line}\n" if place == "pick" else ""
    source = f"import msgspec, course.score\n{early}VERSION = '2.1'\n{{}}{late}{right(place)}\n"
    assert run(lab, place, source, process=True).status == 0
    (folder,) = [path.parent for path in lab.folder.rglob("manifest.json")]
    manifest = json.loads((folder / "manifest.json").read_bytes())
    written = Path("mine.py").read_bytes()
    digests = {name: hashlib.sha256(data).hexdigest() for name, data in (("mine.py", written), (helper, b"X = 1\n"))}
    lines = sorted(f"{digest} {name}" for name, digest in digests.items())
    settings = manifest["settings"]
    assert settings[place] == "mine.py:f"
    assert settings[f"{place}_version"] == "2.1"
    assert settings[f"{place}_sha256"] == hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert manifest["outputs"][f"{place}.py"] == digests["mine.py"]
    assert manifest["outputs"][f"{place}_imports/{helper}"] == digests[helper]
    assert (folder / f"{place}.py").read_bytes() == written


@pytest.mark.parametrize("line", ["from helper import paid", "from exercises.helper import paid"])
def test_a_file_that_a_run_kept_finds_what_it_imported_then(lab: Lab, line: str) -> None:
    name = "exercises/helper.py" if "exercises" in line else "helper.py"
    source = f"{line}\n\n\ndef score(example, completion):\n    return paid\n"
    for folder, value in (("runs/one", 0.25), ("runs/two", 0.5)):
        lab.write(f"{folder}/rubric.py", source)
        lab.write(f"{folder}/rubric_imports/{name}", f"paid = {value}\n")
    lab.write("exercises/helper.py", "paid = 1.0\n")
    task = {"id": "a", "prompt": "p", "expected_answer": 1}
    for folder, value in (("runs/one", 0.25), ("runs/two", 0.5), ("runs/one", 0.25)):
        assert OwnRubric(f"{folder}/rubric.py:score")(task, "Final: 1")["reward"] == value


@pytest.mark.parametrize(("typed", "status"), [(b"p len(samples) + 40\nc\nc\n", 0), (b"p len(samples) + 40\nq\n", 130)])
def test_breakpoint_works(lab: Lab, typed: bytes, status: int) -> None:
    lab.write("mine.py", f"{PICK[2]}breakpoint()\n    return samples[0]\n")
    words = ["--dataset", lab.dataset([7]), "--samples", lab.pack([["Final: 7", "no"]]), "--n", 2]
    process = lab.start("selection_demo", *words, "--pick", "mine.py:f", stdin=subprocess.PIPE)
    out, err = process.communicate(typed, timeout=60)
    assert process.returncode == status, err
    assert b"42" in err
    assert b"(Pdb)" not in out


# ---- What is loaded


def test_the_bytes_that_are_hashed_run_and_a_file_alone_has_its_own_digest(lab: Lab) -> None:
    """The file is edited while it runs: what was read is what the digest names."""
    source = "from pathlib import Path\nPath('mine.py').write_text('edited')\ndef f(samples):\n    return samples[0]\n"
    lab.write("mine.py", source)
    guest = OwnPick("mine.py:f")
    assert guest([Sample(0, "a", 0.0)], "q1") == 0
    assert guest.settings("pick")["pick_sha256"] == hashlib.sha256(source.encode()).hexdigest()


def test_a_file_of_pythons_name_beside_it_stays_out_of_the_labs_way(lab: Lab) -> None:
    lab.write("random.py", "def choice(samples):\n    return samples[1]\n")
    lab.write("exercises/mine.py", "import wave\ndef f(samples):\n    return samples[wave.X]\n")
    lab.write("exercises/wave.py", "X = 1\n")  # of the standard library, and nobody has imported it
    samples = [Sample(0, "a", 0.0), Sample(1, "b", 1.0)]
    assert OwnPick("exercises/mine.py:f")(samples, "q1") == 1
    sys.modules.pop("wave")
    assert hasattr(__import__("wave"), "Wave_read")
    assert OwnPick("random.py:choice")(samples, "q1") == 1
    assert hasattr(sys.modules["random"], "Random")


def test_a_file_may_hold_what_an_engineers_file_holds(lab: Lab) -> None:
    source = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    source += "@dataclass\nclass Checker:\n    place: int\n    def choose(self, samples): return samples[self.place]\n"
    lab.write("mine.py", f"{source}checker = Checker(1)\n")
    assert OwnPick("mine.py:checker.choose")([Sample(0, "a", 0.0), Sample(1, "b", 1.0)], "q1") == 1
    for place in ("mine.py:Checker", "mine.py:Checker.choose"):
        with pytest.raises(UserError):
            OwnPick(place)([Sample(0, "a", 0.0)], "q1")


def test_a_function_of_a_package_is_named_with_points(lab: Lab) -> None:
    lab.write("owned/__init__.py", "")
    lab.write("owned/rules.py", "from .parts import X\ndef last(samples):\n    return samples[X]\n")
    lab.write("owned/parts.py", "X = -1\n")
    pick = OwnPick("owned.rules:last")
    assert pick([Sample(0, "a", 0.0), Sample(1, "b", 1.0)], "q1") == 1
    assert pick.name == "rules.py:last"
    assert OwnRubric("course.rubrics.hackable:suffix")(SEVEN, "Final: 17")["reward"] == 1.0


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = 1\nraise KeyError(3)", 2),
        ("raise SystemExit", 1),
        ("x = 1\ndef f(samples)\n", 2),
        ("x = '\udcff'", 1),
        ("x = (" + "(" * 5000 + ")" * 5000, 1),
        ("import no_such_package", 1),
    ],
)
def test_a_file_that_does_not_load_is_one_line(lab: Lab, source: str, line: int) -> None:
    lab.write("mine.py", source.encode(errors="surrogateescape"))
    with pytest.raises(GuestError) as error:
        OwnPick("mine.py:f")
    assert str(error.value).startswith(f"mine.py:{line} f: ")
    assert str(error.value).isprintable()


@pytest.mark.parametrize("source", ["", "def g(samples): pass", "f = 3"])
def test_a_file_without_the_function_says_so(lab: Lab, source: str) -> None:
    lab.write("mine.py", source)
    with pytest.raises(UserError, match=r"^mine.py: this file has no function f$"):
        OwnPick("mine.py:f")


def test_an_async_function_says_what_to_name(lab: Lab) -> None:
    lab.write("mine.py", "x = 1\nasync def f(example, completion): return 1.0\n")
    with pytest.raises(GuestError, match=r"^mine\.py:2 f: expected a function, got an async one; .* asyncio\.run\(f\("):
        OwnRubric("mine.py:f")


def test_a_stub_is_still_to_be_written() -> None:
    with pytest.raises(GuestError) as error:
        OwnPick(f"{ROOT / 'exercises' / 'pick_best.py'}:pick_best")([Sample(0, "a", 0.0)], "q1")
    assert isinstance(error.value.raised, NotImplementedError)


@pytest.mark.parametrize("init", ["raise RuntimeError('no gpu')", "import no_such", "raise SystemExit(3)", "1 +"])
def test_a_package_that_does_not_load_is_one_line(lab: Lab, init: str) -> None:
    lab.write(f"owned_{len(init)}/__init__.py", f"print('hello')\n{init}\n")
    lab.write(f"owned_{len(init)}/rules.py", "def last(samples): return samples[-1]\n")
    words = ["--dataset", lab.dataset([7]), "--samples", lab.pack([["Final: 7", "no"]]), "--n", 2, "--outdir", "run"]
    done = lab("selection_demo", *words, "--pick", f"owned_{len(init)}.rules:last")
    assert (done.status, done.out, done.err.count("error: ")) == (2, "", 1)


@pytest.mark.parametrize(
    "place", ["", "mine", "mine.py", "mine.py:", "mine.py:a b", "mine.py:f()", "none.py:f", "no.such:f", ":f", "\x1b:f"]
)
def test_what_names_no_function_is_one_line(lab: Lab, place: str) -> None:
    lab.write("mine.py", "def f(samples): return samples[0]\n")
    with pytest.raises(UserError) as error:
        OwnPick(place)
    assert str(error.value).isprintable()
    assert "expected " in str(error.value)


def test_a_rubric_of_the_course_goes_by_its_name() -> None:
    rubric = OwnRubric("suffix")
    assert [rubric(SEVEN, text)["reward"] for text in ("Final: 17", "Final: 8")] == [1.0, 0.0]
    assert rubric.settings()["rubric"] == "suffix"
    with pytest.raises(UserError, match=r"^did you mean suffix"):
        OwnRubric("sufix")


# ---- What an answer may be


@pytest.mark.parametrize(
    ("value", "reward"),
    [
        (True, 1.0),
        (-2.5, -2.5),
        (-0.0, 0.0),
        ([1], 1.0),
        ((0.5,), 0.5),
        ({"reward": 1}, 1.0),
        ({"score": 0.5, "pred": None}, 0.5),
        ({"score": 0.5, "reward": 0.75}, 0.75),
    ],
)
def test_what_a_reward_may_be(value: object, reward: float) -> None:
    read = read_reward(value)
    assert (read, type(read), str(read)) == (reward, float, str(reward))


def test_a_number_of_numpys_is_a_number() -> None:
    import numpy as np

    assert read_reward(np.float32(0.5)) == 0.5
    assert read_reward({"reward": np.bool_(True)}) == 1.0
    assert read_reward(np.array([0.25])) == 0.25


@pytest.mark.parametrize(
    "value", [None, "1", float("nan"), float("inf"), 10**400, [], [1, 0], {}, {"a": 1}, {"reward": None}, object()]
)
def test_what_is_no_reward_raises(value: object) -> None:
    with pytest.raises(ValueError, match=r"^expected a "):
        read_reward(value)


@pytest.mark.parametrize("value", [None, [0.0, 0.0], [[0.0]], [[0.0, 0.0], [0.0, 0.0]], [["a", 0.0]], [[True, 0.0]]])
def test_what_is_no_list_of_logits_is_refused(lab: Lab, value: object) -> None:
    lab.write("mine.py", f"def f(theta, actions, reward, baseline, lr):\n    return {value!r}\n")
    with pytest.raises(GuestError):
        OwnUpdate("mine.py:f")(1, [0.0, 0.0], 0, 1.0, 0.0, 0.5)


def test_a_step_is_the_one_worked_by_hand() -> None:
    """From theta [0, 0], with an advantage of 0.5 and lr 0.4 along the gradient [-1/2, 1/2]."""
    step = OwnUpdate(f"{SOLVED / 'reinforce.py'}:reinforce_step")
    assert step(1, [0.0, 0.0], 1, reward=1.0, baseline=0.5, lr=0.4) == pytest.approx([-0.1, 0.1], abs=1e-15)


@pytest.mark.parametrize("more", [[], ["--no-baseline"], ["--lr", "-0.5"], ["--reward-offset", "3", "--seed", "7"]])
def test_a_right_update_has_the_numbers_of_the_built_in_one(lab: Lab, more: list[str]) -> None:
    lab.write("mine.py", (SOLVED / "reinforce.py").read_text(encoding="utf-8"))
    own = ("--update", "mine.py:reinforce_step")
    for name, update in (("own", own), ("built_in", ())):
        assert lab("bandit_train", "--steps", "40", *more, *update, "--outdir", name).err == ""
    logs = [lines_of(lab.folder / name / "bandit_train_log.jsonl") for name in ("own", "built_in")]
    for row, expected in zip(*logs, strict=True):
        for key, value in expected.items():
            assert row[key] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-12)), key


def test_a_call_is_made_as_its_arguments_say() -> None:
    guest = Guest(f"{SOLVED / 'reinforce.py'}:advantage", "*given")
    assert guest.ask(str, list, {"given": ([1.0, 0.0], 0.25)}) == [0.75, -0.25]
