"""Machinery: the page of a run, from the run's own artifacts, which are verified as they are read.

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
from course.artifacts.prediction import main_number, score_prediction
from course.artifacts.reading import Broken, Run, open_run, read_output
from course.artifacts.records import SUMMARY, LearningResult, Result, RubricResult, Selection
from course.artifacts.run_log import LogLine
from course.artifacts.summary import Choice, choice_of, family_of, summary_of
from course.artifacts.verification import Verification
from course.faults import CHECKS
from course.pages.excerpts import MOST_BYTES, Data, cut_text, truncate_to_bytes
from course.pages.html import html_page
from course.pages.learning import learning_data
from course.score import score
from course.show.ending import LOOPS
from course.show.measurement import cause
from course.text import clipped

MOST_ROWS = 2_000
LONGEST_TEXT = 2_000  # characters of a text
_MOST_SAMPLES = 200  # of a row
_SAMPLE_SEED = 0

Sampled = TypeVar("Sampled")


def page_of_run(path: Path, log: Sequence[LogLine]) -> tuple[str, list[str]]:
    """The page of a run, and what is wrong with the run, which the page says first. Raises what ``open_run`` does."""
    run = open_run(path)
    check = Verification(run, {line.manifest for line in log})
    scored = results_data(check)  # which reads the rows, and so verifies them
    loop = run.manifest.loop
    data: Data = learning_data(path) if loop == "C" else {}
    data["scored"] = scored
    data["faults"] = check.faults
    data["conditions"] = conditions_of_run(run)
    verb, _ = LOOPS[loop]
    return html_page(loop, f"{path.resolve().name}: Loop {loop}, {verb}", "", data), check.faults


def results_data(check: Verification) -> Data:
    """What the verifier scored in a run: its numbers and its rows, or a uniform sample of them."""
    choices: Counter[Choice] = Counter()
    kept, n = sample_rows(count_valid_choices(check.rows(), choices), MOST_ROWS)
    summary = numbers_of_run(check, choices)
    rows, longest = truncate_to_bytes(
        kept, lambda numbered, chars: row_data(*numbered, chars), LONGEST_TEXT, MOST_BYTES
    )
    outcomes = rank_outcomes(check.outcomes)
    return {
        "summary": summary,
        "prediction": prediction_data(check.run.manifest.expect, main_number(summary)),
        "outcomes": [{"outcome": outcome, "family": family_of(outcome), "n": count} for outcome, count in outcomes],
        "checks": [(outcome, *described) for outcome, described in CHECKS.items()],
        "n": n,
        "seed": _SAMPLE_SEED,
        "longest": longest,
        "rows": rows,
    }


def rank_outcomes(outcomes: Mapping[str, int]) -> list[tuple[str, int]]:
    """Each outcome and its count, ok first, then the most frequent."""
    counts: Counter[str] = Counter()
    for outcome, count in outcomes.items():
        counts[clipped(outcome, 40)] += count
    return sorted(counts.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))


def sample_rows(rows: Iterable[Sampled], most: int) -> tuple[list[tuple[int, Sampled]], int]:
    """At most so many of the rows in order, each with its number from 1 on, and how many there are.

    Reservoir sampling: each row has the same chance. The same rows give the same sample.
    """
    rng = random.Random(_SAMPLE_SEED)
    kept: list[tuple[int, Sampled]] = []
    n = 0
    for n, row in enumerate(rows, 1):
        if n <= most:
            kept.append((n, row))
            continue
        place = int(rng.random() * n)
        if place < most:
            kept[place] = n, row
    return sorted(kept, key=lambda numbered: numbered[0]), n


def count_valid_choices(rows: Iterable[Result], choices: Counter[Choice]) -> Iterable[Result]:
    """The rows unchanged. Counts their choices, but for one that holds none, which the verification names."""
    for row in rows:
        if isinstance(row, Selection):
            with suppress(ValueError, IndexError):
                choices[choice_of(row)] += 1
        yield row


def numbers_of_run(check: Verification, choices: Mapping[Choice, int]) -> Data:
    """The run's numbers: of Loops A and B recomputed from the rows; none where these have none."""
    loop = check.run.manifest.loop
    if loop == "B" and not choices:
        return {}  # no row holds a choice
    try:
        if loop != "C":
            return summary_of(check.outcomes, choices, check.payments)
        summary = msgspec.json.decode(read_output(check.run.path, SUMMARY), type=Data)
        msgspec.convert(main_number(summary), dict[str, float | None])
        return summary
    except (Broken, ValueError, ArithmeticError, RecursionError):
        return {}


