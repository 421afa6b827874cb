"""The gate: one promotion, and every reason not to promote, each against counts worked by hand.

An example: on 120 prompts the candidate gains 31 and loses 1. Its rise is 30 of 120, 25 points; if a flip were as
likely either way, so uneven a split of 32 would come up with p = 2 · (1 + 32) / 2^32. The gate says PROMOTE, status 0.
"""

import hashlib
import json
import shutil
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Done, Lab, edited, forged, lines_of, manifest_edited, rows_edited

from course.artifacts import run_log
from course.artifacts.scorer_identity import scorer_identity
from course.gate import decide, net_flips_needed, what_would_decide


def of_40(passes: int) -> list[bool]:
    return [i < passes for i in range(40)]


def gate(lab: Lab, baseline: Path, candidate: Path, *more: object, min_delta: object = 0) -> Done:
    return lab("gate", "--baseline", baseline, "--candidate", candidate, "--min-delta", min_delta, *more)


def finding(lab: Lab, baseline: Path, candidate: Path) -> Any:
    return json.loads(gate(lab, baseline, candidate, "--json").out)


@pytest.fixture
def pair(lab: Lab) -> tuple[Path, Path]:
    """Two runs on 40 examples, of which the candidate gets 10 more: to be promoted, if nothing is wrong with them."""
    return lab.measured("baseline", of_40(10)), lab.measured("candidate", of_40(20))


def test_a_clear_improvement_in_one_room_is_promoted_with_its_numbers(lab: Lab) -> None:
    baseline = lab.measured("baseline", [True] * 50 + [False] * 70)
    candidate = lab.measured("candidate", [False] + [True] * 80 + [False] * 39)
    done = gate(lab, baseline, candidate, min_delta=0.2)
    assert (done.status, done.err) == (0, "")
    assert done.out.endswith("\n\nPROMOTE: the room was locked, and the improvement is larger than chance explains\n")
    for message in (
        "\nknob turned: policy\npolicy: the hand of baseline -> the hand of candidate\n",
        "gained               31 (q51, q52, q53, q54, q55, q56, q57, q58, and 23 more)",
        "lost                 1 (q1)",
        "+25.0 points",  # (80 - 50) / 120
        "exact McNemar p      1.537e-08",  # 2 · (1 + 32) / 2^32
        "41.7 %",
        "66.7 %",
    ):
        assert message in done.out


@pytest.mark.parametrize(
    ("baseline", "candidate", "min_delta", "status", "said"),
    [
        (10, 12, 0, 3, "INCONCLUSIVE: noise rule: with 40 prompts, fewer than 100"),
        (10, 15, 0, 3, "INCONCLUSIVE: 5 gained and 0 lost of 40 prompts, which may be chance"),
        (10, 16, 0, 0, "PROMOTE"),
        (10, 10, 0, 3, "INCONCLUSIVE: the pass rate did not rise"),
        (10, 9, 0, 3, "INCONCLUSIVE: worse: 0 gained and 1 lost of 40"),
        (10, 4, 0, 1, "REJECT: worse: 0 gained and 6 lost of 40 prompts, which is more than"),
        (10, 20, 0.25, 0, "PROMOTE"),
        (10, 20, 0.251, 3, "INCONCLUSIVE: a rise of 25.0 points is below --min-delta, but"),
        (10, 11, 0.2, 1, "REJECT: shown to fall short: the 95 % interval of the difference ends"),
    ],
)
def test_the_verdict_and_its_status_follow_from_the_counts(
    lab: Lab, baseline: int, candidate: int, min_delta: float, status: int, said: str
) -> None:
    runs = lab.measured("baseline", of_40(baseline)), lab.measured("candidate", of_40(candidate))
    done = gate(lab, *runs, min_delta=min_delta)
    assert f"\n\n{said}" in done.out
    assert done.status == status


ROOM: dict[str, tuple[dict[str, object], str]] = {  # -> what is edited, and what verifying the run says of it
    "dataset_fingerprint": ({"dataset_fingerprint": "0" * 64}, ""),
    "prompts_fingerprint": (
        {"prompts_fingerprint": "0" * 64},
        "the prompts_fingerprint in manifest.json is not that of results.jsonl",
    ),
    "examples_fingerprint": (
        {"examples_fingerprint": "0" * 64},
        "the examples_fingerprint in manifest.json is not that of results.jsonl",
    ),
    "split": ({"split": "holdout"}, ""),
    "template": ({"template": "Think first. {prompt}"}, ""),
    "scorer_name": (
        {"scorer_name": "other"},
        "manifest.json has scorer_name other; the scorer installed here has final_int",
    ),
    "scorer_version": (
        {"scorer_version": "1.0.1"},
        "manifest.json has scorer_version 1.0.1; the scorer installed here has 1.2.0",
    ),
    "scorer_fingerprint": (
        {"scorer_fingerprint": "0" * 64},
        f"manifest.json has scorer_fingerprint {'0' * 39}…; the scorer installed here has "
        f"{scorer_identity().scorer_fingerprint[:39]}…",
    ),
    "missing_completions": ({"settings": {"missing": "zero"}}, ""),
    "samples_per_prompt": (
        {"samples_per_prompt": 2},
        "manifest.json says 2 samples of each prompt, but Loop A has one",
    ),
    "sampling": ({"sampling": {"temperature": 0.5, "top_p": 1.0, "seed": 7, "n": 1}}, ""),
}


