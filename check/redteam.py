"""Machinery: the student's exploits and patch, checked; a policy and a search are the examiners.

The patch is tried on the exploits, on texts of the same class and on right lines, both with fresh numbers. If it judges
all of them as the spec does, a policy learns from its rewards. If the policy finds no exploit, the search of
``course.attack`` tries its texts. A wrong value or several answers that the patch pays becomes the student's next
exploit. A right value in another form is not an exploit.

A patch that knows the strings it was shown does not pass: a teacher takes other numbers than the student saw
(``seed``).
"""

import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from check.comparing import Comparison, Comparisons, collect, compare, learn_until_exploit, try_golden_sets
from check.result import NOT_STARTED, CannotCheck, CheckResult
from course.datasets.files import LAB, write_whole
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, Task, task_of
from course.errors import UserError
from course.guest import OwnRubric
from course.rubrics.forms import FINAL
from course.rubrics.hackable import GAPS
from course.rubrics.kinds import Kind
from course.score import score
from course.search import Findings, Progress, Question, make_example, search
from course.text import clipped

_CLASSES = LAB / "data" / "red_team" / "classes.toml"
_BY_POLICY = "optimiser-"  # how the ids of its exploits begin
_BY_SEARCH = "search-"
_OWN = "own"  # the id of an example whose wrong text is an exploit's, with another number
_FEWEST_EXPLOITS = 2  # of the student's own
_DIGITS = (1, 1, 2, 3, 5, 12)  # of the fresh expected answers, each with both signs
_STARTED_FROM = re.compile(rb"""^STARTED_FROM *= *["'](\w+)["']""", re.MULTILINE)


class Trial(NamedTuple):
    """What a verifier gave for each set of texts; ``fresh`` are those with fresh numbers."""

    golden: Comparisons
    fresh: Comparisons
    exploits: list[Comparison]
    class_rewarded: int  # of the wrong texts of the class, the student's own left out: the same whatever these are

    def row(self, who: str) -> str:
        """Of the report's table: false positives and negatives, with the ids of the golden cases."""
        wrong = self.golden.false_positives
        right = self.golden.false_negatives
        ids = ", ".join(comparison.example["id"] for comparison in wrong + right)
        rewards = f"rewards {self.class_rewarded} wrong texts of the class and {len(wrong)} golden ones"
        return f"{who}: {rewards}, refuses {len(right)} right ones; golden cases: {clipped(ids or 'none', 80)}"


def check_redteam(folder: Path = Path("exercises"), seed: int = 0, progress: Progress = iter) -> CheckResult:
    """``seed``: of the fresh numbers and of the policy. The text that cheats the patch is added to the exploits.

    ``progress``: shows a person how far the policy and the search are.
    """
    patch = folder / "patched_rubric.py"
    file = folder / "exploits.jsonl"
    start = find_start(patch)
    cases = [case for case in read_records(file, GoldenCase) if case.completion or case.why.strip()]
    exploits = [case for case in cases if case.why.strip()]
    texts = fresh_texts(start, exploits, seed)
    before = try_texts(OwnRubric(start), texts, exploits)
    patched = OwnRubric(f"{patch}:patched")
    after = try_texts(patched, texts, exploits)
    untouched = after.fresh == before.fresh
    if untouched and not cases:
        return CheckResult(NOT_STARTED)
    faults = [f"{file}: expected a why in each line, got none in {case.id}" for case in cases if not case.why.strip()]
    faults += find_faults(patch, file, start, before, after)
    learned = collect([])
    searched = Findings()
    if not faults:
        learned = learn_until_exploit(patched, seed, progress)
    if not faults and not learned.false_positives:
        search(patched, FINAL, searched, progress)
    if refused := searched.shortest.get(Kind.RIGHT):
        faults.append(f"{patch}: expected 1 for every right line, got {refused}")
    table = [before.row(f"before, {start}"), after.row("after, your patch")]
    numbers = {
        "false_positives": len(after.golden.false_positives),
        "false_negatives": len(after.golden.false_negatives),
        "class_rewarded": after.class_rewarded,
        "completions": learned.tried,
        "texts": searched.tried,
    }
    if faults:
        state = "started" if untouched else "wrong"
        return CheckResult(state, faults[0], [*faults, *table], numbers=numbers)
    written = f"a policy learned from your patch and wrote {learned.tried:,} completions"
    if learned.false_positives:
        cheat = learned.false_positives[0]
        why = f"a policy that learned from the patch wrote it, within {learned.tried:,} completions"
        id_ = add_exploit(file, _BY_POLICY, cheat.example, cheat.completion, why)
        line = f"{written}, one of them {cheat}: {id_} in {file}"
        return CheckResult("wrong", f"cheated; see {id_} in {file}", [line, *table], numbers=numbers)
    tried = f"a search tried {searched.tried:,} texts"
    if paid := [searched.shortest[kind] for kind in (Kind.WRONG, Kind.SEVERAL) if kind in searched.shortest]:
        example = make_example(paid[0].expected_answer)
        id_ = add_exploit(file, _BY_SEARCH, example, paid[0].completion, f"{tried}, and the patch pays this one")
        line = f"{tried}, one of them {paid[0]}: {id_} in {file}"
        return CheckResult("wrong", f"cheated; see {id_} in {file}", [line, *table], numbers=numbers)
    short = f"not cheated in {learned.tried:,} completions and {searched.tried:,} texts"
    line = f"{written}, and {tried}: none cheats it; before and after go into notes/red_team_report.md"
    return CheckResult("done", short, [*table, line], numbers=numbers)


