"""Loop C leaves its data behind: what completions that were frozen at step 0 say about the policy of step t.

    python -m course.distribution_shift_demo
    python -m course.distribution_shift_demo --rubric score

Before the first update 8 completions of each prompt are sampled and kept. Then the policy learns from the rewards of
one rubric. On the way the strict scorer measures the frozen completions, which is one number for ever, and fresh
completions of the current policy. With a hackable rubric the policy may go where no frozen completion is; with the
scorer itself it gets better, and the frozen completions do not show it.

Covered
    Both rates carry a Wilson interval over single completions. The prompts are given and the draws independent of each
    other, so it holds; it is a little too wide, for prompts differ: Σ p(1 − p) is at most n · mean p · (1 − mean p).
Not covered
    Other prompts than these: for them the prompts would have to be sampled too. What happens between evaluations. A
    repair of the frozen estimate by importance weights, which needs frozen completions where the policy is now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.artifacts.learning import learning_result
from course.artifacts.records import RESULTS, LearningResult
from course.artifacts.summary import summary_of
from course.artifacts.token_rows import TOKEN_LOG, ShiftRow, evaluation_results
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.sources import Dataset
from course.publishing import Conditions, publish
from course.reports.distribution_shift_demo import shift_text
from course.reports.distribution_shift_demo_figure import shift_curves
from course.reports.progress import with_progress
from course.reports.tables import percent, shape
from course.rubrics.hackable import RUBRICS

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.evaluation import Checkpoint
    from course.policies.token_learner import Task
    from course.policies.token_policy import Policy

SHIFT_FIGURE = "distribution_shift.png"
FROZEN = 8  # completions of each prompt, sampled before the first update
_EVAL_EVERY = 5  # updates from one evaluation to the next


def freeze(reference: Policy, examples: Sequence[Task], seed: int) -> list[LearningResult]:
    """FROZEN completions of each prompt, of the policy that training starts from, with the strict scorer's rewards."""
    from course.policies.sampling import sample_completions
    from course.policies.token_learner import generator
    from course.policies.token_policy import decode_completions

    repeated = [example for example in examples for _ in range(FROZEN)]
    prompts = reference.encode_prompts([example["prompt"] for example in repeated])
    (rng,) = generator(seed, "evaluation").spawn(1)  # the evaluations' own draws would freeze the fresh ones of step 0
    texts = decode_completions(
        reference.vocabulary, sample_completions(reference, prompts, rng.random((len(prompts), reference.max_tokens)))
    )
    return [learning_result(*pair, 0, training="frozen", split="train") for pair in zip(repeated, texts, strict=True)]


def summarised(rows: Iterable[LearningResult]) -> dict[str, Any]:
    """The counts and rates of these completions."""
    return summary_of(Counter(row.details.outcome for row in rows))


def total_variation(one: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    """½ Σ |p − q| over the outcomes: the smallest share of either that needs another outcome to match the other."""
    p, q = one["outcomes"], other["outcomes"]
    return float(sum(abs(p.get(name, 0) / one["n"] - q.get(name, 0) / other["n"]) for name in {**p, **q})) / 2


def shapes_of(rows: Iterable[LearningResult]) -> set[str]:
    return {shape(row.completion or "") for row in rows}


def shift_row(frozen: Sequence[LearningResult], fresh: Sequence[LearningResult]) -> ShiftRow:
    """The fresh completions of one evaluation, beside the frozen ones."""
    then, now = summarised(frozen), summarised(fresh)
    shapes, texts = shapes_of(frozen), {(row.id, row.completion) for row in frozen}
    return ShiftRow(
        step=fresh[0].step,
        frozen_pass_rate=then["pass_rate"],
        fresh=now,
        error=then["pass_rate"] - now["pass_rate"],
        outcome_distance=total_variation(then, now),
        unseen_shape=sum(shape(row.completion or "") not in shapes for row in fresh) / len(fresh),
        unseen_text=sum((row.id, row.completion) not in texts for row in fresh) / len(fresh),
    )


def novel_completions(
    frozen: Sequence[LearningResult], evaluations: Sequence[Sequence[LearningResult]]
) -> list[LearningResult]:
    """The first, the middle and the last evaluation with a shape that no frozen completion has: one example from each.

    The example is the first completion in the most common of the new shapes.
    """
    known, found = shapes_of(frozen), []
    for fresh in evaluations:
        new = [row for row in fresh if shape(row.completion or "") not in known]
        if new:
            ((common, _),) = Counter(shape(row.completion or "") for row in new).most_common(1)
            found.append(next(row for row in new if shape(row.completion or "") == common))
    return [found[i] for i in sorted({0, len(found) // 2, len(found) - 1})] if found else []


def main() -> int:
    parser = Parser(
        "course.distribution_shift_demo", "Loop C: frozen completions beside fresh ones, as a policy learns."
    )
    parser.add_argument("--rubric", choices=RUBRICS, default="anywhere", metavar="NAME",
                        help=f"what the policy is trained on (default: anywhere): {', '.join(RUBRICS)}")  # fmt: skip
    parser.add_argument("--steps", type=positive_int, default=150, help="updates (default: 150)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of all random draws (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.evaluation import learn_and_evaluate
    from course.policies.presets import MEMORISE
    from course.policies.token_learner import fine_tune

    dataset = Dataset(Path(MEMORISE.dataset), None)
    with RunWriter(args.outdir) as run:
        examples = [example.asked() for example in dataset]
        plan = MEMORISE.plan._replace(steps=args.steps)
        reference = fine_tune(examples, plan, args.seed, lambda steps: with_progress(steps, "fine-tuning", len(steps)))
        frozen = freeze(reference, examples, args.seed)
        learning = learn_and_evaluate(reference, examples, [], RUBRICS[args.rubric], plan, args.seed, _EVAL_EVERY)
        checkpoints = with_progress(learning, "learning", 1 - -plan.steps // _EVAL_EVERY, _progress_text)
        evaluations = [evaluation_results(checkpoint, args.rubric, "fresh") for checkpoint in checkpoints]
        log = [shift_row(frozen, fresh) for fresh in evaluations]

        run.write_rows(RESULTS, [*frozen, *(row for fresh in evaluations for row in fresh)])
        run.write_rows(TOKEN_LOG, log)
        then = summarised(frozen)
        run.write_bytes(SHIFT_FIGURE, shift_curves(log, then, args.rubric))
        summary = {
            "rubric": args.rubric,
            **{f"frozen_{name}": value for name, value in then.items()},
            "at_the_start": in_short(log[0]),
            "at_the_end": in_short(log[-1]),
            "most_wrong": in_short(max(log, key=lambda row: abs(row.error))),
        }
        settings = {"rubric": args.rubric, "frozen": FROZEN, "eval_every": _EVAL_EVERY, "plan": plan._asdict()}
        publish(
            run,
            Conditions("C", "course.distribution_shift_demo", settings, args.change, dataset, seed=args.seed),
            summary,
            shift_text(log, then, novel_completions(frozen, evaluations), args.rubric),
            read=[SHIFT_FIGURE],
        )
    return 0


def _progress_text(checkpoint: Checkpoint) -> str:
    """The last evaluation, beside the progress bar."""
    return f"fresh ones pass {percent(float(checkpoint.train.true.mean()))}"


def in_short(row: ShiftRow) -> dict[str, Any]:
    """A row in the summary."""
    names = ("step", "error", "outcome_distance", "unseen_shape", "unseen_text")
    return {name: getattr(row, name) for name in names} | {"fresh_pass_rate": row.fresh["pass_rate"]}


if __name__ == "__main__":
    run_command(main)
