"""Loop A: its numbers against a dataset worked by hand, and every way to be refused.

An example: six prompts are answered, two with the right line, so the pass rate is 2/6. One wrong line has a wrong
value, the other three are not in format; the run's files hold each row, the counts and the conditions.
"""

import hashlib
import json
import os
import re
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SAMPLING, Lab, ended, lines_of

from course.score import SPEC
from course.show.terminal import with_progress

GOLDEN_CASES = sum(len(lines_of(path)) for path in (ROOT / "course" / "golden").glob("*.jsonl"))
ANSWERS = [22, -8, 0, 323, 7, 1024]
TEXTS = ["Final: 22", "Final: -8\n", "Final: -0", "Final: 322", "7", ""]
OUTCOMES = ["ok", "ok", "negative_zero", "wrong_answer", "missing_prefix", "empty"]
PARSED = ["22", "-8", None, "322", None, None]


def test_every_number_of_a_run_is_the_one_worked_by_hand(lab: Lab) -> None:
    done = lab.evaluate(ANSWERS, TEXTS)
    assert (done.status, done.err) == (0, "")
    run = lab.folder / "runs" / "run_001"
    assert sorted(path.name for path in run.iterdir()) == [
        "README.md", "environment.json", "manifest.json", "results.jsonl", "summary.json",
    ]  # fmt: skip
    assert lines_of(run / "results.jsonl") == [
        {
            "id": f"q{i}",
            "prompt": f"Question {i}?",
            "expected_answer": ANSWERS[i - 1],
            "completion": TEXTS[i - 1],
            "reward": 1.0 if i < 3 else 0.0,
            "details": {"outcome": OUTCOMES[i - 1], "parsed_answer": PARSED[i - 1]},
        }
        for i in range(1, 7)
    ]
    summary = json.loads((run / "summary.json").read_bytes())
    assert summary.pop("pass_rate_ci95") == pytest.approx([0.09677141, 0.70000668])  # Wilson, as SciPy gives it
    assert summary == {
        "n": 6,
        "passes": 2,
        "pass_rate": 1 / 3,
        "mean_reward": 1 / 3,
        "outcomes": {"ok": 2, "negative_zero": 1, "wrong_answer": 1, "missing_prefix": 1, "empty": 1},
        "families": {"model_format": 3, "model_math": 1},
    }
    assert "passed 2 of 6: 33.3 %   (95 % interval 9.7 to 70.0 %)" in done.out
    assert "run: runs/run_001" in done.out


def test_the_manifest_holds_the_conditions(lab: Lab) -> None:
    dataset = lab.dataset(ANSWERS)
    completions = lab.completions(TEXTS)
    said = "--change", "a shorter prompt", "--expect", "40 %"
    lab("eval", "--dataset", dataset, "--completions", completions, *said, "--outdir", "r")
    manifest = json.loads(Path("r/manifest.json").read_bytes())
    prompts = b"".join(f'["q{i}","Question {i}?"]\n'.encode() for i in range(1, 7))
    examples = b"".join(f'["q{i}","Question {i}?",{answer}]\n'.encode() for i, answer in enumerate(ANSWERS, 1))
    conditions = {
        "schema_version": 3,
        "loop": "A",
        "command": "course.eval",
        "settings": {"missing": None},
        "split": "dev",
        "dataset_fingerprint": hashlib.sha256(dataset.read_bytes()).hexdigest(),
        "prompts_fingerprint": hashlib.sha256(prompts).hexdigest(),
        "examples_fingerprint": hashlib.sha256(examples).hexdigest(),
        "completions_fingerprint": hashlib.sha256(completions.read_bytes()).hexdigest(),
        "samples_per_prompt": 1,
        "policy": "a hand that wrote these tests",
        "sampling": {"temperature": 1.0, "top_p": 1.0, "seed": 7, "n": 1},
        "trained_on": None,
        "seed": None,
        "scorer_name": "final_int",
        "spec": SPEC,
        "golden": {"passed": True, "cases": GOLDEN_CASES},
        "change": "a shorter prompt",
        "expect": "40 %",
        "outputs": {
            name: hashlib.sha256(Path("r", name).read_bytes()).hexdigest() for name in ("results.jsonl", "summary.json")
        },
    }
    assert {key: manifest[key] for key in conditions} == conditions


