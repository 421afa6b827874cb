"""Looking at a run: what is grouped and shown; and that nothing hostile in it ever reaches the terminal as it is.

An example: of the six completions of a run four failed, in four ways; each outcome is listed with its family, its
count and the first two rows that had it.
"""

import hashlib
import json
import os
import re
import shutil
import unicodedata
from pathlib import Path

import pytest
from conftest import SAMPLING, Done, Lab, edited, forged, manifest_edited, rows_edited

from course.starting import PYTHON

ANSWERS = [22, -8, 0, 323, 7, 1024, 5]
TEXTS = ["Final: 22", "eight", "Final: -0", "323", "Final: 8", "ten", "Final: 5"]


@pytest.fixture
def run(lab: Lab) -> Path:
    """Two that passed, three without the prefix, one negative zero, one wrong answer."""
    lab.evaluate(ANSWERS, TEXTS, "--outdir", "run")
    return Path("run")


def inspected(lab: Lab, *more: object) -> str:
    done = lab("inspect_run", "--run", "run", *more)
    assert (done.status, done.err) == (0, "")
    return done.out


@pytest.mark.usefixtures("run")
def test_failures_are_grouped_the_most_frequent_first_with_two_examples_of_each(lab: Lab) -> None:
    out = inspected(lab, "--only-fails")
    assert out.split("\n")[-2].startswith("run: Loop A, passed 2 of 7 (95 % interval ")
    rows = [line.split() for line in out.split("\n") if line.startswith("model_")]
    assert [(row[0], row[1], row[2], row[3]) for row in rows] == [
        ("model_format", "missing_prefix", "3", "43"),
        ("model_format", "negative_zero", "1", "14"),
        ("model_math", "wrong_answer", "1", "14"),
    ]
    examples = f"\n{out}".split("\nmissing_prefix\n")[1].split("\n\n")[0]
    assert examples == ("  q2  expected -8  Question 2?\n    0  eight\n  q4  expected 323  Question 4?\n    0  323")


@pytest.mark.usefixtures("run")
def test_the_ranking_is_there_unless_only_fails_was_asked_for(lab: Lab) -> None:
    whole = inspected(lab)
    assert "top 2, the first that passed\n  q1  expected 22  Question 1?\n    1  Final: 22\n  q7" in whole
    assert "\nbottom 5, the first that failed\n  q2  expected -8" in whole
    only = inspected(lab, "--only-fails")
    assert "top 2" not in only
    assert "Final: 22" not in only


@pytest.mark.usefixtures("run")
def test_top_k_limits_outcomes_and_rows_and_says_what_is_left(lab: Lab) -> None:
    out = inspected(lab, "--top-k", 1)
    assert "missing_prefix" in out
    assert "and 2 more outcomes (--top-k 3 shows all)" in out
    assert "negative_zero" not in out
    assert "top 1, the first that passed\n" in out
    assert "\nbottom 1, the first that failed\n" in out
    assert "more outcomes" not in inspected(lab, "--top-k", 3)


@pytest.mark.usefixtures("run")
def test_show_limits_the_examples_of_an_outcome(lab: Lab) -> None:
    assert "q4" not in inspected(lab, "--only-fails", "--show", 1)
    assert "q6" in inspected(lab, "--only-fails", "--show", 3)


@pytest.mark.usefixtures("run")
def test_one_row_is_shown_whole_with_the_scorers_explanation(lab: Lab) -> None:
    out = inspected(lab, "--id", "q3")
    for message in (
        "id          q3",
        "prompt      Question 3?",
        "expected    0",
        "completion  Final: -0",
        "reward      0.0",
        "outcome     negative_zero  (family: model_format)",
        "why         expected zero written without a sign, got Final: -0",
        "scored again  same outcome",
        "no_extra_whitespace, no_plus_sign\n  failed      no_negative_zero\n  not reached no_leading_zeros, ",
    ):
        assert message in out


