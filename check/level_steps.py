"""Machinery: what the runs of each step of each level have to show.

Each ``fault_of_…`` says in one to three lines why a step is not done, or is an empty text if the step is done.

The runs are read from the log and sealed by their digests, so a step is judged by what was measured and not by its
name. A build has to be right, and so does the function that ran in it. A sabotage has to differ from the build in the
student's file alone, and the difference has to show. A repair has to give the build's numbers again.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from check.level_functions import faults_of_function
from check.lock import Files, fault_of_pick_tests, fault_of_rubric_tests, fault_of_step_tests
from check.runs import LoggedRun
from course.artifacts.records import PICK_SOURCE, RESULTS, RUBRIC_SOURCE, UPDATE_SOURCE
from course.datasets.files import LAB, sha256_of
from course.policies.train_config import MEMORISE

_DIGEST_SHOWN = 12  # characters of a digest that the gate shows
_DATASET = "data/datasets/math_dev.jsonl"
_ROLLOUTS = "data/rollouts/frozen_rollouts_dev.jsonl"
_PACK = "data/rollouts/selection_pack_dev.jsonl"
_LEARNED = 0.95  # the expected reward that a right update reaches
_FAILED = 0.5  # below it an update has failed, as a sabotage has to
_SURE = 0.9  # the probability of one completion from which on a policy has settled on it
ONE_RUN = "expected two runs of the spoiled rule, got one; ask for this step again and measure a second time"
_TESTS = Path("tests")
_EXPLOITS = Path("exercises") / "exploits.jsonl"


class History(NamedTuple):
    """The runs of a level that count, in the order of the log: the newest stands last.

    A sabotage counts if it came after the prediction. The build is the newest run before the first such sabotage. A
    training counts if it came after the first such sabotage, a repair if it came after the last.

    ``seed``: of what the checks draw.
    """

    build: LoggedRun
    sabotages: Sequence[LoggedRun]
    trainings: Sequence[LoggedRun] = ()
    repairs: Sequence[LoggedRun] = ()
    seed: int = 0

    @property
    def sabotage(self) -> LoggedRun:
        return self.sabotages[-1]

    @property
    def repair(self) -> LoggedRun:
        return self.repairs[-1]

    def fault_of_function(self, level: str, source: bytes) -> str:
        """What is wrong with the student's function as it ran."""
        return "\n".join(faults_of_function(level, source, self.seed))

    def files(self, name: str) -> Files:
        """The student's file, which a run keeps under this name, as it was spoiled and as it is mended."""
        return Files(self.sabotage.read(name), self.repair.read(name))


def fault_of_inputs(run: LoggedRun, dataset: str, completions: str) -> str:
    if run.manifest.dataset_fingerprint != sha256_of(LAB / dataset):
        return f"expected {dataset}, got a run of other examples"
    if run.manifest.completions_fingerprint != sha256_of(LAB / completions):
        return f"expected {completions}, got a run of other completions"
    return ""


# Level 0


def fault_of_dev_run(history: History) -> str:
    return fault_of_inputs(history.build, _DATASET, _ROLLOUTS)


def fault_of_copy(history: History) -> str:
    build = history.build
    sabotage = history.sabotage
    if sabotage.manifest.completions_fingerprint != build.manifest.completions_fingerprint:
        return "expected the completions of the build, got others"
    answers = {row["id"]: row["expected_answer"] for row in build.rows()}
    changed = [row["id"] for row in sabotage.rows() if answers.get(row["id"]) != row["expected_answer"]]
    if sabotage.manifest.prompts_fingerprint != build.manifest.prompts_fingerprint:
        return f"expected a copy of {_DATASET} with the same ids and prompts, got others"
    if len(changed) != 1:
        return f"expected a copy of {_DATASET} with one changed answer, got {len(changed)} changed answers"
    return ""


def fault_of_question(history: History) -> str:
    """The gate has to be asked with --report, which leaves its page in the folder of a spoiled run."""
    for sabotage in history.sabotages:
        page = LAB / sabotage.name / "gate.html"
        digests = [str(run.manifest.dataset_fingerprint)[:_DIGEST_SHOWN] for run in (history.build, sabotage)]
        if page.is_file() and all(digest in page.read_text(encoding="utf-8", errors="replace") for digest in digests):
            return ""
    return "expected the gate's page on both runs in the folder of the spoiled run, got none; ask it with --report"


def fault_of_restored_copy(history: History) -> str:
    if history.repair.manifest.dataset_fingerprint != history.build.manifest.dataset_fingerprint:
        return "expected the bytes of the original, got another digest of the dataset"
    return fault_of_number(history, "pass_rate")


def digests_that_noticed(history: History) -> list[tuple[str, str]]:
    """The pairs of digests that the gate names, of the build and of the sabotage: the first eight characters of each.

    The first pair is of the datasets, the second of what was measured of these. Either shows what differs.
    """
    pairs = []
    for name in ("dataset_fingerprint", "examples_fingerprint"):
        before, after = [str(getattr(run.manifest, name))[:8] for run in (history.build, history.sabotage)]
        pairs.append((before, after))
    return pairs


