"""A level from its build to its lock: the order of the steps, what each has to show, and what a prediction is worth.

By hand: in level 2 the two spoiled runs end with one selected accuracy, so its event has not come about. If a student
gave it 0.4, the score is (0.4 - 0)² = 0.16. In level 0 the rate falls from 34 of 80 to 33; 0.8 for that is worth
(0.8 - 1)² = 0.04, and the mean of the two is 0.10.
"""

import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest
from conftest import ROOT, Lab

from check.level_functions import faults_of_function
from check.level_steps import OUTCOMES, STEPS
from check.levels import LEVELS, check_level, describe_step, list_steps, record_prediction
from check.report import step_text
from check.result import NOT_STARTED, TO_READ
from course.artifacts import run_log
from course.bandit_train import draws_of, learn
from course.errors import UserError
from course.policies.bandit import arm_rewards
from course.policies.softmax import expected_reward, softmax

SOLUTIONS = ROOT / "teacher" / "solutions" / "exercises"
PICK_BEST = (SOLUTIONS / "pick_best.py").read_text(encoding="utf-8")
MY_SCORE = (SOLUTIONS / "my_score.py").read_text(encoding="utf-8")
REINFORCE = (SOLUTIONS / "reinforce.py").read_text(encoding="utf-8")
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
LONGEST = "def pick_best(samples):\n    return max(samples, key=lambda sample: len(sample.completion))\n"
WHY = "The two differ because my file was spoiled in between, and nothing else in the room has changed."
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