@pytest.mark.usefixtures("run")
def test_an_unknown_id_is_the_callers_mistake(lab: Lab) -> None:
    assert "run: expected an id of this run, got q9; the ids stand in its results.jsonl" in lab.refused(
        "inspect_run", "--run", "run", "--id", "q9"
    )
    assert "got <U+001B ESCAPE>[2J;" in lab.refused("inspect_run", "--run", "run", "--id", "\x1b[2J")
    for option in ("--top-k", "--show"):
        assert "expected a whole number from 1 to 999999999" in lab.refused("inspect_run", "--run", "run", option, 0)


def test_an_edited_row_is_shown_with_what_the_scorer_says_now(lab: Lab, run: Path) -> None:
    rows_edited(run, lambda rows: (rows[1].update(reward=1.0), rows[1]["details"].update(outcome="ok")))
    assert "scored again  missing_prefix: NOT what the run recorded" in inspected(lab, "--id", "q2")


def test_a_missing_completion_is_shown_as_none(lab: Lab) -> None:
    arguments = "--dataset", lab.dataset([1, 2]), "--completions", lab.completions(["Final: 1"])
    lab("eval", *arguments, "--missing", "zero", "--outdir", "run")
    assert "completion  (none)" in inspected(lab, "--id", "q2")
    assert "    0  (none)\n" in inspected(lab)


def test_a_run_of_no_rows_or_of_no_failures_says_so(lab: Lab) -> None:
    lab.evaluate([1], ["Final: 1"], "--outdir", "run")
    assert "nothing failed" in inspected(lab, "--only-fails")
    rows_edited(Path("run"), lambda rows: rows.clear())
    assert "there is no row to show" in lab.refused("inspect_run", "--run", "run")


def test_the_samples_of_a_choice_are_shown_with_an_arrow_at_the_chosen(lab: Lab) -> None:
    lab.select([7], [["seven", "Final: 7", "Final: 7"]], 3, "--outdir", "run")
    assert inspected(lab, "--id", "q1").endswith("samples\n     0  seven\n  -> 1  Final: 7\n     1  Final: 7\n")
    assert "run: Loop B, passed 1 of 1" in inspected(lab)


EDITED = "WARNING: results.jsonl is not the file that was written (--verify says more)\n\n"


@pytest.mark.parametrize("more", [[], ["--only-fails"], ["--id", "q3"]])
def test_a_warning_stands_above_numbers_whose_results_were_edited(lab: Lab, run: Path, more: list[str]) -> None:
    before = inspected(lab, *more)
    assert "WARNING" not in before
    rows_edited(run, lambda rows: rows[0].update(prompt="Another question?"), forge=False)
    after = inspected(lab, *more)
    assert after.count("WARNING") == 1
    assert after.startswith(EDITED) or f"\n\n{EDITED}run: Loop A, passed" in after  # above what the screen still shows


def test_one_row_more_or_less_or_no_row_that_was_edited_back_is_seen_too(lab: Lab, run: Path) -> None:
    results = run / "results.jsonl"
    written = results.read_bytes()
    for data in (written + written.splitlines(keepends=True)[0], written.partition(b"\n")[2]):
        results.write_bytes(data)
        assert EDITED in inspected(lab)
        assert inspected(lab, "--id", "q7").startswith(EDITED)  # also where the row itself is as it was
    results.write_bytes(written)
    assert "WARNING" not in inspected(lab)


def test_a_row_is_shown_when_the_whole_file_has_been_read(lab: Lab) -> None:
    """The first row of 3,000, of which the last was edited."""
    lab.evaluate(range(3_000), ["no"] * 3_000, "--outdir", "run")
    assert "WARNING" not in inspected(lab, "--id", "q1")
    rows_edited(Path("run"), lambda rows: rows[-1].update(prompt="?"), forge=False)
    assert inspected(lab, "--id", "q1").startswith(EDITED)


