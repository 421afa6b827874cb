"""Machinery: what the page of a run shows, from the run's own artifacts, which are verified as they are read.

A page holds at most MOST_ROWS rows, a uniform sample of more, and of each text what fits: the run holds the whole.
"""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

import msgspec

from course.artifacts.locked_room import room_conditions, short_value
from course.artifacts.reading import Broken, Run, open_run, read_output
from course.artifacts.records import SUMMARY, LearningResult, Result, Selection
from course.artifacts.run_log import LogLine
from course.artifacts.summary import Choice, choice_of, family_of, summary_of
from course.artifacts.verifying import Verification
from course.faults import CHECKS
from course.reports.comparison_page import two_runs_data
from course.reports.gate import Finding
from course.reports.learning_page import loop_c_data
from course.reports.page_tables import MOST_BYTES, Data, cut, fitting
from course.reports.pages import page
from course.reports.run_page import LOOPS, main_number, points_off, share_expected
from course.reports.selection_demo import cause
from course.text import clipped

REPORT, COMPARISON, GATE_PAGE, LOG_PAGE = "report.html", "comparison.html", "gate.html", "log.html"
MOST_ROWS = 2_000
_LONGEST_TEXT = 2_000  # characters of a text
_MOST_SAMPLES, _MOST_OUTCOMES, _MOST_FAULTS = 200, 100, 100  # of a row, of a run
_SAMPLE_SEED = 0

Sampled = TypeVar("Sampled")


def page_of_run(path: Path, log: Sequence[LogLine]) -> tuple[str, list[str]]:
    """The page of a run, and what is wrong with the run, which the page says first. Raises what ``open_run`` does."""
    run = open_run(path)
    check = Verification(run, {line.manifest for line in log})
    scored = scored_data(check)  # which reads the rows, and so verifies them
    loop = run.manifest.loop
    more = loop_c_data(path) if loop == "C" else {}
    data = {**more, "scored": scored, "faults": some_of(check.faults), "conditions": conditions_of_run(run)}
    return page(loop, f"{path.resolve().name}: Loop {loop}, {LOOPS[loop][0]}", "", data), check.faults


def page_of_two(
    paths: Sequence[Path], finding: Finding | None, asked: float | str, log: Sequence[LogLine]
) -> tuple[str, list[str]]:
    """The same for two runs side by side: the gate says what is wrong with them, of Loop C the verification."""
    title = " and ".join(path.resolve().name for path in paths)
    data = two_runs_data(paths, finding, asked)
    if finding:
        return page("two", title, "", data), [] if finding.numbers else finding.reasons
    checks = [Verification(open_run(path), {line.manifest for line in log}) for path in paths]
    for check in checks:
        for _ in check.rows():
            pass  # reading a row verifies it
    faults = [f"{check.run.path.name}: {fault}" for check in checks for fault in check.faults]
    return page("two", title, "", data | {"faults": some_of(faults)}), faults


def some_of(faults: list[str]) -> list[str]:
    """The first of them and how many more there are: a manifest may name as many files as it likes."""
    more = len(faults) - _MOST_FAULTS
    return [*faults[:_MOST_FAULTS], f"and {more:,} more of such faults"] if more > 0 else faults


def scored_data(check: Verification) -> Data:
    """What the verifier scored in a run: its numbers and its rows, or a uniform sample of them."""
    choices: Counter[Choice] = Counter()
    kept, n = uniform_sample(counted_choices(check.rows(), choices), MOST_ROWS)
    summary = numbers_of(check, choices)
    rows, longest = fitting(kept, lambda row, longest: row_data(*row, longest), _LONGEST_TEXT, MOST_BYTES)
    found = Counter[str]()
    for outcome, count in check.outcomes.items():
        found[clipped(outcome, 40)] += count
    ordered = sorted(found.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))
    if others := ordered[_MOST_OUTCOMES:]:  # no run of this lab has so many
        ordered = [*ordered[:_MOST_OUTCOMES], (f"{len(others):,} more outcomes", sum(count for _, count in others))]
    return {
        "summary": summary,
        "prediction": prediction_data(check.run.manifest.expect, main_number(summary)),
        "outcomes": [{"outcome": outcome, "family": family_of(outcome), "n": count} for outcome, count in ordered],
        "checks": [(outcome, *one) for outcome, one in CHECKS.items()],
        "n": n,
        "seed": _SAMPLE_SEED,
        "longest": longest,
        "rows": rows,
    }


def uniform_sample(items: Iterable[Sampled], most: int) -> tuple[list[tuple[int, Sampled]], int]:
    """At most so many of the items in order, each with its number from 1 on, and how many there are.

    Reservoir sampling: each item has the same chance. The same items give the same sample.
    """
    rng, kept, n = random.Random(_SAMPLE_SEED), list[tuple[int, Sampled]](), 0
    for n, item in enumerate(items, 1):
        if n <= most:
            kept.append((n, item))
        elif (place := int(rng.random() * n)) < most:
            kept[place] = n, item
    return sorted(kept, key=lambda numbered: numbered[0]), n