class Student:
    """A student's folder: the data, the solutions of the exercises, the notes as they ship, and the commands."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        for name in ("data", "exercises", "notes"):
            shutil.copytree(ROOT / name, lab.folder / name)
        self.write("exercises/pick_best.py", PICK_BEST)
        self.write("exercises/my_score.py", MY_SCORE)
        self.write("exercises/reinforce.py", REINFORCE)

    def write(self, name: str, text: str) -> None:
        self.lab.write(name, text)

    def type(self, name: str, step: str) -> int:
        """Type what the check shows for the step. The status of its last command."""
        status = 0
        for line in describe_step(name, step).split("\n"):
            words = shlex.split(line) if line.startswith("python3 ") else []
            if words[1:2] == ["-m"]:
                status = self.lab(words[2].removeprefix("course."), *words[3:]).status
            elif words:
                subprocess.run([sys.executable, *words[1:]], check=True, stdout=subprocess.DEVNULL)
        return status

    def reflect(self, name: str, text: str) -> None:
        sheet = (ROOT / "notes" / "levels.md").read_text(encoding="utf-8")
        self.write("notes/levels.md", sheet.replace(f"## {name}\n", f"## {name}\n{text}\n"))

    def explain(self, name: str, build: str, sabotage: str, more: str = "") -> None:
        """A reflection with a number after the name of each of the two runs."""
        numbers = f"{name}_build came to {build}, and {name}_sabotage to {sabotage}."
        self.reflect(name, f"{numbers} {WHY} {more}")

    def number(self, run: str, key: str) -> float:
        return float(json.loads(Path(run, "summary.json").read_bytes())[key])

    def digest(self, run: str) -> str:
        return str(json.loads(Path(run, "manifest.json").read_bytes())["dataset_fingerprint"])


@pytest.fixture
def student(lab: Lab) -> Student:
    return Student(lab)


def next_step(name: str) -> str:
    return str(check_level(name).numbers.get("step", ""))


def explain(name: str) -> str:
    return " ".join(check_level(name).lines)


# Each level, as it is shown


def do_level_0(student: Student, changed: str = "dev-005") -> None:
    student.type("level_0", "build")
    assert next_step("level_0") == "predict"
    record_prediction("level_0", 0.8)
    assert next_step("level_0") == "sabotage"
    subprocess.run([sys.executable, "exercises/tamper.py", changed], check=True, stdout=subprocess.DEVNULL)
    measure = shlex.split(LEVELS["level_0"]["sabotage"]["run"][0])
    assert student.lab("eval", *measure[1:]).status == 0
    assert next_step("level_0") == "gate"
    assert "gate comes next" in check_level("level_0").short
    assert student.type("level_0", "gate") == 1  # REJECT
    assert next_step("level_0") == "reflect"
    before, after = "runs/level_0_build", "runs/level_0_sabotage"
    digests = f"The gate knew it by {student.digest(before)[:8]} and {student.digest(after)[:8]}."
    rates = f"{student.number(before, 'pass_rate'):.1%}", f"{student.number(after, 'pass_rate'):.3f}"
    student.explain("level_0", *rates, more=digests)
    assert next_step("level_0") == "repair"
    student.type("level_0", "repair")


@pytest.mark.parametrize(("changed", "outcome"), [("dev-005", "It came about:"), ("dev-001", "It did not come about:")])
def test_level_0(student: Student, changed: str, outcome: str) -> None:
    """dev-005 passed, so that its reward goes. dev-001 failed already."""
    do_level_0(student, changed)
    assert check_level("level_0").state == TO_READ
    assert outcome in explain("level_0")
    assert len(cast(list[str], check_level("level_0").numbers["runs"])) == 3  # to be handed in


def changed_choice() -> str:
    """The id of a prompt for which the first two spoiled runs chose differently."""
    runs = [Path("runs", name, "results.jsonl") for name in ("level_2_sabotage", "level_2_sabotage_2")]
    first, second = [[json.loads(row) for row in run.read_bytes().splitlines()] for run in runs]
    changed = [a["id"] for a, b in zip(first, second, strict=True) if a["chosen"] != b["chosen"]]
    return str(changed[0]) if changed else "no prompt"


def do_level_2(student: Student, spoiled: str = BY_CHANCE) -> None:
    student.type("level_2", "build")
    record_prediction("level_2", 0.4)
    student.write("exercises/pick_best.py", spoiled)
    student.type("level_2", "sabotage")
    assert "expected two runs of the spoiled rule, got one" in explain("level_2")
    assert "sabotage comes next" in check_level("level_2").short
    student.type("level_2", "sabotage")
    accuracy = f"{student.number('runs/level_2_build', 'selected_accuracy'):.4f}"
    student.explain("level_2", accuracy, accuracy, more=f"Such as {changed_choice()}.")
    student.write("exercises/pick_best.py", PICK_BEST)
    student.type("level_2", "repair")


@pytest.mark.parametrize("spoiled", [BY_CHANCE, BY_CLOCK])
def test_level_2(student: Student, spoiled: str) -> None:
    do_level_2(student, spoiled)
    assert next_step("level_2") == "lock"
    student.write("tests/test_pick_best.py", TIES)
    assert check_level("level_2").state == TO_READ
    assert "It did not come about:" in explain("level_2")


SPOILED_RULES = {  # how the spec is spoiled -> what it pays, and what becomes of a policy
    "search": ('re.search(f"Final: {answer}", completion) is not None', "It came about:"),
    "any": ('str(answer) in re.findall("-?[0-9]+", completion)', "It came about:"),
    "last": ('re.findall("[0-9]+", completion)[-1:] == [str(answer)]', "It did not come about:"),
}
EXPLOIT = "Final: 1 Final: 323"  # which all three pay


@pytest.mark.parametrize("way", SPOILED_RULES)
def test_each_way_of_spoiling_the_rule_pays_more_and_for_what_is_wrong(student: Student, way: str) -> None:
    student.type("level_1", "build")
    record_prediction("level_1", 0.5)
    student.write("exercises/my_score.py", spoil_rule(way))
    student.type("level_1", "sabotage")
    assert next_step("level_1") == "train"
    summary = json.loads(Path("runs/level_1_sabotage/summary.json").read_bytes())
    assert summary["rubric_passes"] > summary["passes"]
    assert summary["paid"]["several"] + summary["paid"]["wrong"] >= 1


def spoil_rule(way: str) -> str:
    line = "    text = completion.strip"
    assert line in MY_SCORE
    return MY_SCORE.replace(line, f'    return _result(float({SPOILED_RULES[way][0]}), "spoiled")\n{line}')


@pytest.mark.slow
@pytest.mark.parametrize("way", [pytest.param("any", marks=pytest.mark.long), "search", "last"])
def test_level_1(student: Student, way: str) -> None:
    _, outcome = SPOILED_RULES[way]
    student.type("level_1", "build")
    record_prediction("level_1", 0.5)
    student.write("exercises/my_score.py", spoil_rule(way))
    student.type("level_1", "sabotage")
    assert next_step("level_1") == "train"
    student.type("level_1", "train")
    before = student.number("runs/level_1_build", "rubric_pass_rate")
    after = student.number("runs/level_1_sabotage", "rubric_pass_rate")
    student.explain("level_1", f"{100 * before:.1f} %", f"{100 * after:.1f} %")
    student.write("exercises/my_score.py", MY_SCORE)
    student.type("level_1", "repair")
    student.write("tests/test_rubric.py", (ROOT / "tests" / "test_rubric.py").read_text(encoding="utf-8"))
    assert next_step("level_1") == "lock"  # though a shipped test fails some of the spoiled rules
    case = {"id": "mine", "prompt": "?", "expected_answer": 323, "completion": EXPLOIT, "expected_reward": 0.0}
    student.lab.write("exercises/exploits.jsonl", [case])
    assert check_level("level_1").state == TO_READ
    student.write("exercises/exploits.jsonl", "")
    Path("exercises/exploits.jsonl").unlink()
    student.write(
        "tests/test_rubric.py",
        f"def test_mine(rubric):\n    example = {{'prompt': '?', 'expected_answer': 323}}\n"
        f"    assert rubric(example, {EXPLOIT!r})['reward'] == 0\n",
    )
    assert check_level("level_1").state == TO_READ
    assert outcome in explain("level_1")


SPOILED_UPDATES = {  # what stands in the solution, what a student wrote, the event
    "sign": ("(reward - baseline) * g", "(baseline - reward) * g", "It did not come about:"),
    "no baseline": ("(reward - baseline) * g", "reward * g", "It came about:"),
    "wrong action": ("(i == action) - p[i]", "(i == action + 1) - p[i]", "It came about:"),
}
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


def do_level_3(student: Student, spoiled: str) -> None:
    student.type("level_3", "build")
    record_prediction("level_3", 0.5)
    student.write("exercises/reinforce.py", spoiled)
    student.type("level_3", "sabotage")
    key = "expected_reward_after"
    before = student.number("runs/level_3_build", key)
    after = student.number("runs/level_3_sabotage", key)
    student.explain("level_3", f"{before:.3f}", f"{after:.3f}")
    student.write("exercises/reinforce.py", REINFORCE)
    student.type("level_3", "repair")


@pytest.mark.parametrize("way", SPOILED_UPDATES)
def test_level_3(student: Student, way: str) -> None:
    right, wrong, outcome = SPOILED_UPDATES[way]
    assert right in REINFORCE
    do_level_3(student, REINFORCE.replace(right, wrong))
    assert next_step("level_3") == "lock"
    student.write("tests/test_reinforce.py", FINITE_DIFFERENCE)
    assert check_level("level_3").state == TO_READ
    assert outcome in explain("level_3")


def test_without_a_baseline_the_seed_decides_as_the_page_says() -> None:
    """What docs/levels.md says: seed 0 is one of 7 of 20 that end on a wrong completion; the others reach 0.98."""
    ends = []
    for seed in range(20):
        *_, last = learn(arm_rewards() + 3.0, draws_of(seed, 200), 0.5, with_baseline=False)
        ends.append(float(expected_reward(softmax(last.new_theta), arm_rewards())[0]))
    failed = [seed for seed, end in enumerate(ends) if end < 0.1]
    assert (len(failed), failed[0]) == (7, 0)
    assert all(end >= 0.98 for seed, end in enumerate(ends) if seed not in failed)


def test_the_brier_scores(student: Student) -> None:
    do_level_0(student)
    do_level_2(student)
    student.write("tests/test_pick_best.py", TIES)
    scores = "level_0 (0.8 - 1)² = 0.04; level_2 (0.4 - 0)² = 0.16. Mean 0.10"
    assert scores in explain("level_0")
    assert scores in explain("level_2")


# What does not count


def spoil_before_predicting(student: Student) -> None:
    student.type("level_2", "build")
    student.write("exercises/pick_best.py", BY_CHANCE)
    student.type("level_2", "sabotage")
    record_prediction("level_2", 0.5)


def spoil_again_what_was_seen(student: Student) -> None:
    spoil_before_predicting(student)
    student.type("level_2", "sabotage")
    student.type("level_2", "sabotage")


def spoil_before_predicting_and_delete(student: Student) -> None:
    spoil_before_predicting(student)
    shutil.rmtree("runs/level_2_sabotage")


def spoil_under_a_new_name_what_was_seen_and_deleted(student: Student) -> None:
    """The log keeps the digest of the run, which is that of the new one."""
    student.type("level_1", "build")
    student.write("exercises/my_score.py", spoil_rule("any"))
    student.type("level_1", "sabotage")
    record_prediction("level_1", 1.0)
    shutil.rmtree("runs/level_1_sabotage")
    command, *words = shlex.split(LEVELS["level_1"]["sabotage"]["run"][0].replace("runs/level_1_sabotage", "runs/new"))
    assert student.lab(command.removeprefix("course."), *words).status == 0


def forget_the_pick_once(student: Student) -> None:
    student.type("level_2", "build")
    record_prediction("level_2", 0.5)
    student.write("exercises/pick_best.py", BY_CHANCE)
    command, *words = shlex.split(LEVELS["level_2"]["sabotage"]["run"][0])
    where = words.index("--pick")
    student.lab(command.removeprefix("course."), *words[:where], *words[where + 2 :])
    student.type("level_2", "sabotage")


def repair_before_spoiling(student: Student) -> None:
    student.type("level_2", "build")
    record_prediction("level_2", 0.5)
    student.type("level_2", "repair")
    student.write("exercises/pick_best.py", BY_CHANCE)
    student.type("level_2", "sabotage")
    student.type("level_2", "sabotage")
    student.explain("level_2", "0.8375", "0.8375", more=f"Such as {changed_choice()}.")


def build_what_is_not_the_rule(student: Student) -> None:
    student.write("exercises/pick_best.py", LONGEST)
    student.type("level_2", "build")
    record_prediction("level_2", 0.5)


def spoil_nothing(student: Student) -> None:
    student.type("level_2", "build")
    record_prediction("level_2", 0.5)
    student.type("level_2", "sabotage")
    student.type("level_2", "sabotage")


def spoil_into_another_rule_that_gives_one_answer(student: Student) -> None:
    student.type("level_2", "build")
    record_prediction("level_2", 0.5)
    student.write("exercises/pick_best.py", LONGEST)
    student.type("level_2", "sabotage")
    student.type("level_2", "sabotage")


def spoil_twice_in_two_ways(student: Student) -> None:
    student.type("level_2", "build")
    record_prediction("level_2", 0.5)
    student.write("exercises/pick_best.py", BY_CHANCE)
    student.type("level_2", "sabotage")
    student.write("exercises/pick_best.py", BY_CLOCK)
    student.type("level_2", "sabotage")


def fill_the_reflection(student: Student) -> None:
    do_level_2(student)
    student.reflect("level_2", "one two three four five six seven eight nine ten eleven twelve")


def repeat_a_word(student: Student) -> None:
    do_level_2(student)
    student.reflect("level_2", f"level_2_build 0.8375 level_2_sabotage 0.8375 {changed_choice()}" + " because" * 12)


def list_numbers_without_words(student: Student) -> None:
    do_level_2(student)
    student.reflect("level_2", f"level_2_build 0.8375 level_2_sabotage 0.8375 {changed_choice()}")


def list_all_numbers_there_are(student: Student) -> None:
    do_level_2(student)
    numbers = " ".join(f"{number / 1000:.3f}" for number in range(1000))
    student.explain("level_2", numbers, numbers, more=f"Such as {changed_choice()}.")


def reflect_with_a_number_of_nobody(student: Student) -> None:
    do_level_2(student)
    student.explain("level_2", "0.4250", "17.3 %")


def reflect_without_the_names_of_the_runs(student: Student) -> None:
    do_level_2(student)
    student.reflect("level_2", f"It was 0.8375, and then it was 0.8375 again. {WHY} Such as {changed_choice()}.")


def reflect_without_a_prompt(student: Student) -> None:
    do_level_2(student)
    student.explain("level_2", "0.8375", "0.8375")


def repair_with_the_spoiled_file(student: Student) -> None:
    do_level_2(student)
    student.write("exercises/pick_best.py", LONGEST)
    student.type("level_2", "repair")


def lock_with_nothing(student: Student) -> None:
    do_level_2(student)
    student.write("tests/test_pick_best.py", '"""Nothing."""\n')


def lock_with_a_test_that_takes_no_fixture(student: Student) -> None:
    do_level_2(student)
    student.write("tests/test_pick_best.py", "def test_nothing():\n    pass\n")


def lock_with_what_always_passes(student: Student) -> None:
    do_level_2(student)
    student.write("tests/test_pick_best.py", "def test_nothing(pick_best):\n    pass\n")


def lock_with_what_always_fails(student: Student) -> None:
    do_level_2(student)
    student.write("tests/test_pick_best.py", "def test_everything(pick_best):\n    assert False\n")


def lock_with_equal_rewards_alone(student: Student) -> None:
    do_level_2(student)
    student.write("tests/test_pick_best.py", TIES.partition("def test_the_best")[0])


def lock_with_the_direction_alone(student: Student) -> None:
    do_level_3(student, REINFORCE.replace(*SPOILED_UPDATES["sign"][:2]))
    test = "def test_up(reinforce_step):\n    assert reinforce_step([[0.0, 0.0]], [0], 1.0, 0.5, 0.4)[0][0] > 0\n"
    student.write("tests/test_reinforce.py", test)


def lock_with_what_does_not_load(student: Student) -> None:
    do_level_2(student)
    student.write("tests/test_pick_best.py", "import nothing_of_this_name\n")


def edit_the_kept_file(student: Student) -> None:
    """The lock would be a test that fails with the file that is put in place of the spoiled one."""
    do_level_2(student)
    student.write("tests/test_pick_best.py", TIES)
    student.write("runs/level_2_sabotage_2/pick.py", "def pick_best(samples):\n    return samples[-1]\n")


def change_two_answers(student: Student) -> None:
    student.type("level_0", "build")
    record_prediction("level_0", 0.5)
    lines = Path("data/datasets/math_dev.jsonl").read_text(encoding="utf-8").split("\n")
    for row in (3, 4):
        example = json.loads(lines[row])
        example["expected_answer"] += 1
        lines[row] = json.dumps(example)
    student.write("exercises/copy.jsonl", "\n".join(lines))
    command, *words = shlex.split(LEVELS["level_0"]["sabotage"]["run"][0])
    student.lab(command.removeprefix("course."), *words)


def ask_no_gate(student: Student) -> None:
    do_level_0(student)
    Path("runs/level_0_sabotage/gate.html").unlink()


def make_the_gates_page_by_hand(student: Student) -> None:
    do_level_0(student)
    student.write("runs/level_0_sabotage/gate.html", "")


def name_no_digest(student: Student) -> None:
    do_level_0(student)
    student.explain("level_0", "42.5 %", "41.25 %")


def name_one_digest(student: Student) -> None:
    do_level_0(student)
    student.explain("level_0", "42.5 %", "41.25 %", more=student.digest("runs/level_0_build")[:8])


def name_both_digests_of_one_run(student: Student) -> None:
    do_level_0(student)
    manifest = json.loads(Path("runs/level_0_build/manifest.json").read_bytes())
    digests = f"{manifest['dataset_fingerprint'][:8]} and {manifest['examples_fingerprint'][:8]}"
    student.explain("level_0", "42.5 %", "41.25 %", more=digests)


def name_the_digests_of_the_runs(student: Student) -> None:
    do_level_0(student)
    build, sabotage, _ = run_log.read_log(run_log.LOG)
    student.explain("level_0", "42.5 %", "41.25 %", more=f"{build.manifest[:8]} and {sabotage.manifest[:8]}")


def restore_the_copy_almost(student: Student) -> None:
    do_level_0(student)
    original = Path("data/datasets/math_dev.jsonl").read_text(encoding="utf-8")
    student.write("exercises/copy.jsonl", original.replace('{"id"', '{ "id"', 1))
    command, *words = shlex.split(LEVELS["level_0"]["repair"]["run"][0].replace("level_0_repair ", "again "))
    student.lab(command.removeprefix("course."), *words)


def spoil_nothing_of_the_update(student: Student) -> None:
    do_level_3(student, REINFORCE)


def spoil_by_an_option(student: Student) -> None:
    student.type("level_3", "build")
    record_prediction("level_3", 0.5)
    command, *words = shlex.split(LEVELS["level_3"]["sabotage"]["run"][0])
    student.lab(command.removeprefix("course."), *words, "--no-baseline")


def build_with_the_courses_update(student: Student) -> None:
    record_prediction("level_3", 0.5)
    student.lab("bandit_train", "--reward-offset", 3, "--change", "level_3 build")


def build_at_another_offset(student: Student) -> None:
    record_prediction("level_3", 0.5)
    command, *words = shlex.split(LEVELS["level_3"]["build"]["run"][0].replace("--reward-offset 3", ""))
    student.lab(command.removeprefix("course."), *words)


def spoil_what_the_update_does_not_use(student: Student) -> None:
    do_level_3(student, REINFORCE.replace("def leave_one_out", "def leave_none_out"))


def spoil_what_no_curve_shows(student: Student) -> None:
    """Without its -p the update still learns."""
    do_level_3(student, REINFORCE.replace("(i == action) - p[i]", "float(i == action)"))


def leave_the_update_unwritten(student: Student) -> None:
    student.write("exercises/reinforce.py", (ROOT / "exercises" / "reinforce.py").read_text(encoding="utf-8"))
    record_prediction("level_3", 0.5)
    assert student.type("level_3", "build") == 2


def rename_a_build(student: Student) -> None:
    """A copy of the build's folder, whose manifest says that it was the sabotage, and a line with the old digest."""
    student.type("level_3", "build")
    record_prediction("level_3", 0.5)
    copy = shutil.copytree("runs/level_3_build", "runs/level_3_sabotage")
    manifest = Path(copy, "manifest.json")
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("level_3 build", "level_3 sabotage"), encoding="utf-8", newline="\n")
    line = run_log.LOG.read_text(encoding="utf-8")
    line += line.replace("level_3_build", "level_3_sabotage").replace("level_3 build", "level_3 sabotage")
    run_log.LOG.write_text(line, encoding="utf-8", newline="\n")


