"""The committee: a student's verdicts are held against the gate, and the evidence against what the gate found.

The worked example: pair 1 was chosen from with N of 2 and of 8. Its verdict is REJECT, and evidence has to name both.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check import committee
from check.committee import COMMITTEE, PAIRS, SHEET, check_committee, decision_of, is_named
from check.milestones import EXERCISES, check
from check.result import TO_READ
from check.sheets import read_fields, read_sheet
from check.submission import submit
from course.artifacts import run_log
from course.errors import UserError

SAMPLE = ROOT / "teacher" / "solutions" / "notes" / "committee.md"
ANSWERS = {
    title: read_fields(section, ["verdict", "evidence"]) for title, section in read_sheet(SAMPLE, list(PAIRS)).items()
}
Answers = dict[str, dict[str, str]]


def write(lab: Lab, answers: Answers) -> Path:
    parts = [
        f"## {title}\n" + "\n".join(f"{name}: {text}" for name, text in answer.items())
        for title, answer in answers.items()
    ]
    return lab.write(SHEET.as_posix(), "# Committee\n" + "\n\n".join(parts) + "\n")


def changed(title: str, **fields: str) -> Answers:
    """The teacher's sheet with other answers for one pair."""
    return ANSWERS | {title: ANSWERS[title] | fields}


def kept(lab: Lab) -> dict[str, str]:
    del lab
    path = run_log.LOG.with_name("verdicts.json")
    return json.loads(path.read_text(encoding="ascii")) if path.exists() else {}


def test_the_teachers_sheet_is_for_the_teacher_to_read_and_names_what_to_type(lab: Lab) -> None:
    write(lab, ANSWERS)
    result = check(EXERCISES["committee"])
    assert (result.state, [*result.parts]) == (TO_READ, [*PAIRS.values()]), result.lines
    assert kept(lab) == {"pair_1": "REJECT", "pair_2": "REJECT", "pair_3": "INCONCLUSIVE"}
    assert result.numbers == {f"{name} first": verdict for name, verdict in kept(lab).items()}


def test_the_command_that_is_named_gives_the_verdict(lab: Lab) -> None:
    """As typed, but for the folder: what the page of the gate says last is what the check compared with."""
    shutil.copytree(ROOT / COMMITTEE, lab.folder / COMMITTEE)
    for name in PAIRS.values():
        words = committee.gate_command(name).partition("course.gate ")[2].split()
        done = lab("gate", *words)
        [verdict] = re.findall("^(PROMOTE|REJECT|INCONCLUSIVE): ", done.out, re.MULTILINE)
        assert verdict == decision_of(name).verdict
        assert (lab.folder / COMMITTEE / name / "candidate" / "gate.html").is_file()


def test_each_pair_is_decided_for_a_reason_of_its_own() -> None:
    facts = {name: [fact.value for fact in decision_of(name).facts] for name in PAIRS.values()}
    assert facts["pair_1"] == ["2", "8"]
    assert facts["pair_2"] == [40, 200, 100]
    assert facts["pair_3"][:3] == [6, 1, 50]
    assert [decision_of(name).verdict for name in PAIRS.values()] == ["REJECT", "REJECT", "INCONCLUSIVE"]