def test_what_is_expected_is_written_down_in_manifest_page_and_log(lab: Lab) -> None:
    lab.evaluate(ANSWERS, TEXTS, "--expect", "3 of 6", "--change", "nothing yet")
    run = Path("runs/run_001")
    manifest = json.loads((run / "manifest.json").read_bytes())
    assert (manifest["change"], manifest["expect"]) == ("nothing yet", "3 of 6")
    assert "    expected  3 of 6 (read as 50 %)\n    got       pass_rate 0.3333, 16.7 points below\n" in (
        run / "README.md"
    ).read_text(encoding="utf-8")
    (line,) = lines_of(lab.log)
    assert (line["change"], line["expect"]) == ("nothing yet", "3 of 6")
    assert line["manifest"] == hashlib.sha256((run / "manifest.json").read_bytes()).hexdigest()
    assert (line["loop"], line["command"]) == ("A", "course.eval")
    assert line["number"] == {"pass_rate": pytest.approx(1 / 3)}
    assert line["holdouts"] == []


def test_the_page_for_a_person_has_the_numbers_two_examples_and_blanks(lab: Lab) -> None:
    lab.evaluate(ANSWERS, TEXTS, "--change", "x" * 9)
    page = Path("runs/run_001/README.md").read_text(encoding="utf-8")
    for message in (
        "# Loop A, measure: course.eval",
        "passed 2 of 6: 33.3 %",
        "Final: 22",
        "Final: -0",
        "negative_zero",
        "x" * 9,
    ):
        assert message in page
    for blank in ("## Observed\n", "## Conclusion\n"):
        assert blank in page


def manifest_of(run: str) -> Any:
    return json.loads(Path("runs", run, "manifest.json").read_bytes())


def test_a_run_without_meta_is_measured_and_the_template_for_it_makes_the_next_one_known(lab: Lab) -> None:
    arguments = "--dataset", lab.dataset(ANSWERS), "--completions", lab.completions(TEXTS, "mine", sampling=None)
    done = lab("eval", *arguments)
    assert (done.status, done.err) == (0, "")
    manifest = manifest_of("run_001")
    assert [manifest[name] for name in ("policy", "template", "sampling", "trained_on")] == [None] * 4
    assert "there is no mine.meta.json" in done.out
    name = "mine.meta.json"
    lab.write(name, "{}")
    template = lab.refused("eval", *arguments).partition("a complete file to fill in (seed may stay null): ")[2]
    assert manifest["completions_fingerprint"] in template
    answers = {
        '"policy": ""': '"policy": "tiny, plain"',
        '"created": ""': '"created": "2026-01-31"',
        '"temperature": null': '"temperature": 1.0',
        '"top_p": null': '"top_p": 1.0',
        '"template": ""': '"template": "{prompt}"',
    }
    for blank, answer in answers.items():  # a blank that was left is refused, whichever it is
        assert template.count(blank) == 1
        lab.write(name, template)
        assert "mine.meta.json $." in lab.refused("eval", *arguments)
        template = template.replace(blank, answer)
    lab.write(name, template)
    again = lab("eval", *arguments)
    assert (again.status, again.err) == (0, "")
    assert "generated by tiny, plain\n" in again.out
    assert "the gate will refuse" not in again.out
    manifest = manifest_of("run_002")
    assert (manifest["policy"], manifest["template"]) == ("tiny, plain", "{prompt}")
    assert manifest["sampling"] == {"temperature": 1.0, "top_p": 1.0, "seed": None, "n": 1}