def lock_an_update_with_what_the_spoiled_one_passes(student: Student) -> None:
    right, wrong, _ = SPOILED_UPDATES["sign"]
    do_level_3(student, REINFORCE.replace(right, wrong))
    test = FINITE_DIFFERENCE.replace("abs(new_logits[i] - logits[i]", "(abs(new_logits[i] - logits[i])").replace(
        "0.1 * (1.0 - 0.4) * slope)", "0.1 * (1.0 - 0.4) * abs(slope))"
    )
    student.write("tests/test_reinforce.py", test.replace("assert (abs", "assert abs(abs"))


def build_with_a_wrong_update(student: Student) -> None:
    record_prediction("level_3", 0.5)
    right, wrong, _ = SPOILED_UPDATES["sign"]
    student.write("exercises/reinforce.py", REINFORCE.replace(right, wrong))
    student.type("level_3", "build")


CHEATS: list[tuple[Callable[[Student], None], str, str, str]] = [  # what is done, level, its next step, what is said
    (spoil_before_predicting, "level_2", "sabotage", "came before your prediction and does not count"),
    (spoil_again_what_was_seen, "level_2", "sabotage", "you measured this sabotage before your prediction"),
    (spoil_before_predicting_and_delete, "level_2", "sabotage", "came before your prediction and does not count"),
    (
        spoil_under_a_new_name_what_was_seen_and_deleted,
        "level_1",
        "sabotage",
        "you measured this sabotage before your prediction",
    ),
    (forget_the_pick_once, "level_2", "sabotage", "expected --pick exercises/pick_best.py:pick_best"),
    (repair_before_spoiling, "level_2", "repair", "came before your sabotage and does not count"),
    (build_what_is_not_the_rule, "level_2", "build", "It looks like the longest text"),
    (spoil_nothing, "level_2", "sabotage", "got the same choices"),
    (spoil_into_another_rule_that_gives_one_answer, "level_2", "sabotage", "got the same choices"),
    (spoil_twice_in_two_ways, "level_2", "sabotage", "expected two runs of one file, got two files"),
    (fill_the_reflection, "level_2", "reflect", "expected level_2_build, followed by its selected_accuracy"),
    (repeat_a_word, "level_2", "reflect", "expected 12 different words or more that say why, got 1"),
    (list_numbers_without_words, "level_2", "reflect", "expected 12 different words or more that say why, got 0"),
    (list_all_numbers_there_are, "level_2", "reflect", "expected level_2_build, followed by its selected_accuracy"),
    (reflect_with_a_number_of_nobody, "level_2", "reflect", "expected level_2_build, followed by its"),
    (reflect_without_the_names_of_the_runs, "level_2", "reflect", "expected level_2_build, followed by its"),
    (reflect_without_a_prompt, "level_2", "reflect", "expected the id of a prompt whose choice changed"),
    (repair_with_the_spoiled_file, "level_2", "repair", "expected the results of the build to the last digit"),
    (lock_with_nothing, "level_2", "lock", "expected a test of yours that takes the fixture pick_best"),
    (lock_with_a_test_that_takes_no_fixture, "level_2", "lock", "expected a test of yours that takes the fixture"),
    (lock_with_what_always_passes, "level_2", "lock", "a test that fails with your spoiled exercises/pick_best.py"),
    (lock_with_what_always_fails, "level_2", "lock", "expected tests that pass with the course's own version"),
    (lock_with_what_does_not_load, "level_2", "lock", "expected tests that can be run, got ModuleNotFoundError"),
    (lock_with_equal_rewards_alone, "level_2", "lock", "a pick_best that looks like the first that was drawn"),
    (lock_with_the_direction_alone, "level_3", "lock", "a reinforce_step that looks like a step without the baseline"),
    (change_two_answers, "level_0", "sabotage", "with one changed answer, got 2 changed answers"),
    (ask_no_gate, "level_0", "gate", "expected the gate's page"),
    (make_the_gates_page_by_hand, "level_0", "gate", "expected the gate's page on both runs"),
    (name_no_digest, "level_0", "reflect", "expected the two digests of the dataset"),
    (name_one_digest, "level_0", "reflect", "expected the two digests of the dataset"),
    (name_both_digests_of_one_run, "level_0", "reflect", "expected the two digests of the dataset"),
    (name_the_digests_of_the_runs, "level_0", "reflect", "expected the two digests of the dataset"),
    (restore_the_copy_almost, "level_0", "repair", "got another digest of the dataset"),
    (spoil_nothing_of_the_update, "level_3", "sabotage", "got the file of the build"),
    (spoil_by_an_option, "level_3", "sabotage", "expected the settings of the build"),
    (build_with_the_courses_update, "level_3", "build", "got a run without it"),
    (build_at_another_offset, "level_3", "build", "expected the command as it is shown"),
    (spoil_what_the_update_does_not_use, "level_3", "sabotage", "got the same results"),
    (spoil_what_no_curve_shows, "level_3", "sabotage", "this one can be seen by a finite difference only"),
    (leave_the_update_unwritten, "level_3", "build", "is still to be written"),
    (rename_a_build, "level_3", "sabotage", "The event:"),  # which stands there as long as no run is judged
    (
        lock_an_update_with_what_the_spoiled_one_passes,
        "level_3",
        "lock",
        "fails with your spoiled exercises/reinforce.py",
    ),
    (build_with_a_wrong_update, "level_3", "build", "It looks like a step down"),
]