DUMP = " ".join(map(str, range(300)))
CHEATS: dict[str, tuple[Answers, str, str]] = {  # what is tried -> sheet, state, what is said of it
    "all REJECT": (changed("Pair 3", verdict="REJECT"), "wrong", "Pair 3: the gate's verdict is not REJECT"),
    "all PROMOTE": (changed("Pair 1", verdict="PROMOTE"), "wrong", "Pair 1: the gate's verdict is not PROMOTE"),
    "a verdict alone": (changed("Pair 2", evidence=""), "started", "Pair 2: expected evidence of 8 words"),
    "words alone": (
        changed("Pair 2", evidence="It was trained on what it was measured on, and nobody should promote that."),
        "started",
        "Pair 2: expected evidence with 2 numbers",
    ),
    "numbers that say nothing": (
        changed("Pair 2", evidence="From 26 to 56 of the prompts, with 45 gained and 15 lost, is too good to be true."),
        "started",
        "Pair 2: the verdict is the gate's, and your evidence does not name",
    ),
    "one value of two": (
        changed("Pair 1", evidence="The candidate has 8 samples of each prompt, and so it gains 15 of them at once."),
        "started",
        "Pair 1: the verdict is the gate's, and your evidence does not name",
    ),
    "two facts without the one that decides": (
        changed(
            "Pair 2", evidence="There were 200 prompts to train on and 100 prompts to measure, and that is enough."
        ),
        "started",
        "Pair 2: the verdict is the gate's, and your evidence does not name",
    ),
    "every number there is": (
        changed("Pair 3", evidence=f"All of these decide it, one way or the other, I say: {DUMP}."),
        "started",
        "Pair 3: expected the numbers that decide, 16 at most, got 300",
    ),
    "no verdict of the three": (changed("Pair 3", verdict="MAYBE"), "started", "Pair 3: expected a verdict, PROMOTE"),
    "two verdicts": (changed("Pair 3", verdict="REJECT or INCONCLUSIVE"), "started", "Pair 3: expected a verdict"),
} | {
    f"evidence of {other} for {title}": (
        changed(title, evidence=ANSWERS[other]["evidence"]),
        "started",
        f"{title}: the verdict is the gate's, and your evidence does not name",
    )
    for title in PAIRS
    for other in PAIRS
    if title != other
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_a_cheat_is_not_handed_in_and_one_line_says_why(lab: Lab, cheat: str) -> None:
    answers, state, said = CHEATS[cheat]
    write(lab, answers)
    result = check_committee()
    assert result.state == state
    assert [line for line in result.lines if said in line], result.lines
    assert not result.parts  # the gate's pages show what the evidence has to name


def test_nothing_is_compared_or_kept_before_verdict_and_evidence_stand_there(lab: Lab) -> None:
    write(lab, {title: {"verdict": "PROMOTE", "evidence": ""} for title in PAIRS})
    result = check_committee()
    assert (result.state, kept(lab)) == ("started", {})
    assert not [line for line in result.lines if "gate" in line]


def test_the_first_verdict_stays_and_is_shown_and_handed_in(lab: Lab) -> None:
    """Trying all three in turn ends at the right one and leaves a trace."""
    for verdict in ("PROMOTE", "REJECT", "INCONCLUSIVE"):
        write(lab, changed("Pair 3", verdict=verdict))
        result = check_committee()
        assert "your first verdicts: REJECT, REJECT, PROMOTE" in result.short
    assert result.state == TO_READ
    assert result.numbers["pair_3 first"] == "PROMOTE"
    assert "runs/verdicts.json" in submit([], [])[1]


@pytest.mark.parametrize("text", ["{", '{"pair_1": "MAYBE"}', "\xff"])
def test_a_record_of_verdicts_that_cannot_be_read_is_one_line(lab: Lab, text: str) -> None:
    write(lab, ANSWERS)
    run_log.LOG.parent.mkdir(parents=True, exist_ok=True)
    run_log.LOG.with_name("verdicts.json").write_bytes(text.encode("latin-1"))
    result = check(EXERCISES["committee"])
    assert result.state == "wrong"
    assert "verdicts.json: expected pairs and verdicts" in result.lines[0]


def spoil_rows(folder: Path) -> None:
    path = folder / "candidate" / "results.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Final: 9", b"Final: 8"))


def remove_summary(folder: Path) -> None:
    (folder / "baseline" / "summary.json").unlink()


def remove_manifest(folder: Path) -> None:
    (folder / "baseline" / "manifest.json").unlink()


@pytest.mark.parametrize("spoil", [spoil_rows, remove_summary, remove_manifest])
def test_a_pair_that_was_spoiled_is_not_rejected_but_named(
    lab: Lab, spoil: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a student who breaks all three pairs could write REJECT three times."""
    shutil.copytree(ROOT / COMMITTEE, lab.folder / COMMITTEE)
    monkeypatch.setattr(committee, "LAB", lab.folder)
    spoil(lab.folder / COMMITTEE / "pair_3")
    with pytest.raises(UserError, match="pair_3: expected the runs as they were handed out"):
        decision_of("pair_3")


@pytest.mark.parametrize(
    ("value", "text", "named"),
    [
        ("2", "N is 2.", True),
        ("2", "2.5 points", False),
        ("2", "0.2", False),
        ("2", "12 or 20", False),
        (40, "40 of 100", True),
        (40, "40.0 %", False),
        (40, "dev-40", False),
        (61, "dev-0061, dev-61", False),
        (0.125, "p = 0.125", True),
        (0.125, "p = .13", True),
        (0.125, "12.5 %", True),
        (0.125, "12 of 50", False),
        (0.125, "0.1", False),
        (0.125, "0.25", False),
    ],
)
def test_a_fact_is_named_by_its_number_alone(value: str | float, text: str, named: bool) -> None:
    assert is_named(value, text) == named
