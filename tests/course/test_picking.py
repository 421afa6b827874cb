"""The student's pick_best is loaded, called, and not believed.

An example: a pick_best that returns ``samples[0].completion``, a text, made no choice among samples. The run is refused
with one line that names the student's file and line, and says to return the sample itself.
"""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Lab, lines_of

from course.picking import Picker, Sample

ANSWERS = [22, -8]
GROUPS = [["Final: 21", "Final: 22"], ["Final: -8", "Final: 8"]]

FIRST = "def pick_best(samples):\n    return samples[0]\n"


def refused(lab: Lab) -> str:
    return lab.refused("selection_demo", "--dataset", lab.dataset(ANSWERS), "--samples", lab.pack(GROUPS), "--n", 2)


RAISED = "pick_best: this code raised an exception on q1: "
LOADED = "pick_best: this code raised an exception while it was loaded: "
NO_SAMPLE = "pick_best: expected one of the 2 samples of q1, got "
SYNTAX = "has a syntax error: "
NONE = "this file has no function pick_best(samples)"
BROKEN = {  # source of pick_best.py -> what is said after its name
    "def pick_best(samples):\n    n = 1\n    return samples[9]": f":3 {RAISED}IndexError",
    "def f():\n    raise OSError('\\x1b')\ndef pick_best(s):\n    f()": f":2 {RAISED}OSError: <U+001B ESCAPE>",
    "def pick_best(samples):\n    samples[0].reward = 1.0": f":2 {RAISED}AttributeError",
    "import sys\ndef pick_best(samples):\n    sys.exit(0)": f":3 {RAISED}SystemExit",
    "def pick_best(samples):\n    return pick_best(samples)": f":2 {RAISED}RecursionError",
    "def pick_best(samples, more):\n    pass": f":1 {RAISED}TypeError",
    "\ndef pick_best(samples):\n    return 'Final: 22'": f":2 {NO_SAMPLE}the text 'Final: 22'; return the sample",
    "def pick_best(samples):\n    pass": f":1 {NO_SAMPLE}NoneType",
    "def pick_best(samples):\n    return 0": f":1 {NO_SAMPLE}int",
    "def pick_best(samples):\n    return samples": f":1 {NO_SAMPLE}list",
    "def pick_best(samples):\n    return type(samples[0])(0, 'Final: 22', 1.0)": f":1 {NO_SAMPLE}Sample",
    "class Yes:\n    __eq__ = lambda *_: True\npick_best = lambda samples: Yes()": f":3 {NO_SAMPLE}Yes",
    "x = 1\nraise KeyError(3)": f":2 {LOADED}KeyError",
    "raise SystemExit": f":1 {LOADED}SystemExit",
    "\0": ":1 ",  # a syntax error since Python 3.12
    "x = 1\ndef pick_best(samples)\n": f":2 {SYNTAX}expected ':'",
    "x = '\udcff'": f":1 {SYNTAX}",
    "def pick_worst(samples):\n    pass": f": {NONE}",
    "pick_best = 3": f": {NONE}",
    "": f": {NONE}",
}


@pytest.mark.parametrize("source", BROKEN)
def test_a_broken_pick_best_is_one_line_that_names_the_students_file_and_line(lab: Lab, source: str) -> None:
    lab.picker(FIRST)
    lab.write("exercises/pick_best.py", source.encode(errors="surrogateescape"))
    path = Path("exercises", "pick_best.py")
    assert f"error: {path}{BROKEN[source]}" in refused(lab)


def test_a_missing_pick_best_is_one_line_that_says_where_to_stand(lab: Lab) -> None:
    lab.picker(FIRST).unlink()
    assert f"{Path('exercises', 'pick_best.py')}: cannot read this Python file: " in refused(lab)
    assert "; this path exists in the lab's folder: cd " in refused(lab)


def test_a_pick_best_that_empties_its_list_changes_nothing(lab: Lab) -> None:
    lab.picker("def pick_best(samples):\n    best = samples[1]\n    samples.clear()\n    return best\n")
    assert lab.select(ANSWERS, GROUPS, 2).status == 0
    assert [row["chosen"] for row in lines_of(Path("runs/run_001/results.jsonl"))] == [1, 1]


