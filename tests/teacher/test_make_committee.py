"""The committee's pairs are what the generator makes of their completions, and no verdict lies beside them.

An example: a new version of the scorer has another fingerprint, so that the runs made again have other manifests.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, files

from course.artifacts import run_log
from course.artifacts.reading import open_run
from course.gate import compare
from teacher.make_committee import COMMITTEE, PAIRS, SIDES, read_lines

SHIPPED = ROOT / COMMITTEE
SCRIPT = ROOT / "teacher" / "make_committee.py"


def test_the_script_makes_the_same_bytes_from_the_completions(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, "--out", tmp_path], check=True, cwd=tmp_path)
    made = {name: data for name, data in files(tmp_path).items() if data is not None}
    assert len(made) == 1 + len(PAIRS) * (1 + len(SIDES) * 3)
    assert [name for name, data in made.items() if data != (SHIPPED / name).read_bytes()] == []


def test_nothing_that_is_shipped_says_a_verdict() -> None:
    names = subprocess.run(
        ["git", "-C", ROOT, "ls-files", COMMITTEE], check=True, capture_output=True, text=True
    ).stdout.split()
    assert len(names) == 1 + len(PAIRS) * (1 + len(SIDES) * 3)
    verdicts = re.compile("PROMOTE|REJECT|INCONCLUSIVE|locked room")
    assert [name for name in names if verdicts.search((ROOT / name).read_text(encoding="utf-8"))] == []


def test_what_the_candidate_of_pair_2_was_trained_on_is_what_it_gains() -> None:
    """Taken from the prompts themselves: 40 of the hundred are in its training, and none in the baseline's."""
    pair = PAIRS["pair_2"]
    measured = set(read_lines([pair.sides[0].measured]).splitlines())
    seen = [measured & set(read_lines(side.trained_on).splitlines()) for side in pair.sides]
    assert [len(lines) for lines in seen] == [0, 40]
    baseline, candidate = [open_run(SHIPPED / "pair_2" / side) for side in SIDES]
    comparison = compare(baseline, candidate, run_log.read_log(SHIPPED / "log.jsonl"))
    gained = [id_ for id_ in comparison.gained if any(f'"{id_}"' in line for line in seen[1])]
    lost = [id_ for id_ in comparison.lost if any(f'"{id_}"' in line for line in seen[1])]
    assert len(gained) > 30
    assert lost == []
    assert len(comparison.gained) - len(gained) < len(comparison.lost)


@pytest.mark.long
def test_policies_trained_again_end_in_the_same_verdicts(tmp_path: Path) -> None:
    """On a different machine their last bits may differ, and so may a completion; what decides does not."""
    subprocess.run([sys.executable, SCRIPT, "--train", "--out", tmp_path], check=True, cwd=tmp_path)
    verdicts = []
    for name in PAIRS:
        line = [sys.executable, "-m", "course.gate", "--log", str(tmp_path / "log.jsonl"), "--min-delta", "0.02"]
        for side in SIDES:
            line += [f"--{side}", str(tmp_path / name / side)]
        verdicts.append(subprocess.run(line, cwd=ROOT, capture_output=True).returncode)
    assert verdicts == [1, 1, 3]
