"""Machinery: which instrument measured, the scorer's identity, and whether it passes the golden sets."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from course import faults
from course import score as scorer
from course.artifacts.records import Golden
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, task_of

GOLDEN_FOLDER = Path(scorer.__file__).parent / "golden"
GOLDEN_CORRECT = GOLDEN_FOLDER / "golden_correct.jsonl"
GOLDEN_EXPLOITS = GOLDEN_FOLDER / "golden_exploits.jsonl"


# Version of each released scorer -> its fingerprint. The table stands outside of score.py, which it judges.
RELEASED = {
    "1.0.0": "5bc745b1ce2c4a61c10138baad0a332d6a3d6f6a252cff3d3c48b2e1fb3cb9e6",
    "1.1.0": "a6f663f2f30cc81bb78aa752b61d697dbed328bd506ef6581ff4ae2aec3d46ee",
    "1.2.0": "a38559bdf96e2e73f2bd551557e0fda9d9f0d86f50baf9a9b50859956ccae4b4",
}


class Instrument(NamedTuple):
    """The installed scorer, under the names that a manifest has for it.

    The fingerprint is the SHA-256 over name, version, spec, the bytes of ``score.py``, ``faults.py`` and the golden
    sets, and the verdicts on these. How a text is printed, ``text.py``, is not in it.
    """

    scorer_name: str
    scorer_version: str
    scorer_fingerprint: str
    spec: str
    golden: Golden


class GoldenVerdict(NamedTuple):
    """The scorer's verdict on one golden case. ``passed``: the verdict is the expected one."""

    case: GoldenCase
    reward: float
    outcome: str
    message: str

    @property
    def passed(self) -> bool:
        expected_outcome = self.case.expected_outcome or self.outcome  # where only the reward is known beforehand
        return (self.reward, self.outcome) == (self.case.expected_reward, expected_outcome)


def check_golden(cases: Iterable[GoldenCase]) -> list[GoldenVerdict]:
    verdicts = []
    for case in cases:
        result = scorer.score(task_of(case), case.completion)
        details = result["details"]
        verdicts.append(GoldenVerdict(case, result["reward"], details["outcome"], details["message"]))
    return verdicts


@cache
def scorer_identity() -> Instrument:
    """The installed scorer's fingerprint, and whether it passes the golden sets. Computed once a process."""
    verdicts = check_golden([*read_records(GOLDEN_CORRECT, GoldenCase), *read_records(GOLDEN_EXPLOITS, GoldenCase)])
    sources = [Path(str(scorer.__file__)), Path(str(faults.__file__)), GOLDEN_CORRECT, GOLDEN_EXPLOITS]
    identity = {
        "name": scorer.SCORER_NAME,
        "version": scorer.SCORER_VERSION,
        "spec": scorer.SPEC,
        "source": [digest_of_lines(source) for source in sources],
        "verdicts": [[verdict.case.id, verdict.reward, verdict.outcome] for verdict in verdicts],
    }
    return Instrument(
        scorer_name=scorer.SCORER_NAME,
        scorer_version=scorer.SCORER_VERSION,
        scorer_fingerprint=hashlib.sha256(msgspec.json.encode(identity)).hexdigest(),
        spec=scorer.SPEC,
        golden=Golden(passed=all(verdict.passed for verdict in verdicts), cases=len(verdicts)),
    )


def digest_of_lines(path: Path) -> str:
    """The SHA-256 of a text file, the same for both kinds of line ends: Git may write either."""
    return hashlib.sha256(path.read_bytes().replace(b"\r\n", b"\n")).hexdigest()


def fault_of_release() -> str | None:
    """Why the installed scorer is not the one released under its version; None if it is, or if none was released."""
    identity = scorer_identity()
    released = RELEASED.get(identity.scorer_version)
    if released in (None, identity.scorer_fingerprint):
        return None
    return (
        f"the scorer installed here says that it is version {identity.scorer_version}, and its fingerprint is "
        f"{identity.scorer_fingerprint[:12]}…, not {released[:12]}…: score.py, faults.py or a golden set was changed. "
        "Put the released files back, or give the changed scorer a new version"
    )


def faults_of_scorer() -> list[str]:
    """The reasons not to trust any number of the installed scorer; empty if there are none."""
    found = []
    if fault := fault_of_release():
        found.append(fault)
    if not scorer_identity().golden.passed:
        found.append("the scorer installed here fails the golden sets (course.validate_scorer shows the cases)")
    return found
