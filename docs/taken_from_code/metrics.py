"""docs/reference/metrics*.md: each number that a summary, a log or a table has, and the function that computes it."""

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from course.artifacts import token_rows
from course.reports import gate as gate_report
from docs.taken_from_code.markdown import code, fence, page, paragraph, table
from docs.taken_from_code.metric import Metric
from docs.taken_from_code.metrics_learning import SMALL, TOKENS
from docs.taken_from_code.metrics_measuring import CHOSEN, COMPARED, MEASURED
from docs.taken_from_code.summaries import SUMMARY

LAB = Path(__file__).resolve().parents[2]

# Names in summaries and logs that are no measured numbers, or are explained by those beside them.
NO_METRIC = {
    *("kl_estimate_reason", "samples_per_prompt", "predictions", "policy", "interrupted", "rubric", "training", "id"),
    *("kl_coef", "seed", "step", "holdout_n", "preset", "split", "correct", "runs", "offset", "prompts", "rewards"),
    *("different_texts", "final_probs", "first_step_probs", "mean", "expected_reward", "lowered", "last_gain_ci95"),
    *("highest_verifier_reward", "entropy_before", "entropy_after", "baseline_passes", "candidate_passes"),
    *("baseline_ci95", "candidate_ci95", "mean_return", "pass_at_1_before", "pass_at_1_after", "baseline"),
}

PAGES = {
    "metrics": (
        "Metrics of measuring, choosing and comparing",
        (("Measuring", MEASURED), ("Choosing", CHOSEN), ("The gate", COMPARED)),
    ),
    "metrics_learning": (
        "Metrics of learning",
        (("One prompt, two steps", SMALL), ("Policies made of tokens", TOKENS)),
    ),
}
DATASET = "--dataset data/datasets/math_dev.jsonl"
# Above a table: a sentence, a command, what it prints of these numbers, and what to see in it.
EXAMPLES = {
    "Measuring": (
        "80 recorded completions are scored, after a guess.",
        f"python3 -m course.eval {DATASET} --completions data/rollouts/frozen_rollouts_dev.jsonl --expect 0.5",
        ("passed 34 of 80: 42.5 %   (95 % interval 32.3 to 53.4 %)", "…",
         "got       pass_rate 0.425, 7.5 points below"),
        "34 of 80 is the fact. The rate is what it comes to, and the interval says how far luck may have moved it.",
    ),
    "Choosing": (
        "Of 8 recorded samples a prompt the first 4 are looked at, and one is taken.",
        f"python3 -m course.selection_demo {DATASET} --samples data/rollouts/selection_pack_dev.jsonl --n 4",
        ("first sample    33.8 %   of each prompt, as if N were 1",
         "random choice   40.3 %   the control: a blind pick among 4",
         "selected        83.8 %   what pick_best got: says nothing of the policy alone",
         "ceiling         83.8 %   pass@4 counted here: one of these 4 was right", "…",
         "  k=1 40.3 %   k=2 60.5 %   k=3 72.1 %   k=4 79.3 %"),
        "Each is another number, also where two of them are equal. The choice was as good as a choice can be: it is "
        "at the ceiling. pass@4 takes all 8 samples of a prompt and says what 4 of the policy would hold on average. "
        "That stayed as it was.",
    ),
    "The gate": (
        "Rates of two runs on the same n examples; g of them were gained, l lost.", "", (), ""),
    "One prompt, two steps": (
        "A policy over four completions, two of which earn 1, learns in 200 updates.",
        "python3 -m course.bandit_train --steps 200",
        ("expected reward 0.500 -> 0.988",),
        "That is the policy's own number, exact, before and after. The mean of the 200 rewards that were drawn on the "
        "way is another one.",
    ),
    "Policies made of tokens": (
        "Two rewards for the same completions: the rubric's, which is the proxy, and the strict scorer's, which is "
        "called true. [Goodhart](goodhart.md) is about what lies between them.", "", (), ""),
}  # fmt: skip


def numbers_named() -> set[str]:
    """Every name in a summary, in what the gate prints, and in the logs of evaluations."""
    summaries = {name.rpartition(".")[2] for names in SUMMARY.values() for name in names}
    records = (gate_report.Numbers, token_rows.EvaluationRow, token_rows.CountedSamples)
    return summaries.union(*(record.__struct_fields__ for record in records))


def metrics_page(name: str) -> str:
    of_metrics = {one.rpartition(".")[2] for each in (MEASURED, CHOSEN, COMPARED, SMALL, TOKENS) for metric in each
                  for one in metric.names}  # fmt: skip
    if unexplained := numbers_named() - of_metrics - NO_METRIC:
        raise KeyError(f"no metric explains {', '.join(sorted(unexplained))}")
    title, groups = PAGES[name]
    (other,) = (one for one in PAGES if one != name)
    parts = [f"# {title}"]
    parts.append(
        paragraph(
            "Each number that a summary, a log or a table shows. `docs/make_reference.py` writes this page; the "
            f"examples are computed on the way. Also: [{PAGES[other][0].lower()}]({other}.md), [all names in "
            "summary.json](artifacts_summary.md). An undefined number is null or an error, never 0."
        )
    )
    for heading, metrics in groups:
        columns = ("number", "what it is", "where", "undefined", "not to be confused with")
        parts += [f"## {heading}", *example_of(heading), table(columns, rows(metrics))]
    return page(parts)


def example_of(heading: str) -> Iterator[str]:
    sentence, command, printed, seen = EXAMPLES[heading]
    yield paragraph(sentence)
    if command:
        yield fence("bash", [command])
        yield fence("text", ["…", *printed, "…"])
        yield paragraph(seen)


def rows(metrics: Sequence[Metric]) -> Iterator[tuple[str, ...]]:
    for metric in metrics:
        names = ", ".join(code(name) if re.fullmatch(r"[\w.]+", name) else name for name in metric.names)
        example = f". {metric.example()}" if metric.example else ""
        path = Path(inspect.getsourcefile(metric.function) or "").resolve().relative_to(LAB).as_posix()
        where = f"[{metric.function.__name__}](../../{path})"
        yield names, metric.formula + example, where, metric.undefined, metric.not_to_be_confused