@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize("name", ROOM)
def test_a_condition_that_differs_is_a_rejection_that_names_it(
    lab: Lab, pair: tuple[Path, Path], name: str, side: int
) -> None:
    changes, said = ROOM[name]
    manifest_edited(pair[side], **changes)
    done = gate(lab, *pair)
    assert done.status == 4
    assert "the runs are not comparable, so no difference is shown\n" in done.out
    printed = finding(lab, *pair)
    *of_the_run, of_the_room = printed["reasons"]
    assert of_the_run == ([f"{('baseline', 'candidate')[side]} run: {said}"] if said else [])
    assert of_the_room.startswith(f"locked room: {name} differs (")
    assert [condition["name"] for condition in printed["conditions"] if not condition["holds"]] == [name]
    assert printed["numbers"] is None


@pytest.mark.parametrize("sides", [[0], [1], [0, 1]])
def test_a_fact_that_is_not_known_fails_closed(lab: Lab, pair: tuple[Path, Path], sides: list[int]) -> None:
    for side in sides:
        manifest_edited(pair[side], sampling=None)
    done = gate(lab, *pair)
    assert done.status == 4
    names = " and the ".join(("baseline", "candidate")[side] for side in sides)
    assert f"REJECT: locked room: sampling is not known for the {names}\n" in done.out
    assert "\nknob turned: not known\n" in done.out
    assert finding(lab, *pair)["knob"] == "not known"


def test_a_run_from_before_templates_were_recorded_is_read_and_its_template_is_not_known(
    lab: Lab, pair: tuple[Path, Path]
) -> None:
    edited(pair[0] / "manifest.json", lambda fields: fields.pop("template"))
    printed = finding(lab, *pair)
    not_logged, reason = printed["reasons"]  # the log has the digest of the run with its template
    assert "no log of runs" in not_logged
    assert reason.startswith("locked room: template is not known for the baseline; ")
    assert printed["knob"] == "not known"


def test_runs_without_meta_cannot_be_compared(lab: Lab) -> None:
    arguments = "--dataset", lab.dataset([1]), "--completions", lab.completions(["Final: 1"], sampling=None)
    lab("eval", *arguments, "--outdir", "run")
    assert "sampling is not known for the baseline and the candidate" in gate(lab, Path("run"), Path("run")).out


def test_two_runs_with_one_fingerprint_that_is_not_the_installed_scorers_are_rejected(
    lab: Lab, pair: tuple[Path, Path]
) -> None:
    for run in pair:
        manifest_edited(run, scorer_fingerprint="0" * 64)
    printed = finding(lab, *pair)
    assert printed["verdict"] == "REJECT"
    said = ROOM["scorer_fingerprint"][1]
    assert printed["reasons"] == [f"{side} run: {said}" for side in ("baseline", "candidate")]


@pytest.mark.parametrize("side", [0, 1])
def test_a_run_measured_while_the_golden_sets_failed_is_rejected(lab: Lab, pair: tuple[Path, Path], side: int) -> None:
    manifest_edited(pair[side], golden={"passed": False, "cases": scorer_identity().golden.cases})
    (reason,) = finding(lab, *pair)["reasons"]
    cases = scorer_identity().golden.cases
    assert reason == (
        f"{('baseline', 'candidate')[side]} run: manifest.json has golden Golden(passed=False, cases={cases}); the "
        f"scorer installed here has Golden(passed=True, cases={cases})"
    )


def test_an_installed_scorer_that_fails_the_golden_sets_promotes_nothing(
    lab: Lab, pair: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = scorer_identity()._replace(golden=scorer_identity().golden.__class__(passed=False, cases=82))
    monkeypatch.setattr("course.artifacts.scorer_identity.scorer_identity", lambda: broken)
    done = gate(lab, *pair)
    assert done.status == 4
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
        (emptied, "the two runs do not hold the same id, prompt and expected answer in 40 of the rows"),
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
    done = gate(lab, *pair, "--json")
    assert (done.status, done.err) == (4, "")
    printed = json.loads(done.out)
    assert printed["verdict"] == "REJECT"
    assert ("" if said.startswith("the two") else ("baseline ", "candidate ")[side]) + said in " ".join(
        printed["reasons"]
    )


def test_two_runs_of_no_rows_are_rejected(lab: Lab, pair: tuple[Path, Path]) -> None:
    for run in pair:
        emptied(run)
    assert finding(lab, *pair)["reasons"] == [
        "baseline run: results.jsonl has no rows",
        "candidate run: results.jsonl has no rows",
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", "q0"),
        ("prompt", "Easier?"),
        ("expected_answer", 31),
    ],
)
def test_rows_of_other_questions_are_not_paired_and_their_number_is_said(
    lab: Lab, pair: tuple[Path, Path], key: str, value: object
) -> None:
    wrong = {"completion": "Final: 99", "details": {"outcome": "wrong_answer", "parsed_answer": "99"}}
    rows_edited(pair[1], lambda rows: rows[25].update({key: value} | wrong))
    assert lab("inspect_run", "--run", pair[1], "--verify").status == 1
    done = gate(lab, *pair)
    assert done.status == 4
    assert "the two runs do not hold the same id, prompt and expected answer in 1 of the rows" in " ".join(
        done.out.split()
    )


