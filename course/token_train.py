"""Machinery: Loop C with tokens. A policy learns from a verifier's rewards, whether the verifier is right or wrong.

    python3 -m course.token_train
    python3 -m course.token_train --preset memorise --rubric anywhere
    python3 -m course.token_train --preset memorise --rubric mine.py:reward
    python3 -m course.token_train --preset small --step exercises/loop.py:step

The loop is that of ``toy_mdp``, plus tokens; it stands in ``policies/token_learner.py``, on one screen. The policy is
trained on the rewards of ``--rubric``. The strict scorer is only asked on the way; it enters no update. With ``--step``
a function of a student's makes the updates. A run also holds the reference policy and the trained policy, and the
completions of both as rollouts for Loop A. What they write on the holdout is not scored here: ``course.eval`` opens it.
Ctrl-C ends the training and keeps the policy of the log's last row.
"""

from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import to_builtins

from course.artifacts.conditions import conditions_of
from course.artifacts.records import RESULTS, LearningResult
from course.artifacts.rollout_files import policy_name, write_rollouts
from course.artifacts.token_rows import (
    SLOW_FILE,
    TOKEN_LOG,
    EvaluationRow,
    evaluation_results,
    evaluation_row,
    token_update_rows,
)
from course.artifacts.writing import RunWriter
from course.asking import wait_for_enter
from course.command import Parser, finite_float, non_negative_float, non_negative_int, positive_int, run_command
from course.datasets.records import PROMPT_ALONE, Provenance, Sampling, Task, task_of, training_on
from course.datasets.sources import HOLDOUT, Dataset
from course.errors import UserError
from course.guest import OwnRubric
from course.policies.train_config import PRESETS, TrainConfig
from course.rubrics.hackable import GAPS, RUBRICS
from course.show.ending import RUN, end_run
from course.show.terminal import show, show_each, with_progress
from course.token_train_text import (
    EVALUATION_TABLE,
    SLOW,
    evaluation_text,
    learning_curves,
    slow_text,
    steps_shown,
    token_train_ending,
    token_train_heading,
)

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.evaluation import Checkpoint
    from course.rubrics import Rubric

POLICY_FILE, REFERENCE_FILE, CURVES_FILE = "policy.npz", "reference.npz", "learning_curves.png"
PRESET_HELP = (
    "generalise: 1,000 two-digit sums, which share their digits (default); memorise: 75 one-digit sums; small: 25 of "
    "these, without a holdout, in some three seconds"
)
HOLDOUT_HELP = "prompts that are never learned on; what is written on them is kept, and scored by course.eval"
STEP_HELP = "update by your own function, such as exercises/loop.py:step; not with --slow or --baseline"
RUBRIC_HELP = (
    f"the reward: score, the strict scorer (default), a wrong verifier ({', '.join(GAPS)}), or your own FILE:FUNCTION"
)
KL_HELP = "beta, the price of a nat of KL from the reference; with --lr 0.5, 1 and more may overshoot (default: 0)"
BASELINE_HELP = (
    "compare each return with 0 (none), with the mean return so far (running), or with the mean of the others in its "
    "group (group, the default)"
)


def config_of(args: Namespace, rubric: str) -> TrainConfig:
    """The preset, with the typed options in place of its values. ``rubric``: the name of the rubric."""
    given: dict[str, Any] = {"rubric": rubric, "eval_every": args.eval_every}
    for name in ("sft_steps", "steps", "group_size", "lr", "baseline", "kl_coef"):
        if getattr(args, name) is not None:
            given[name] = getattr(args, name)
    if args.dataset is not None:
        given |= {"dataset": str(args.dataset), "holdout": None}
    if args.holdout is not None:
        given["holdout"] = str(args.holdout)
    config = PRESETS[args.preset]._replace(**given)
    if config.baseline == "group" and config.group_size == 1:
        raise UserError(
            "--baseline group compares completions within a group: expected a --group-size of 2 or more, got 1"
        )
    return config


def read_examples(dataset: Dataset, holdout: Dataset | None) -> tuple[list[Task], list[Task]]:
    """The examples to train on, and those of the holdout. No prompt may be in both."""
    examples = [task_of(example) for example in dataset]
    unseen = [task_of(example) for example in holdout or ()]
    if dataset.split == HOLDOUT:
        raise UserError(f"{dataset.path}: expected a dataset to learn on, got a holdout; give this file with --holdout")
    shared = {example["prompt"] for example in examples} & {example["prompt"] for example in unseen}
    if holdout and shared:
        shared_text = f"{len(shared)} of them are also in {dataset.path}"
        raise UserError(f"{holdout.path}: these prompts must not be learned on, but {shared_text}")
    return examples, unseen