def test_a_meta_file_that_is_bound_to_nothing_leaves_sampling_and_template_unknown_and_says_so(lab: Lab) -> None:
    arguments = "--dataset", lab.dataset(ANSWERS), "--completions", lab.completions(TEXTS)
    lab.meta("completions", completions_sha256=None, policy="a hand")
    done = lab("eval", *arguments)
    assert (done.status, done.err) == (0, "")
    manifest = manifest_of("run_001")
    assert (manifest["policy"], manifest["template"], manifest["sampling"]) == ("a hand", None, None)
    assert "completions.meta.json has no SHA-256" in done.out
    lab.meta("completions", completions_sha256=manifest["completions_fingerprint"], policy="a hand")
    assert lab("eval", *arguments).status == 0
    assert manifest_of("run_002")["sampling"] == SAMPLING
    assert manifest_of("run_002")["template"] == "{prompt}"


def test_a_meta_file_of_other_completions_is_refused_with_the_line_that_mends_it(lab: Lab) -> None:
    dataset = lab.dataset(ANSWERS)
    completions = lab.completions(TEXTS)
    meta = Path("completions.meta.json")
    lab.completions([*TEXTS[:5], "Final: 1024"], sampling=None)  # one completion is another now
    arguments = "eval", "--dataset", dataset, "--completions", completions
    line = lab.refused(*arguments)
    assert "completions.meta.json $.completions_sha256: expected the SHA-256 of completions.jsonl" in line
    (mended,) = re.findall(r'write ("completions_sha256": "[0-9a-f]{64}")$', line, re.MULTILINE)
    meta.write_text(re.sub(r'"completions_sha256": "[0-9a-f]+"', mended, meta.read_text("utf-8")), encoding="utf-8")
    assert lab(*arguments).status == 0
    assert manifest_of("run_001")["sampling"] == SAMPLING


def test_loop_a_takes_one_completion_a_prompt(lab: Lab) -> None:
    completions = lab.completions(TEXTS, sampling=SAMPLING | {"n": 4})
    line = lab.refused("eval", "--dataset", lab.dataset(ANSWERS), "--completions", completions)
    assert "$.sampling.n: expected 1, the number of completions of each prompt in completions.jsonl, got 4" in line


def test_what_the_policy_was_trained_on_is_compared_with_what_is_measured(lab: Lab) -> None:
    digests = sorted(hashlib.sha256(f"question {i}".encode()).hexdigest()[:16] for i in (2, 5, 99))
    completions = lab.completions(TEXTS)
    lab.meta("completions", training={"rubric": "any\x1bwhere", "prompts": digests, "form": 2})
    assert lab("eval", "--dataset", lab.dataset(ANSWERS), "--completions", completions).status == 0
    said = {"rubric": "any<U+001B ESCAPE>where", "prompts": 3, "measured_here": 2, "form": 2}
    assert manifest_of("run_001")["trained_on"] == said


def test_completions_in_another_order_are_matched_by_their_ids(lab: Lab) -> None:
    dataset = lab.dataset(ANSWERS)
    completions = lab.completions(TEXTS)
    lines = completions.read_bytes().splitlines(keepends=True)
    backwards = lab.write("backwards.jsonl", b"".join(reversed(lines)))
    for path, run in ((completions, "one"), (backwards, "other")):
        assert lab("eval", "--dataset", dataset, "--completions", path, "--outdir", run).status == 0
    one, other = (Path(run, "results.jsonl").read_bytes() for run in ("one", "other"))
    assert one == other


def test_a_copy_of_a_shipped_holdout_is_a_look_at_it_and_cannot_be_called_dev(lab: Lab) -> None:
    rows = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")
    mine = [
        {"id": f"q{i}", "prompt": row["prompt"], "expected_answer": row["expected_answer"]}
        for i, row in enumerate(rows, 1)
    ]
    arguments = "--dataset", lab.write("mine.jsonl", mine), "--completions", lab.completions(["?"] * len(rows))
    done = lab("eval", *arguments)
    assert "look number 1" in done.out
    assert manifest_of("run_001")["split"] == "holdout"
    assert "60 of the prompts are from math_holdout.jsonl" in lab.refused("eval", *arguments, "--split", "dev")