def test_runs_of_two_verifiers_are_told_apart_and_no_code_is_run(lab: Lab) -> None:
    """By version, by digest, and from the scorer; two runs of one verifier are refused. The file is gone by then."""
    files = {"one": "VERSION = 1", "two": "VERSION = 2", "edited": "VERSION = 2  # and more", "again": "VERSION = 1"}
    for name, head in files.items():
        lab.write("mine.py", f"{head}\ndef score(example, completion):\n    return 1.0\n")
        lab.evaluate([7, 8], ["Final: 7", "8"], "--rubric", "mine.py:score", "--outdir", name)
    Path("mine.py").unlink()
    one, two, edited, again = map(Path, files)
    for runs, shown in (((one, two), (" 1", " 2")), ((two, edited), (" 2", " 2"))):
        done = gate(lab, *runs)
        assert (done.status, done.err) == (4, "")
        printed = finding(lab, *runs)
        (condition,) = (condition for condition in printed["conditions"] if not condition["holds"])
        digests = [hashlib.sha256((run / "rubric.py").read_bytes()).hexdigest()[:12] for run in runs]
        expected = [f"mine.py:score{v}, sha256 {d}" for v, d in zip(shown, digests, strict=True)]
        assert [condition["baseline"], condition["candidate"]] == expected
        assert printed["reasons"] == [f"locked room: verifier differs ({' / '.join(expected)})"]
        assert (printed["verdict"], printed["knob"], printed["numbers"]) == ("REJECT", "instrument", None)
    lab.evaluate([7, 8], ["Final: 7", "8"], "--outdir", "strict")
    (reason,) = finding(lab, Path("strict"), one)["reasons"]
    assert reason.startswith("locked room: verifier differs (the scorer / mine.py:score 1, sha256 ")
    words = "gate", "--baseline", one, "--candidate", again, "--min-delta", 0
    assert "expected two runs without --rubric, got two of mine.py:score 1, sha256" in lab.refused(*words)


def test_what_is_no_run_is_bad_usage(lab: Lab, pair: tuple[Path, Path]) -> None:
    assert "expected the folder of a run" in lab.refused(
        "gate", "--baseline", pair[0], "--candidate", "nowhere", "--min-delta", 0
    )
    for text in ("-0.1", "1.5", "nan", "0,1", "two"):
        line = lab.refused("gate", "--baseline", pair[0], "--candidate", pair[1], f"--min-delta={text}")
        assert f"expected a number from 0 to 1 such as 0.02, got {text}" in line
    assert "--min-delta" in lab.refused("gate", "--baseline", pair[0], "--candidate", pair[1])


def test_json_is_the_same_finding(lab: Lab, pair: tuple[Path, Path]) -> None:
    done = gate(lab, *pair, "--json", min_delta=0.1)
    printed = json.loads(done.out)
    assert done.status == 0
    assert (printed["verdict"], printed["knob"], printed["holdout_looks"]) == ("PROMOTE", "policy", None)
    assert printed["reasons"] == ["the room was locked, and the improvement is larger than chance explains"]
    numbers = printed["numbers"]
    assert (numbers["n"], numbers["baseline_passes"], numbers["candidate_passes"]) == (40, 10, 20)
    assert (numbers["gained"], numbers["lost"]) == ([f"q{i}" for i in range(11, 21)], [])
    assert numbers["delta"] == 10 / 40
    assert numbers["mcnemar_p"] == 2 / 2**10
    assert numbers["net_flips_needed"] == 6
    assert all(
        condition["holds"] and condition["baseline"] == condition["candidate"] for condition in printed["conditions"]
    )
    assert printed["policies"] == ["the hand of baseline", "the hand of candidate"]


def test_the_real_command_ends_with_the_verdicts_status(lab: Lab, pair: tuple[Path, Path]) -> None:
    assert lab.process("gate", "--baseline", pair[1], "--candidate", pair[0], "--min-delta", 0).status == 1
    assert lab.process("gate", "--baseline", pair[0], "--candidate", pair[0], "--min-delta", 0).status == 3


def test_the_page_is_written_besides_what_is_printed_and_the_status_stays(lab: Lab, pair: tuple[Path, Path]) -> None:
    for runs, status in (
        ((pair[0], pair[1]), 0),
        ((pair[1], pair[0]), 1),
        ((pair[0], pair[0]), 3),
    ):
        without = gate(lab, *runs)
        assert not (runs[1] / "gate.html").exists()
        assert gate(lab, *runs, "--report") == Done(status, f"{without.out}report: {runs[1]}/gate.html\n", "")
        assert gate(lab, *runs) == without
        (runs[1] / "gate.html").unlink()


