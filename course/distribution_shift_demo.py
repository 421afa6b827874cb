"""Machinery: Loop C leaves its data behind. What frozen completions say of a policy that has learned since.

    python3 -m course.distribution_shift_demo
    python3 -m course.distribution_shift_demo --rubric score

Before the first update 8 completions of each prompt are sampled and kept. Then the policy learns from the rewards of
one rubric. On the way the strict scorer measures the frozen completions, which is one number for ever, and fresh
completions of the current policy. With a hackable rubric the policy may go where no frozen completion is; with the
scorer itself it gets better, and the frozen completions do not show it.

Covered
    Both rates carry a Wilson interval over single completions. It holds for these prompts, and is a little too wide,
    for prompts differ: Σ p(1 − p) is at most n · mean p · (1 − mean p).
Not covered
    Other prompts. What happens between evaluations. A repair of the frozen estimate by importance weights, which needs
    frozen completions where the policy is now.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from course.artifacts.learning import learning_result
from course.artifacts.records import RESULTS, LearningResult
from course.artifacts.rollout_files import write_reference
from course.artifacts.summary import summary_of
from course.artifacts.token_rows import write_checkpoint
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.records import Task, task_of
from course.datasets.sources import Dataset
from course.publishing import conditions_of, publish
from course.reports.distribution_shift_demo import shift_curves, shift_heading, shift_text, unseen_table
from course.reports.tables import text_shape
from course.reports.terminal import NOTHING_KEPT, show_each, with_progress
from course.rubrics.hackable import RUBRICS

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.token_policy import Policy

SHIFT_FIGURE = "distribution_shift.png"
FROZEN = 8  # completions of each prompt, sampled before the first update
_EVAL_EVERY = 5  # updates from one evaluation to the next


def freeze(reference: "Policy", examples: Sequence[Task], seed: int) -> list[LearningResult]:
    """FROZEN completions of each prompt, of the policy that training starts from, with the strict scorer's rewards."""
    from course.policies.sampling import sample_texts
    from course.policies.token_learner import generator

    repeated = [example for example in examples for _ in range(FROZEN)]
    (rng,) = generator(seed, "evaluation").spawn(1)  # the evaluations' own draws would freeze the fresh ones of step 0
    texts = sample_texts(reference, [example["prompt"] for example in repeated], rng)
    return [learning_result(*pair, 0, training="frozen", split="train") for pair in zip(repeated, texts, strict=True)]


def main() -> None:
    parser = Parser("course.distribution_shift_demo", "Loop C: frozen completions beside fresh ones, as it learns.")
    parser.add_argument("--rubric", choices=RUBRICS, default="anywhere", metavar="NAME",
                        help=f"what the policy is trained on (default: anywhere): {', '.join(RUBRICS)}")  # fmt: skip
    parser.add_argument("--steps", type=positive_int, default=150, help="updates (default: 150)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of all random draws (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.evaluation import learn_and_evaluate
    from course.policies.presets import MEMORISE
    from course.policies.token_learner import fine_tune

    dataset, plan = Dataset(Path(MEMORISE.dataset), None), MEMORISE.plan._replace(steps=args.steps)
    with RunWriter(args.outdir) as run:
        examples = [task_of(example) for example in dataset]
        reference = fine_tune(examples, plan, args.seed, lambda steps: with_progress(steps, "fine-tuning", len(steps)))
        write_reference(run, "reference.npz", reference, examples)
        results = freeze(reference, examples, args.seed)
        frozen = summary_of(Counter(row.details.outcome for row in results))
        known_shapes = {text_shape(row.completion or "") for row in results}
        run.append(RESULTS, *results)

        shown = show_each(shift_heading(args.rubric, frozen), NOTHING_KEPT)
        log, unseen = [], []  # an entry each for every evaluation
        learning = learn_and_evaluate(reference, examples, [], RUBRICS[args.rubric], plan, args.seed, _EVAL_EVERY)
        for checkpoint in with_progress(learning, "learning", 1 - -plan.steps // _EVAL_EVERY):
            row, fresh = write_checkpoint(run, checkpoint, args.rubric, plan.kl_coef, args.seed, "fresh")
            log.append(row)
            unseen.append([one for one in fresh if text_shape(one.completion or "") not in known_shapes])
            place = len(log) - 1
            if place & (place - 1) == 0 or row.step == plan.steps:  # the evaluations 0, 1, 2, 4, 8 … and the last
                shown += show_each([shift_text(row, frozen, len(unseen[-1]))])

        run.write_bytes(SHIFT_FIGURE, shift_curves(log, frozen, unseen))
        summary = {
            "frozen_pass_rate": frozen["pass_rate"],
            "fresh_pass_rate": log[-1].true_reward,
            "error": frozen["pass_rate"] - log[-1].true_reward,
            "unseen_shape": len(unseen[-1]) / log[-1].n,
        }
        settings = {"rubric": args.rubric, "frozen": FROZEN, "eval_every": _EVAL_EVERY, "plan": plan._asdict()}
        report = f"\n{unseen_table(unseen[-1], args.rubric)}" if unseen[-1] else ""
        publish(run, conditions_of(args, settings, dataset), summary, report, read=[SHIFT_FIGURE], shown=shown)


if __name__ == "__main__":
    run_command(main)