def test_a_missing_id_is_an_error_and_named(lab: Lab) -> None:
    line = lab.refused("eval", "--dataset", lab.dataset(ANSWERS), "--completions", lab.completions(TEXTS[:4]))
    assert "no record for 2 ids (q5, q6); --missing zero counts a missing completion as reward 0" in line


def test_an_unknown_id_is_an_error_and_named(lab: Lab) -> None:
    dataset = lab.dataset(ANSWERS[:5])
    completions = lab.completions(TEXTS)
    for more in ([], ["--missing", "zero"]):
        line = lab.refused("eval", "--dataset", dataset, "--completions", completions, *more)
        assert "1 id (q6) that the dataset does not have" in line


def test_missing_zero_counts_a_missing_one_as_reward_0(lab: Lab) -> None:
    options = "--dataset", lab.dataset(ANSWERS), "--completions", lab.completions(TEXTS[:4]), "--missing", "zero"
    done = lab("eval", *options)
    assert done.status == 0
    summary = json.loads(Path("runs/run_001/summary.json").read_bytes())
    assert (summary["n"], summary["passes"]) == (6, 2)
    assert summary["outcomes"]["missing_completion"] == 2
    assert summary["families"] == {"data": 2, "model_format": 1, "model_math": 1}
    last = lines_of(Path("runs/run_001/results.jsonl"))[-1]
    assert (last["completion"], last["reward"], last["details"]["outcome"]) == (None, 0.0, "missing_completion")
    assert lab("inspect_run", "--run", "runs/run_001", "--verify").status == 0


RECORD = '{"id":"q1","prompt":"p","expected_answer":1}\n'
BAD_DATASETS: dict[str, tuple[bytes, str, str]] = {  # the bytes, where the fault is, what was expected or got
    "empty": (b"\n\n", "", "expected at least one record"),
    "a BOM": (b"\xef\xbb\xbf" + RECORD.encode(), ":1 ", "expected UTF-8 without a byte order mark"),
    "no UTF-8": (RECORD.encode() + b'{"id":"\xff"}\n', ":2 ", "expected UTF-8"),
    "no JSON": (b"id: q1\n", ":1 ", "expected one JSON object"),
    "a table": (b"id,prompt\n", ":1 ", "a table (CSV); docs/own_data.md has"),
    "a float": (RECORD.replace("1}", "3.7}").encode(), ":1 $.expected_answer: ", "expected int, got float 3.7"),
    "a bool": (RECORD.replace("1}", "true}").encode(), ":1 $.expected_answer: ", "expected int, got bool"),
    "a text": (RECORD.replace("1}", '"1"}').encode(), ":1 $.expected_answer: ", "expected int, got str"),
    "NaN": (RECORD.replace("1}", "NaN}").encode(), ":1 ", "expected a finite number, got NaN"),
    "an unknown key": (RECORD.replace("1}", '1,"anwser":2}').encode(), ":1 $.anwser: ", "this key is not one of"),
    "an id twice": (RECORD.encode() * 2, ":2 $.id: ", "expected an id that is unique"),
    "half a character": (RECORD.replace('"p"', r'"\ud800"').encode(), ":1 ", "expected whole characters"),
    "no split": (RECORD.replace("1}", '1,"metadata":{"split":"test"}}').encode(), "", "expected dev or holdout"),
}


@pytest.mark.parametrize("kind", BAD_DATASETS)
def test_a_bad_dataset_is_one_line_and_nothing_on_disk(lab: Lab, kind: str) -> None:
    data, where, said = BAD_DATASETS[kind]
    bad = lab.write("bad.jsonl", data)
    completions = lab.completions(["Final: 1"])
    line = lab.refused("eval", "--dataset", bad, "--completions", completions)
    assert line.startswith(f"error: bad.jsonl{where}")
    assert said in line


def test_bad_completions_are_one_line_and_nothing_on_disk(lab: Lab) -> None:
    dataset = lab.dataset([1])
    bad = lab.write("bad.jsonl", '{"id":"q1","completion":1}\n')
    line = lab.refused("eval", "--dataset", dataset, "--completions", bad)
    assert "bad.jsonl:1 $.completion: expected str, got int 1" in line