def test_the_log_alone_shows_the_runs_there_are(lab: Lab) -> None:
    assert lab("inspect_run", "--log").out == "The log has no run yet.\n"
    lab.evaluate([1, 2], ["Final: 1", "no"], "--outdir", "first", "--change", "nothing yet", "--expect", "0.5")
    lab.evaluate([1, 2], ["Final: 1", "Final: 2"], "--outdir", "second", "--split", "holdout")
    done = lab("inspect_run", "--log")
    assert (done.status, done.err) == (0, "")
    digests = [hashlib.sha256(Path(run, "manifest.json").read_bytes()).hexdigest() for run in ("first", "second")]
    one, first, change, expect, two, second, look = done.out.splitlines()
    places = [Path(path.strip()).resolve() for path in (first, second)]
    assert places == [Path(run).resolve() for run in ("first", "second")]
    opened = hashlib.sha256(b'"question 1"\n"question 2"\n').hexdigest()
    assert (one[:8], two[:8]) == (digests[0][:8], digests[1][:8])
    assert one.endswith("A  eval              pass_rate 0.5")
    assert (change.strip(), expect.strip()) == ("change: nothing yet", "expect: 0.5 (as predicted)")
    assert (two.endswith("pass_rate 1"), look.strip()) == (True, f"holdout: look 1 at {opened[:8]}")
    assert lab("inspect_run", "--log", lab.log).out == done.out


def test_a_log_that_is_not_there_or_is_none_is_refused(lab: Lab) -> None:
    message = "nowhere.jsonl: cannot read this log of runs: no such file or directory"
    assert message in lab.refused("inspect_run", "--log", "nowhere.jsonl")
    broken = lab.write("broken.jsonl", "{}\n")
    assert "broken.jsonl:1 is not a line of the lab's log" in lab.refused("inspect_run", "--log", broken)
    assert "expected --run FOLDER, or --log to list the runs" in lab.refused("inspect_run")


def test_verify_takes_an_unlogged_run_only_with_the_log_that_came_with_it(lab: Lab, run: Path) -> None:
    verify = "inspect_run", "--run", run, "--verify"
    said = " ".join(lab(*verify).out.split())
    assert said.startswith("run: whole. The run is in the log, every digest holds, and 7 rows were scored again")
    assert "1 row was scored" in lab("inspect_run", "--run", lab.measured("one", [True]), "--verify").out
    lab.log.rename("theirs.jsonl")
    done = lab(*verify)
    assert (done.status, done.err) == (1, "")
    assert done.out.startswith("run: NOT verified\n  - no log of runs has the digest of its manifest")
    assert lab(*verify, "--log", "theirs.jsonl").status == 0
    lab.evaluate([1], ["Final: 1"], "--outdir", "another")  # the lab has a log again, and that run is not in it
    assert lab(*verify).status == 1
    assert lab(*verify, "--log", "theirs.jsonl").status == 0
    assert lab(*verify, "--log", lab.log).status == 1
    assert "nowhere.jsonl: cannot read this log of runs" in lab.refused(*verify, "--log", "nowhere.jsonl")


HOSTILE = [
    "\x1b[2J\x1b[31mred",
    "\x1b]52;c;cm0gLXJmIC8=\x07",  # OSC 52 writes the clipboard
    "\u202etxt.exe\u202c",
    "\u2066isolate\u2069",
    "nul\x00nul",
    "\x9b31mC1",
    "\x85next\u2028line\u2029paragraph",
    "[bold red]markup[/bold red] :warning:",
    "Final: 2\rFinal: 1",
    "back\x08space\x7fdelete\x0bdown\x0cform",
    "\ufeffFinal: 1\u200b\u00ad\u2800\U000e0041",
]


def assert_harmless(done: Done) -> None:
    for char in done.out + done.err:
        assert char == "\n" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"), ascii(char)


def hostile(lab: Lab, command: str, *more: object) -> Done:
    done = lab(command, *more)
    assert_harmless(done)
    return done


def test_a_hostile_completion_is_shown_and_never_obeyed(lab: Lab) -> None:
    for text in HOSTILE:  # one at a time: each is the example of its outcome
        done = lab.evaluate([1], [text])
        assert done.status == 0
        assert_harmless(done)
    for run in sorted(Path("runs").iterdir()):
        for more in ([], ["--only-fails"], ["--id", "q1"], ["--verify"]):
            done = hostile(lab, "inspect_run", "--run", run, *more)
            assert done.status == 0
        page = (run / "README.md").read_text(encoding="utf-8")
        assert_harmless(Done(0, page, ""))
    assert "[bold red]markup[/bold red] :warning:" in lab("inspect_run", "--run", "runs/run_008").out
    assert "<U+001B ESCAPE>[2J<U+001B ESCAPE>[31mred" in lab("inspect_run", "--run", "runs/run_001", "--id", "q1").out
    assert "not ASCII   U+00AD SOFT HYPHEN" in lab("inspect_run", "--run", "runs/run_011", "--id", "q1").out


