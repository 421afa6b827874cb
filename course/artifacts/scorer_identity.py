"""Which instrument measured: the scorer's identity, and whether it keeps the golden sets."""

import hashlib
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from course import score as scorer
from course.artifacts.records import Golden
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase

GOLDEN_FOLDER = Path(scorer.__file__).parent / "golden"
GOLDEN_CORRECT = GOLDEN_FOLDER / "golden_correct.jsonl"
GOLDEN_EXPLOITS = GOLDEN_FOLDER / "golden_exploits.jsonl"


class Instrument(NamedTuple):
    """The installed scorer. ``fingerprint`` changes with its spec, its source and its verdicts on the golden sets."""

    name: str
    version: str
    fingerprint: str
    spec: str
    golden: Golden


class GoldenVerdict(NamedTuple):
    """What the scorer said of one golden case, beside what it should have said."""

    case: GoldenCase
    reward: float
    outcome: str
    message: str

    @property
    def kept(self) -> bool:
        return (self.reward, self.outcome) == (self.case.expected_reward, self.case.expected_outcome)


def try_golden(cases: Iterable[GoldenCase]) -> list[GoldenVerdict]:
    """Put each case before the scorer."""
    verdicts = []
    for case in cases:
        result = scorer.score(example_of(case), case.completion)
        details = result["details"]
        verdicts.append(GoldenVerdict(case, result["reward"], details["outcome"], details["message"]))
    return verdicts


def example_of(record: Any) -> dict[str, Any]:
    """The mapping that ``score`` takes, out of any record that carries an example."""
    return {"id": record.id, "prompt": record.prompt, "expected_answer": record.expected_answer}


@cache
def installed() -> Instrument:
    """Take the installed scorer's fingerprint and ask it the golden sets; once a process."""
    verdicts = try_golden([*read_records(GOLDEN_CORRECT, GoldenCase), *read_records(GOLDEN_EXPLOITS, GoldenCase)])
    source = Path(scorer.__file__).read_bytes().replace(b"\r\n", b"\n")
    identity = {
        "name": scorer.SCORER_NAME,
        "version": scorer.SCORER_VERSION,
        "spec": scorer.SPEC,
        "source": hashlib.sha256(source).hexdigest(),
        "verdicts": [[verdict.case.id, verdict.reward, verdict.outcome] for verdict in verdicts],
    }
    return Instrument(
        name=scorer.SCORER_NAME,
        version=scorer.SCORER_VERSION,
        fingerprint=hashlib.sha256(msgspec.json.encode(identity)).hexdigest(),
        spec=scorer.SPEC,
        golden=Golden(passed=all(verdict.kept for verdict in verdicts), cases=len(verdicts)),
    )
