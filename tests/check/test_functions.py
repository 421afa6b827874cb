"""The check of a student's functions: mistakes are named, and right solutions of any style pass.

An example: a step of REINFORCE that goes down. The check shows one input with the value that is right and the one it
got, says that plus raises the objective, and calls nothing else wrong.
"""

import re
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.functions import check_functions, is_close
from check.oracles import FUNCTIONS
from check.result import CheckResult
from course.errors import UserError

SOLUTIONS = ROOT / "data" / "keys" / "exercises"
NAMES = ("pick_best", "reinforce")
SOURCES = {name: (SOLUTIONS / f"{name}.py").read_text(encoding="utf-8") for name in NAMES}
files = pytest.mark.parametrize("name", NAMES)
P, ADVANTAGE = "p[i] for i in range(len(x))]", "(reward - baseline)"
LOO = "[(total - reward) / (len(rewards) - 1) for reward in rewards]"
CHANGE = "gradient = [(i == action) - p[i] for i in range(len(x))]"

MISTAKES = [  # file, what stands in the solution, what a student wrote, what the check must say
    ("reinforce", "reward - baseline for", "baseline - reward for", "baseline minus reward"),
    ("reinforce", "[reward - baseline for reward in rewards]", "rewards", "the rewards: the baseline"),
    ("reinforce", "reward - baseline for", "reward + baseline for", "reward plus baseline"),
    ("reinforce", "reward - baseline for", "reward / baseline for", "a ratio"),
    ("reinforce", "reward - baseline for", "reward - sum(rewards) / len(rewards) for", "the mean of the rewards"),
    ("reinforce", "reward - baseline for", "abs(reward - baseline) for", "without a sign"),
    ("reinforce", "reward - baseline for", "max(0, reward - baseline) for", "cut off at 0"),
    ("reinforce", "[reward - baseline for reward in rewards]", "sum(rewards) - len(rewards) * baseline", "one sum"),
    ("reinforce", LOO, "[total / len(rewards)] * len(rewards)", "own reward has no place"),
    ("reinforce", LOO, "[total - reward for reward in rewards]", "the sum of the others"),
    ("reinforce", LOO, "[(total - reward) / len(rewards) for reward in rewards]", "the others are one fewer"),
    ("reinforce", LOO, "[r - (total - r) / (len(rewards) - 1) for r in rewards]", "the advantage: the baseline alone"),
    ("reinforce", LOO, "[0.0 for _ in rewards]", "no baseline"),
    ("reinforce", LOO, "[sum(rewards[:i]) / max(1, i) for i in range(len(rewards))]", "those before"),
    ("reinforce", LOO, "total / len(rewards)", "one number"),
    ("reinforce", "each + lr", "each - lr", "a step down"),
    ("reinforce", f"lr * {ADVANTAGE} * g", "lr * reward * g", "without the baseline"),
    ("reinforce", f"lr * {ADVANTAGE} * g", "lr * (reward * g - baseline)", "baseline inside the gradient"),
    ("reinforce", "        weights", "        lr = 0 if not new_theta else lr or 0\n        weights", ""),
    ("reinforce", "return new_theta", "return theta[:1] + new_theta[1:]", "step 1 unchanged"),
    ("reinforce", "return new_theta", "return theta[:-1] + new_theta[-1:]", "the last step alone"),
    ("reinforce", "return new_theta", "return new_theta[:-1] + theta[-1:]", "the last step unchanged"),
    ("reinforce", CHANGE, "gradient = [float(i == action) for i in range(len(x))]", "minus p missing"),
    ("reinforce", CHANGE, "gradient = [(i == action) * (1 - p[i]) for i in range(len(x))]", "the other actions"),
    ("reinforce", CHANGE, f"{CHANGE[:-1]}]\n        gradient = [p[action] * g for g in gradient]", "the gradient of p"),
    ("reinforce", CHANGE, CHANGE.replace("p[i] for", "x[i] for"), "minus the logits"),
    ("reinforce", f"lr * {ADVANTAGE} * g", f"{ADVANTAGE} * g", "without the learning rate"),
    ("reinforce", "each + lr", "lr", "the change alone"),
    ("reinforce", f"lr * {ADVANTAGE}", f"lr / len(theta) * {ADVANTAGE}", "divided by the number of steps"),
    ("reinforce", f"lr * {ADVANTAGE}", f"lr * math.log(p[action]) * {ADVANTAGE}", "multiplied by ln p"),
    ("reinforce", f"lr * {ADVANTAGE}", "lr * ((reward if x is theta[-1] else 0) - baseline)", "a reward of 0 before"),
]
MISTAKES = [mistake for mistake in MISTAKES if mistake[3]]


def check_named(name: str, seed: int = 0) -> CheckResult:
    return check_functions(Path("exercises") / f"{name}.py", seed)


def check_text(lab: Lab, name: str, source: str, seed: int = 0) -> tuple[str, str, str]:
    lab.write(f"exercises/{name}.py", source)
    found = check_named(name, seed)
    return found.state, found.short, " ".join(found.lines)


@files
def test_the_stub_is_not_started_and_the_solution_is_done(lab: Lab, name: str) -> None:
    shutil.copytree(ROOT / "exercises", lab.folder / "exercises", ignore=shutil.ignore_patterns("*.md"))
    assert check_named(name).state == "not started"
    for seed in range(3):
        assert check_text(lab, name, SOURCES[name], seed)[0] == "done"