def test_markup_in_a_table_is_text(lab: Lab) -> None:
    assert "[red]:x:[/] [/no]" in lab.evaluate([1], ["[red]:x:[/] [/no]"]).out


def hostile_dataset(lab: Lab) -> Path:
    return lab.write("dataset.jsonl", [{"id": text, "prompt": text, "expected_answer": 1} for text in HOSTILE])


def hostile_file(lab: Lab, name: str, key: str, value: object) -> Path:
    path = lab.write(f"{name}.jsonl", [{"id": text, key: value} for text in HOSTILE])
    lab.meta(name, policy=f"of {name}", sampling=SAMPLING | {"n": len(value) if isinstance(value, list) else 1})
    return path


def test_hostile_ids_and_prompts_reach_no_terminal(lab: Lab) -> None:
    dataset = "--dataset", hostile_dataset(lab), "--outdir"
    for run, text in (("wrong", "no"), ("right", "Final: 1")):
        completions = hostile_file(lab, run, "completion", text)
        assert hostile(lab, "eval", *dataset, run, "--completions", completions).status == 0
    pack = hostile_file(lab, "pack", "samples", ["no", "[/bold]\x1b[31m"])
    assert hostile(lab, "selection_demo", *dataset, "choice", "--samples", pack, "--n", 2).status == 0
    for run in ("wrong", "right", "choice"):
        hostile(lab, "inspect_run", "--run", run)
        for id_ in HOSTILE:
            if "\0" not in id_:  # which no argument of a process can hold
                assert hostile(lab, "inspect_run", "--run", run, "--id", id_).status == 0
    for baseline, candidate, status in (
        ("wrong", "right", 0),
        ("right", "wrong", 1),
        ("wrong", "choice", 4),
    ):
        assert hostile(lab, "gate", "--baseline", baseline, "--candidate", candidate, "--min-delta", 0).status == status


def test_hostile_ids_in_a_complaint_are_written_out(lab: Lab) -> None:
    dataset = hostile_dataset(lab)
    assert_harmless(Done(2, "", lab.refused("eval", "--dataset", dataset, "--completions", lab.completions(["no"]))))
    lab.picker("def pick_best(samples):\n    raise ValueError('\\x1b[31m\\u202e')\n")
    pack = hostile_file(lab, "pack", "samples", ["no"])
    assert_harmless(Done(2, "", lab.refused("selection_demo", "--dataset", dataset, "--samples", pack, "--n", 1)))


def test_a_hostile_run_of_somebody_else_reaches_no_terminal(lab: Lab, run: Path) -> None:
    manifest_edited(
        run, scorer_name=HOSTILE[0], policy=HOSTILE[1], split=HOSTILE[2], change=HOSTILE[3], spec=HOSTILE[4]
    )
    edited(run / "manifest.json", lambda manifest: manifest["outputs"].update({HOSTILE[0]: HOSTILE[5]}))
    rows_edited(
        run,
        lambda rows: (rows[1].update(id=HOSTILE[0]), rows[1]["details"].update(parsed_answer=HOSTILE[0])),
        forge=False,
    )
    for more in ([], ["--only-fails"], ["--id", HOSTILE[0]], ["--verify"]):
        hostile(lab, "inspect_run", "--run", run, *more)
    assert hostile(lab, "gate", "--baseline", run, "--candidate", run, "--min-delta", 0).status == 4


def test_a_hostile_change_in_the_log_reaches_no_terminal(lab: Lab) -> None:
    for text in HOSTILE:
        if "\0" not in text:  # which no argument of a process can hold
            assert_harmless(lab.evaluate([1], ["no"], "--change", text))
    shown = hostile(lab, "inspect_run", "--log")
    assert shown.out.count("change: ") == len(HOSTILE) - 1