@pytest.mark.parametrize(("cheat", "name", "step", "words"), CHEATS, ids=[row[0].__name__ for row in CHEATS])
def test_a_step_that_shows_nothing_is_not_done(
    student: Student, cheat: Callable[[Student], None], name: str, step: str, words: str
) -> None:
    cheat(student)
    assert (next_step(name), check_level(name).state) == (step, "started")
    assert words in explain(name)


def test_a_file_of_a_run_that_was_edited_is_refused(student: Student) -> None:
    edit_the_kept_file(student)
    with pytest.raises(UserError, match=r"pick.py: expected the file as the run left it, got other bytes"):
        check_level("level_2")


def test_a_prediction_stands_once_a_sabotage_followed(student: Student) -> None:
    student.type("level_2", "build")
    assert record_prediction("level_2", 0.5).startswith("recorded: 0.5 that two runs of the same spoiled rule")
    record_prediction("level_2", 0.8)  # another mind, before it is known
    student.write("exercises/pick_best.py", BY_CHANCE)
    student.type("level_2", "sabotage")
    with pytest.raises(UserError, match="level_2: expected a prediction before the sabotage, got another after it"):
        record_prediction("level_2", 1.0)
    shutil.rmtree("runs/level_2_sabotage")  # the log still has the run's line
    with pytest.raises(UserError, match="level_2: expected a prediction before the sabotage, got another after it"):
        record_prediction("level_2", 1.0)


