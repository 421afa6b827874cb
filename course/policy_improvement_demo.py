"""Machinery: Loops B and C side by side: what choosing and learning make of equally many samples, in one figure.

    python3 -m course.policy_improvement_demo
    python3 -m course.policy_improvement_demo --pick exercises/pick_best.py:pick_best --step exercises/loop.py:step

Both start from the policy of ``token_train --preset small``, with its 25 prompts, and the strict scorer rewards. To
choose, the policy writes N completions of each prompt, and the rule takes one; the policy stays as it is. To learn, the
policy is updated from 8 completions of each prompt at a time; then the new policy writes single completions.

Covered
    Choosing and learning have seen as many completions of each prompt in each row of the table.
Not covered
    Other prompts. A better choice than by reward, and a choice among completions of the policy that has learned.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import ImprovementRow, learning_result
from course.artifacts.records import RESULTS, LearningResult
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.records import Example, task_of
from course.datasets.sources import Dataset
from course.guest import OwnPick
from course.policies.train_config import SMALL
from course.score import score
from course.selection_demo import choose_first_of_best, select
from course.show.ending import end_run
from course.show.figures import BLUE, ORANGE, figure, label_axes, png
from course.show.tables import percent, table
from course.show.terminal import with_progress
from course.stats import mean

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    import numpy as np

    from course.policies.token_policy import Policy

LOG, FIGURE = "policy_improvement.jsonl", "choosing_and_learning.png"
CONFIG = SMALL._replace(prompts_a_step=25)  # all of them, so that an update takes group_size completions of each
MEASURED = 8  # completions of each prompt, of a policy that has learned


def improve(
    policies: Iterable["Policy"], examples: Sequence[Example], updates: int, seed: int, pick: OwnPick | None
) -> Iterator[tuple[ImprovementRow, list[LearningResult]]]:
    """After 0, 1, 2, 4, 8, … and the last of the ``updates``: a row of the log, and what is delivered.

    ``policies``: before the first update, and after each one.
    """
    from course.policies.token_learner import generator

    drawn: list[list[str]] = []
    for update, policy in enumerate(policies):
        if update == 0:
            (rng,) = generator(seed, "evaluation").spawn(1)
            drawn = sample_each(policy, examples, updates * CONFIG.group_size, rng)
        if update & (update - 1) and update != updates:
            continue
        samples = max(1, update * CONFIG.group_size)
        chosen = choose(examples, [texts[:samples] for texts in drawn], pick)
        learned = []
        fresh = sample_each(policy, examples, MEASURED, generator(seed, "evaluation"))
        for example, texts in zip(examples, fresh, strict=True):
            learned += [learning_result(task_of(example), text, update, training="learned") for text in texts]
        row = ImprovementRow(
            samples=samples,
            updates=update,
            chosen=mean([result.reward for result in chosen]),
            learned=mean([result.reward for result in learned]),
        )
        yield row, chosen + learned


def sample_each(policy: "Policy", examples: Iterable[Example], n: int, rng: "np.random.Generator") -> list[list[str]]:
    """N completions of each prompt."""
    from course.policies.token_policy import sample_texts

    return [sample_texts(policy, [example.prompt] * n, rng) for example in examples]


def choose(examples: Sequence[Example], drawn: Sequence[list[str]], pick: OwnPick | None) -> list[LearningResult]:
    """Of each prompt the completion that the rule takes. ``drawn``: all by the policy before its first update."""
    samples = len(drawn[0])
    choices = select(zip(examples, drawn, strict=True), samples, pick or choose_first_of_best)
    return [
        learning_result(task_of(example), choice.samples[choice.chosen], 0, training=f"chosen from {samples}")
        for example, choice in zip(examples, choices, strict=True)
    ]


def policy_improvement_text(rows: Sequence[ImprovementRow]) -> str:
    cells = [(row.samples, percent(row.chosen), percent(row.learned)) for row in rows]
    return (
        "Loops B and C: what choosing and learning make of equally many samples.\n\n"
        f"{table(('samples of each prompt', 'chosen: right', 'learned: right'), cells, right=range(3))}\n\n"
        "Both numbers of the first row are of the first policy, and differ by chance.\n"
        "Choosing left it as it was: the next answer costs as many samples again.\n"
        "After learning, an answer is one sample of the new policy."
    )


def improvement_figure(rows: Sequence[ImprovementRow]) -> bytes:
    fig = figure(7.2, 4.2, "Choosing and learning from equally many samples")
    axes = fig.subplots()
    samples = [row.samples for row in rows]
    axes.plot(samples, [row.chosen for row in rows], "o-", color=ORANGE, label="choosing: the best of them")
    axes.plot(samples, [row.learned for row in rows], "o-", color=BLUE, label="learning: one sample afterwards")
    label_axes(axes, "samples of each prompt", "right answers, strict scorer")
    axes.set_xscale("log", base=2)
    axes.set_xticks(samples, [str(count) for count in samples])
    axes.legend(frameon=False, fontsize=8)
    return png(fig)


def main() -> None:
    parser = Parser("course.policy_improvement_demo", "Loops B and C side by side, from equally many samples.")
    help_ = f"updates of the policy, each from {CONFIG.group_size} samples of each prompt (default: 64)"
    parser.add_argument("--updates", type=positive_int, default=64, help=help_)
    help_ = "choose by your own function, such as exercises/pick_best.py:pick_best (default: the first of the best)"
    parser.add_argument("--pick", metavar="FILE:FUNCTION", help=help_)
    help_ = "update by your own function, such as exercises/loop.py:step (default: the update of token_train)"
    parser.add_argument("--step", metavar="FILE:FUNCTION", help=help_)
    parser.add_argument("--seed", type=non_negative_int, default=0, help="seed of all random draws (default: 0)")
    parser.add_run_options("pass_at_1_after")
    args = parser.parse_args()

    from course.policies.own_step import OwnStep
    from course.policies.token_learner import fine_tune, learn, learn_by_own_step

    pick = OwnPick(args.pick) if args.pick is not None else None
    own_step = OwnStep(args.step) if args.step is not None else None
    config = CONFIG._replace(steps=args.updates)
    with RunWriter(args.outdir) as run:
        dataset = Dataset(Path(config.dataset))
        examples = [*dataset]
        tasks = [task_of(example) for example in examples]
        reference = fine_tune(tasks, config, args.seed)
        learned: Iterable[Policy]
        if own_step:
            learned = learn_by_own_step(own_step, reference, tasks, score, config, args.seed)
        else:
            learned = (update.new_policy for update in learn(reference, tasks, score, config, args.seed))
        rows = []
        policies = with_progress(chain([reference], learned), "learning", args.updates + 1)
        for row, results in improve(policies, examples, args.updates, args.seed, pick):
            rows.append(row)
            run.append(RESULTS, *results)
        run.write_rows(LOG, rows)
        run.write_bytes(FIGURE, improvement_figure(rows))
        settings = config.settings()
        if pick:
            settings |= pick.keep("pick", run.write_bytes)
        if own_step:
            settings |= {"baseline": None} | own_step.keep("step", run.write_bytes)
        summary = {
            "samples_per_prompt": rows[-1].samples,
            "chosen": rows[-1].chosen,
            "pass_at_1_before": rows[0].learned,
            "pass_at_1_after": rows[-1].learned,
        }
        end_run(run, conditions_of(args, settings, dataset), summary, policy_improvement_text(rows), read=[FIGURE])


if __name__ == "__main__":
    run_command(main)
