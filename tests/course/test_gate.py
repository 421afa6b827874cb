"""The gate: one promotion, and every reason not to promote, each against counts worked by hand.

An example: on 120 prompts the candidate gains 31 and loses 1. Its rise is 30 of 120, 25 points; if a flip were as
likely either way, so uneven a split of 32 would come up with p = 2 · (1 + 32) / 2^32. The gate says PROMOTE, status 0.
"""

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest
from conftest import Done, Lab, edited, forged, manifest_edited, rows_edited

import course.gate
from course.artifacts.scorer_identity import installed
from course.gate import Flips, decide, net_flips_needed


def of_40(passes: int) -> list[bool]:
    return [i < passes for i in range(40)]


def gate(lab: Lab, baseline: Path, candidate: Path, *more: object, min_delta: object = 0) -> Done:
    return lab("gate", "--baseline", baseline, "--candidate", candidate, "--min-delta", min_delta, *more)


@pytest.fixture
def pair(lab: Lab) -> tuple[Path, Path]:
    """Two runs on 40 examples, of which the candidate gets 10 more: to be promoted, if nothing is wrong with them."""
    return lab.measured("baseline", of_40(10)), lab.measured("candidate", of_40(20))


def test_a_clear_improvement_in_one_room_is_promoted_with_its_numbers(lab: Lab) -> None:
    baseline = lab.measured("baseline", [True] * 50 + [False] * 70)
    candidate = lab.measured("candidate", [False] + [True] * 80 + [False] * 39)
    done = gate(lab, baseline, candidate, min_delta=0.2)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("PROMOTE: same room, and the improvement is larger than noise\n")
    for said in (
        "knob turned: policy",
        "gained               31 (q51, q52, q53, q54, q55, q56, q57, q58, and 23 more)",
        "lost                 1 (q1)",
        "+25.0 points",  # (80 - 50) / 120
        "exact McNemar p      1.537e-08",  # 2 · (1 + 32) / 2^32
        "41.7 %",
        "66.7 %",
    ):
        assert said in done.out


@pytest.mark.parametrize(
    ("baseline", "candidate", "min_delta", "status", "said"),
    [
        (10, 12, 0, 3, "INCONCLUSIVE: noise rule: with n = 40, below 100"),
        (10, 15, 0, 3, "INCONCLUSIVE: the flips may be luck: exact McNemar p = 0.0625"),
        (10, 16, 0, 0, "PROMOTE"),
        (10, 10, 0, 3, "INCONCLUSIVE: the pass rate did not rise"),
        (10, 9, 0, 1, "REJECT: the improvement is below --min-delta: -0.0250 < 0.0000"),
        (10, 20, 0.25, 0, "PROMOTE"),
        (10, 20, 0.251, 1, "REJECT: the improvement is below --min-delta: +0.2500 < 0.2510"),
    ],
)
def test_the_verdict_and_its_status_follow_from_the_counts(
    lab: Lab, baseline: int, candidate: int, min_delta: float, status: int, said: str
) -> None:
    runs = lab.measured("baseline", of_40(baseline)), lab.measured("candidate", of_40(candidate))
    done = gate(lab, *runs, min_delta=min_delta)
    assert done.out.startswith(said)
    assert done.status == status


ROOM: dict[str, object] = {
    "dataset_fingerprint": "0" * 64,
    "prompts_fingerprint": "0" * 64,
    "split": "holdout",
    "scorer_name": "other",
    "scorer_version": "1.0.1",
    "scorer_fingerprint": "0" * 64,
    "loop": "B",
    "samples_per_prompt": 2,
    "sampling": {"temperature": 0.5, "top_p": 1.0, "seed": 7, "n": 1},
}


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", ROOM)
def test_a_wall_that_differs_is_a_rejection_that_names_it(
    lab: Lab, pair: tuple[Path, Path], name: str, side: int
) -> None:
    manifest_edited(pair[side], **{name: ROOM[name]})
    done = gate(lab, *pair)
    assert done.status == 1
    assert done.out.startswith(f"REJECT: locked room: {name} differs (")
    assert "no difference is reported" in done.out
    finding = json.loads(gate(lab, *pair, "--json").out)
    assert [wall["name"] for wall in finding["conditions"] if not wall["holds"]] == [name]
    assert finding["numbers"] is None


@pytest.mark.parametrize("sides", [[0], [1], [0, 1]])
def test_a_fact_that_is_not_known_fails_closed(lab: Lab, pair: tuple[Path, Path], sides: list[int]) -> None:
    for side in sides:
        manifest_edited(pair[side], sampling=None)
    done = gate(lab, *pair)
    assert done.status == 1
    names = " and the ".join(("baseline", "candidate")[side] for side in sides)
    assert f"REJECT: locked room: sampling is not known of the {names}\n" in done.out
    assert "not known" in done.out


def test_runs_without_meta_cannot_be_compared(lab: Lab) -> None:
    arguments = "--dataset", lab.dataset([1]), "--completions", lab.completions(["Final: 1"], sampling=None)
    lab("eval", *arguments, "--outdir", "run")
    assert "sampling is not known of the baseline and the candidate" in gate(lab, Path("run"), Path("run")).out


