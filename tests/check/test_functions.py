"""The check of a student's functions: mistakes are named, and right solutions of any style pass.

An example: a step of REINFORCE that goes down. The check shows one input with the value that is right and the one it
got, says that plus raises the objective, and calls nothing else wrong.
"""

import re
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.functions import check_functions, is_close
from check.oracles import FUNCTIONS
from course.errors import UserError

KEYS = ROOT / "data" / "keys" / "exercises"
SOURCES = {name: (KEYS / f"{name}.py").read_text(encoding="utf-8") for name in ("pick_best", "reinforce")}
ADVANTAGE = "(reward - baseline)"
LOO = "[(total - reward) / (len(rewards) - 1) for reward in rewards]"
CHANGE = "gradient = [(i == action) - p[i] for i in range(len(x))]"

PICK = "def pick_best(samples):\n    return "
MISTAKES = [  # file, what stands in the solution (or nothing: then the whole file), what a student wrote, what is said
    ("reinforce", "reward - baseline for", "baseline - reward for", "baseline minus reward"),
    ("reinforce", "[reward - baseline for reward in rewards]", "rewards", "the rewards: the baseline"),
    ("reinforce", "reward - baseline for", "max(0, reward - baseline) for", "cut off at 0"),
    ("reinforce", LOO, "[total / len(rewards)] * len(rewards)", "own reward has no place"),
    ("reinforce", LOO, "[(total - reward) / len(rewards) for reward in rewards]", "the others are one fewer"),
    ("reinforce", LOO, "[0.0 for _ in rewards]", "no baseline"),
    ("reinforce", LOO, "total / len(rewards)", "one number"),
    ("reinforce", "each + lr", "each - lr", "a step down"),
    ("reinforce", f"lr * {ADVANTAGE} * g", "lr * reward * g", "without the baseline"),
    ("reinforce", "return new_theta", "return theta[:-1] + new_theta[-1:]", "the last step alone"),
    ("reinforce", CHANGE, "gradient = [float(i == action) for i in range(len(x))]", "minus p missing"),
    ("reinforce", CHANGE, f"{CHANGE[:-1]}]\n        gradient = [p[action] * g for g in gradient]", "the gradient of p"),
    ("reinforce", f"lr * {ADVANTAGE} * g", f"{ADVANTAGE} * g", "without the learning rate"),
    ("reinforce", f"lr * {ADVANTAGE}", f"lr / len(theta) * {ADVANTAGE}", "divided by the number of steps"),
    ("reinforce", "math.exp(each - max(x))", "math.exp(each)", "exp() of a logit near 1,000"),
    ("pick_best", "", f"{PICK}samples[0]", "the first of the list"),
    ("pick_best", "", f"{PICK}max(samples, key=lambda s: s.reward)", "the first of the best as the list has them"),
    ("pick_best", "", f"{PICK}max(samples, key=lambda s: (s.reward, s.index))", "the highest index of the best"),
    ("pick_best", "", f"{PICK}max(samples, key=lambda s: len(s.completion))", "the longest text"),
]


def check_text(lab: Lab, name: str, source: str) -> tuple[str, str, str]:
    path = lab.write(f"exercises/{name}.py", source)
    found = check_functions(path.stem, path)
    return found.state, found.short, " ".join(found.lines)


@pytest.mark.parametrize("name", ["pick_best", "reinforce"])
def test_the_stub_is_not_started_and_the_solution_is_done(lab: Lab, name: str) -> None:
    stub = (ROOT / "exercises" / f"{name}.py").read_text(encoding="utf-8")
    assert check_text(lab, name, stub)[0] == "not started"
    assert check_text(lab, name, SOURCES[name])[0] == "done"


@pytest.mark.parametrize(("name", "right", "wrong", "said"), MISTAKES, ids=[one[3] for one in MISTAKES])
def test_a_mistake_is_called_by_its_name(lab: Lab, name: str, right: str, wrong: str, said: str) -> None:
    assert right in SOURCES[name]
    state, short, lines = check_text(lab, name, SOURCES[name].replace(right, wrong, 1) if right else wrong)
    functions = sum(quantity.file == name for quantity in FUNCTIONS.values())
    assert (state, short) == ("wrong", f"{functions - 1} of {functions} right")
    assert re.search(rf"(expected .*, got|OverflowError).* It looks like [^.]*{re.escape(said)}", lines), lines


NO_ANSWERS = {  # what a function holds in place of an answer -> what the check says of it
    "return True": "expected ",
    "return float('nan')": "expected ",
    "pass": "got None",
    "import sys; sys.exit(0)": "SystemExit",
    "raise ValueError('\\x1b[2J')": "ValueError",
}
THREE = ("advantage", "leave_one_out", "reinforce_step")


@pytest.mark.parametrize("body", NO_ANSWERS)
def test_what_is_no_answer_is_told(lab: Lab, body: str) -> None:
    state, short, lines = check_text(lab, "reinforce", "".join(f"def {name}(*args):\n    {body}\n" for name in THREE))
    assert (state, short) == ("wrong", "0 of 3 right")
    assert NO_ANSWERS[body] in lines
    assert (lines + short).isprintable()


@pytest.mark.parametrize(("source", "said"), [("", "has no function advantage"), ("def advantage(:", "SyntaxError")])
def test_a_file_without_the_functions_says_so(lab: Lab, source: str, said: str) -> None:
    state, short, lines = check_text(lab, "reinforce", source)
    assert (state, short) == ("wrong", "0 of 3 right")
    assert said in lines
    with pytest.raises(UserError, match="expected your functions, got no such file"):
        check_functions("gone", Path("gone.py"))


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


def test_close_is_of_shape_and_number() -> None:
    assert is_close([1, 2.0], [1.0, 2.0])
    assert is_close(1e6 + 1e-4, 1e6)
    for value, expected in (([1.0], [1.0, 2.0]), (1.0, [1.0]), ([1.0], 1.0), (True, 1.0), (None, 0.0), (1e-8, 0.0)):
        assert not is_close(value, expected)
