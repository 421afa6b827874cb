"""A student's training step: it learns as the course does, and what is no step ends the command in one line.

An example: with the solution of ``exercises/loop.py`` the log of a run has the numbers of a run without ``--step``.
"""

import json
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import ROOT, Lab, lines_of

from course.policies.train_config import PRESETS

SOLUTIONS = ROOT / "data" / "keys" / "exercises"
LOOP = (SOLUTIONS / "loop.py").read_text(encoding="utf-8")
REINFORCE = (SOLUTIONS / "reinforce.py").read_text(encoding="utf-8")
BRIEF = ("--preset", "small", "--sft-steps", 60, "--steps", 6, "--eval-every", 3)
LAST = "return policy.apply_gradient(direction, lr)"


@pytest.fixture
def student(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr("course.token_train_text.png", lambda _: b"\x89PNG")
    lab.write("data/datasets/one_digit_sums_small.jsonl", lines_of(ROOT / PRESETS["small"].dataset))
    lab.write("exercises/reinforce.py", REINFORCE)
    return lab


def train(lab: Lab, source: str, *more: object) -> tuple[int, str]:
    lab.write("exercises/loop.py", source)
    done = lab("token_train", *BRIEF, "--step", "exercises/loop.py:step", "--outdir", "own", *more)
    return done.status, done.err


@pytest.mark.parametrize("more", [(), ("--rubric", "anywhere", "--kl-coef", 0.2, "--seed", 3), ("--group-size", 2)])
def test_the_solution_learns_as_the_course_does(student: Lab, more: tuple[object, ...]) -> None:
    assert train(student, LOOP, *more) == (0, "")
    assert student("token_train", *BRIEF, "--outdir", "built_in", *more).status == 0
    for row, expected in zip(lines_of(Path("own/log.jsonl")), lines_of(Path("built_in/log.jsonl")), strict=True):
        for name, value in expected.items():
            assert row[name] == (pytest.approx(value, abs=1e-9) if isinstance(value, float) else value), name
    assert Path("own/results.jsonl").read_bytes() == Path("built_in/results.jsonl").read_bytes()
    assert student("inspect_run", "own", "--verify").status == 0
    assert student("report", "own").status == 0


def test_a_run_keeps_the_step_and_the_rubric_that_it_was_given(student: Lab) -> None:
    student.write("mine.py", "import paying\nVERSION = 2\ndef paid(example, completion):\n    return paying.X\n")
    student.write("paying.py", "X = 0.5\n")
    assert train(student, f"VERSION = 7\n{LOOP}", "--rubric", "mine.py:paid") == (0, "")
    settings = json.loads(Path("own/manifest.json").read_bytes())["settings"]
    lines = sorted(
        f"{sha256(data.encode()).hexdigest()} {name}"
        for name, data in (("loop.py", f"VERSION = 7\n{LOOP}"), ("reinforce.py", REINFORCE))
    )
    assert settings["step"] == "loop.py:step"
    assert settings["step_version"] == "7"
    assert settings["rubric_version"] == "2"
    assert settings["step_sha256"] == sha256("\n".join(lines).encode()).hexdigest()
    assert settings["baseline"] is None
    assert lines_of(Path("own/log.jsonl"))[0]["n"] == 25
    kept = {path.relative_to("own").as_posix() for path in Path("own").rglob("*.py")}
    assert kept == {"step.py", "step_imports/reinforce.py", "rubric.py", "rubric_imports/paying.py"}
    assert {row["proxy_reward"] for row in lines_of(Path("own/log.jsonl"))} == {0.5}


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("1 / 0", "update 1: ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "update 1: SystemExit: 0"),
        ("return None", "update 1: expected a policy, as apply_gradient returns it, got NoneType"),
        ("return direction", "update 1: expected a policy, as apply_gradient returns it, got Weights"),
        ("return policy.apply_gradient(direction, lr)._replace(max_tokens=3)", "update 1: expected a policy"),
        ("direction.out[0, 0] = float('nan'); return policy._replace(weights=direction)", "update 1: expected finite"),
        (
            "return policy._replace(weights=direction._replace(out=direction.hidden))",
            "update 1: expected out of the shape",
        ),
        ("return policy.apply_gradient(direction, 1e9)", "update 1: UserError: expected weights up to 1,000,000"),
        ("return policy.apply_gradient(direction, np.nan)", "got larger ones or NaN"),
        ("policy.weights.out[:] += lr * direction.out; return policy", "expected policy unchanged"),
        ("reference.weights.out[:] = 0; return policy", "expected reference unchanged"),
        ("examples.pop(); return policy", "expected examples unchanged"),
        ("u[:] = 0; return policy", "expected u unchanged"),
        ("return policy.apply_gradient(direction, np.random.random())", "update 2: expected the same answer each time"),
    ],
)
def test_what_is_no_step_is_one_line_and_no_run(student: Lab, last: str, said: str) -> None:
    status, err = train(student, LOOP.replace(LAST, last))
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("error: exercises/loop.py:")
    assert said in err
    assert not Path("own").exists()


def test_memory_shows_in_the_first_two_updates(student: Lab) -> None:
    memory = LOOP.replace(LAST, "seen.append(1)\n    return policy.apply_gradient(direction, lr * len(seen))")
    status, err = train(student, memory.replace("\n\ndef step", "\nseen = []\n\ndef step"))
    assert status == 2
    assert "update 2: expected the same answer each time, got weights with the digest " in err


@pytest.mark.parametrize(("calls", "update", "kept"), [(1, 2, 0), (6, 5, 3)])
def test_ctrl_c_names_the_update_and_keeps_what_was_learned(student: Lab, calls: int, update: int, kept: int) -> None:
    stop = f"calls.append(1)\n    if len(calls) > {calls}:\n        raise KeyboardInterrupt\n    "
    source = LOOP.replace(LAST, stop + LAST)
    student.write("exercises/loop.py", source.replace("\n\ndef step", "\ncalls = []\n\ndef step"))
    done = student("token_train", *BRIEF, "--step", "exercises/loop.py:step", "--outdir", "own")
    assert done.status == 130
    assert f"Interrupted in loop.py:step, update {update}." in done.out
    assert lines_of(Path("own/log.jsonl"))[-1]["step"] == kept


@pytest.mark.parametrize("more", [("--slow", 1), ("--baseline", "none")])
def test_what_belongs_to_the_courses_update_is_refused(student: Lab, more: tuple[object, ...]) -> None:
    status, err = train(student, LOOP, *more)
    assert status == 2
    assert err.startswith("error: --step cannot be combined with --slow or --baseline")