def counted_choices(rows: Iterable[Result], choices: Counter[Choice]) -> Iterable[Result]:
    """The rows unchanged. Counts their choices, but for one that holds none, which the verification names."""
    for row in rows:
        if isinstance(row, Selection):
            with suppress(ValueError, IndexError):
                choices[choice_of(row)] += 1
        yield row


def numbers_of(check: Verification, choices: Mapping[Choice, int]) -> Data:
    """The run's numbers: of Loops A and B taken again from the rows; none where these have none."""
    try:
        if check.run.manifest.loop == "B" and not choices:
            return {}  # no row holds a choice
        if check.run.manifest.loop != "C":
            return summary_of(check.outcomes, choices)
        found = msgspec.json.decode(read_output(check.run.path, SUMMARY), type=Data)
        msgspec.convert(main_number(found), dict[str, float | None])
        return found
    except (Broken, ValueError, ArithmeticError, RecursionError):
        return {}


def prediction_data(expect: str | None, number: Mapping[str, float | None]) -> Data:
    """What was expected, as said and as a share, and how far the main number lies from it."""
    off = [points_off(expect or "", value) for value in number.values()]
    return {
        "expect": expect and clipped(expect, 400),
        "share": share_expected(expect or ""),
        "off": off[0] if off else None,
    }


def row_data(number: int, row: Result, longest: int) -> Data:
    """One row; every text in it is cut to so many characters."""
    data = {
        "row": number,
        "id": cut(row.id, longest),
        "prompt": cut(row.prompt, longest),
        "expected": cut(str(row.expected_answer), longest),
        "completion": cut(row.completion, longest),
        "reward": row.reward,
        "outcome": clipped(row.details.outcome, 40),
    }
    if isinstance(row, Selection):
        samples, place = list(zip(row.samples, row.rewards, strict=False)), row.chosen
        why, shown = why_chosen(row), samples[:_MOST_SAMPLES]
        if len(samples) > len(shown):
            why += f"; {len(shown)} of its {len(samples):,} samples are shown"
            if place >= len(shown):  # the chosen one is always among them
                shown[-1], place = samples[min(place, len(samples) - 1)], len(shown) - 1
        data |= {
            "samples": [(cut(sample, longest), reward) for sample, reward in shown],
            "chosen": place,
            "why": why,
            "others": (len(row.others), row.other_rewards.count(1.0)),
        }
    elif isinstance(row, LearningResult):
        said = {"step": row.step, "training": row.training, "split": row.split, "proxy reward": row.proxy_reward}
        said |= {"sampled": f"{row.count:,} times" if row.count > 1 else None}
        data["of"] = [(name, cut(str(value), longest)) for name, value in said.items() if value is not None]
    return data


def why_chosen(row: Selection) -> str:
    """Why the sample that was taken won, tied or could not win, in one sentence."""
    if not row.rewards or not 0 <= row.chosen < len(row.rewards):
        return "the run does not hold the sample that it says was chosen"
    best = max(row.rewards)
    equals = [place for place, reward in enumerate(row.rewards) if reward == best]
    if row.rewards[row.chosen] < best:
        return f"lost: {cause(row)}"
    if not best:
        return f"nothing to win, all {len(equals)} have reward 0: {cause(row)}"
    if len(equals) == 1:
        return "won: the only one with the highest reward"
    place = "the first of them" if row.chosen == equals[0] else f"number {equals.index(row.chosen) + 1} of them"
    return f"tied: {len(equals)} of {len(row.rewards)} have the highest reward, and {place} was taken"


def conditions_of_run(run: Run) -> list[tuple[str, str]]:
    """The conditions of a run that are known, short, and the digest by which a log knows it."""
    manifest = run.manifest
    said: dict[str, object] = {"command": manifest.command, "change": manifest.change, "policy": manifest.policy}
    said |= {name: value and short_value(value) for name, value in room_conditions(manifest).items()}
    said |= {"seed": manifest.seed}
    facts = [*said.items(), *manifest.settings.items(), ("digest of this run", run.digest)]  # no setting takes a name
    return [(clipped(name, 60), clipped(str(value), 400)) for name, value in facts if value is not None]


def page_of_log(log: Sequence[LogLine]) -> str:
    """The log of runs as a table, oldest first."""
    opened: Counter[str] = Counter()
    rows = []
    for line in log:
        opened.update(line.holdouts)
        off = prediction_data(line.expect, line.number)["off"]
        number = ", ".join(f"{name} {'-' if value is None else f'{value:.4g}'}" for name, value in line.number.items())
        holdout = ", ".join(f"look {opened[one]} at {one[:8]}" for one in line.holdouts)
        cells = line.run, line.loop, line.command.removeprefix("course."), number, line.change, line.expect
        rows.append([clipped(one or "", 200) for one in (*cells, off, holdout, line.manifest[:8])])
    columns = "run", "loop", "command", "number", "change", "expected", "it was", "holdout", "digest"
    some = f"The newest {MOST_ROWS:,} of {len(rows):,} runs." if len(rows) > MOST_ROWS else ""
    return page("log", "The log of runs", some, {"columns": columns, "rows": rows[-MOST_ROWS:]})
