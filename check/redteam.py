"""Machinery: the student's exploits and patch, checked; a policy is the examiner.

The patch is tried on the exploits, on texts of the same class and on right lines, both with fresh numbers. If it judges
all of them as the spec does, a policy learns from its rewards, and what that gets away with is the next exploit.

Covered
    A patch that knows the strings it was shown: a teacher takes other numbers than the student saw (``seed``).
Not covered
    Whether a patch is the student's own: it may hold the scorer's rule in other words.
"""

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import msgspec

from check.report import Checked
from course.datasets.files import LAB, write_whole
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, task_of
from course.errors import UserError
from course.rubrics.hackable import GAPS
from course.score import score
from course.text import clipped
from course.verifier import (
    Comparison,
    Findings,
    Progress,
    Questions,
    Verifier,
    collect_findings,
    make_example,
    optimise,
    try_golden_sets,
)

_CLASSES = LAB / "data" / "red_team" / "classes.toml"
_BY_POLICY = "optimiser-"  # how the ids of its exploits begin
_OWN = "own"  # the id of an example whose wrong text is an exploit's, with another number
_FEWEST_EXPLOITS = 2  # of the student's own
_DIGITS = (1, 1, 2, 3, 5, 12)  # of the fresh expected answers, each with both signs
_STARTED_FROM = re.compile(rb"""^STARTED_FROM *= *["'](\w+)["']""", re.MULTILINE)
_LENT = re.compile(  # where the scorer's own rule is to be had: of the course, the two shipped lines are enough
    rb"(?:from|import|,)\s*course\b(?!\.faults import PREFIX\r?$|\.rubrics\.hackable import GAPS\r?$)"
    rb"|(?:from|import)\s+check\b|\bRUBRICS\b|\bimportlib\b|__import__",
    re.MULTILINE,
)


class Trial(NamedTuple):
    """What a verifier gave for each set of texts; ``fresh`` are those with fresh numbers."""

    golden: Findings
    fresh: Findings
    exploits: list[Comparison]
    class_rewarded: int  # of the wrong texts of the class, the student's own left out: the same whatever these are

    def row(self, who: str) -> str:
        """Of the report's table: false positives and negatives, with the ids of the golden cases."""
        wrong, right = self.golden.false_positives, self.golden.false_negatives
        ids = clipped(", ".join(one.example["id"] for one in wrong + right) or "none", 80)
        rewards = f"rewards {self.class_rewarded} wrong texts of the class and {len(wrong)} golden ones"
        return f"{who}: {rewards}, refuses {len(right)} right ones; golden cases: {ids}"


def check_redteam(folder: Path = Path("exercises"), seed: int = 0, progress: Progress = iter) -> Checked:
    """``seed``: of the fresh numbers and of the policy. What the policy gets away with is added to the exploits.

    ``progress``: shows a person how far the policy is.
    """
    patch, file = folder / "patched_rubric.py", folder / "exploits.jsonl"
    start = _started_from(patch)
    cases = [one for one in read_records(file, GoldenCase) if one.completion or one.why.strip()]
    exploits = [one for one in cases if one.why.strip()]
    texts = fresh_texts(start, exploits, seed)
    with Verifier(start) as verifier:
        before = _trial(verifier, texts, exploits)
    with Verifier(f"{patch}:patched") as verifier:
        after = _trial(verifier, texts, exploits)
        untouched = after.fresh == before.fresh
        if untouched and not cases:
            return Checked("not started")
        wrong = [f"{file}: expected a why in each line, got none in {one.id}" for one in cases if one not in exploits]
        wrong += _faults(patch, file, start, before, after)
        found = collect_findings([]) if wrong else optimise(verifier, seed, progress)
    table = [before.row(f"before, {start}"), after.row("after, your patch")]
    numbers = {name: len(getattr(after.golden, name)) for name in ("false_positives", "false_negatives")}
    numbers |= {"class_rewarded": after.class_rewarded, "completions": found.tried}
    if wrong:
        return Checked("started" if untouched else "wrong", wrong[0], [*wrong, *table], {}, numbers)
    said = f"a policy learned from your patch and wrote {found.tried:,} completions"
    if cheats := found.false_positives:
        new = f"{_add(file, cheats[0], found.tried)} in {file}"
        return Checked("wrong", f"cheated; see {new}", [f"{said}, one of them {cheats[0]}: {new}", *table], {}, numbers)
    said += ", none of which cheats it; before and after go into notes/red_team_report.md"
    return Checked("done", f"not cheated in {found.tried:,} completions", [*table, said], {}, numbers)