@pytest.mark.parametrize("path", ["nowhere.jsonl", "folder", "."])
def test_a_file_that_cannot_be_read_is_one_line_and_nothing_on_disk(lab: Lab, path: str) -> None:
    dataset = lab.dataset([1])
    completions = lab.completions(["Final: 1"])
    Path("folder").mkdir()
    message = f"error: {path}: cannot read this file: "
    assert message in lab.refused("eval", "--dataset", dataset, "--completions", path)
    assert message in lab.refused("eval", "--dataset", path, "--completions", completions)


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ("{", "expected one JSON object"),
        ('{"policy":"p","created":"2026-01-31"}', "$.sampling: this key is missing"),
        ('{"policy":"p","created":"today","sampling":{"temperature":1,"top_p":1,"seed":1,"n":1}}', "$.created"),
        ('{"policy":"p","created":"2026-01-31","sampling":{"temperature":1,"top_p":2,"seed":1,"n":1}}', "top_p"),
    ],
)
def test_a_broken_meta_is_an_error_not_an_unknown_policy(lab: Lab, meta: str, said: str) -> None:
    completions = lab.completions(["Final: 1"], sampling=None)
    lab.write("completions.meta.json", meta)
    line = lab.refused("eval", "--dataset", lab.dataset([1]), "--completions", completions)
    assert line.startswith("error: completions.meta.json")
    assert said in line


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the following arguments are required: --dataset, --completions"),
        (["--dataset", "d", "--completions", "c", "--completion", "x"], "did you mean --completions?"),
        (["--dataset", "d", "--compl", "c"], "required: --completions"),
        (
            ["--dataset", "d", "--completions", "c", "--split", "test"],
            "expected one of dev, holdout, got test",
        ),
        (["--dataset", "d", "--completions", "c", "--missing", "one"], "--missing: expected one of zero, got one"),
    ],
)
def test_a_usage_error_is_one_line_with_a_hint(lab: Lab, arguments: list[str], said: str) -> None:
    assert said in lab.refused("eval", *arguments)


def test_a_hostile_file_name_is_shown_and_not_obeyed(lab: Lab) -> None:
    line = lab.refused("eval", "--dataset", "d\x1b[31m.jsonl", "--completions", lab.completions(["Final: 1"]))
    assert "d<U+001B ESCAPE>[31m.jsonl" in line


@pytest.mark.skipif(sys.platform != "linux", reason="only there a file's name can be bytes that are no text")
def test_a_change_that_is_no_text_is_written_out(lab: Lab) -> None:
    dataset = lab.dataset([1], name="d\udcff.jsonl")
    completions = lab.completions(["Final: 1"])
    done = lab("eval", "--dataset", dataset, "--completions", completions, "--change", "\udcff and more")
    assert (done.status, done.err) == (0, "")
    (line,) = lines_of(lab.log)
    for written in (manifest_of("run_001"), line):
        assert written["change"] == "<U+DCFF unnamed, category Cs> and more"


def test_the_real_command_ends_with_status_2_and_no_traceback(lab: Lab) -> None:
    done = lab.process("eval", "--dataset", "nowhere.jsonl", "--completions", "nowhere.jsonl")
    assert (done.status, done.out) == (2, "")
    assert done.err == "error: nowhere.jsonl: cannot read this file: no such file or directory\n"


def test_the_real_command_leaves_a_run(lab: Lab) -> None:
    data = ROOT / "data"
    completions = data / "rollouts" / "frozen_rollouts_dev.jsonl"
    done = lab.process("eval", "--dataset", data / "datasets" / "math_dev.jsonl", "--completions", completions)
    assert (done.status, done.err) == (0, "")  # nothing on stderr: no progress bar in a pipe
    assert json.loads((lab.runs / "run_001" / "summary.json").read_bytes())["n"] == 80