def prediction_data(expect: str | None, number: Mapping[str, float | None]) -> Data:
    """What was expected, as said and as a share, and how far the main number lies from it."""
    prediction = score_prediction(expect, number)
    return {
        "expect": expect and clipped(expect, 400),
        "reading": prediction.reading,
        "share": prediction.value,
        "off": prediction.off,
    }


def row_data(number: int, row: Result, chars: int) -> Data:
    """One row; every text in it is cut to so many characters."""
    data: Data = {
        "row": number,
        "id": cut_text(row.id, chars),
        "prompt": cut_text(row.prompt, chars),
        "expected": cut_text(str(row.expected_answer), chars),
        "completion": cut_text(row.completion, chars),
        "reward": row.reward,
        "outcome": clipped(row.details.outcome, 40),
        "said": clipped(why_scored(row), chars),
    }
    if isinstance(row, Selection):
        data |= choice_data(row, chars)
    elif isinstance(row, RubricResult):
        data["of"] = [("strict reward", f"{row.strict_reward:g}"), ("says", cut_text(row.kind, chars))]
    elif isinstance(row, LearningResult):
        facts = {"step": row.step, "training": row.training, "split": row.split, "proxy reward": row.proxy_reward}
        if row.count > 1:
            facts["sampled"] = f"{row.count:,} times"
        data["of"] = [(name, cut_text(str(value), chars)) for name, value in facts.items() if value is not None]
    return data


def why_scored(row: Result) -> str:
    """The scorer's own sentence on the completion, made again; none where it finds another outcome than the run says.

    A run with such a row is not verified, and its page says so first.
    """
    if row.completion is None:
        return "nobody answered"
    example = {"prompt": row.prompt, "expected_answer": row.expected_answer}
    details = score(example, row.completion)["details"]
    if details["outcome"] != row.details.outcome:
        return ""
    message: str = details["message"]
    return message


def choice_data(row: Selection, chars: int) -> Data:
    """The samples of a row of Loop B with their numbers, the chosen one among them, its number, and why it was chosen.

    No sample has that number if the run does not hold the chosen one.
    """
    samples = list(zip(row.samples, row.rewards, strict=False))
    places = list(range(len(samples)))[:_MOST_SAMPLES]
    why = why_chosen(row)
    if len(samples) > len(places):
        why += f"; {len(places)} of its {len(samples):,} samples are shown"
        if len(places) <= row.chosen < len(samples):
            places[-1] = row.chosen
    return {
        "samples": [(place + 1, cut_text(samples[place][0], chars), samples[place][1]) for place in places],
        "chosen": row.chosen + 1,
        "why": why,
        "others": (len(row.others), row.other_rewards.count(1.0)),
    }


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
    place = f"number {equals.index(row.chosen) + 1} of them"
    if row.chosen == equals[0]:
        place = "the first of them"
    return f"tied: {len(equals)} of {len(row.rewards)} have the highest reward, and {place} was taken"


def conditions_of_run(run: Run) -> list[tuple[str, str]]:
    """The conditions of a run that are known, short, and the digest by which a log knows it."""
    manifest = run.manifest
    conditions: dict[str, object] = {
        "command": manifest.command,
        "change": manifest.change,
        "policy": manifest.policy,
    }
    for name, value in room_conditions(manifest).items():
        conditions[name] = value and short_value(value)
    conditions["seed"] = manifest.seed
    facts = [*conditions.items(), *manifest.settings.items(), ("digest of this run", run.digest)]
    return [(clipped(name, 60), clipped(str(value), 400)) for name, value in facts if value is not None]