def test_what_is_for_a_program_leaves_no_page(lab: Lab, pair: tuple[Path, Path]) -> None:
    words = "--baseline", pair[0], "--candidate", pair[1], "--min-delta", 0, "--json", "--report"
    assert "argument --report: not allowed with argument --json" in lab.refused("gate", *words)


def test_a_file_that_is_no_page_keeps_its_place_and_the_verdict_is_seen(lab: Lab, pair: tuple[Path, Path]) -> None:
    (pair[1] / "gate.html").write_text("my notes", encoding="utf-8")
    done = gate(lab, *pair, "--report")
    assert (done.status, done.out) == (2, gate(lab, *pair).out)
    assert "candidate/gate.html: this file is not a page of the lab, so it is not replaced" in done.err
    assert (pair[1] / "gate.html").read_text(encoding="utf-8") == "my notes"


# ---- What a difference may mean, one rule after the other; tests/attacks has them all together.


def evaluated(lab: Lab, name: str, texts: Sequence[str], *more: object, **said: object) -> Path:
    """A run of Loop A on Question 1?, 2?, …, whose answers are 0, 1, …; ``said`` goes to its .meta.json."""
    dataset = lab.dataset(range(len(texts)), name="dataset.jsonl")
    completions = lab.completions(texts, f"of-{name}")
    lab.meta(f"of-{name}", **said)
    done = lab("eval", "--dataset", dataset, "--completions", completions, "--outdir", name, *more)
    assert done.status == 0, done.err
    return Path(name)


def right(n: int, of: int = 40) -> list[str]:
    return [f"Final: {i}" if i < n else "no idea" for i in range(of)]


def test_completions_that_differ_though_nothing_is_said_to_are_rejected(lab: Lab) -> None:
    (reason,) = finding(lab, evaluated(lab, "one", right(10)), evaluated(lab, "two", right(20)))["reasons"]
    assert reason.startswith("10 of the completions differ, though both runs name the same policy, sampling and seed")


def test_one_completion_differs(lab: Lab) -> None:
    (reason,) = finding(lab, evaluated(lab, "one", right(10)), evaluated(lab, "two", right(11)))["reasons"]
    assert reason.startswith("1 of the completions differs, though both runs name the same policy, sampling and seed")


LUCK = (
    "no knob was turned, and 10 of the examples flipped: the same policy wrote both sets of completions in different "
    "draws, so the flips are chance"
)
NO_SEED = {"sampling": {"temperature": 1.0, "top_p": 1.0, "seed": None, "n": 1}}


def test_without_a_seed_another_policy_is_compared_and_the_same_one_is_luck(lab: Lab) -> None:
    one = evaluated(lab, "one", right(10), **NO_SEED)
    two = evaluated(lab, "two", right(20), **NO_SEED)
    other = evaluated(lab, "other", right(20), policy="another", **NO_SEED)
    printed = finding(lab, one, two)
    assert (printed["verdict"], printed["knob"]) == ("REJECT", "nothing")
    assert printed["reasons"] == [LUCK]
    assert finding(lab, one, other)["verdict"] == "PROMOTE"
    unseeded = "no seed is known for the baseline and the candidate: the completions cannot be drawn again"
    assert unseeded in finding(lab, one, other)["notes"]
    seeded = evaluated(lab, "seeded", right(20), policy="a third")
    assert unseeded.replace("baseline and the ", "") in finding(lab, seeded, other)["notes"]
    assert not any("seed" in note for note in finding(lab, seeded, seeded)["notes"])


@pytest.mark.parametrize("seed", [8, None])
@pytest.mark.parametrize("swapped", [False, True])
def test_with_another_seed_another_policy_is_compared_and_the_same_one_is_luck(
    lab: Lab, seed: int | None, swapped: bool
) -> None:
    first: dict[str, Any] = {"sampling": {"temperature": 1.0, "top_p": 1.0, "seed": 7, "n": 1}}
    second: dict[str, Any] = {"sampling": {"temperature": 1.0, "top_p": 1.0, "seed": seed, "n": 1}}
    if swapped:
        first, second = second, first
    one = evaluated(lab, "one", right(10), **first)
    same = evaluated(lab, "same", right(20), **second)
    other = evaluated(lab, "other", right(20), policy="b", **second)
    assert finding(lab, one, same)["reasons"] == [LUCK]
    assert finding(lab, one, same)["knob"] == "nothing"
    printed = finding(lab, one, other)
    assert (printed["verdict"], printed["knob"], printed["policies"]) == ("PROMOTE", "policy", ["a hand", "b"])