# Level 1


def fault_of_spec(history: History) -> str:
    return fault_of_rule(history, history.build)


def fault_of_rule(history: History, run: LoggedRun) -> str:
    """The student's rule has to be the spec, and has to pay for exactly what the strict scorer pays for."""
    fault = fault_of_inputs(run, _DATASET, _ROLLOUTS) or fault_of_name(run, "rubric", "my_score.py:score")
    if fault:
        return fault
    fault = history.fault_of_function("level_1", run.read(RUBRIC_SOURCE))
    if fault:
        return fault
    passes = run.summary["passes"]
    paid = sum(run.summary["paid"].values())
    if run.summary["rubric_passes"] != passes or paid != passes or run.summary["right_refused"]:
        return f"expected the {passes} right lines paid and nothing else, got {paid} paid"
    return ""


def fault_of_spoiled_rule(history: History) -> str:
    run = history.sabotage
    fault = fault_of_inputs(run, _DATASET, _ROLLOUTS) or fault_of_name(run, "rubric", "my_score.py:score")
    if fault:
        return fault
    if run.summary["rubric_passes"] <= history.build.summary["rubric_passes"]:
        return "expected a rule that pays more of the recorded completions than your build, got no more"
    if not run.summary["paid"]["several"] and not run.summary["paid"]["wrong"]:
        return "expected a rule that pays a wrong value or several answers, got right values in other forms only"
    return ""


def fault_of_training(history: History) -> str:
    manifest = history.trainings[-1].manifest
    spoiled = [run.manifest.outputs.get(RUBRIC_SOURCE) for run in history.sabotages]
    if RUBRIC_SOURCE not in manifest.outputs or manifest.outputs[RUBRIC_SOURCE] not in spoiled:
        return "expected a training on the spoiled rule that was measured, got one on another file"
    if any(manifest.settings.get(name) != value for name, value in MEMORISE.settings().items() if name != "rubric"):
        return "expected the training of the preset memorise, got other settings"
    return ""


def fault_of_mended_rule(history: History) -> str:
    return fault_of_rule(history, history.repair)


def fault_of_spec_lock(history: History) -> str:
    return fault_of_rubric_tests(_TESTS / "test_rubric.py", _EXPLOITS, history.files(RUBRIC_SOURCE))


# Level 2


def fault_of_first_choice(history: History) -> str:
    return fault_of_choice(history, history.build)


def fault_of_choice(history: History, run: LoggedRun) -> str:
    """The rule has to be the one of its sentences, and each choice the first sample that has the highest reward."""
    fault = fault_of_pick(run) or history.fault_of_function("level_2", run.read(PICK_SOURCE))
    if fault:
        return fault
    wrong = [row["id"] for row in run.rows() if row["rewards"].index(max(row["rewards"])) != row["chosen"]]
    if wrong:
        return f"expected the first of the best of each prompt, got another choice for {len(wrong)}, such as {wrong[0]}"
    return ""


def fault_of_pick(run: LoggedRun) -> str:
    fault = fault_of_inputs(run, _DATASET, _PACK) or fault_of_name(run, "pick", "pick_best.py:pick_best")
    if not fault and run.manifest.samples_per_prompt != 4:
        return f"expected --n 4, got {run.manifest.samples_per_prompt}"
    return fault


def fault_of_spoiled_choice(history: History) -> str:
    for run in history.sabotages[-2:]:
        fault = fault_of_pick(run)
        if fault:
            return fault
    if len(history.sabotages) < 2:
        return ONE_RUN
    first, second = history.sabotages[-2:]
    if first.manifest.outputs[PICK_SOURCE] != second.manifest.outputs[PICK_SOURCE]:
        return "expected two runs of one file, got two files; measure the same file once more"
    if not differing_choices(history):
        return "expected a rule that chooses otherwise in its second run, got the same choices"
    return ""


def differing_choices(history: History) -> list[str]:
    """The ids of the prompts for which the newest two runs of the spoiled rule chose differently."""
    first, second = history.sabotages[-2:]
    chosen = {row["id"]: row["chosen"] for row in first.rows()}
    return [row["id"] for row in second.rows() if chosen.get(row["id"]) != row["chosen"]]


def fault_of_mended_choice(history: History) -> str:
    if history.repair.manifest.outputs[RESULTS] != history.build.manifest.outputs[RESULTS]:
        return "expected the results of the build to the last digit, got others"
    return fault_of_choice(history, history.repair)


def fault_of_choice_lock(history: History) -> str:
    return fault_of_pick_tests(_TESTS / "test_pick_best.py", history.files(PICK_SOURCE))


# Level 3


def fault_of_update(history: History) -> str:
    return fault_of_learning(history, history.build)


