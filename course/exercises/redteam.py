"""Machinery: the student's exploits and patch, checked; a policy is the examiner.

The patch is tried on the exploits, on texts of the same class and on right lines, both with numbers that are drawn. If
it judges all of them as the spec does, a policy learns from its rewards; what that gets away with is the next exploit.

Covered
    A patch that knows the strings it was shown: a teacher draws other numbers than the student saw (``seed``).
Not covered
    Whether a patch is the student's own: it may hold the scorer's rule in other words.
"""

import random
import re
import tomllib
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec

from course.artifacts.scorer_identity import example_of
from course.datasets.files import LAB, open_regular
from course.datasets.jsonl import read_records
from course.datasets.records import Exploit
from course.errors import UserError, reason
from course.exercises.attacking import differences, example_with, golden, optimise
from course.exercises.verifier import Questions, Verifier
from course.process import signals_held
from course.reports.attack import Answer, Found, answer_text
from course.reports.check import Checked
from course.rubrics.hackable import GAPS
from course.score import score
from course.text import clipped

_FAMILIES = LAB / "data" / "red_team" / "families.toml"
_BY_POLICY = "optimiser-"  # how the ids of its exploits begin
_FEWEST = 2  # exploits of the student's own
_DIGITS = (1, 1, 2, 3, 5, 12)  # of the expected answers that are drawn, each with both signs
_STARTED_FROM = re.compile(rb"""^STARTED_FROM *= *["'](\w+)["']""", re.MULTILINE)
_LENT = re.compile(rb"from course\.score|import course\b|\bRUBRICS\b")  # where the scorer's own rule is to be had


class Trial(NamedTuple):
    """What one verifier gave for the golden sets, for texts with drawn numbers, and for the exploits."""

    golden: Found
    drawn: Found
    exploits: list[Answer]


def check_redteam(folder: Path = Path("exercises"), seed: int = 0) -> Checked:
    """``seed``: of the numbers that are drawn, and of the policy. What the policy finds is added to the exploits."""
    patch, file = folder / "patched_rubric.py", folder / "exploits.jsonl"
    start = _started_from(patch)
    exploits = [one for one in read_records(file, Exploit) if one.why.strip()]
    texts = drawn_texts(start, exploits, seed)
    with Verifier(start) as verifier:
        before = _trial(verifier, texts, exploits)
    with Verifier(f"{patch}:patched") as verifier:
        after = _trial(verifier, texts, exploits)
        untouched = after.drawn == before.drawn
        if untouched and not exploits:
            return Checked("not started")
        lines = [*_of_exploits(file, start, before.exploits), *_of_patch(patch, after)]
        found = None if lines else optimise(verifier, seed)
    table = [_row(f"before, {start}", before), _row("after, your patch", after)]
    numbers = {"completions": found.tried if found else 0, "class_rewarded": len(after.drawn.false_positives)}
    numbers |= {"false_positives": len(after.golden.false_positives)}
    numbers |= {"false_negatives": len(after.golden.false_negatives)}
    if found is None:
        return Checked("started" if untouched else "wrong", lines[0], [*lines, *table], {}, numbers)
    if cheats := found.false_positives:
        new = _add(file, cheats[0], found.tried)
        said = f"a policy learned from your patch: within {found.tried:,} completions it wrote {answer_text(cheats[0])}"
        return Checked(
            "wrong", f"cheated; see {new} in {file}", [f"{said}; added to {file} as {new}", *table], {}, numbers
        )
    said = f"a policy learned from your patch, wrote {found.tried:,} completions and did not cheat it"
    return Checked("done", said, [*table, f"{said}; before and after go into notes/red_team_report.md"], {}, numbers)