def test_one_flip_of_the_same_policy_is_luck_and_none_is_no_fault(lab: Lab) -> None:
    other_seed = {"sampling": {"temperature": 1.0, "top_p": 1.0, "seed": 8, "n": 1}}
    one = evaluated(lab, "one", right(10))
    worse = evaluated(lab, "worse", right(9), **other_seed)
    assert finding(lab, one, worse)["reasons"] == [LUCK.replace("10 of", "1 of")]
    again = evaluated(lab, "again", right(10)[:10] + ["none"] * 30, **other_seed)
    assert finding(lab, one, again)["reasons"] == ["the pass rate did not rise"]


READS_A_FILE = """from pathlib import Path
def pick_best(samples):
    return samples[int(Path("which.txt").read_text())]
"""


def test_one_pick_best_that_chose_otherwise_from_equal_samples_is_named(lab: Lab) -> None:
    lab.picker(READS_A_FILE)
    runs = []
    for name, which in (("first", 0), ("best", 1)):
        lab.write("which.txt", str(which))
        done = lab.select(range(40), [["no idea", f"Final: {i}"] for i in range(40)], 2, "--outdir", name)
        assert done.status == 0, done.err
        runs.append(Path(name))
    (reason,) = finding(lab, *runs)["reasons"]
    assert reason.startswith("no knob was turned, and 40 of the examples flipped: the samples are equal")


def test_two_knobs_are_rejected_by_rule_3(lab: Lab) -> None:
    runs = []
    for name, policy, source in (("one", "a", TAKES_FIRST), ("two", "b", None)):
        lab.picker(source)
        lab.dataset(range(40))
        lab.pack([["no idea", f"Final: {i}"] for i in range(40)], policy=policy)
        lab("selection_demo", "--dataset", "dataset.jsonl", "--samples", "pack.jsonl", "--n", 2, "--outdir", name)
        runs.append(Path(name))
    (reason,) = finding(lab, *runs)["reasons"]
    assert reason == "more than one knob was turned: policy and selection compute (rule 3: turn one at a time)"


TAKES_FIRST = "def pick_best(samples):\n    return samples[0]\n"


def test_where_only_the_choice_changed_the_verdict_says_so(lab: Lab) -> None:
    groups = [["no idea", f"Final: {i}"] for i in range(40)]
    lab.picker(TAKES_FIRST)
    lab.select(range(40), groups, 2, "--outdir", "first")
    lab.picker(None)
    lab.select(range(40), groups, 2, "--outdir", "best")
    printed = finding(lab, Path("first"), Path("best"))
    assert (printed["verdict"], printed["knob"]) == ("PROMOTE", "selection compute")
    assert printed["notes"][0] == ("the policy did not change; only the way its completions are drawn or chosen did")


def test_another_choice_from_other_samples_of_the_same_policy_is_rejected(lab: Lab) -> None:
    """Without a seed nothing says that the samples should be the same, so more than the choice changed."""
    runs = []
    for name, picker, group in (("first", TAKES_FIRST, ["no idea", "none"]), ("best", None, ["no idea", "Final: 7"])):
        lab.picker(picker)
        lab.dataset([7] * 40)
        lab.pack([group] * 40)
        lab.meta("pack", sampling={"temperature": 1.0, "top_p": 1.0, "seed": None, "n": 2})
        lab("selection_demo", "--dataset", "dataset.jsonl", "--samples", "pack.jsonl", "--n", 2, "--outdir", name)
        runs.append(Path(name))
    printed = finding(lab, *runs)
    assert (printed["verdict"], printed["knob"]) == ("REJECT", "selection compute")
    assert printed["reasons"] == [
        "40 of the completions differ, and the rule of choice changed too: let both runs choose from the same samples"
    ]


@pytest.mark.parametrize("side", [0, 1])
def test_half_of_the_completions_lost_is_no_improvement_of_the_other(lab: Lab, side: int) -> None:
    """The honest mistake that was promoted with +22.5 points: ``--missing zero`` on a file with lines lost."""
    dataset = lab.dataset(range(40))
    runs = []
    for name, lines in (("whole", 40), ("half", 20)):
        lab.completions(right(30)[:lines], name, policy=name)
        done = lab(
            "eval", "--dataset", dataset, "--completions", f"{name}.jsonl", "--missing", "zero", "--outdir", f"r-{name}"
        )
        assert done.status == 0
        runs.append(Path(f"r-{name}"))
    printed = finding(lab, *(runs[::-1] if side else runs))
    side_name = "baseline" if side else "candidate"
    assert f"the {side_name} has no completion for 20 of its prompts: add the missing completions" in printed["reasons"]


@pytest.mark.parametrize(("n", "distinct"), [(40, 20), (100, 99)])
def test_a_prompt_under_several_ids_counts_once(lab: Lab, n: int, distinct: int) -> None:
    records = [{"id": f"q{i}", "prompt": f"Question {i % distinct}?", "expected_answer": 7} for i in range(1, n + 1)]
    lab.write("twice.jsonl", records)
    runs = []
    for name, right in (("one", 10), ("two", 30)):
        lab.completions(["Final: 7"] * right + ["no"] * (n - right), name, policy=name)
        lab("eval", "--dataset", "twice.jsonl", "--completions", f"{name}.jsonl", "--outdir", f"r-{name}")
        runs.append(Path(f"r-{name}"))
    (reason,) = finding(lab, *runs)["reasons"]
    assert reason.startswith(f"{n} ids have only {distinct} distinct prompts")