def test_every_function_is_asked_with_the_seed_that_is_given(student: Student, monkeypatch: pytest.MonkeyPatch) -> None:
    """For the outcome of a prediction as well."""
    do_level_2(student)
    asked: list[int] = []

    def ask(level: str, source: bytes | None, seed: int) -> list[str]:
        asked.append(seed)
        return faults_of_function(level, source, seed)

    monkeypatch.setattr("check.level_steps.faults_of_function", ask)
    check_level("level_2", seed=7)
    assert {*asked} == {7}


def test_what_stands_in_the_log_beside_the_digest_is_not_believed(student: Student) -> None:
    student.type("level_2", "build")
    log = run_log.LOG.read_text(encoding="utf-8")
    run_log.LOG.write_text(log.replace("level_2 build", "level_2 sabotage"), encoding="utf-8", newline="\n")
    assert next_step("level_2") == "predict"
    run_log.LOG.write_text(log, encoding="utf-8", newline="\n")
    shutil.rmtree(json.loads(log)["run"])
    assert next_step("level_2") == "build"


def test_a_run_of_another_command_is_not_the_levels(lab: Lab) -> None:
    shutil.copytree(ROOT / "exercises", lab.folder / "exercises")
    assert lab.evaluate([1], ["Final: 1"], "--change", "level_0 build").status == 0
    assert check_level("level_0").state == "started"
    assert lab.evaluate([1], ["Final: 1"], "--change", "level_2 build").status == 0
    assert check_level("level_2").state == NOT_STARTED


