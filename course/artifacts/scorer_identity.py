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


class Instrument(NamedTuple):
    """The installed scorer, under the names that a manifest has for it.

    The fingerprint is the SHA-256 over name, version, spec, source and golden verdicts. The source is that of
    ``score.py`` and ``faults.py``, all that decides a reward or an outcome. How a text is printed, ``text.py``, is not
    in it.
    """

    scorer_name: str
    scorer_version: str
    scorer_fingerprint: str
    spec: str
    golden: Golden


class GoldenVerdict(NamedTuple):
    """What the scorer made of one golden case. ``passed``: it is what was expected."""

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
def installed() -> Instrument:
    """The installed scorer's fingerprint, and whether it passes the golden sets. Computed once a process."""
    verdicts = check_golden([*read_records(GOLDEN_CORRECT, GoldenCase), *read_records(GOLDEN_EXPLOITS, GoldenCase)])
    sources = [Path(str(module.__file__)).read_bytes().replace(b"\r\n", b"\n") for module in (scorer, faults)]
    identity = {
        "name": scorer.SCORER_NAME,
        "version": scorer.SCORER_VERSION,
        "spec": scorer.SPEC,
        "source": [hashlib.sha256(source).hexdigest() for source in sources],
        "verdicts": [[verdict.case.id, verdict.reward, verdict.outcome] for verdict in verdicts],
    }
    return Instrument(
        scorer_name=scorer.SCORER_NAME,
        scorer_version=scorer.SCORER_VERSION,
        scorer_fingerprint=hashlib.sha256(msgspec.json.encode(identity)).hexdigest(),
        spec=scorer.SPEC,
        golden=Golden(passed=all(verdict.passed for verdict in verdicts), cases=len(verdicts)),
    )