@pytest.mark.parametrize(
    "spaced", ["Question  {}?", " Question {}?", "Question {}?\n", "Question\t{}?", "Question\u00a0{}?"]
)
def test_a_prompt_with_other_white_space_is_the_same_prompt(lab: Lab, spaced: str) -> None:
    prompts = [f"Question {i}?" for i in range(20)] + [spaced.format(i) for i in range(20)]
    lab.write("d.jsonl", [{"id": f"q{i}", "prompt": p, "expected_answer": 7} for i, p in enumerate(prompts, 1)])
    seen = {"form": 2, "rubric": "last_number", "prompts": [digest_of("Question 3?")]}
    runs = []
    for name, n in (("one", 10), ("two", 30)):
        lab.completions(["Final: 7"] * n + ["no"] * (40 - n), name)
        lab.meta(name, policy=name, training=seen)
        lab("eval", "--dataset", "d.jsonl", "--completions", f"{name}.jsonl", "--outdir", f"r-{name}")
        runs.append(Path(f"r-{name}"))
    several, trained = finding(lab, *runs)["reasons"]
    assert several.startswith("40 ids have only 20 distinct prompts")
    assert trained.startswith("the candidate was trained on 1 of these 40 prompts")


def digest_of(prompt: str) -> str:
    """Of a prompt such as "Question 3?", whose plain form is "question 3"."""
    return hashlib.sha256(prompt.lower().rstrip("?").encode()).hexdigest()[:16]


def test_a_candidate_measured_on_prompts_of_its_training_is_rejected(lab: Lab) -> None:
    """The memorise policy on its own 75 prompts was promoted with +85 points."""
    seen = {
        "form": 2,
        "rubric": "last_number",
        "prompts": sorted(map(digest_of, ["Question 1?", "Question 3?", "Elsewhere?"])),
    }
    one = evaluated(lab, "one", right(10))
    two = evaluated(lab, "two", right(20), policy="trained", training=seen)
    printed = finding(lab, one, two)
    assert printed["reasons"] == [
        "the candidate was trained on 2 of these 40 prompts: measure both runs on prompts that the candidate has not "
        "seen"
    ]
    assert printed["notes"] == [
        "the training of the policy is not known for the baseline",
        "the policy of the candidate was trained with rubric last_number on 3 prompts, 2 of them measured here",
    ]
    unseen = {"form": 2, "rubric": None, "prompts": [digest_of("Elsewhere?")]}
    three = evaluated(lab, "three", right(20), policy="trained", training=unseen)
    assert finding(lab, one, three)["verdict"] == "PROMOTE"


def test_a_run_that_stands_in_no_log_is_rejected_until_its_log_is_given(lab: Lab, pair: tuple[Path, Path]) -> None:
    run_log.LOG.rename("their_log.jsonl")
    done = gate(lab, *pair)
    assert done.status == 4
    said = " ".join(done.out.split())
    for side in ("baseline", "candidate"):
        assert f"{side} run: no log of runs has the digest of its manifest" in said
    assert gate(lab, *pair, "--log", "their_log.jsonl").status == 0
    arguments = "--baseline", pair[0], "--candidate", pair[1], "--min-delta", 0
    line = lab.refused("gate", *arguments, "--log", "nowhere.jsonl")
    assert line == "error: nowhere.jsonl: cannot read this log of runs: no such file or directory\n"


def test_looks_at_a_holdout_are_counted_over_all_logs_and_a_copied_line_once(lab: Lab) -> None:
    """A clone measured a holdout twice; its runs came with its log. Here it was opened once more, then once again."""
    runs = [lab.measured(name, of_40(n), "holdout") for name, n in (("one", 10), ("two", 20))]
    run_log.LOG.rename("their_log.jsonl")
    both = ("--json", "--log", "their_log.jsonl")
    assert json.loads(gate(lab, *runs, *both).out)["holdout_looks"] == 2
    lab.measured("mine", of_40(10), "holdout")
    printed = json.loads(gate(lab, *runs, *both).out)
    assert (printed["holdout_looks"], printed["tries"]) == (3, 3)
    shutil.copy(run_log.LOG, "copy.jsonl")
    again = json.loads(gate(lab, *runs, *both, "--log", "copy.jsonl", "--log", "their_log.jsonl").out)
    assert (again["holdout_looks"], again["tries"]) == (3, 3)


def test_runs_of_what_the_log_came_to_know_as_a_holdout_say_its_looks(lab: Lab, pair: tuple[Path, Path]) -> None:
    """They were measured as dev, before somebody called these prompts a holdout."""
    assert finding(lab, *pair)["holdout_looks"] is None
    lab.measured("later", of_40(5), "holdout")
    assert finding(lab, *pair)["holdout_looks"] == 1