RAISES = "def pick_best(s):\n    raise E"
ODD = {  # source of pick_best.py -> what is said after the place
    f"class E(Exception):\n    def __str__(self): raise SystemExit(0)\n{RAISES}": f"{RAISED}E: its own",
    f"class E(Exception):\n    def __str__(self): return 'y' * 10**7\n{RAISES}": f"{RAISED}E: yyyyyyyy",
    f"class E(Exception):\n    def __str__(self): return None\n{RAISES}": f"{RAISED}E: its own words",
    f"E = type('\\x1b[2J\\n' + 'x' * 10_000, (Exception,), {{}})\n{RAISES}": f"{RAISED}<U+001B ESC",
    f"class E(Exception):\n    __traceback__ = property(lambda _: 1 / 0)\n{RAISES}": f"{RAISED}E: ",
    "class T(type):\n    __name__ = property(lambda _: exit())\nclass E(metaclass=T):\n    pass\n"
    "pick_best = lambda s: E()": f"{NO_SAMPLE}E; return",
    "E = type('x' * 10_000, (), {})\npick_best = lambda s: E()": f"{NO_SAMPLE}{'x' * 79}…; return",
    "pick_best = lambda s: '\\n\\x1b' * 10_000": f"{NO_SAMPLE}the text '<U+000A LINE FEED><U+001B ESCAPE>",
    "class P:\n    def __getattr__(self, _): exit(0)\n    def __call__(self, s): pass\n"
    "pick_best = P()": f"{NO_SAMPLE}None",
    "def pick_best(samples):\n    exit(0)": f"{RAISED}SystemExit: 0",
    "def pick_best(samples):\n    quit()": f"{RAISED}SystemExit: None",
    "exit(0)": f"{LOADED}SystemExit: 0",
    "raise GeneratorExit": f"{LOADED}GeneratorExit",
    "x = 'a' * 10**16": f"{LOADED}MemoryError",
    "x = " + "(" * 5000 + ")" * 5000: "has a syntax error",
    "raise SyntaxError('y' * 10_000)": f"{LOADED}SyntaxError: yyyy",
}


@pytest.mark.parametrize("source", ODD, ids=range(len(ODD)))
def test_an_odd_ending_is_one_short_line_and_never_status_0(lab: Lab, source: str) -> None:
    lab.picker(source)
    message = refused(lab)
    assert message[:-1].isprintable()
    assert ODD[source] in message
    assert len(message) < 400


@pytest.mark.parametrize("handler", ["exit(0)", "1 / 0", "raise KeyboardInterrupt"])
def test_what_a_student_does_at_exit_changes_no_status(lab: Lab, handler: str) -> None:
    lab.picker(
        f"import atexit\n@atexit.register\ndef late():\n    {handler}\ndef pick_best(samples):\n    return None\n"
    )
    done = lab.process("selection_demo", "--dataset", lab.dataset(ANSWERS), "--samples", lab.pack(GROUPS), "--n", 2)
    assert done.status == 2
    assert done.err.startswith("error: ")


@pytest.mark.parametrize("load", [False, True], ids=["called", "loaded"])
def test_ctrl_c_inside_pick_best_is_not_the_students_fault(lab: Lab, load: bool) -> None:
    lab.picker(f"def pick_best(samples):\n    raise KeyboardInterrupt\n{'pick_best([0])' if load else ''}\n")
    done = lab("selection_demo", "--dataset", lab.dataset(ANSWERS), "--samples", lab.pack(GROUPS), "--n", 2)
    assert (done.status, done.err[:19]) == (130, "error: interrupted;")
    assert not lab.runs.exists()


@pytest.mark.parametrize(
    "source",
    [
        "calls = []\ndef pick_best(samples):\n    calls.append(0)\n    return samples[len(calls) % 2]",
        "import itertools\nturn = itertools.cycle([1, 0])\npick_best = lambda samples: samples[next(turn)]",
        "seen = set()\ndef pick_best(samples):\n    again = samples[0].completion in seen\n"
        "    seen.add(samples[0].completion)\n    return samples[not again]",
    ],
    ids=["counts", "cycles", "remembers"],
)
def test_a_pick_best_that_answers_twice_differently_is_refused(lab: Lab, source: str) -> None:
    lab.picker(source)
    message = refused(lab)
    assert "pick_best: expected the same choice for q1 each time, got sample 1, then sample 0; seed " in message


def test_chance_that_is_seeded_from_the_samples_is_no_chance(lab: Lab) -> None:
    seeded = "random.Random(repr(samples)).choice(samples)"
    lab.picker(f"import random\ndef pick_best(samples):\n    return {seeded}\n")
    assert lab.select(ANSWERS, GROUPS, 2).status == 0


def test_each_call_gets_a_list_and_samples_of_its_own(lab: Lab) -> None:
    path = lab.picker(
        "given = []\ndef pick_best(samples):\n    given.extend([samples, *samples])\n    return samples[-1]\n"
    )
    samples = [Sample(0, "a", 0.0), Sample(1, "b", 1.0)]
    picker = Picker(f"{path}:pick_best")
    assert picker.choose(samples, "q1") == 1
    given = vars(picker)["_pick"].__globals__["given"]
    assert len({id(each) for each in [samples, *samples, *given]}) == 9