def test_a_hostile_log_of_somebody_else_reaches_no_terminal(lab: Lab) -> None:
    keys = ("run", "manifest", "loop", "command", "change", "expect", "room")
    lines = [dict.fromkeys(keys, text) | {"number": {text: 1.5}, "holdouts": [text]} for text in HOSTILE]
    lines = [line | {"manifest": text * 9} for line, text in zip(lines, HOSTILE, strict=True)]
    path = lab.write("theirs.jsonl", lines)
    assert hostile(lab, "inspect_run", "--log", path).status == 0
    for broken in (
        {"run": HOSTILE[0]},
        lines[0] | {HOSTILE[0]: HOSTILE[1]},
        lines[0] | {"number": {HOSTILE[0]: "\x1b"}},
    ):
        lab.write("theirs.jsonl", [broken])
        assert_harmless(Done(2, "", lab.refused("inspect_run", "--log", path)))


def test_a_hostile_outcome_reaches_no_terminal(lab: Lab, run: Path) -> None:
    rows_edited(run, lambda rows: rows[1]["details"].update(outcome=HOSTILE[0]))
    hostile(lab, "inspect_run", "--run", run)


def test_a_hostile_summary_reaches_no_terminal(lab: Lab, run: Path) -> None:
    edited(run / "summary.json", lambda summary: summary.update(n=HOSTILE[0]))
    forged(run)
    hostile(lab, "inspect_run", "--run", run, "--verify")


def test_hostile_ids_reach_no_terminal_as_json_either(lab: Lab) -> None:
    for run, text in (("wrong", "no"), ("right", "Final: 1")):
        completions = hostile_file(lab, run, "completion", text)
        lab("eval", "--dataset", hostile_dataset(lab), "--completions", completions, "--outdir", run)
    hostile(lab, "gate", "--baseline", "wrong", "--candidate", "right", "--min-delta", 0, "--json")


def test_an_id_may_be_given_by_its_end_where_no_other_ends_so(lab: Lab) -> None:
    names = ["dev-007", "dev-017", "dev-119", "19"]
    examples = [{"id": name, "prompt": f"Of {name}?", "expected_answer": 1} for name in names]
    rollouts = [{"id": name, "completion": "Final: 1"} for name in names]
    arguments = "--dataset", lab.write("d.jsonl", examples), "--completions", lab.write("c.jsonl", rollouts)
    assert lab("eval", *arguments, "--outdir", "run").status == 0
    for asked, found in [
        ("17", "dev-017"),
        ("007", "dev-007"),
        ("19", "19"),
        ("dev-119", "dev-119"),
    ]:
        assert f"id          {found}\n" in inspected(lab, "--id", asked)
    assert "got 00; " in lab.refused("inspect_run", "run", "--id", "00")
    message = lab.refused("inspect_run", "--run", "run", "--id", "7")
    ending = "got 7, in which 2 ids end: dev-007, dev-017; the ids stand in its results.jsonl\n"
    assert message == f"error: run: expected an id of this run, {ending}"
    assert lab.refused("inspect_run", "run", "--id", "dve-119").startswith("error: did you mean --id dev-119? run: ")


def test_last_is_the_newest_run_that_is_still_there(lab: Lab) -> None:
    assert "last: no run in the log still exists" in lab.refused("inspect_run", "--run", "last")
    for name in ("one", "two"):
        lab.evaluate([1], ["Final: 1"], "--outdir", name)
    assert "\ntwo: Loop A" in lab("inspect_run", "last").out
    shutil.rmtree("two")
    older = lab("inspect_run", "--run", "last")
    assert "\none: Loop A" in older.out
    assert re.fullmatch("note: the newest run, .*, no longer exists; .*one.*\n", older.err)


def test_a_run_is_given_once_and_with_or_without_its_option(lab: Lab, run: Path) -> None:
    assert lab("inspect_run", run, "--only-fails").out == inspected(lab, "--only-fails")
    assert "expected one run, got run and --run run" in lab.refused("inspect_run", run, "--run", run)


