"""Machinery: the student's exploits and patch, judged with fresh numbers, then by a policy and by a search.

An exploit is a wrong value, or several answers, paid by the verifier from which the patch starts. The patch must pay no
exploit of the student's, none with other numbers and none of the same class, and it must pay every right line. If it
does, a policy learns from its rewards, and the search of ``course.attack`` tries its texts. An exploit that one of them
finds becomes a line of exploits.jsonl, which the patch must refuse from then on. Lines that fooled another verifier are
not looked at.
"""

import random
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from check.result import NOT_STARTED, CheckResult
from course.datasets.files import LAB, write_whole
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase
from course.errors import UserError
from course.guest import OwnRubric
from course.rubrics.forms import FINAL
from course.rubrics.hackable import GAPS
from course.rubrics.kinds import EXPLOITS, Kind, kind_of
from course.search import Finding, Findings, Progress, learn_from, make_example, search
from course.text import clipped

PATCH = Path("exercises") / "patched_rubric.py"
CASES = Path("exercises") / "exploits.jsonl"
_CLASSES = LAB / "data" / "red_team" / "classes.toml"
_PATCHED = "patched_rubric"  # how ``fooled`` begins where the policy or the search fooled a patch
_SEED = 0  # of the fresh numbers and of the policy
_FEWEST_EXPLOITS = 2  # of the student's own
_RIGHT_FORMS = ("Final: {}", " \tFinal: {}\r\n", "\n\nFinal: {}\n")

Text = tuple[int, str]  # an expected answer and a completion


def check_redteam(progress: Progress = iter) -> CheckResult:
    """``progress``: shows how far the policy and the search are."""
    patched = OwnRubric(f"{PATCH}:patched")
    classes = tomllib.loads(_CLASSES.read_text(encoding="utf-8"))
    start = str(getattr(patched.target, "__globals__", {}).get("STARTED_FROM"))
    if start not in classes:
        expected = f'expected a line STARTED_FROM = "NAME" with one of {", ".join(classes)}'
        raise UserError(f"{PATCH}: {expected}, got {clipped(start, 60)}")
    cases = [*read_records(CASES, GoldenCase)]
    own = [case for case in cases if case.fooled == start and (case.completion or case.why.strip())]
    found = [case for case in cases if case.fooled.startswith(_PATCHED)]
    rng = random.Random(_SEED)
    answers = [0, *(rng.randrange(-size, size) for size in (10, 10, 100, 1000, 1000, 10**12, 10**12))]
    lines = [(case.expected_answer, case.completion) for case in own + found]
    wrong = [line for line in lines if kind_of(*line) in EXPLOITS]
    for answer in answers:
        wrong += wrong_texts(start, classes[start], own, answer, rng)
    right = [(answer, form.format(answer)) for answer in answers for form in _RIGHT_FORMS]
    paid = [finding for finding in ask(patched, wrong) if finding.reward != 0]
    refused = [finding for finding in ask(patched, right) if finding.reward != 1]
    if not own and len(paid) == len(wrong):
        return CheckResult(NOT_STARTED)
    faults = [*faults_of_exploits(start, own)]
    if paid:
        faults.append(f"{PATCH}: expected 0 for all of {len(wrong)} exploits, got more for {len(paid)}: {paid[0]}")
    if refused:
        faults.append(f"{PATCH}: expected 1 for every right line, got {refused[0]}")
    if faults:
        return CheckResult("wrong", faults[0], faults)
    return attack_patch(patched, progress)


def wrong_texts(
    start: str, forms: Sequence[str], own: Sequence[GoldenCase], answer: int, rng: random.Random
) -> Iterator[Text]:
    """Exploits of ``start`` with this answer: in each of the forms, and those of the student's."""
    others = {name: answer + rng.choice((-1, 1)) * rng.randrange(1, 1000) for name in "ab"}
    texts = [form.format(n=answer, size=abs(answer), d=rng.randrange(1, 10), **others) for form in forms]
    texts += [case.completion.replace(str(case.expected_answer), str(answer)) for case in own]
    for text in texts:
        if kind_of(answer, text) in EXPLOITS and GAPS[start].rubric(make_example(answer), text)["reward"]:
            yield answer, text


def ask(verifier: OwnRubric, texts: Sequence[Text]) -> list[Finding]:
    """What the verifier gives for each text: the shortest first, and those last that have no reward."""
    given = verifier.answers([(make_example(answer), text) for answer, text in texts])
    findings = [Finding(*text, answer.reward, answer.failure) for text, answer in zip(texts, given, strict=True)]
    return sorted(findings, key=lambda finding: (finding.reward is None, finding.order))


def faults_of_exploits(start: str, own: Sequence[GoldenCase]) -> Iterator[str]:
    if len(own) < _FEWEST_EXPLOITS:
        yield f'{CASES}: expected {_FEWEST_EXPLOITS} exploits or more with "fooled": "{start}", got {len(own)}'
    for case in own:
        expected = f"{CASES}, {clipped(case.id, 40)}: expected "
        got = f"got '{clipped(case.completion, 200)}' where {case.expected_answer} is right"
        if kind_of(case.expected_answer, case.completion) not in EXPLOITS:
            yield f"{expected}a wrong value or several answers, {got}: the right value, in this form or another"
        elif not GAPS[start].rubric(make_example(case.expected_answer), case.completion)["reward"]:
            yield f"{expected}a text that {start} pays, {got}: it pays 0"
        elif not case.why.strip():
            yield f"{expected}a why, got none"


def attack_patch(patched: OwnRubric, progress: Progress) -> CheckResult:
    """Let a policy learn from the patch and a search try it, until one of them finds an exploit that is paid."""
    tried = 0
    for written in learn_from(patched, FINAL, _SEED, progress):
        tried += len(written)
        paid = [text.finding() for text in written if text.reward > 0]
        cheats = [cheat for cheat in paid if kind_of(cheat.expected_answer, cheat.completion) in EXPLOITS]
        if cheats:
            why = f"a policy that learned from the patch wrote it within {tried:,} completions"
            return add_exploit(patched, min(cheats, key=lambda cheat: cheat.order), why)
    found = Findings()
    search(patched, FINAL, found, progress)
    if refused := found.shortest.get(Kind.RIGHT):
        line = f"{patched.path}: expected 1 for every right line, got {refused}"
        return CheckResult("wrong", line, [line])
    for kind in (Kind.WRONG, Kind.SEVERAL):
        if kind in found.shortest:
            return add_exploit(patched, found.shortest[kind], f"a search of {found.tried:,} texts found it")
    return CheckResult("done", f"not cheated in {tried:,} completions and {found.tried:,} texts")


def add_exploit(patched: OwnRubric, cheat: Finding, why: str) -> CheckResult:
    """Append what cheated the patch to the student's exploits, and say so."""
    row = make_example(cheat.expected_answer) | {"completion": cheat.completion, "expected_reward": 0.0, "why": why}
    del row["id"]  # its line is its name
    row["fooled"] = f"{_PATCHED} {patched.settings().get('rubric_version', '')}".strip()
    write_whole(CASES, CASES.read_bytes().rstrip() + b"\n" + msgspec.json.encode(row) + b"\n")
    is_several = kind_of(cheat.expected_answer, cheat.completion) is Kind.SEVERAL
    what = "several answers" if is_several else "a wrong value"
    line = f"{patched.path}: expected 0, got {cheat}, {what}: {why}, and it is the last line of {CASES} now"
    return CheckResult("wrong", line, [line])
