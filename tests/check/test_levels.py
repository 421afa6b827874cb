"""The levels, done as their table shows them: right, and with each thing that a person may forget or mix up.

By hand: of the dev set 34 of 80 pass; a changed answer lets 33 pass if the completion of dev-005 had passed. In level 2
a choice among equal rewards changes no selected accuracy, 67 of 80.
"""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.levels import LEVELS, check_level, describe_step
from check.report import step_text
from check.result import NOT_STARTED, TO_READ
from course.bandit_train import draws_of, learn
from course.policies.bandit import arm_rewards
from course.policies.softmax import expected_reward, softmax

SOLUTIONS = ROOT / "data" / "keys" / "exercises"
PICK_BEST, MY_SCORE, REINFORCE = [
    (SOLUTIONS / f"{name}.py").read_text(encoding="utf-8") for name in ("pick_best", "my_score", "reinforce")
]
BY_CHANCE = """
import random

LUCK = random.Random().random()


def pick_best(samples):
    best = max(sample.reward for sample in samples)
    equal = [sample for sample in samples if sample.reward == best]
    return random.Random(f"{LUCK} {equal[0].completion}").choice(equal)
"""
BY_CLOCK = BY_CHANCE.replace("import random", "import random\nimport time", 1).replace(
    "random.Random().random()", "time.time_ns()"
)
LAST = "def pick_best(samples):\n    return max(samples, key=lambda sample: (sample.reward, sample.index))\n"
TIES = """
from course.picking import Sample


def test_the_first_of_equal_samples_is_taken_in_any_order(pick_best):
    for number in range(20):
        samples = [Sample(index, f"{number} {index}", 1.0) for index in range(4)]
        assert pick_best(samples) == samples[0]
        assert pick_best(samples[::-1]) == samples[0]


def test_the_best_of_unequal_samples_is_taken_in_any_order(pick_best):
    samples = [Sample(0, "a", 0.0), Sample(1, "b", 0.5), Sample(2, "c", -1.0)]
    assert pick_best(samples) == pick_best(samples[::-1]) == samples[1]
"""
FINITE_DIFFERENCE = """
import math


def log_prob(logits, action):
    return logits[action] - math.log(sum(math.exp(logit) for logit in logits))


def test_each_logit_moves_by_its_slope(reinforce_step):
    theta = [[0.3, -0.2, 0.5, 0.0], [0.1, 0.0, -0.4, 0.2]]
    actions = [2, 0]
    new_theta = reinforce_step(theta, actions, 1.0, 0.4, 0.1)
    for logits, new_logits, action in zip(theta, new_theta, actions):
        for i in range(4):
            raised = [*logits]
            raised[i] += 1e-6
            slope = (log_prob(raised, action) - log_prob(logits, action)) / 1e-6
            assert abs(new_logits[i] - logits[i] - 0.1 * (1.0 - 0.4) * slope) < 1e-6
"""
SPOILED_RULES = {
    "search": 're.search(f"Final: {answer}", completion) is not None',
    "any": 'str(answer) in re.findall("-?[0-9]+", completion)',
    "last": 're.findall("[0-9]+", completion)[-1:] == [str(answer)]',
}
SPOILED_UPDATES = {  # what stands in the solution, what a student wrote
    "sign": ("(reward - baseline) * g", "(baseline - reward) * g"),
    "no baseline": ("(reward - baseline) * g", "reward * g"),
    "wrong action": ("(i == action) - p[i]", "(i == action + 1) - p[i]"),
}
CASE = {"prompt": "?", "expected_answer": 323, "completion": "Final: 1 Final: 323", "expected_reward": 0}
CASE |= {"fooled": "my_score 1"}


def spoil_rule(way: str) -> str:
    line = "    text = completion.strip"
    assert line in MY_SCORE
    return MY_SCORE.replace(line, f'    return _result(float({SPOILED_RULES[way]}), "spoiled")\n{line}')