def test_a_log_beside_a_run_that_is_only_looked_at_is_refused(lab: Lab, run: Path) -> None:
    assert "--log FILE goes with --verify" in lab.refused("inspect_run", "--run", run, "--log", "nowhere.jsonl")


def test_a_warning_stands_before_the_numbers_and_is_null_without_cause(lab: Lab, run: Path) -> None:
    for more in ([], ["--id", "q3"]):
        assert json.loads(inspected(lab, "--json", *more))["warning"] is None
        assert "WARNING" not in inspected(lab, *more)
    results = run / "results.jsonl"
    results.write_text(results.read_text(encoding="utf-8").replace("Question 3?", "Question 4?"), encoding="utf-8")
    for more in ([], ["--id", "q3"]):
        assert json.loads(inspected(lab, "--json", *more))["warning"].endswith("(--verify says more)")
        assert "(--verify says more)\n\n" in inspected(lab, *more)


def test_what_is_no_run_but_near_one_is_answered_with_the_one_that_is_meant(lab: Lab) -> None:
    for name in ("runs/first", "runs/second"):
        lab.evaluate([1], ["Final: 1"], "--outdir", name)
    os.utime("runs/first/manifest.json", (1, 1))
    lab.write("runs/.hidden.partial/manifest.json", "{}")
    answers = {
        "runs": "did you mean runs/second? runs: expected the folder of one run, got a folder that holds 2",
        "runs/frist": "did you mean runs/first? runs/frist: expected the folder of a run, got a path that does "
        "not exist",
        "sec": "did you mean runs/second? sec: expected the folder of a run, got a path that does not exist",
        "runs/log": "runs/log: expected the folder of a run, got a path that does not exist; "
        f"{PYTHON} -m course.inspect_run --log lists the runs",
    }
    for asked, said in answers.items():
        assert lab.refused("inspect_run", "--run", asked) == f"error: {said}\n"


def answer(lab: Lab, *arguments: object, status: int = 0) -> dict[str, object]:
    """The one JSON object that a command prints, in ASCII."""
    done = lab("inspect_run", *arguments, "--json")
    assert (done.status, done.err) == (status, "")
    assert done.out.isascii()
    printed = json.loads(done.out)
    assert isinstance(printed, dict)
    return printed


def test_json_is_the_same_for_a_program(lab: Lab, run: Path) -> None:
    printed = answer(lab, run, "--top-k", 1, "--show", 1)
    assert (printed["n"], printed["passes"], printed["run"]) == (7, 2, "run")
    assert printed["outcomes"] == {"ok": 2, "missing_prefix": 3, "negative_zero": 1, "wrong_answer": 1}
    assert [row["id"] for row in printed["examples"]["missing_prefix"]] == ["q2"]  # type: ignore[index]
    assert [row["id"] for row in printed["bottom"]] == ["q2"]  # type: ignore[attr-defined]
    shown = answer(lab, run, "--id", "q3")
    assert (shown["row"]["id"], shown["details"]["outcome"]) == ("q3", "negative_zero")  # type: ignore[index]
    assert answer(lab, run, "--verify") == {"run": "run", "verified": True, "rows": 7, "faults": [], "note": None}
    assert [line["run"] for line in answer(lab, "--log")["log"]] == [str(lab.folder / "run")]  # type: ignore[attr-defined]
    rows_edited(run, lambda rows: rows[0].update(prompt="é"), forge=False)
    faults = answer(lab, run, "--verify", status=1)
    assert faults["verified"] is False
    assert faults["faults"]
    assert answer(lab, run)["warning"]
    (run / "manifest.json").unlink()
    assert answer(lab, run, "--verify", status=1)["faults"] == [
        "manifest.json cannot be read: no such file or directory"
    ]


def test_a_run_that_came_without_its_page_is_not_said_to_have_one(lab: Lab, run: Path) -> None:
    assert "(not sealed: README.md and environment.json)" in " ".join(inspected(lab, "--verify").split())
    (run / "README.md").unlink()
    assert "(not sealed: environment.json)" in " ".join(inspected(lab, "--verify").split())
    (run / "environment.json").unlink()
    assert "sealed" not in inspected(lab, "--verify")