def test_two_runs_with_one_fingerprint_that_is_not_the_installed_scorers_are_rejected(
    lab: Lab, pair: tuple[Path, Path]
) -> None:
    for run in pair:
        manifest_edited(run, scorer_fingerprint="0" * 64)
    done = gate(lab, *pair)
    assert done.status == 1
    for side in ("baseline", "candidate"):
        assert f"the {side} was not measured with the scorer installed here (final_int 1.1.0)" in done.out


@pytest.mark.parametrize("side", [0, 1])
def test_a_run_measured_while_the_golden_sets_failed_is_rejected(lab: Lab, pair: tuple[Path, Path], side: int) -> None:
    edited(pair[side] / "manifest.json", lambda manifest: manifest["golden"].update(passed=False))
    done = gate(lab, *pair)
    assert done.status == 1
    assert f"the golden sets failed when the {('baseline', 'candidate')[side]} was measured" in done.out


def test_an_installed_scorer_that_fails_the_golden_sets_promotes_nothing(
    lab: Lab, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = installed()._replace(golden=installed().golden.__class__(passed=False, cases=82))
    monkeypatch.setattr(course.gate, "installed", lambda: broken)
    done = gate(lab, *pair)
    assert done.status == 1
    assert "the scorer installed here fails the golden sets" in done.out


def cut(run: Path) -> None:
    (run / "results.jsonl").write_bytes((run / "results.jsonl").read_bytes()[:-9])


def flip(run: Path) -> None:
    rows_edited(run, lambda rows: (rows[30].update(reward=1.0), rows[30]["details"].update(outcome="ok")))


def emptied(run: Path) -> None:
    rows_edited(run, lambda rows: rows.clear())
    edited(run / "summary.json", lambda summary: summary.update(n=0, passes=0))
    forged(run)


@pytest.mark.parametrize(
    ("tamper", "said"),
    [
        (flip, "run: results.jsonl: q31 is recorded as ok with reward 1.0, which is not what the scorer says"),
        (cut, "run: results.jsonl is cut off after row 39"),
        (emptied, "40 of the rows do not hold the same id, prompt and expected answer in both runs"),
        (lambda run: (run / "summary.json").unlink(), "run: summary.json cannot be read"),
        (lambda run: (run / "manifest.json").unlink(), "run: manifest.json cannot be read"),
        (lambda run: (run / "results.jsonl").unlink(), "run: results.jsonl cannot be read"),
        (lambda run: manifest_edited(run, schema_version=9), "run: manifest.json has schema version 9"),
    ],
)
@pytest.mark.parametrize("side", [0, 1])
def test_a_run_that_was_tampered_with_or_is_incomplete_is_rejected(
    lab: Lab, pair: tuple[Path, Path], side: int, tamper: Callable[[Path], object], said: str
) -> None:
    tamper(pair[side])
    done = gate(lab, *pair)
    assert (done.status, done.err) == (1, "")
    assert done.out.startswith("REJECT: ")
    assert ("" if said.startswith("40") else ("baseline ", "candidate ")[side]) + said in done.out


def test_two_runs_of_no_rows_are_rejected(lab: Lab, pair: tuple[Path, Path]) -> None:
    for run in pair:
        emptied(run)
    done = gate(lab, *pair)
    assert done.status == 1
    assert done.out.startswith("REJECT: baseline run: results.jsonl does not hold the prompts that the manifest was ")


@pytest.mark.parametrize(("key", "value"), [("id", "q0"), ("prompt", "Easier?"), ("expected_answer", 31)])
def test_rows_that_differ_are_found_where_all_fingerprints_were_forged(
    lab: Lab, pair: tuple[Path, Path], key: str, value: object
) -> None:
    wrong = {"completion": "Final: 99", "details": {"outcome": "wrong_answer", "parsed_answer": "99"}}
    rows_edited(pair[1], lambda rows: rows[25].update({key: value} | wrong))
    assert lab("inspect_run", "--run", pair[1], "--verify").status == (0 if key == "expected_answer" else 1)
    done = gate(lab, *pair)
    assert done.status == 1
    assert "1 of the rows do not hold the same id, prompt and expected answer in both runs" in done.out


def test_a_holdout_that_got_worse_is_rejected(lab: Lab) -> None:
    runs = [lab.measured(f"run-{n}", of_40(n), "holdout") for n in (20, 19)]
    done = gate(lab, *runs)
    assert (done.status, done.out.split("\n")[0]) == (1, "REJECT: the holdout got worse")
    assert gate(lab, *reversed(runs)).status == 3


def test_what_is_no_run_is_bad_usage(lab: Lab, pair: tuple[Path, Path]) -> None:
    assert "expected the folder of a run" in lab.refused(
        "gate", "--baseline", pair[0], "--candidate", "nowhere", "--min-delta", 0
    )
    for text in ("-0.1", "1.5", "nan", "1e-3", "0,1", "two"):
        line = lab.refused("gate", "--baseline", pair[0], "--candidate", pair[1], f"--min-delta={text}")
        assert f"expected a number from 0 to 1 such as 0.02, got {text}" in line
    assert "--min-delta" in lab.refused("gate", "--baseline", pair[0], "--candidate", pair[1])


def test_json_is_the_same_finding(lab: Lab, pair: tuple[Path, Path]) -> None:
    done = gate(lab, *pair, "--json", min_delta=0.1)
    finding = json.loads(done.out)
    assert done.status == 0
    assert (finding["verdict"], finding["knob"], finding["holdout_looks"]) == ("PROMOTE", "policy", None)
    assert finding["reasons"] == ["same room, and the improvement is larger than noise"]
    numbers = finding["numbers"]
    assert (numbers["n"], numbers["baseline_passes"], numbers["candidate_passes"]) == (40, 10, 20)
    assert (numbers["gained"], numbers["lost"]) == ([f"q{i}" for i in range(11, 21)], [])
    assert numbers["delta"] == 10 / 40
    assert numbers["mcnemar_p"] == 2 / 2**10
    assert numbers["net_flips_needed"] == 6
    assert all(wall["holds"] and wall["baseline"] == wall["candidate"] for wall in finding["conditions"])


def test_the_real_command_ends_with_the_verdicts_status(lab: Lab, pair: tuple[Path, Path]) -> None:
    assert lab.process("gate", "--baseline", pair[1], "--candidate", pair[0], "--min-delta", 0).status == 1
    assert lab.process("gate", "--baseline", pair[0], "--candidate", pair[0], "--min-delta", 0).status == 3


# ---- The decision on counts alone.


def flips(n: int, gained: int, lost: int = 0, passed: int = 0) -> Flips:
    names = [f"q{i}" for i in range(gained + lost)]
    return Flips(n, passed, passed + gained - lost, names[:gained], names[gained:])


@pytest.mark.parametrize(
    ("change", "min_delta", "verdict", "reason"),
    [
        (flips(150, 6), Fraction(4, 100), "PROMOTE", "same room"),  # 6 of 150 is 4 points, to the last digit
        (flips(150, 6), Fraction(4_000_001, 100_000_000), "REJECT", "below --min-delta"),
        (flips(100, 10, passed=20), Fraction(1, 10), "PROMOTE", "same room"),  # in floats 0.3 - 0.2 < 0.1
        (flips(80, 4), Fraction(0), "INCONCLUSIVE", "noise rule"),  # exactly 5 points
        (flips(99, 4), Fraction(0), "INCONCLUSIVE", "noise rule"),
        (flips(99, 5), Fraction(0), "INCONCLUSIVE", "exact McNemar p = 0.0625"),  # 5.05 points
        (flips(100, 5), Fraction(0), "INCONCLUSIVE", "exact McNemar p = 0.0625"),  # 5 points, but n is 100
        (flips(99, 6), Fraction(0), "PROMOTE", "same room"),
        (flips(1_000, 6), Fraction(0), "PROMOTE", "same room"),
        (flips(60, 3), Fraction(5, 100), "INCONCLUSIVE", "noise rule"),
        (flips(60, 3, 3), Fraction(0), "INCONCLUSIVE", "did not rise"),
        (flips(60, 2, 3), Fraction(0), "REJECT", "below --min-delta"),
        (flips(200, 15, 5), Fraction(0), "PROMOTE", "same room"),  # 2 · 21700 / 2^20 = 0.0414
        (flips(200, 14, 5), Fraction(0), "INCONCLUSIVE", "p = 0.0636"),  # 2 · 16664 / 2^19
    ],
)
def test_decide_at_its_boundaries(change: Flips, min_delta: Fraction, verdict: str, reason: str) -> None:
    said, why = decide(change, min_delta, "dev")
    assert said == verdict
    assert reason in why


def test_a_worse_holdout_is_rejected_for_that_reason_first() -> None:
    assert decide(flips(60, 2, 3), Fraction(1, 2), "holdout") == ("REJECT", "the holdout got worse")
    assert decide(flips(60, 3, 3), Fraction(0), "holdout")[0] == "INCONCLUSIVE"


@pytest.mark.medium
@pytest.mark.parametrize(
    "n", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (19, 20, 40, 99, 101, 150, 1_000))]
)
def test_net_flips_needed_is_the_first_rise_that_decide_promotes(n: int) -> None:
    shares = Fraction(0), Fraction(1, 20), Fraction(7, 100), Fraction(1, 3)
    for lost, min_delta in product((0, 1, 2, 7, 40), shares):
        verdicts = {net: decide(flips(n, net + lost, lost), min_delta, "dev")[0] for net in range(1, 500)}
        promoted = [net for net, verdict in verdicts.items() if verdict == "PROMOTE"]
        assert net_flips_needed(flips(n, 0, lost), min_delta) == promoted[0]
        assert promoted == list(range(promoted[0], 500))
