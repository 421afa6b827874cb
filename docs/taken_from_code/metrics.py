"""docs/reference/metrics*.md: each number that a summary, a log or a table has, and the function that computes it."""

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from course.artifacts import token_rows
from course.reports import gate as gate_report
from docs.taken_from_code.markdown import code, page, paragraph, table
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
        parts += [
            f"## {heading}",
            table(("number", "what it is", "where", "undefined", "not to be confused with"), rows(metrics)),
        ]
    return page(parts)


def rows(metrics: Sequence[Metric]) -> Iterator[tuple[str, ...]]:
    for metric in metrics:
        names = ", ".join(code(name) if re.fullmatch(r"[\w.]+", name) else name for name in metric.names)
        example = f". {metric.example()}" if metric.example else ""
        path = Path(inspect.getsourcefile(metric.function) or "").resolve().relative_to(LAB).as_posix()
        where = f"[{metric.function.__name__}](../../{path})"
        yield names, metric.formula + example, where, metric.undefined, metric.not_to_be_confused