def drawn_texts(start: str, exploits: Sequence[Exploit], seed: int) -> Questions:
    """Wrong texts of the class, each of which ``start`` rewards, and right lines; all with numbers that are drawn."""
    forms, rng = tomllib.loads(_FAMILIES.read_text(encoding="utf-8"))[start], random.Random(seed)
    drawn = [sign * rng.randrange(10 ** (digits - 1), 10**digits) for digits in _DIGITS for sign in (1, -1)]
    texts: Questions = []
    for n in (0, *drawn):
        example, right = example_with(n), f"Final: {n}"
        other = {name: n + rng.choice((-1, 1)) * rng.randrange(1, 1000) for name in "ab"}
        wrong = [form.format(n=n, size=abs(n), d=rng.randrange(1, 10), **other) for form in forms]
        wrong += [one.completion.replace(str(one.expected_answer), str(n)) for one in exploits]
        texts += [(example, text) for text in (right, f" \t{right}\r\n", f"\n\n{right}\n")]
        for text in dict.fromkeys([GAPS[start].exploit(n), *wrong]):
            if GAPS[start].rubric(example, text)["reward"] > score(example, text)["reward"]:
                texts.append((example, text))
    return texts


def _trial(verifier: Verifier, texts: Questions, exploits: Sequence[Exploit]) -> Trial:
    tried = verifier.answers([(example_of(one), one.completion) for one in exploits])
    return Trial(golden(verifier), differences(verifier.answers(texts)), tried)


def _row(who: str, trial: Trial) -> str:
    """A row of the report's table: false positives and false negatives, with the ids of the golden cases."""
    found = (trial.golden.false_positives, trial.golden.false_negatives)
    ids = [[str(one.example["id"]) for one in answers] for answers in found]
    wrong, right = (f"{len(some)} ({clipped(', '.join(some), 50)})" if some else "0" for some in ids)
    rewarded = len(trial.drawn.false_positives)
    return f"{who}: it rewards {rewarded} wrong texts of the class, {wrong} golden ones, and refuses {right} right ones"


def _of_exploits(file: Path, start: str, exploits: Sequence[Answer]) -> list[str]:
    """What is wrong with the exploits themselves. What a policy wrote was found on a patch, and not on ``start``."""
    own = [one for one in exploits if not one.example["id"].startswith(_BY_POLICY)]
    expected = f"{file}: expected {_FEWEST} wrong completions or more that {start} rewards, each with its why"
    lines = [f"{expected}, got {len(own)}"] if len(own) < _FEWEST else []
    lines += [f"{expected}, got {answer_text(one)}, which is right" for one in exploits if one.true]
    return lines + [f"{expected}, got {answer_text(one)}" for one in own if not one.reward]


def _of_patch(patch: Path, after: Trial) -> list[str]:
    lines = []
    if still := [one for one in after.exploits if one.reward and not one.true]:
        lines.append(f"{patch}: expected 0 for your exploits, got {answer_text(still[0])}")
    if wrong := after.drawn.false_positives:
        lines.append(f"{patch}: {len(wrong)} other wrong texts of the class are rewarded: {answer_text(wrong[0])}")
    if refused := [*after.drawn.false_negatives, *after.golden.false_negatives]:
        lines.append(f"{patch}: expected 1 for a right line, got {answer_text(refused[0])}")
    return lines


def _started_from(patch: Path) -> str:
    try:
        with open_regular(patch) as file:
            code = file.read()
    except OSError as error:
        raise UserError(f"{patch}: expected your patch, got: {reason(error)}; run from the lab's folder") from None
    found, lent = _STARTED_FROM.search(code), _LENT.search(code)
    if not found or (name := found[1].decode("utf-8", "replace")) not in GAPS:
        raise UserError(f'{patch}: expected STARTED_FROM = "NAME", one of {", ".join(GAPS)}, got no such line')
    if lent:
        raise UserError(f"{patch}: expected a rule of your own, got '{lent[0].decode()}': take that out")
    return name


def _add(file: Path, cheat: Answer, tried: int) -> str:
    """Append a completion as an exploit with an id of its own, which is returned."""
    ids = {one.id for one in read_records(file, Exploit)}
    id_ = next(name for name in (f"{_BY_POLICY}{number}" for number in count(1)) if name not in ids)
    why = f"a policy that learned from the patch wrote it, within {tried:,} completions"
    new = Exploit(id_, cheat.example["prompt"], cheat.example["expected_answer"], cheat.completion, why)
    with signals_held(), file.open("rb+") as stream:
        ended = stream.read().endswith(b"\n")
        stream.write(b"\n" * (not ended) + msgspec.json.encode(new) + b"\n")
    return id_
