"""The check of a student's training step: each usual mistake is called by its name, and the right step is done.

An example: a step that samples from the reference learns from stale samples. The check shows one weight with the value
that is right and the one it got, and says so.
"""

import numpy as np
import pytest
from conftest import ROOT, Lab

from check.loop import MISTAKES, check_loop, is_close, make_cases, reward_text, take_step
from check.result import CheckResult
from course.policies.token_learner import draws, learn
from course.policies.train_config import MEMORISE

SOLUTIONS = ROOT / "data" / "keys" / "exercises"
LOOP = (SOLUTIONS / "loop.py").read_text(encoding="utf-8")
BASELINE = "np.concatenate([leave_one_out(group.tolist()) for group in return_.reshape(-1, group_size)])"
CREDIT = "credit = advantage[:, None] / len(examples)"
RATIO = "(log_probs(policy, prompts, completions) - log_probs(reference, prompts, completions)).sum(axis=1)"
IN_PLACE = """for weight, change in zip(policy.weights, direction, strict=True):
        weight += lr * change
    return policy"""
LAST = "last = np.arange(completions.tokens.shape[1]) == completions.lengths[:, None] - 1"

WRONG = {  # what a student wrote -> what stands in the solution, what stands there instead, what the check must say
    "no baseline": (BASELINE, "np.zeros(len(examples))", "no baseline: "),
    "reshape(group_size, -1)": ("reshape(-1, group_size)", "reshape(group_size, -1)", "wrong groups: "),
    "columns, shuffled": ("reshape(-1, group_size)", "reshape(group_size, -1).T", "wrong groups: "),
    "the batch as one group": (BASELINE, "np.array(leave_one_out(return_.tolist()))", "wrong groups: "),
    "mean over tokens": (CREDIT, f"{CREDIT} / completions.lengths[:, None]", "a mean over tokens: "),
    "mean over all tokens": (CREDIT, "credit = advantage[:, None] / completions.lengths.sum()", "a mean over tokens: "),
    "last token": (CREDIT, f"{LAST}\n    {CREDIT} * last", "the last token alone: "),
    "stale samples": ("sample_completions(policy", "sample_completions(reference", "stale samples: "),
    "KL of the wrong sign": ("reward - kl_coef", "reward + kl_coef", "a KL penalty of the wrong sign: "),
    "mean of the KL": (RATIO, f"{RATIO}.mean()", "a KL penalty that is missing or cancels: "),
    "reference = policy": ("log_probs(reference", "log_probs(policy", "a KL penalty that is missing or cancels: "),
    "in place": (
        "return policy.apply_gradient(direction, lr)",
        IN_PLACE,
        "expected policy unchanged",
    ),
    "a step down": (CREDIT, f"{CREDIT} * -1", "a step down: "),
    "sum": (CREDIT, "credit = advantage[:, None]", "a sum over the completions: "),
    "own mean": (BASELINE, "return_.reshape(-1, group_size).mean(axis=1).repeat(group_size)", "own return counts"),
}


def check_text(lab: Lab, source: str) -> CheckResult:
    lab.write("exercises/reinforce.py", (SOLUTIONS / "reinforce.py").read_text(encoding="utf-8"))
    lab.write("exercises/loop.py", source)
    return check_loop()


def test_the_solution_is_done_and_the_stub_is_not_started(lab: Lab) -> None:
    assert check_text(lab, LOOP).state == "done"
    assert check_text(lab, (ROOT / "exercises" / "loop.py").read_text(encoding="utf-8")).state == "not started"


@pytest.mark.parametrize("mistake", WRONG)
def test_a_mistake_is_called_by_its_name(lab: Lab, mistake: str) -> None:
    right, wrong, said = WRONG[mistake]
    assert right in LOOP
    found = check_text(lab, LOOP.replace(right, wrong))
    lines = " ".join(found.lines)
    assert found.state == "wrong"
    assert said in lines
    assert "expected " in lines
    assert lines.count("It looks like ") == (mistake != "in place")


def test_a_mistake_without_a_name_shows_a_weight(lab: Lab) -> None:
    found = check_text(lab, LOOP.replace("direction, lr)", "direction, 2 * lr)"))
    assert (found.state, len(found.lines)) == ("wrong", 1)
    assert found.lines[0].startswith("expected ")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("", "this file has no function step"),
        (LOOP.replace("return policy.apply", "return direction; policy.apply"), "expected a policy"),
        (LOOP.replace("    prompts =", "    1 / 0\n    prompts ="), "loop.py:23 step: update 1: ZeroDivisionError"),
    ],
    ids=range(3),
)
def test_what_is_no_update_is_told(lab: Lab, source: str, said: str) -> None:
    lab.write("exercises/reinforce.py", (SOLUTIONS / "reinforce.py").read_text(encoding="utf-8"))
    lab.write("exercises/loop.py", source)
    done = lab("check", "loop")
    assert done.status == 1
    assert said in " ".join(done.out.split())


def test_an_unwritten_baseline_is_named_with_its_file(lab: Lab) -> None:
    lab.write("exercises/loop.py", LOOP)
    lab.write("exercises/reinforce.py", (ROOT / "exercises" / "reinforce.py").read_text(encoding="utf-8"))
    found = check_loop()
    assert found.state == "wrong"
    assert "exercises/reinforce.py" in found.lines[0]


@pytest.mark.parametrize("seed", range(2))
def test_each_mistake_is_wrong_and_differs_from_every_other(seed: int) -> None:
    values = {wrong: [take_step(case, wrong) for case in make_cases(seed)] for wrong in ["", *MISTAKES]}
    for wrong, made in values.items():
        assert [other for other, others in values.items() if all(map(is_close, made, others))] == [wrong]


def test_the_right_step_is_the_one_that_the_course_learns_by() -> None:
    """Update by update, with the draws and the rewards of ``learn``."""
    config = MEMORISE._replace(group_size=4, prompts_a_step=6, kl_coef=0.3, max_tokens=8, lr=0.7, steps=5)
    case = make_cases(0)[0]
    tasks = [{"id": f"{a}", "prompt": f"Compute {a} + 1.", "expected_answer": a + 1} for a in range(8)]
    for update, (chosen, u, _) in zip(
        learn(case.reference, tasks, reward_text, config, 3), draws(len(tasks), config, 3), strict=True
    ):
        same = case._replace(policy=update.policy, examples=[tasks[i] for i in chosen], u=u)
        for found, right in zip(take_step(same), update.new_policy.weights, strict=True):
            assert np.abs(found - right).max() < 1e-14