class Student:
    """A student's folder: the data, the solutions of the exercises, and the commands."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        for name in ("data", "exercises"):
            shutil.copytree(ROOT / name, lab.folder / name)
        self.write("exercises/pick_best.py", PICK_BEST)
        self.write("exercises/my_score.py", MY_SCORE)
        self.write("exercises/reinforce.py", REINFORCE)

    def write(self, name: str, text: str) -> None:
        self.lab.write(name, text)

    def type(self, level: str, step: str, folder: str = "", leave_out: str = "") -> int:
        """Type what the check shows for the step, with 0.5 as the guess. The status of its last command."""
        status = 0
        text = check_level(level).parts[step].replace("YOUR GUESS", "0.5").replace(leave_out, "")
        if folder:
            text = text.replace(f"runs/{level}_{step}", f"runs/{folder}")
        for line in text.split("\n"):
            words = shlex.split(line) if line.startswith("python3 ") else []
            if words[1:2] == ["-m"]:
                status = self.lab(words[2].removeprefix("course."), *words[3:]).status
            elif words:
                subprocess.run([sys.executable, *words[1:]], check=True, stdout=subprocess.DEVNULL)
        return status

    def answer(self, run: str, words: str = "Here stand five words of mine.") -> None:
        """Write words below each question of the README of a run."""
        path = Path("runs", run, "README.md")
        lines = path.read_text(encoding="utf-8").split("\n")
        answered = [f"{line}\n\n{words}" if line.startswith("> ") else line for line in lines]
        path.write_text("\n".join(answered), encoding="utf-8")

    def go_on(self, level: str, *steps: str) -> None:
        """Do these steps, each of which has to be the next one before it and done after it."""
        for step in steps:
            assert next_step(level) == step
            if LEVELS[level][step].readme_of:
                self.answer(f"{level}_{LEVELS[level][step].readme_of}")
            else:
                self.type(level, step)
        assert next_step(level) not in steps


@pytest.fixture
def student(lab: Lab) -> Student:
    return Student(lab)


def next_step(level: str) -> str:
    """Nothing where the level is done."""
    return check_level(level).command.rpartition(" ")[2]


def explain(level: str) -> str:
    return " ".join(check_level(level).lines)


# Each level, as it is shown


def test_level_0(student: Student) -> None:
    student.go_on("level_0", "build", "sabotage", "gate")
    student.answer("level_0_sabotage", "Too short.")
    assert next_step("level_0") == "reflect"
    student.go_on("level_0", "reflect")
    checked = check_level("level_0")
    runs = [Path(run).name for run in checked.runs]
    assert (checked.state, runs) == (TO_READ, ["level_0_build", "level_0_sabotage"])


@pytest.mark.parametrize("way", SPOILED_RULES)
def test_each_way_of_spoiling_the_rule_pays_more_and_is_locked(student: Student, way: str) -> None:
    student.go_on("level_1", "build")
    student.write("exercises/my_score.py", spoil_rule(way))
    student.go_on("level_1", "sabotage")
    assert next_step("level_1") == "train"


@pytest.mark.slow
def test_level_1(student: Student) -> None:
    student.go_on("level_1", "build")
    student.write("exercises/my_score.py", spoil_rule("search"))
    student.go_on("level_1", "sabotage", "train", "reflect")
    student.write("exercises/my_score.py", MY_SCORE)
    student.go_on("level_1", "repair")
    assert next_step("level_1") == "lock"
    student.lab.write("exercises/exploits.jsonl", [CASE])
    assert check_level("level_1").state == TO_READ


def do_level_2(student: Student) -> None:
    student.go_on("level_2", "build", "compare")
    student.write("exercises/pick_best.py", BY_CHANCE)
    student.go_on("level_2", "sabotage", "again", "reflect")
    student.write("exercises/pick_best.py", PICK_BEST)
    student.go_on("level_2", "repair")


def test_level_2(student: Student) -> None:
    do_level_2(student)
    student.write("tests/test_pick_best.py", TIES.partition("def test_the_best")[0])
    assert next_step("level_2") == "lock"
    student.write("tests/test_pick_best.py", TIES)
    assert check_level("level_2").state == TO_READ


@pytest.mark.parametrize("way", SPOILED_UPDATES)
def test_level_3(student: Student, way: str) -> None:
    right, wrong = SPOILED_UPDATES[way]
    assert right in REINFORCE
    student.go_on("level_3", "build", "read")
    student.write("exercises/reinforce.py", REINFORCE.replace(right, wrong))
    student.go_on("level_3", "sabotage", "reflect")
    student.write("exercises/reinforce.py", REINFORCE)
    student.go_on("level_3", "repair")
    up = "def test_up(reinforce_step):\n    assert reinforce_step([[0.0, 0.0]], [0], 1.0, 0.5, 0.4)[0][0] > 0\n"
    student.write("tests/test_reinforce.py", up)
    assert next_step("level_3") == "lock"
    student.write("tests/test_reinforce.py", FINITE_DIFFERENCE)
    assert check_level("level_3").state == TO_READ


def test_a_repaired_file_has_all_of_its_functions(student: Student) -> None:
    student.go_on("level_3", "build", "read")
    student.write("exercises/reinforce.py", REINFORCE.replace(*SPOILED_UPDATES["sign"]))
    student.go_on("level_3", "sabotage", "reflect")
    student.write("exercises/reinforce.py", REINFORCE + "\n\ndef leave_one_out(rewards):\n    return rewards\n")
    student.write("tests/test_reinforce.py", FINITE_DIFFERENCE)
    student.go_on("level_3", "repair")
    assert next_step("level_3") == "lock"
    assert "leave_one_out" in explain("level_3")


def test_without_a_baseline_the_seed_decides_as_the_page_says() -> None:
    """What docs/levels.md says: seed 0 is one of 7 of 20 that end on a wrong completion; the others reach 0.98."""
    ends = []
    for seed in range(20):
        *_, last = learn(arm_rewards() + 3.0, draws_of(seed, 200), 0.5, with_baseline=False)
        ends.append(float(expected_reward(softmax(last.new_theta), arm_rewards())[0]))
    failed = [seed for seed, end in enumerate(ends) if end < 0.1]
    assert (len(failed), failed[0]) == (7, 0)
    assert all(end >= 0.98 for seed, end in enumerate(ends) if seed not in failed)


# What does not count

FIRST = "def pick_best(samples):\n    return samples[0]\n"
DOWN = REINFORCE.replace(*SPOILED_UPDATES["sign"])
NO_CURVE_SHOWS = REINFORCE.replace("(i == action) - p[i]", "float(i == action)")  # without its -p it still learns
RUBRIC, EXPECT = "--rubric exercises/my_score.py:score", '--expect "0.5"'
# Level, what is done before it (steps, and texts for the level's file), a step, what is left out of it, what is said.
MISSES: list[tuple[str, list[str], str, str, str]] = [
    ("level_0", ["build"], "sabotage", EXPECT, "to have a prediction, got none"),
    ("level_0", ["build"], "sabotage", "dev-001", "expected dataset_fingerprint != "),
    ("level_1", [], "build", RUBRIC, "expected rubric == my_score.py:score, got none"),
    ("level_1", ["build"], "sabotage", "", "expected rubric_passes > 34 "),
    ("level_2", [FIRST], "build", "", "expected selected_accuracy == 0.8375, got 0.3375"),
    ("level_2", ["build", "compare"], "sabotage", "", "expected pick_sha256 != "),
    ("level_2", ["build", "compare", FIRST], "sabotage", "", "expected selected_accuracy == 0.8375 "),
    ("level_2", ["build", "compare", LAST, "sabotage"], "again", "", "expected results.jsonl != "),
    (
        "level_2",
        ["build", "compare", BY_CHANCE, "sabotage", BY_CLOCK],
        "again",
        "",
        "expected pick_sha256 == ",
    ),
    ("level_3", ["build", "read", DOWN, "sabotage", "reflect"], "repair", "", "expected update_sha256 != "),
    ("level_3", ["build", "read", NO_CURVE_SHOWS], "sabotage", "", "expected_reward_after < 0.5, got 1"),
]


@pytest.mark.parametrize(("level", "before", "step", "left_out", "words"), MISSES, ids=range(len(MISSES)))
def test_what_does_not_fit_does_no_step_and_is_named(
    student: Student, level: str, before: list[str], step: str, left_out: str, words: str
) -> None:
    for text in before:
        if text in LEVELS[level]:
            student.go_on(level, text)
        else:
            student.write("exercises/pick_best.py" if level == "level_2" else "exercises/reinforce.py", text)
    student.type(level, step, leave_out=left_out)
    assert (next_step(level), check_level(level).state) == (step, "started")
    assert words in explain(level)


def test_a_repair_that_came_before_the_sabotage_is_none(student: Student) -> None:
    student.go_on("level_3", "build", "read")
    student.type("level_3", "repair")
    student.write("exercises/reinforce.py", DOWN)
    student.go_on("level_3", "sabotage", "reflect")
    assert "to come after your sabotage, got it before" in explain("level_3")


def test_what_was_done_stays_done(student: Student) -> None:
    """Whatever is measured later, and whatever becomes of the file."""
    do_level_2(student)
    student.write("tests/test_pick_best.py", TIES)
    student.write("exercises/pick_best.py", f"{PICK_BEST}# which no test can notice\n")
    assert student.type("level_2", "sabotage", folder="later") == 0
    student.write("exercises/pick_best.py", LAST)
    for step in ("build", "sabotage", "repair"):
        assert student.type("level_2", step, folder=f"later_{step}") == 0
    assert check_level("level_2").state == TO_READ


def test_before_it_is_measured_the_file_is_judged_as_it_is_today(student: Student) -> None:
    student.write("exercises/pick_best.py", (ROOT / "exercises" / "pick_best.py").read_text(encoding="utf-8"))
    assert check_level("level_2").state == NOT_STARTED
    student.write("exercises/pick_best.py", LAST)
    assert "the highest index of the best" in explain("level_2")
    student.write("exercises/pick_best.py", PICK_BEST)
    assert (check_level("level_2").state, next_step("level_2")) == ("started", "build")
    student.go_on("level_2", "build", "compare")
    student.write("exercises/pick_best.py", LAST)
    assert "spoiled on purpose?" in explain("level_2")
    assert next_step("level_2") == "sabotage"


# The table


def test_a_step_can_be_pasted_and_names_the_run_that_it_is_about(student: Student) -> None:
    for level, steps in LEVELS.items():
        for step in steps:
            typed = step_text(describe_step(level, step, {})).split("\n")
            assert max(len(line) for line in typed) <= 80
    student.type("level_0", "build", folder="mine")
    shown = student.lab("check", "level_0", "--id", "gate")
    assert (shown.status, shown.out.count("runs/mine ")) == (0, 1)