@pytest.mark.parametrize(("name", "right", "wrong", "said"), MISTAKES, ids=[one[3] for one in MISTAKES])
@pytest.mark.parametrize("seed", [0, pytest.param(7, marks=pytest.mark.slow)])
def test_a_mistake_is_called_by_its_name(lab: Lab, name: str, right: str, wrong: str, said: str, seed: int) -> None:
    assert right in SOURCES[name]
    state, short, lines = check_text(lab, name, SOURCES[name].replace(right, wrong, 1), seed)
    functions = sum(quantity.file == name for quantity in FUNCTIONS.values())
    assert (state, short) == ("wrong", f"{functions - 1} of {functions} right")
    assert "expected " in lines
    assert ", got " in lines
    assert f"It looks like {said}" in lines or (said in lines and "It looks like " in lines)
    assert lines.count("It looks like ") == 1


NO_ANSWERS = {  # what a function holds in place of an answer -> what the check says of it
    "constant": ("return 0.0", "expected "),
    "True": ("return True", "expected "),
    "nan": ("return float('nan')", "expected "),
    "infinite": ("return float('inf')", "expected "),
    "a text": ("return '0.5'", "expected "),
    "a huge integer": ("return 10 ** 4000", "expected "),
    "nothing": ("pass", "got None"),
    "exit": ("import sys; sys.exit(0)", "SystemExit"),
    "an exception": ("raise ValueError('\\x1b[2J')", "ValueError"),
}
THREE = ("advantage", "leave_one_out", "reinforce_step")


@pytest.mark.parametrize("wrong", NO_ANSWERS)
def test_what_is_no_answer_is_told(lab: Lab, wrong: str) -> None:
    body, said = NO_ANSWERS[wrong]
    state, short, lines = check_text(lab, "reinforce", "".join(f"def {name}(*args):\n    {body}\n" for name in THREE))
    assert (state, short) == ("wrong", "0 of 3 right")
    assert said in lines
    assert (lines + short).isprintable()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "this file has no function advantage"),
        ("import sys\nsys.exit(0)", "SystemExit"),
        ("def advantage(:", "SyntaxError"),
        ("advantage = leave_one_out = reinforce_step = 3", "this file has no function"),
    ],
)
def test_a_file_without_the_functions_says_so(lab: Lab, source: str, said: str) -> None:
    state, short, lines = check_text(lab, "reinforce", source)
    assert (state, short) == ("wrong", "0 of 3 right")
    assert said in lines


def test_no_file_is_one_line(lab: Lab) -> None:
    with pytest.raises(UserError, match=r"reinforce.py: expected your functions, got no such file; run from the lab"):
        check_named("reinforce")
    del lab


OTHERS = {
    "NumPy": (
        "reinforce",
        """
import numpy as np

def advantage(rewards, baseline):
    return np.array(rewards) - baseline

def leave_one_out(rewards):
    r = np.array(rewards)
    return (r.sum() - r) / (len(r) - 1)

def reinforce_step(theta, actions, reward, baseline, lr):
    x = np.array(theta)
    p = np.exp(x - x.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    return x + lr * (reward - baseline) * (np.eye(x.shape[1])[actions] - p)
""",
    ),
    "loops that change theta in place": (
        "reinforce",
        """
import math

def advantage(rewards, baseline):
    for i in range(len(rewards)):
        rewards[i] -= baseline
    return rewards

def leave_one_out(rewards):
    return tuple(sum(rewards[:i] + rewards[i + 1:]) / (len(rewards) - 1) for i in range(len(rewards)))

def reinforce_step(theta, actions, reward, baseline, lr):
    for x, action in zip(theta, actions):
        weights = [math.exp(each - max(x)) for each in x]
        for i, weight in enumerate(weights):
            x[i] -= lr * (reward - baseline) * weight / sum(weights)
        x[action] += lr * (reward - baseline)
    return theta
""",
    ),
}


@pytest.mark.parametrize("style", OTHERS)
def test_another_right_solution_is_done(lab: Lab, style: str) -> None:
    name, source = OTHERS[style]
    assert check_text(lab, name, source)[0] == "done"


def test_one_function_done_and_two_not_begun_is_started(lab: Lab) -> None:
    stub = (ROOT / "exercises" / "reinforce.py").read_text(encoding="utf-8")
    begun = re.sub("raise NotImplementedError.*", "return [reward - baseline for reward in rewards]", stub, count=1)
    assert check_text(lab, "reinforce", begun)[:2] == ("started", "1 of 3 right")


def test_a_plain_softmax_is_told_of_large_logits_and_the_stub_says_that_they_come(lab: Lab) -> None:
    plain = SOURCES["reinforce"].replace("math.exp(each - max(x))", "math.exp(each)")
    state, short, lines = check_text(lab, "reinforce", plain)
    assert (state, short) == ("wrong", "2 of 3 right")
    assert "It looks like exp() of a logit near 1,000, more than a float holds: take the largest" in lines
    without = OTHERS["NumPy"][1].replace("x - x.max(axis=1, keepdims=True)", "x")
    assert "It looks like exp() of a logit near 1,000" in check_text(lab, "reinforce", without)[2]  # inf / inf
    stub = (ROOT / "exercises" / "reinforce.py").read_text(encoding="utf-8")
    assert "as large as 1,000" in " ".join(stub.split())


def test_close_is_of_shape_and_number() -> None:
    assert is_close([1, 2.0], [1.0, 2.0])
    assert is_close(1e6 + 1e-4, 1e6)
    for value, expected in (([1.0], [1.0, 2.0]), (1.0, [1.0]), ([1.0], 1.0), (True, 1.0), (None, 0.0), (1e-8, 0.0)):
        assert not is_close(value, expected)