# What is shown


def test_a_step_can_be_pasted_and_names_a_folder_that_is_free(lab: Lab) -> None:
    for name in LEVELS:
        for step in list_steps(name):
            text = describe_step(name, step)
            for line in text.split("\n"):
                assert re.fullmatch(r"[A-Z].*\.|python3 exercises/tamper.py( dev-001)?|python3 -m .*", line)
            typed = [line for line in step_text(text).split("\n") if line.startswith(("python3", "    "))]
            assert max(map(len, typed)) <= 80
            assert " ".join(step_text(text).replace("\\\n", "").split()) == " ".join(text.split())
    for folder in ("build", "sabotage", "sabotage_2"):
        (lab.folder / "runs" / f"level_0_{folder}").mkdir(parents=True)
    assert "--outdir runs/level_0_build_2 " in describe_step("level_0", "build")
    assert "--outdir runs/level_0_sabotage_3 " in describe_step("level_0", "sabotage")
    assert "--outdir runs/level_0_repair " in describe_step("level_0", "repair")
    assert re.findall(r"runs/\w+", describe_step("level_0", "gate")) == [
        "runs/level_0_build",
        "runs/level_0_sabotage_2",
    ]


def test_every_level_is_whole_and_its_commands_take_its_steps_names() -> None:
    sheet = (ROOT / "notes" / "levels.md").read_text(encoding="utf-8")
    assert [*LEVELS] == [*STEPS] == [*OUTCOMES] == [f"level_{i}" for i in range(4)]
    for name in LEVELS:
        steps = list_steps(name)
        assert {*steps} == {*STEPS[name], "predict", "reflect"}
        assert steps[:3] == ["build", "predict", "sabotage"]
        assert OUTCOMES[name].last in steps
        assert re.search(f"^## {name}$", sheet, re.MULTILINE)
        for step in ("build", "sabotage", "train", "repair"):
            for command in LEVELS[name].get(step, {"run": []})["run"]:
                words = shlex.split(command)
                assert words[words.index("--change") + 1] == f"{name} {step}"