def write_evaluations(
    run: RunWriter, checkpoints: "Iterable[Checkpoint]", config: TrainConfig, seed: int, shown: list[str]
) -> "tuple[list[EvaluationRow], list[LearningResult], list[Checkpoint], int]":
    """Train, and write log and results as they come. Some rows of the log are shown and added to ``shown``.

    Returns the log, the last results, the first and the last checkpoint, and the exit status. Ctrl-C between two
    checkpoints ends the training and keeps what was learned; while a checkpoint is written, Ctrl-C leaves no run.
    """
    rows: list[EvaluationRow] = []
    results: list[LearningResult] = []
    ends: list[Checkpoint] = []
    steps = steps_shown(config)
    shown += show_each([EVALUATION_TABLE.head()])
    training = iter(checkpoints)
    while True:
        try:
            checkpoint = next(training)
        except StopIteration:
            return rows, results, ends, 0
        except KeyboardInterrupt as interrupt:
            if not rows:
                raise
            if interrupt.args:
                show(f"Interrupted in {interrupt}.")
            return rows, results, ends, 130
        results = evaluation_results(checkpoint, config.rubric)
        row = evaluation_row(checkpoint, config.rubric, config.kl_coef, seed)
        run.append(RESULTS, *results)
        run.append(TOKEN_LOG, row)
        rows = [*rows, row]
        ends = [*ends[:1], checkpoint]
        if row.step in steps:
            shown += show_each([evaluation_text(row)])


def write_ends(
    run: RunWriter, ends: "Iterable[Checkpoint]", splits: Mapping[str, Sequence[Task]], rubric: str, seed: int
) -> str:
    """Write the policy of the first and of the last checkpoint, and their completions as rollouts.

    Returns the name of the last policy. ``splits``: the examples of "train" and, if there is one, of "holdout", whose
    completions nobody has scored. Both policy files name the training examples, and also the ``rubric`` that paid, if
    there was an update.
    """
    from course.policies.policy_file import policy_bytes
    from course.policies.token_learner import generator
    from course.policies.token_policy import sample_texts

    sampling = Sampling(temperature=1.0, top_p=1.0, seed=seed, n=1)
    prompts = [example["prompt"] for example in splits["train"]]
    for file, checkpoint in zip((REFERENCE_FILE, POLICY_FILE), ends, strict=True):
        training = training_on(prompts, rubric if checkpoint.step else None)
        content = policy_bytes(checkpoint.policy, training)
        run.write_bytes(file, content)
        note = f"course.token_train, {checkpoint.step} updates on rubric {rubric}, seed {seed}"
        source = Provenance(policy_name(content), None, sampling, PROMPT_ALONE, training=training, note=note)
        for split, tasks in splits.items():
            rng = generator(seed, "evaluation")  # on the training prompts these are the texts that were evaluated
            texts = sample_texts(checkpoint.policy, [task["prompt"] for task in tasks], rng)
            samples = [(task["id"], [text]) for task, text in zip(tasks, texts, strict=True)]
            write_rollouts(run, f"rollouts/{split}_{checkpoint.step:04}", samples, source)
    return source.policy


def next_command(dataset: Dataset, holdout: Dataset | None, step: int) -> list[str | Path]:
    """Open the holdout with a prediction; without one, sample once more from the policy."""
    if holdout is None:
        return ["course.sample_rollouts", "--policy", RUN / POLICY_FILE, "--dataset", dataset.path]
    rollouts = RUN / f"rollouts/holdout_{step:04}.jsonl"
    split = () if holdout.split == HOLDOUT else ("--split", HOLDOUT)
    return ["course.eval", "--dataset", holdout.path, "--completions", rollouts, *split, "--expect", "YOUR_NUMBER"]


