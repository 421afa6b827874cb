"""Each look at the holdout is counted, said, and cannot be had uncounted.

An example: two runs on the holdout, one after the other, say that they are look number 1 and look number 2; a run
that cannot write to the log is not measured at all.
"""

from pathlib import Path

from conftest import Lab, lines_of

from course.artifacts.holdout import looks

TEXTS = ["Final: 1", "Final: 2"]
LOG = Path("runs/holdout_log.jsonl")


def test_each_run_on_the_holdout_is_counted_and_says_its_number(lab: Lab) -> None:
    arguments = "--dataset", lab.dataset([1, 2], "holdout"), "--completions", lab.completions(TEXTS)
    for number in (1, 2):
        said = f"holdout: this was look number {number} at it"
        assert said in lab("eval", *arguments).out
        assert f"look number {number} at it" in Path(f"runs/run_00{number}/README.md").read_text(encoding="utf-8")
    log = lines_of(LOG)
    assert [look["run"] for look in log] == ["runs/run_001", "runs/run_002"]
    assert {look["command"] for look in log} == {"course.eval"}
    assert looks(Path("runs"), log[0]["dataset_fingerprint"]) == 2
    assert looks(Path("runs"), "0" * 64) == 0


def test_loop_b_and_an_outdir_of_ones_own_are_counted_too(lab: Lab) -> None:
    lab.picker()
    dataset = lab.dataset([1, 2], "holdout")
    samples = lab.pack([TEXTS, TEXTS])
    for outdir in ("one", "deep/two"):
        lab("selection_demo", "--dataset", dataset, "--samples", samples, "--n", 2, "--outdir", outdir)
    assert [(look["run"], look["command"]) for look in lines_of(LOG)] == [
        ("one", "course.selection_demo"),
        ("deep/two", "course.selection_demo"),
    ]


def test_a_split_that_is_declared_the_holdout_is_counted(lab: Lab) -> None:
    assert "look number 1" in lab.evaluate([1, 2], TEXTS, "--split", "holdout").out
    assert len(lines_of(LOG)) == 1


def test_a_look_at_dev_is_none(lab: Lab) -> None:
    assert "look" not in lab.evaluate([1, 2], TEXTS).out
    assert not LOG.exists()


def test_a_refused_run_is_no_look(lab: Lab) -> None:
    dataset = lab.dataset([1, 2], "holdout")
    lab.refused("eval", "--dataset", dataset, "--completions", lab.completions(TEXTS[:1]))
    assert not Path("runs").exists()


def test_a_copy_of_the_holdout_under_another_name_is_the_same_holdout(lab: Lab) -> None:
    completions = lab.completions(TEXTS)
    for name in ("dataset.jsonl", "innocent.jsonl"):
        done = lab("eval", "--dataset", lab.dataset([1, 2], "holdout", name), "--completions", completions)
    assert "look number 2" in done.out


def test_the_holdout_cannot_be_called_dev(lab: Lab) -> None:
    dataset = lab.dataset([1, 2], "holdout")
    line = lab.refused("eval", "--dataset", dataset, "--completions", lab.completions(TEXTS), "--split", "dev")
    assert "$.metadata.split of q1: expected dev, as --split says, got holdout" in line


def test_the_gate_says_how_often_the_holdout_was_looked_at(lab: Lab) -> None:
    one, two = lab.measured("one", [True] * 3, "holdout"), lab.measured("two", [True] * 3, "holdout")
    done = lab("gate", "--baseline", one, "--candidate", two, "--min-delta", 0)
    assert "looks at the holdout so far: 2" in done.out
    dev = lab.measured("three", [True] * 3), lab.measured("four", [True] * 3)
    assert "holdout" not in lab("gate", "--baseline", dev[0], "--candidate", dev[1], "--min-delta", 0).out


def test_a_broken_log_is_a_one_line_error_and_no_look_is_had(lab: Lab) -> None:
    run = lab.measured("run", [True, False], "holdout")
    dataset, completions = lab.dataset([1, 2], "holdout"), lab.completions(TEXTS)
    for broken in (b"{}\n", b"looked once\n", b"\xff\n", b'{"run":1}\n', b"\n"):
        LOG.write_bytes(broken)
        for line in (
            lab.refused("eval", "--dataset", dataset, "--completions", completions),
            lab.refused("gate", "--baseline", run, "--candidate", run, "--min-delta", 0),
        ):
            assert f"error: {LOG}: expected the lab's own log, one look a line, got: " in line


def test_a_look_that_cannot_be_counted_is_not_had(lab: Lab) -> None:
    lab.write("runs", "a file where the log's folder should be")
    dataset, completions = lab.dataset([1, 2], "holdout"), lab.completions(TEXTS)
    line = lab.refused("eval", "--dataset", dataset, "--completions", completions, "--outdir", "mine")
    assert "mine: expected a place where a run can be written" in line