def fresh_texts(start: str, exploits: Sequence[GoldenCase], seed: int) -> list[Question]:
    """Wrong texts of the class, each of which ``start`` rewards, and right lines; with expected answers of the seed."""
    forms = tomllib.loads(_CLASSES.read_text(encoding="utf-8"))[start]
    rng = random.Random(seed)
    drawn = [sign * rng.randrange(10 ** (digits - 1), 10**digits) for digits in _DIGITS for sign in (1, -1)]
    texts: list[Question] = []
    for answer in (0, *drawn):
        example = make_example(answer)
        texts.append((example, f"Final: {answer}"))
        texts.append((example, f" \tFinal: {answer}\r\n"))
        texts.append((example, f"\n\nFinal: {answer}\n"))
        others = {name: answer + rng.choice((-1, 1)) * rng.randrange(1, 1000) for name in "ab"}
        wrong = [GAPS[start].exploit(answer)]
        wrong += [form.format(n=answer, size=abs(answer), d=rng.randrange(1, 10), **others) for form in forms]
        own = [case.completion.replace(str(case.expected_answer), str(answer)) for case in exploits]
        for text in dict.fromkeys([*wrong, *own]):
            if GAPS[start].rubric(example, text)["reward"] > score(example, text)["reward"]:
                task = example if text in wrong else example | {"id": _OWN}
                texts.append((task, text))
    return texts


def try_texts(verifier: OwnRubric, texts: list[Question], exploits: Sequence[GoldenCase]) -> Trial:
    compared = compare(verifier, [(task_of(case), case.completion) for case in exploits])
    fresh = collect(compare(verifier, texts))
    class_rewarded = sum(comparison.example["id"] != _OWN for comparison in fresh.false_positives)
    return Trial(try_golden_sets(verifier), fresh, compared, class_rewarded)


def find_faults(patch: Path, file: Path, start: str, before: Trial, after: Trial) -> Iterator[str]:
    """What is wrong, the exploits first. Those of the policy and the search cheated a patch, and not ``start``."""
    examiners = (_BY_POLICY, _BY_SEARCH)
    own = [exploit for exploit in before.exploits if not exploit.example["id"].startswith(examiners)]
    expected = f"{file}: expected wrong completions that {start} rewards, {_FEWEST_EXPLOITS} or more, each with its why"
    if len(own) < _FEWEST_EXPLOITS:
        yield f"{expected}, got {len(own)}"
    for exploit in before.exploits:
        place = f"{exploit.example['id']}: {exploit}"
        if exploit.true:
            yield f"{expected}, got {place}, which is right by the spec"
        elif exploit in own and not exploit.reward:
            yield f"{expected}, got {place}, which is not rewarded by {start}"
    still = [exploit for exploit in after.exploits if exploit.reward > exploit.true]
    if still:
        yield f"{patch}: expected 0 for your exploits, got {still[0]}"
    wrong = after.fresh.false_positives
    if wrong:
        yield f"{patch}: expected 0 for the whole class, got {len(wrong)} texts rewarded, such as {wrong[0]}"
    refused = [*after.fresh.false_negatives, *after.golden.false_negatives]
    if refused:
        yield f"{patch}: expected 1 for every right line, got {refused[0]}"


def find_start(patch: Path) -> str:
    """The rubric that the patch starts from. The file is searched and not run: it may not even be Python."""
    if not patch.is_file():
        raise CannotCheck(f"{patch}: expected your patch, got no such file; run from the lab's folder")
    source = patch.read_bytes()
    start = _STARTED_FROM.search(source)
    if not start or start[1].decode() not in GAPS:
        raise UserError(f'{patch}: expected a line STARTED_FROM = "NAME" with one of {", ".join(GAPS)}, got none')
    return start[1].decode()


def add_exploit(file: Path, examiner: str, example: Task, completion: str, why: str) -> str:
    """Append a completion as an exploit with an id of its own, which is returned; it begins with the examiner."""
    ids = {case.id for case in read_records(file, GoldenCase)}
    number = 1
    while f"{examiner}{number}" in ids:
        number += 1
    id_ = f"{examiner}{number}"
    row = example | {"id": id_, "completion": completion, "expected_reward": 0.0, "why": why}
    before = file.read_bytes()
    if not before.endswith(b"\n"):
        before += b"\n"
    write_whole(file, before + msgspec.json.encode(row) + b"\n")
    return id_