def main() -> int:
    args = parse_arguments()
    if args.step is not None and (args.slow or args.baseline is not None):
        raise UserError(
            "--step cannot be combined with --slow or --baseline, because they belong to the course's update"
        )
    own = None
    if args.rubric not in RUBRICS or args.call is not None:  # --call with a rubric of the course is refused there
        own = OwnRubric(args.rubric, args.call)
    with RunWriter(args.outdir) as run:
        rubric: Rubric = own or RUBRICS[args.rubric]
        config = config_of(args, own.name if own else args.rubric)
        dataset = Dataset(Path(config.dataset))
        holdout = Dataset(Path(config.holdout)) if config.holdout is not None else None

        from course.policies.evaluation import learn_and_evaluate
        from course.policies.own_step import OwnStep
        from course.policies.token_learner import fine_tune, learn

        own_step = None if args.step is None else OwnStep(args.step)
        examples, unseen = read_examples(dataset, holdout)
        shown = show_each([token_train_heading(config, dataset.path.name, own_step.name if own_step else "")])

        def watch(steps: range) -> Iterable[int]:
            return with_progress(steps, "fine-tuning", len(steps))

        reference = fine_tune(examples, config, args.seed, watch)
        updates = enumerate(islice(learn(reference, examples, rubric, config, args.seed), args.slow), 1)
        if args.slow:
            show(f"{SLOW}\n")
        for step, update in updates:
            slow = list(token_update_rows(step, update, reference, examples, config.kl_coef))
            show(slow_text(slow))
            run.append(SLOW_FILE, *slow)
            if not wait_for_enter():
                break

        checkpoints = learn_and_evaluate(reference, examples, (), rubric, config, args.seed, own_step)
        watched = with_progress(checkpoints, "learning", config.evaluations())
        rows, results, ends, status = write_evaluations(run, watched, config, args.seed, shown)
        splits = {"train": examples, "holdout": unseen} if unseen else {"train": examples}
        name = write_ends(run, [ends[0], ends[-1]], splits, config.rubric, args.seed)
        run.write_bytes(CURVES_FILE, learning_curves(rows, config.rubric))
        settings = config.settings()
        if own:  # asked at the end, when all its imports are known
            settings |= own.keep("rubric", run.write_bytes)
        if own_step:
            settings |= {"baseline": None} | own_step.keep("step", run.write_bytes)
        settings["holdout_fingerprint"] = holdout.fingerprint if holdout else None
        conditions = conditions_of(args, settings, dataset)
        summary = {"policy": name, "interrupted": bool(status)} | to_builtins(rows[-1])
        report = token_train_ending(config, rows[-1], results)
        words = next_command(dataset, holdout, rows[-1].step)
        end_run(run, conditions, summary, report, read=[CURVES_FILE], next_command=words, shown=shown)
    return status


def parse_arguments() -> Namespace:
    """The command line. An option that is not given is None if the preset has its value."""
    parser = Parser("course.token_train", "Loop C plus tokens: a small policy learns from a verifier's rewards.")
    preset, small = PRESETS["generalise"], PRESETS["small"]  # memorise has the values of generalise
    parser.add_argument("--preset", choices=PRESETS, default="generalise", help=PRESET_HELP)
    parser.add_argument("--dataset", type=Path, help="learn on these prompts instead; then give a holdout by --holdout")
    parser.add_argument("--holdout", type=Path, help=HOLDOUT_HELP)
    parser.add_argument("--rubric", default="score", metavar="RUBRIC", help=RUBRIC_HELP)
    parser.add_call_option()
    parser.add_argument(
        "--sft-steps",
        type=non_negative_int,
        help=f"steps of fine-tuning before the updates (default: {preset.sft_steps}; small: {small.sft_steps})",
    )
    help_ = f"number of updates (default: {preset.steps}; small: {small.steps})"
    parser.add_argument("--steps", type=positive_int, help=help_)
    help_ = f"completions of each prompt in an update (default: {preset.group_size})"
    parser.add_argument("--group-size", type=positive_int, help=help_)
    parser.add_argument("--lr", type=finite_float, help=f"learning rate (default: {preset.lr:g})")
    parser.add_argument("--kl-coef", type=non_negative_float, help=KL_HELP)
    parser.add_argument("--baseline", choices=("none", "running", "group"), help=BASELINE_HELP)
    parser.add_argument("--step", metavar="FILE:FUNCTION", help=STEP_HELP)
    parser.add_argument("--eval-every", type=positive_int, default=25, help="updates between evaluations (default: 25)")
    parser.add_slow_option()
    parser.add_argument("--seed", type=non_negative_int, default=0, help="seed of all random draws (default: 0)")
    parser.add_run_options("true_reward")
    return parser.parse_args()


if __name__ == "__main__":
    run_command(main)