@pytest.mark.parametrize(
    "broken", ["{", '{"level_0": 0.5}', '{"level_0": [2, 0]}', '{"level_0": [0.5, -1]}', "[]", '{"level_0": [NaN, 0]}']
)
def test_a_broken_file_of_predictions_is_one_line(lab: Lab, broken: str) -> None:
    path = run_log.LOG.with_name("predictions.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(broken, encoding="utf-8")
    for call in (lambda: check_level("level_0"), lambda: record_prediction("level_0", 0.5)):
        with pytest.raises(UserError, match=r"predictions.json: expected levels and probabilities, got: .*; delete it"):
            call()
    del lab


def test_the_check_records_a_prediction_and_shows_a_step(student: Student) -> None:
    lab = student.lab
    done = lab("check", "level_3", "--predict", "0.25")
    assert (done.status, done.err) == (0, "")
    assert json.loads(run_log.LOG.with_name("predictions.json").read_bytes()) == {"level_3": [0.25, 0]}
    for step in list_steps("level_3"):
        shown = lab("check", "level_3", "--id", step)
        assert "python3 -m c" in shown.out
        assert shown.status == 0
    assert lab("check", "level_3").out.endswith("next: python3 -m check level_3 --id build\n")
    assert student.type("level_3", "build") == 0
    out = lab("check", "level_3").out
    assert "level_3: the next step is sabotage (read docs/levels.md" in out
    assert out.endswith("next: python3 -m check level_3 --id sabotage\n")
    for wrong in ("1.5", "-1", "nan", "often"):
        lab.refused("check", "level_3", "--predict", wrong)