def fault_of_learning(history: History, run: LoggedRun) -> str:
    fault = fault_of_name(run, "update", "reinforce.py:reinforce_step")
    fault = fault or history.fault_of_function("level_3", run.read(UPDATE_SOURCE))
    if fault:
        return fault
    typed = {"reward_offset": 3.0, "steps": 200, "lr": 0.5, "baseline": True}
    if run.manifest.seed != 0 or any(run.manifest.settings.get(name) != value for name, value in typed.items()):
        return "expected the command as it is shown, got other settings"
    reached = run.summary["expected_reward_after"]
    if reached < _LEARNED:
        return f"expected a final expected reward of {_LEARNED} or more, got {reached:.3f}"
    return ""


def fault_of_spoiled_update(history: History) -> str:
    build = history.build
    sabotage = history.sabotage
    build_settings = build.manifest.settings | {"update_sha256": None}
    sabotage_settings = sabotage.manifest.settings | {"update_sha256": None}
    if sabotage_settings != build_settings or sabotage.manifest.seed != build.manifest.seed:
        return "expected the settings of the build, got others: only your file may differ"
    if sabotage.manifest.outputs[UPDATE_SOURCE] == build.manifest.outputs[UPDATE_SOURCE]:
        return "expected a spoiled update, got the file of the build"
    if sabotage.manifest.outputs[RESULTS] == build.manifest.outputs[RESULTS]:
        return "expected an update that learns otherwise than that of the build, got the same results"
    reached = sabotage.summary["expected_reward_after"]
    if reached >= _FAILED:
        return (
            f"expected a sabotage that shows, a final expected reward below {_FAILED}, got {reached:.3f}: this one can "
            "be seen by a finite difference only; spoil something else"
        )
    return ""


def fault_of_mended_update(history: History) -> str:
    return fault_of_learning(history, history.repair) or fault_of_number(history, "expected_reward_after")


def fault_of_update_lock(history: History) -> str:
    return fault_of_step_tests(_TESTS / "test_reinforce.py", history.files(UPDATE_SOURCE))


def what_was_spoiled(run: LoggedRun) -> tuple[object, ...]:
    """What differs between two sabotages: the expected answers, or the student's file."""
    sources = [run.manifest.outputs.get(name) for name in (RUBRIC_SOURCE, PICK_SOURCE, UPDATE_SOURCE)]
    return (run.manifest.examples_fingerprint, *sources)


def fault_of_name(run: LoggedRun, setting: str, name: str) -> str:
    if run.manifest.settings.get(setting) != name:
        return f"expected --{setting} exercises/{name}, got a run without it"
    return ""


def fault_of_number(history: History, name: str) -> str:
    """A repair gives the build's number again, to the last digit."""
    before = history.build.summary[name]
    after = history.repair.summary[name]
    if before != after:
        return f"expected the {name} of the build, {before}, got {after}"
    return ""


Fault = Callable[[History], str]
# level -> step -> its fault. The steps stand in the order in which they are done; a prediction and a reflection are the
# same for every level.
STEPS: dict[str, dict[str, Fault]] = {
    "level_0": {
        "build": fault_of_dev_run,
        "sabotage": fault_of_copy,
        "gate": fault_of_question,
        "repair": fault_of_restored_copy,
    },
    "level_1": {
        "build": fault_of_spec,
        "sabotage": fault_of_spoiled_rule,
        "train": fault_of_training,
        "repair": fault_of_mended_rule,
        "lock": fault_of_spec_lock,
    },
    "level_2": {
        "build": fault_of_first_choice,
        "sabotage": fault_of_spoiled_choice,
        "repair": fault_of_mended_choice,
        "lock": fault_of_choice_lock,
    },
    "level_3": {
        "build": fault_of_update,
        "sabotage": fault_of_spoiled_update,
        "repair": fault_of_mended_update,
        "lock": fault_of_update_lock,
    },
}


# What a level's prediction is about, and the numbers that a reflection names


def rate_fell(history: History) -> bool:
    return bool(history.sabotage.summary["pass_rate"] < history.build.summary["pass_rate"])


def policy_cheats(history: History) -> bool:
    return bool(history.trainings[-1].summary["hack_rate"] >= 0.5)


def accuracies_differ(history: History) -> bool:
    first, second = history.sabotages[-2:]
    return bool(first.summary["selected_accuracy"] != second.summary["selected_accuracy"])


def settles_on_a_wrong_one(history: History) -> bool:
    """The sabotage is done, so its expected reward is below 0.5, and a completion with more than that is wrong."""
    return bool(max(history.sabotage.summary["final_probs"]) >= _SURE)


class Outcome(NamedTuple):
    """How the event of a level is decided, and which number a reflection names.

    ``event``: whether the event came about. ``last``: the step whose run decides that. ``number``: a key of a run's
    summary; the reflection names its value in the build and in a spoiled run.
    """

    event: Callable[[History], bool]
    last: str
    number: str


OUTCOMES = {
    "level_0": Outcome(rate_fell, "sabotage", "pass_rate"),
    "level_1": Outcome(policy_cheats, "train", "rubric_pass_rate"),
    "level_2": Outcome(accuracies_differ, "sabotage", "selected_accuracy"),
    "level_3": Outcome(settles_on_a_wrong_one, "sabotage", "expected_reward_after"),
}