@pytest.mark.parametrize("training", [{"prompts": [], "form": 2}, {"prompts": ["0123456789abcdef"]}])
def test_a_training_whose_prompts_are_not_known_is_told_as_that_and_never_as_none(
    lab: Lab, training: dict[str, object]
) -> None:
    said = training | {"rubric": "last_number"}
    baseline = evaluated(lab, "one", right(10))
    candidate = evaluated(lab, "two", right(20), policy="b", training=said)
    notes = finding(lab, baseline, candidate)["notes"]
    assert notes[1] == (
        "the policy of the candidate was trained with rubric last_number; its training prompts are not known"
    )


@pytest.mark.parametrize("alone", [0, 1])
def test_of_two_holdouts_in_one_dataset_the_one_that_was_opened_more_often_counts(lab: Lab, alone: int) -> None:
    """A prompt of one is measured alone, then twice beside one of the other: three looks and two."""
    files = (ROOT / "data" / "datasets" / f"{name}_holdout.jsonl" for name in ("math", "two_digit_sums"))
    both = [lines_of(path)[0] | {"id": path.stem} for path in files]
    runs = []
    for number, (name, examples) in enumerate((("alone", [both[alone]]), ("one", both), ("two", both)), 1):
        lab.write("dataset.jsonl", examples)
        lab.write(f"{name}.jsonl", [{"id": example["id"], "completion": "no"} for example in examples])
        lab.meta(name, policy=name)
        done = lab("eval", "--dataset", "dataset.jsonl", "--completions", f"{name}.jsonl", "--outdir", f"r-{name}")
        assert f"look number {number}" in done.out
        runs.append(Path(f"r-{name}"))
    assert finding(lab, *runs[1:])["holdout_looks"] == 3


def test_a_run_of_the_same_name_made_again_is_found_by_its_digest(lab: Lab, pair: tuple[Path, Path]) -> None:
    shutil.rmtree(pair[0])
    lab.measured("baseline", of_40(12))
    assert [line["run"].rpartition("/")[2] for line in lines_of(lab.log)] == ["baseline", "candidate", "baseline"]
    assert finding(lab, *pair)["numbers"]["baseline_passes"] == 12


def test_runs_of_one_room_are_counted_and_what_so_many_tries_do_is_said(lab: Lab) -> None:
    """Twenty candidates that are no better, each promoted one time in forty: 1 - 0.975^20 = 40 %."""
    runs = [lab.measured(f"try-{i}", of_40(10 + i % 3)) for i in range(21)]
    lab.measured("elsewhere", [True] * 30)
    done = gate(lab, runs[0], runs[2])
    message = (
        "runs from this room: 21. Among 20 candidates that are no better, chance promotes at least one in at most 40 %"
    )
    assert message in " ".join(done.out.split())
    few = gate(lab, lab.measured("one", [False] * 20), lab.measured("two", [True] * 20))
    assert "runs from this room" not in few.out


def test_the_smallest_difference_is_that_of_the_flips_seen_and_says_so(lab: Lab) -> None:
    """12 of 40 flip: (12 + 2)/42 is a third. The exact test has 80 % power at 25.6 points."""
    baseline = lab.measured("baseline", [True] * 11 + [False] * 29)
    candidate = lab.measured("candidate", [False] + [True] * 21 + [False] * 18)
    out = gate(lab, baseline, candidate, "--details").out
    said = " ".join(out.split())
    assert "25.6 points" in said
    assert "33.3 % of" in said


def test_seven_prompts_of_which_all_flip_detect_a_difference(lab: Lab) -> None:
    """All seven must be gained for p < 0.05: a share s of the flips does so with s^7 ≥ 0.8 at s = 0.969, d = 2s − 1."""
    out = gate(lab, lab.measured("none", [False] * 7), lab.measured("all", [True] * 7), "--details").out
    assert "with 7 prompts, the gate detects a true difference of 93.7 points " in " ".join(out.split())
    assert out.endswith("PROMOTE: the room was locked, and the improvement is larger than chance explains\n")


# ---- The decision on counts alone.