def fingerprint(lab: Lab) -> str:
    """Of the run that the command leaves, in a process of its own: what it imports is gone with it."""
    options = "--dataset", lab.dataset(ANSWERS), "--samples", lab.pack(GROUPS), "--n", 2
    done = lab.process("selection_demo", *options)
    assert (done.status, done.err) == (0, "")
    (run,) = lab.runs.glob("run_*")
    settings = json.loads((run / "manifest.json").read_bytes())["settings"]
    shutil.rmtree(run)
    return str(settings["pick_sha256"])


def test_a_file_that_imports_nothing_of_the_students_has_its_own_digest(lab: Lab) -> None:
    for source in (FIRST, f"import json, random\nimport numpy\nfrom course.stats import mean\n{FIRST}"):
        path = lab.picker(source)
        assert fingerprint(lab) == hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_course_and_packages_inside_the_labs_folder_are_not_the_students() -> None:
    """As in a lab that was set up: course/ and .venv/ stand beside exercises/."""
    place = "exercises/pick_best.py:pick_best"
    code = f"import numpy; from course.picking import Picker; print(Picker({place!r}).settings()['pick_sha256'])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == hashlib.sha256((ROOT / "exercises" / "pick_best.py").read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("exercises/mine.py", "from exercises import mine"),
        ("exercises/mine.py", "import sys; sys.path.append('exercises'); import mine"),
        ("mine.py", "import mine"),
        ("deep/mine/__init__.py", "import deep.mine"),
    ],
)
@pytest.mark.parametrize("late", [False, True], ids=["at the top", "when called"])
def test_what_the_student_imports_of_his_own_is_part_of_the_fingerprint(
    lab: Lab, place: str, line: str, late: bool
) -> None:
    source = f"def pick_best(samples):\n    {line}\n    return samples[0]\n" if late else f"{line}\n{FIRST}"
    path = lab.picker(source)
    lab.write(place, "x = 1\n")
    one = fingerprint(lab)
    digests = {name: hashlib.sha256(Path(name).read_bytes()).hexdigest() for name in (path.as_posix(), place)}
    lines = "\n".join(sorted(f"{digest} {name}" for name, digest in digests.items()))
    assert one == hashlib.sha256(lines.encode()).hexdigest()
    lab.write(place, "x = 10\n")
    other = fingerprint(lab)
    assert other != one
    lab.picker(f"{source}\n")
    assert fingerprint(lab) not in (one, other)


@pytest.mark.parametrize(
    "place", ["", "pick_best", "exercises/pick_best.py", "exercises/pick_best.py:", ":f", "a.py:f()"]
)
def test_what_names_no_function_of_a_file_is_refused(lab: Lab, place: str) -> None:
    lab.pick = ["--pick", place]
    assert "--pick: expected a file and its function, such as exercises/pick_best.py:pick_best, got " in refused(lab)


def test_a_rule_that_is_still_to_be_written_is_called_that(lab: Lab) -> None:
    lab.picker((ROOT / "exercises" / "pick_best.py").read_text(encoding="utf-8"))
    assert "the function pick_best is still to be written" in refused(lab)


def test_without_a_file_the_first_of_the_best_is_chosen_and_the_run_names_no_file(lab: Lab) -> None:
    """Worked by hand: of q1 the second is right; of q2 the first of two that are."""
    groups = [["Final: 21", "Final: 22"], ["Final: -8", "Final: -8"]]
    assert lab.select(ANSWERS, groups, 2).status == 0
    assert [row["chosen"] for row in lines_of(Path("runs/run_001/results.jsonl"))] == [1, 0]
    assert json.loads(Path("runs/run_001/manifest.json").read_bytes())["settings"] == {}


def test_another_function_of_another_file_is_found_by_its_name(lab: Lab) -> None:
    path = lab.write("rules/mine.py", "def last(samples):\n    return samples[-1]\n")
    lab.pick = ["--pick", f"{path}:last"]
    assert lab.select(ANSWERS, GROUPS, 2).status == 0
    settings = json.loads(Path("runs/run_001/manifest.json").read_bytes())["settings"]
    assert settings == {"pick": "mine.py:last", "pick_sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def test_what_a_rule_prints_is_no_part_of_the_answer_for_a_program(lab: Lab) -> None:
    lab.picker(f"print('loaded')\n{FIRST.replace('return', 'print(1); return')}")
    done = lab.select(ANSWERS, GROUPS, 2, "--json")
    assert json.loads(done.out)["summary"]["n"] == 2
    assert done.err.startswith("loaded\n1\n")


def test_a_rule_may_have_what_an_engineers_own_file_has(lab: Lab) -> None:
    source = "from __future__ import annotations\nfrom dataclasses import dataclass\n"
    source += "@dataclass\nclass Best:\n    place: int\n"
    lab.picker(f"{source}def pick_best(samples):\n    return samples[Best(1).place]\n")
    assert lab.select(ANSWERS, GROUPS, 2).status == 0
