"""Machinery: what course.inspect_run prints. All of this text is untrusted, so all of it goes through ``visible``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.prediction import score_prediction
from course.artifacts.records import Result, RubricResult
from course.artifacts.run_log import LogLine
from course.artifacts.summary import family_of
from course.faults import CHECKS
from course.show.measurement import KIND_NAMES, as_scored
from course.show.tables import WIDTH, percent, table, wrap_text
from course.text import clipped, named, visible, visible_whole

_SHOWN_WHOLE = 2_000  # characters of a text that is shown whole
_RUN_COLUMN = 18  # a longer path stands in full on a line of its own, so that it can be pasted


def outcomes_table(counts: Mapping[str, int], shown: Mapping[str, Sequence[Result]], top_k: int) -> str:
    """Examples of each outcome, the most frequent first; last the counts, so that they are still on the screen."""
    n = sum(counts.values())
    failed = sorted((-count, outcome) for outcome, count in counts.items() if outcome != "ok")
    if not failed:
        return "nothing failed"
    rows = []
    for negative_count, outcome in failed:
        expected = CHECKS[outcome].expected if outcome in CHECKS else "an answer"
        count = -negative_count
        rows.append((family_of(outcome), clipped(outcome, 24), f"{count:,}", percent(count / n, 0), expected))
    lines = []
    for _, outcome in failed[:top_k]:
        lines += [visible(outcome[:60]), *map(row_text, shown[outcome]), ""]
    lines += [
        "failures by family and outcome",
        "",
        table(("family", "outcome", "n", "share", "expected"), rows[:top_k], right=(2, 3)),
    ]
    more = len(rows) - top_k
    if more > 0:
        outcomes = "1 more outcome" if more == 1 else f"{more} more outcomes"
        lines.append(f"and {outcomes} (--top-k {len(rows)} shows all)")
    return "\n".join(lines)


def ranking_text(top: Sequence[Result], bottom: Sequence[Result]) -> str:
    """The first rows that passed, and the first that failed: single rows show what averages hide."""
    return "\n".join(
        [
            f"top {len(top)}, the first that passed",
            *map(row_text, top),
            "",
            f"bottom {len(bottom)}, the first that failed",
            *map(row_text, bottom),
        ]
    )


def row_text(row: Result) -> str:
    answer = f"{clipped(row.id, 20)}  expected {clipped(str(row.expected_answer), 20)}"
    head = f"  {answer}  {clipped(row.prompt, WIDTH - 6 - len(answer))}"
    paid = f"{row.reward:.3g}"
    if isinstance(row, RubricResult):
        paid += f" (strict {row.strict_reward:.3g})"
    return f"{head}\n    {paid}  {as_scored(row.completion, WIDTH - 7 - len(paid))}"


def row_in_full(row: Result, details: Mapping[str, Any] | None) -> str:
    """One row in full, with the scorer's explanation; ``details`` is None if there was no completion to score."""
    lines = [
        f"id          {visible(row.id[:_SHOWN_WHOLE])}",
        beside("prompt      ", visible(row.prompt[:_SHOWN_WHOLE])),
        f"expected    {row.expected_answer}",
        f"completion  {'(none)' if row.completion is None else visible_whole(row.completion[:_SHOWN_WHOLE])}",
        f"reward      {row.reward}",
        *rubric_lines(row),
        f"outcome     {visible(row.details.outcome[:60])}  (family: {family_of(row.details.outcome) or 'none'})",
    ]
    if details:
        same = details["outcome"] == row.details.outcome
        lines.append(beside("why         ", details["message"]))
        strangers = {char for char in row.completion or "" if char > "\x7f"}
        if strangers:
            lines.append(beside("not ASCII   ", clipped(", ".join(map(named, sorted(strangers))), 400)))
        lines.append(f"scored again  {'same outcome' if same else details['outcome'] + ': NOT what the run recorded'}")
        by_state: dict[str, list[str]] = {}
        for check, state in details["checks"].items():
            by_state.setdefault(state, []).append(check)
        lines.append("checks")
        lines += [beside(f"  {state:12}", ", ".join(checks)) for state, checks in by_state.items()]
    return "\n".join(lines)


def beside(label: str, text: str) -> str:
    """A text to the right of its label, on as many lines as it needs. The completion alone is never broken."""
    return wrap_text(text, WIDTH, " " * len(label), first=label) or label.rstrip()


def rubric_lines(row: Result) -> list[str]:
    """The strict reward and the kind of the completion, if ``reward`` is that of a second rubric."""
    if not isinstance(row, RubricResult):
        return []
    return [f"strict      {row.strict_reward}", f"kind        {KIND_NAMES.get(row.kind) or clipped(row.kind, 40)}"]


def samples_text(samples: Sequence[str], rewards: Sequence[float], chosen: int) -> str:
    """The samples a choice was made from; an arrow marks the choice."""
    lines = ["samples"]
    for index, (sample, reward) in enumerate(zip(samples, rewards, strict=False)):
        arrow = "->" if index == chosen else "  "
        lines.append(f"  {arrow} {reward:.0f}  {clipped(sample, WIDTH - 10)}")
    return "\n".join(lines)


def log_text(log: Sequence[LogLine]) -> str:
    """The log of runs, oldest first, and what was changed and expected in each."""
    if not log:
        return "The log has no run yet."
    opened: Counter[str] = Counter()
    lines = []
    for line in log:
        opened.update(line.holdouts)
        number = ", ".join(f"{name} {'-' if value is None else f'{value:.4g}'}" for name, value in line.number.items())
        command = line.command.removeprefix("course.")
        run = visible(line.run)
        below = ""
        if len(run) > _RUN_COLUMN:
            run, below = "", run
        lines.append(
            f"{visible(line.manifest[:8]):8}  {run:{_RUN_COLUMN}}  {clipped(line.loop, 1)}  "
            f"{clipped(command, 16):16}  {clipped(number, 29)}".rstrip()
        )
        if below:
            lines.append(f"{'':10}{below}")
        look = ", ".join(f"look {opened[holdout]} at {visible(holdout[:8])}" for holdout in line.holdouts)
        off = score_prediction(line.expect, line.number).off
        expect = f"{line.expect} ({off})" if off else line.expect
        notes = {"change": line.change, "expect": expect, "holdout": look}
        lines += [f"{'':10}{name}: {clipped(text, WIDTH - 19)}" for name, text in notes.items() if text]
    return "\n".join(lines)