@pytest.mark.parametrize(
    ("below", "outdir", "named"),
    [
        (False, None, "runs/run_001"),
        (False, "{root}/runs/mine", "runs/mine"),
        (True, None, "runs/run_001"),
        (True, "../deep/mine", "notes/deep/mine"),
    ],
)
def test_wherever_a_command_is_called_its_line_is_in_the_log_of_the_lab(
    lab: Lab, below: bool, outdir: str | None, named: str
) -> None:
    """The package knows where its lab is. A run below it has a name that stays true when the lab is moved."""
    folder = lab.root / "notes" / "week 2" if below else lab.folder
    folder.mkdir(parents=True, exist_ok=True)
    names = {"folder": lab.folder.resolve().as_posix(), "root": lab.root}
    arguments = [] if outdir is None else ["--outdir", outdir.format(**names)]
    dataset = lab.folder / lab.dataset([1])
    completions = lab.folder / lab.completions(["Final: 1"])
    started = lab.start("eval", "--dataset", dataset, "--completions", completions, *arguments, cwd=folder)
    done = ended(started)
    assert (done.status, done.err) == (0, "")
    (line,) = lines_of(lab.log)
    assert line["run"] == named.format(**names)
    assert not (folder / "runs").exists()
    run = lab.root / line["run"]  # an absolute path stays what it is
    assert line["manifest"] == hashlib.sha256((run / "manifest.json").read_bytes()).hexdigest()


def test_a_bar_is_shown_to_a_terminal_only(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert list(with_progress(range(5), "scoring", 5)) == [0, 1, 2, 3, 4]
    assert capsys.readouterr().err == ""
    if not hasattr(os, "openpty"):
        pytest.skip("there are no pseudo-terminals on this system")
    ours, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        monkeypatch.setenv("TERM", "xterm")
        assert list(with_progress(range(5), "scoring", 5)) == [0, 1, 2, 3, 4]
    seen = b""
    with os.fdopen(ours, "rb", buffering=0) as screen, suppress(OSError):  # how the end is told on Linux
        while part := screen.read(1_000):
            seen += part
    assert b"scoring" in seen


RIGHT_CASE = {"prompt": "3 + 4?", "expected_answer": 7, "completion": "Final: 7", "expected_reward": 1.0}


def test_golden_cases_of_ones_own_guard_a_run_and_are_no_condition_of_it(lab: Lab) -> None:
    cases = [RIGHT_CASE, RIGHT_CASE | {"completion": "7", "expected_reward": 0.0, "expected_outcome": "missing_prefix"}]
    other = lab.write("other.jsonl", [RIGHT_CASE | {"id": "mine", "rule": "r", "why": "w"}])
    done = lab.evaluate(ANSWERS, TEXTS, "--golden", lab.write("mine.jsonl", cases), other, "--outdir", "guarded")
    assert (done.status, done.err) == (0, "")
    assert "\nyour own golden cases passed: 3\n" in done.out
    assert "golden cases" not in lab.evaluate(ANSWERS, TEXTS, "--outdir", "plain").out
    for name in ("manifest.json", "results.jsonl", "summary.json"):
        assert Path("guarded", name).read_bytes() == Path("plain", name).read_bytes()


def test_a_golden_case_that_fails_ends_the_command_before_there_is_a_run(lab: Lab) -> None:
    mine = lab.write("mine.jsonl", [RIGHT_CASE, RIGHT_CASE | {"completion": "7"}, RIGHT_CASE | {"expected_reward": 0}])
    for more in ([], ["--json"]):
        done = lab.evaluate(ANSWERS, TEXTS, "--golden", mine, *more)
        assert (done.status, done.out) == (1, "")
        assert "golden case line 2\n    expected    1.0 (any outcome)\n" in done.err
        assert "got         0.0 missing_prefix" in done.err
        assert "golden case line 3\n" in done.err
        assert "line 1\n" not in done.err
        assert done.err.endswith("nothing was scored: the scorer fails these golden cases\n")
    assert not (lab.folder / "runs").exists()
    assert not lab.log.exists()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ({"id": "mine"}, "got a record without prompt, expected_answer, completion, expected_reward"),
        (RIGHT_CASE | {"expected_reward": 0.5}, "$.expected_reward: expected 1.0 or 0.0, got 0.5"),
        (RIGHT_CASE | {"expected_outcome": "empty"}, "expected 1.0 with the outcome ok and 0.0 with any other"),
        (RIGHT_CASE | {"id": ""}, "$.id: expected str of length >= 1"),
        (RIGHT_CASE | {"kind": "x"}, "$.kind: this key is not one of id, prompt, "),
    ],
)
def test_a_broken_golden_file_is_one_line_and_no_run(lab: Lab, case: dict[str, object], said: str) -> None:
    arguments = "--dataset", lab.dataset([1]), "--completions", lab.completions(["Final: 1"])
    line = lab.refused("eval", *arguments, "--golden", lab.write("mine.jsonl", [case]))
    assert line.startswith("error: mine.jsonl:1 $")
    assert said in line


