"""The committee's pages are what the generator makes of the shipped runs, and no verdict lies beside them."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from check.committee import MIN_DELTA, ask_gate
from course.artifacts.run_log import read_log
from course.gate import examine
from teacher.make_committee import COMMITTEE, PAIRS, page_of, read_lines

SHIPPED = ROOT / COMMITTEE


@pytest.mark.parametrize("name", PAIRS)
def test_a_page_has_the_numbers_of_its_runs_and_no_verdict(name: str) -> None:
    page = (SHIPPED / f"{name}.md").read_text(encoding="utf-8")
    assert page == page_of(SHIPPED, name)
    assert not re.search("PROMOTE|REJECT|INCONCLUSIVE", page)


def test_what_the_candidate_of_pair_2_was_trained_on_is_what_it_gains() -> None:
    """Taken from the prompts themselves: 40 of the hundred are in its training, and none in the baseline's."""
    pair = PAIRS["pair_2"]
    measured = set(read_lines([range(100)]).splitlines())
    seen = [measured & set(read_lines(side.trained_on).splitlines()) for side in (pair.baseline, pair.candidate)]
    assert [len(lines) for lines in seen] == [0, 40]
    page = (SHIPPED / "pair_2.md").read_text(encoding="utf-8")
    gained, lost = (
        set(re.findall(r"dev-\d{4}", line)) for line in re.findall(r"(?s)^(?:Gained|Lost), .*?\.$", page, re.M)
    )
    seen_ids = set(re.findall(r"dev-\d{4}", "".join(seen[1])))
    assert len(gained & seen_ids) > 30
    assert lost.isdisjoint(seen_ids)
    assert len(gained - seen_ids) < len(lost)


@pytest.mark.long
def test_policies_trained_again_end_in_the_same_verdicts(tmp_path: Path) -> None:
    """On a different machine their last bits may differ, and so may a completion; what decides does not."""
    script = ROOT / "teacher" / "make_committee.py"
    subprocess.run([sys.executable, script, tmp_path], check=True, cwd=tmp_path)
    log = read_log(tmp_path / "log.jsonl")
    for name in PAIRS:
        finding = examine(tmp_path / name / "baseline", tmp_path / name / "candidate", MIN_DELTA, log)
        assert finding.verdict == ask_gate(name).verdict