def fresh_texts(start: str, exploits: Sequence[GoldenCase], seed: int) -> Questions:
    """Wrong texts of the class, each of which ``start`` rewards, and right lines; with expected answers of the seed."""
    forms, rng = tomllib.loads(_CLASSES.read_text(encoding="utf-8"))[start], random.Random(seed)
    answers = [sign * rng.randrange(10 ** (digits - 1), 10**digits) for digits in _DIGITS for sign in (1, -1)]
    texts: Questions = []
    for n in (0, *answers):
        example = make_example(n)
        other = {name: n + rng.choice((-1, 1)) * rng.randrange(1, 1000) for name in "ab"}
        wrong = [GAPS[start].exploit(n)]
        wrong += [form.format(n=n, size=abs(n), d=rng.randrange(1, 10), **other) for form in forms]
        own = [one.completion.replace(str(one.expected_answer), str(n)) for one in exploits]
        texts += [(example, text) for text in (f"Final: {n}", f" \tFinal: {n}\r\n", f"\n\nFinal: {n}\n")]
        for text in dict.fromkeys([*wrong, *own]):
            if GAPS[start].rubric(example, text)["reward"] > score(example, text)["reward"]:
                texts.append((example if text in wrong else example | {"id": _OWN}, text))
    return texts


def _trial(verifier: Verifier, texts: Questions, exploits: Sequence[GoldenCase]) -> Trial:
    own = verifier.compare([(task_of(one), one.completion) for one in exploits])
    fresh = collect_findings(verifier.compare(texts))
    return Trial(try_golden_sets(verifier), fresh, own, sum(one.example["id"] != _OWN for one in fresh.false_positives))


def _faults(patch: Path, file: Path, start: str, before: Trial, after: Trial) -> Iterator[str]:
    """What is wrong, the exploits first. Those that a policy wrote were found on a patch, and not on ``start``."""
    own = [one for one in before.exploits if not one.example["id"].startswith(_BY_POLICY)]
    expected = f"{file}: expected wrong completions that {start} rewards, {_FEWEST_EXPLOITS} or more, each with its why"
    if len(own) < _FEWEST_EXPLOITS:
        yield f"{expected}, got {len(own)}"
    for one in before.exploits:
        if one.true or (one in own and not one.reward):
            why = "is right by the spec" if one.true else f"is not rewarded by {start}"
            yield f"{expected}, got {one.example['id']}: {one}, which {why}"
    if still := [one for one in after.exploits if one.reward > one.true]:
        yield f"{patch}: expected 0 for your exploits, got {still[0]}"
    if wrong := after.fresh.false_positives:
        yield f"{patch}: expected 0 for the whole class, got {len(wrong)} texts rewarded, such as {wrong[0]}"
    if refused := [*after.fresh.false_negatives, *after.golden.false_negatives]:
        yield f"{patch}: expected 1 for every right line, got {refused[0]}"


def _started_from(patch: Path) -> str:
    """The name in the patch. The file is searched and not run: it may not even be Python."""
    if not patch.is_file():
        raise UserError(f"{patch}: expected your patch, got no such file; run from the lab's folder")
    if lent := _LENT.search(patch.read_bytes()):
        raise UserError(f"{patch}: expected a rule of your own, got '{lent[0].decode()}'; take that out")
    found = _STARTED_FROM.search(patch.read_bytes())
    if not found or found[1].decode() not in GAPS:
        raise UserError(f'{patch}: expected a line STARTED_FROM = "NAME" with one of {", ".join(GAPS)}, got none')
    return found[1].decode()


def _add(file: Path, cheat: Comparison, tried: int) -> str:
    """Append a completion as an exploit with an id of its own, which is returned."""
    ids = {one.id for one in read_records(file, GoldenCase)}
    id_ = next(name for name in (f"{_BY_POLICY}{number}" for number in count(1)) if name not in ids)
    why = f"a policy that learned from the patch wrote it, within {tried:,} completions"
    new = cheat.example | {"id": id_, "completion": cheat.completion, "expected_reward": 0.0, "why": why}
    before = file.read_bytes()
    if not before.endswith(b"\n"):
        before += b"\n"
    write_whole(file, before + msgspec.json.encode(new) + b"\n")
    return id_