@pytest.mark.parametrize(
    ("rate", "status"),
    [
        ("0.3333", 0),
        ("0.333333334", 1),
        ("0", 0),
        ("1", 1),
        ("0.333333333", 0),
    ],
)
def test_a_rate_to_stay_above_decides_the_status_and_the_run_is_left(lab: Lab, rate: str, status: int) -> None:
    """2 of 6 is compared as a fraction."""
    done = lab.evaluate(ANSWERS, TEXTS, "--fail-under", rate, "--outdir", "run")
    assert done.status == status
    assert done.err == (
        f"below --fail-under {float(rate)}: passed 2 of 6: 33.3 %   (95 % interval 9.7 to 70.0 %)\n" * status
    )
    assert done.out.startswith("Loop A")
    assert Path("run/manifest.json").exists()
    assert lab.evaluate([1, 2], ["Final: 1", "2"], "--fail-under", "0.5").status == 0
    assert "expected a number from 0 to 1" in lab.refused(
        "eval", "--dataset", "dataset.jsonl", "--completions", "completions.jsonl", "--fail-under", "40%"
    )


def test_json_is_one_object_and_all_that_is_printed(lab: Lab) -> None:
    done = lab.evaluate(
        ANSWERS, [*TEXTS[:-1], "é\u2028"], "--outdir", "é", "--json", "--fail-under", "0.9", "--change", "ü"
    )
    assert done.status == 1
    assert done.err.startswith("below --fail-under 0.9")
    assert done.out.isascii()
    printed = json.loads(done.out)
    assert printed["run"] == "é"
    assert printed["summary"] == json.loads(Path("é/summary.json").read_bytes())
    assert printed["manifest"] == json.loads(Path("é/manifest.json").read_bytes())
    assert printed["digest"] == hashlib.sha256(Path("é/manifest.json").read_bytes()).hexdigest()
    assert printed["holdout_look"] == 0


@pytest.mark.parametrize(("failing", "said"), [(9, False), (10, True)])
def test_where_nearly_all_fail_by_form_the_prompts_are_doubted(lab: Lab, failing: int, said: bool) -> None:
    """Of ten. What fails by its value says nothing about the prompts."""
    texts = ["the answer is 1"] * failing + ["Final: 2"] * (10 - failing)
    done = lab.evaluate([1] * 10, texts)
    assert ("fail by form" in done.out) is said


def test_two_ids_with_one_prompt_are_named(lab: Lab) -> None:
    rows = [
        {"id": "first", "prompt": "1 + 1?", "expected_answer": 2},
        {"id": "other", "prompt": "1 + 2?", "expected_answer": 3},
        {"id": "second", "prompt": " 1 +  1?", "expected_answer": 2},
    ]
    completions = lab.write("c.jsonl", [{"id": row["id"], "completion": "Final: 2"} for row in rows])
    done = lab("eval", "--dataset", lab.write("d.jsonl", rows), "--completions", completions)
    assert "The ids first and second have the same prompt" in " ".join(done.out.split())
    done = lab(
        "eval",
        "--dataset",
        lab.write("d.jsonl", rows[:2]),
        "--completions",
        lab.write("c.jsonl", [{"id": id_, "completion": "x"} for id_ in ("first", "other")]),
    )
    assert "have the same prompt" not in done.out
