"""Loop B, choose: take one of N completions of each prompt, and see what choosing gains.

    python3 -m course.selection_demo --dataset data/datasets/math_dev.jsonl \\
        --samples data/rollouts/selection_pack_dev.jsonl --n 4

The knob is selection compute. The policy that wrote the samples is the same before and after. Only the choice among its
completions changes: the first of the best, or the choice of ``--pick FILE:FUNCTION``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from course.artifacts import run_log
from course.artifacts.conditions import Conditions
from course.artifacts.records import RESULTS, Details, Selection
from course.artifacts.run_log import holdouts_opened, read_log
from course.artifacts.summary import Choice, choice_of, count_outcomes, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, positive_int, run_command
from course.datasets.pairing import pair_by_id
from course.datasets.records import Example
from course.datasets.sources import Dataset, SelectionPack, provenance
from course.guest import OwnPick
from course.picking import Sample, first_of_best
from course.score import measure
from course.show.ending import INSPECT, end_run
from course.show.measurement import as_scored, cause, conditions_text, pass_line
from course.show.tables import interval, percent, table
from course.show.terminal import with_progress
from course.text import clipped

_EXAMINED = 1_000  # failures that are looked through for one of each cause
_EXPLAINED = 3  # prompts whose failure is explained


def choose_first_of_best(samples: list[Sample], _: str) -> int:
    return first_of_best(samples).index


def select(
    pairs: Iterable[tuple[Example, list[str] | None]],
    n: int,
    choose: Callable[[list[Sample], str], int] = choose_first_of_best,
) -> Iterator[Selection]:
    """All of Loop B: score the first n samples of a prompt, and let the rule choose one.

    ``choose``: from the samples and the id of their prompt the index of the one that is taken.
    """
    for example, group in pairs:
        if group is None:
            continue  # pair_by_id() refuses the run when it has seen all that is missing
        samples = group[:n]
        measured = [measure(example.expected_answer, sample) for sample in group]
        rewards = [measurement.reward for measurement in measured]
        offered = [Sample(i, sample, rewards[i]) for i, sample in enumerate(samples)]
        chosen = choose(offered, example.id)
        reward, outcome, parsed = measured[chosen]
        yield Selection(
            id=example.id,
            prompt=example.prompt,
            expected_answer=example.expected_answer,
            completion=samples[chosen],
            reward=reward,
            details=Details(outcome, parsed),
            samples=samples,
            rewards=rewards[:n],
            chosen=chosen,
            others=group[n:],
            other_rewards=rewards[n:],
        )


def count_choices(rows: Iterable[Selection], choices: Counter[Choice], failed: list[Selection]) -> Iterator[Selection]:
    """The rows unchanged. Counts the choices, and keeps the first rows that are still wrong, to be explained."""
    for row in rows:
        choices[choice_of(row)] += 1
        if row.reward == 0.0 and len(failed) < _EXAMINED:
            failed.append(row)
        yield row


def selection_text(
    summary: Mapping[str, Any], conditions: str, failed: Sequence[Selection], details: bool = False
) -> str:
    """Loop B's report. ``conditions``: of the measurement, in words. ``failed``: prompts with a wrong choice.

    ``details``: also the control, the ceiling, pass@k of the policy, and the KL.
    """
    n = summary["samples_per_prompt"]
    parts = [f"Loop B, choose: one of {n} sample{'s' if n > 1 else ''} is taken for each prompt."]
    if failed:
        parts.append(failures_text(failed, summary["n"] - summary["passes"]))
    parts += [conditions, numbers_text(summary)]
    if n > 1:
        parts.append("This is selection: only the delivered sample changed, and the policy did not.")
    else:
        parts.append("With one sample there is nothing to choose, and Loop A measures the same number.")
    if details:
        parts.append(details_text(summary))
    return "\n\n".join(parts)


def numbers_text(summary: Mapping[str, Any]) -> str:
    """The pass rates of the first sample and of the choice.

    The first sample may be an unlucky draw, so the mean over all samples of the policy stands beside it.
    """
    first = percent(summary["first_sample_accuracy"])
    average = percent(summary["pass_at_k"]["1"])
    lines = [f"first sample   {first:>7}   any one sample, on average: {average}"]
    if summary["samples_per_prompt"] > 1:
        selected = percent(summary["selected_accuracy"])
        bounds = interval(summary["pass_rate_ci95"])
        passed = f"{summary['passes']:,} of {summary['n']:,} passed"
        lines.append(f"selected       {selected:>7}   {passed} (95 % interval {bounds})")
    else:
        lines += ["", pass_line(summary)]
    return "\n".join(lines)


def details_text(summary: Mapping[str, Any]) -> str:
    """pass@k of the policy; and for more than one sample the control, the ceiling, and the price in KL."""
    n = summary["samples_per_prompt"]
    curve = [f"k={k} {percent(rate)}" for k, rate in summary["pass_at_k"].items()]
    lines = ["pass@k of the policy: how often k samples contain a right one (an unbiased"]
    lines.append("estimate from all samples). No choice changes pass@k.")
    lines += ["  " + "   ".join(curve[start : start + 5]) for start in range(0, len(curve), 5)]
    if n > 1:
        rows = [
            ("random choice", percent(summary["random_choice"]), f"a blind pick among the {n} (the control)"),
            ("ceiling", percent(summary["ceiling"]), f"at least one of the {n} was right: no choice gets more"),
        ]
        estimate = "undefined" if summary["kl_estimate"] is None else f"{summary['kl_estimate']:.4f}"
        lines += ["", table(("number", "value", "what it is"), rows, right=(1,)), ""]
        lines.append(f"KL of best-of-{n} from the policy, in nats: estimate {estimate} (usually")
        lines.append(f"too low if there are few samples); upper bound {summary['kl_bound']:.4f}")
    if summary["kl_estimate_reason"]:
        lines.append(f"  ({summary['kl_estimate_reason']})")
    return "\n".join(lines)


def failures_text(failed: Sequence[Selection], count: int) -> str:
    """Two or three prompts with a wrong choice, and why; one of each cause before a second of any cause."""
    by_cause: dict[str, list[Selection]] = {}
    for row in failed:
        by_cause.setdefault(cause(row), []).append(row)
    ordered = [(why, rows[0]) for why, rows in by_cause.items()]
    ordered += [(why, row) for why, rows in by_cause.items() for row in rows[1:]]
    lines = [f"The choice is wrong on {count:,} prompt{'s' if count > 1 else ''}, for example:"]
    for why, row in ordered[:_EXPLAINED]:
        lines += [
            f"  {clipped(row.id, 20)}  {clipped(row.prompt, 56)}",
            f"    chosen: {as_scored(row.completion, 68)}",
            f"    why: {why}",
        ]
    return "\n".join(lines)


def main() -> int:
    parser = Parser("course.selection_demo", "Loop B: choose one of N recorded samples of each prompt.")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL with id, prompt, expected_answer")
    parser.add_argument("--samples", type=Path, required=True, help="JSONL with id, samples; as many for each id")
    parser.add_argument("--n", type=positive_int, required=True, help="how many samples of each prompt to look at")
    help_ = "choose by your own function, such as exercises/pick_best.py:pick_best (default: the first of the best)"
    parser.add_argument("--pick", metavar="FILE:FUNCTION", help=help_)
    parser.add_run_options("selected_accuracy")
    parser.add_split_option()
    parser.add_argument("--details", action="store_true", help="also show pass@k, a random choice, the ceiling, the KL")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for a program")
    args = parser.parse_args()

    own = None if args.pick is None else OwnPick(args.pick)
    known_holdouts = holdouts_opened(read_log(run_log.LOG))
    dataset = Dataset(args.dataset, declared=args.split, known_holdouts=known_holdouts)
    pack = SelectionPack(args.samples, args.n)
    outcomes: Counter[str] = Counter()
    choices: Counter[Choice] = Counter()
    failed: list[Selection] = []
    with RunWriter(args.outdir) as run:
        pairs = pair_by_id(with_progress(dataset, "choosing"), pack, dataset=args.dataset, completions=args.samples)
        rows = select(pairs, args.n, own or choose_first_of_best)
        run.write_rows(RESULTS, count_choices(count_outcomes(rows, outcomes), choices, failed))
        settings = {}
        if own:  # at the end, when all its imports are known
            settings = own.keep("pick", run.write_bytes)
        source = provenance(pack.completions)
        summary = summary_of(outcomes, choices)
        conditions = Conditions("B", "course.selection_demo", settings, args.change, args.expect, dataset)
        conditions = conditions._replace(
            completions_fingerprint=pack.completions.sha256,
            samples_per_prompt=args.n,
            source=source,
            typed=args.typed,
        )
        measured = conditions_text(dataset.split, source, pack.completions)
        report = selection_text(summary, measured, failed, args.details)
        end_run(run, conditions, summary, report, next_command=INSPECT, as_json=args.json)
    return 0


if __name__ == "__main__":
    run_command(main)