@pytest.mark.parametrize(
    ("n", "gained", "lost", "min_delta", "verdict", "reason"),
    [
        (150, 6, 0, Fraction(4, 100), "PROMOTE", "larger than chance"),  # 6 of 150 is 4 points, to the last digit
        (150, 6, 0, Fraction(4_000_001, 100_000_000), "INCONCLUSIVE", "a rise of 4.0 points is below --min-delta"),
        (100, 10, 0, Fraction(1, 10), "PROMOTE", "larger than chance"),  # in floats 0.3 - 0.2 < 0.1
        (80, 4, 0, Fraction(0), "INCONCLUSIVE", "noise rule"),  # exactly 5 points
        (99, 4, 0, Fraction(0), "INCONCLUSIVE", "noise rule"),
        (99, 5, 0, Fraction(0), "INCONCLUSIVE", "p = 0.062"),  # 5.05 points
        (100, 5, 0, Fraction(0), "INCONCLUSIVE", "p = 0.062"),  # 5 points, but n is 100
        (99, 6, 0, Fraction(0), "PROMOTE", "larger than chance"),
        (1_000, 6, 0, Fraction(0), "PROMOTE", "larger than chance"),
        (60, 3, 0, Fraction(5, 100), "INCONCLUSIVE", "noise rule"),
        (60, 3, 3, Fraction(0), "INCONCLUSIVE", "did not rise"),
        (60, 2, 3, Fraction(0), "INCONCLUSIVE", "worse: 2 gained and 3 lost of 60 prompts, which may be chance"),
        (
            60,
            0,
            5,
            Fraction(0),
            "INCONCLUSIVE",
            "worse: 0 gained and 5 lost of 60 prompts, which may be chance",
        ),
        (
            60,
            0,
            6,
            Fraction(0),
            "REJECT",
            "worse: 0 gained and 6 lost of 60 prompts, which is more than chance",
        ),
        (200, 15, 5, Fraction(0), "PROMOTE", "larger than chance"),  # 2 · 21700 / 2^20 = 0.0414
        (200, 14, 5, Fraction(0), "INCONCLUSIVE", "p = 0.064"),  # 2 · 16664 / 2^19
        # No flip among 25: the interval ends at z² / (25 + z²), 13.3 points
        (25, 0, 0, Fraction(13, 100), "INCONCLUSIVE", "did not rise"),
        (25, 0, 0, Fraction(14, 100), "REJECT", "ends at +13.3 points, below --min-delta, 14 points"),
        (1_319, 40, 66, Fraction(2, 100), "REJECT", "worse: 40 gained and 66 lost of 1,319 prompts, which is more"),
        (1_319, 40, 53, Fraction(2, 100), "REJECT", "shown to fall short: the 95 % interval of the difference ends at"),
        (1_319, 60, 47, Fraction(2, 100), "INCONCLUSIVE", "a rise of 1.0 points is below --min-delta, but the 95 %"),
    ],
)
def test_decide_at_its_boundaries(
    n: int, gained: int, lost: int, min_delta: Fraction, verdict: str, reason: str
) -> None:
    decided, why = decide(n, gained, lost, min_delta)
    assert decided == verdict
    assert reason in why


@pytest.mark.parametrize(
    ("n", "gained", "lost", "min_delta", "said"),
    [
        (
            40,
            5,
            0,
            Fraction(0),
            "about 8 more prompts, if they flip as these did; the verdict would be PROMOTE",
        ),  # 6 of 48
        (
            60,
            0,
            5,
            Fraction(0),
            "about 12 more prompts, if they flip as these did; the verdict would be REJECT",
        ),  # 6 of 72
        (25, 0, 0, Fraction(1, 10), "about 10 more prompts, if they flip as these did; the verdict would be REJECT"),
        (60, 3, 3, Fraction(0), "not even 1,000 times as many prompts would be enough, if they flip as these did"),
        (25, 0, 0, Fraction(0), "not even 1,000 times as many prompts would be enough, if they flip as these did"),
        (25, 13, 12, Fraction(0), "PROMOTE"),  # all of them flip
        (
            80,
            4,
            0,
            Fraction(5, 100),
            "about 40 more prompts, if they flip as these did; the verdict would be PROMOTE",
        ),  # 6 of 120
    ],
)
def test_an_inconclusive_verdict_says_how_many_prompts_would_decide(
    n: int, gained: int, lost: int, min_delta: Fraction, said: str
) -> None:
    """Where nothing flips, the interval ends at z² / (n + z²), which is below 0.1 from n = 35 on."""
    assert decide(n, gained, lost, min_delta)[0] == "INCONCLUSIVE"
    assert said in what_would_decide(n, gained, lost, min_delta)


def test_where_neither_is_shown_a_holdout_that_got_worse_is_told_and_not_rejected(lab: Lab) -> None:
    runs = [lab.measured(f"run-{n}", of_40(n), "holdout") for n in (20, 19)]
    done = gate(lab, *runs)
    assert done.status == 3
    assert "INCONCLUSIVE: worse: 0 gained and 1 lost of 40 prompts" in done.out
    message = "needed for a decision: about 200 more prompts, if they flip as these did; the verdict would be REJECT"
    assert message in " ".join(done.out.split())


@pytest.mark.parametrize(
    "n", [6, 100] + [pytest.param(n, marks=pytest.mark.slow) for n in (19, 20, 40, 99, 101, 150, 1_000)]
)
def test_net_flips_needed_is_the_first_rise_that_decide_promotes(n: int) -> None:
    shares = Fraction(0), Fraction(1, 20), Fraction(7, 100), Fraction(1, 3)
    for lost, min_delta in product((0, 1, 2, 7, 40), shares):
        nets = range(1, n - 2 * lost + 1)  # no more prompts can flip
        promoted = [net for net in nets if decide(n, net + lost, lost, min_delta)[0] == "PROMOTE"]
        needed = net_flips_needed(n, lost, min_delta)
        assert needed == min(promoted, default=None)
        assert promoted == [net for net in nets if needed is not None and net >= needed]
