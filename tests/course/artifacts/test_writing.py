"""A run is written whole or not at all: refusals, full disks, Ctrl-C and kill -9; and equal runs are equal bytes.

An example: a command is killed while it writes. ``runs/run_001`` does not exist then; what may be left is a hidden
folder whose name ends in ``.partial``.
"""

import hashlib
import json
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from conftest import Done, Lab, copied, edited, ended, files, lines_of

from course.artifacts import writing
from course.artifacts.records import Manifest
from course.artifacts.run_log import LogLine, append, log_lock
from course.artifacts.writing import RunWriter
from course.errors import UserError

posix = pytest.mark.skipif(os.name != "posix", reason="named pipes and resource limits are POSIX")


def options(lab: Lab) -> list[object]:
    return ["--dataset", lab.dataset([22, 7]), "--completions", lab.completions(["Final: 22", "seven"])]


def test_an_outdir_that_exists_is_refused_before_any_work(lab: Lab) -> None:
    Path("folder").mkdir()
    lab.write("file", "mine")
    for path in ("folder", "file", "."):
        message = lab.refused("eval", "--dataset", "not even read", "--completions", "nor this", "--outdir", path)
        assert (
            message == f"error: {path}: expected a new folder, got a folder that exists; choose a different --outdir\n"
        )


def test_a_free_name_that_another_command_takes_meanwhile_is_no_mistake_of_the_caller(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name is looked for twice: before any work, and when all is written, where it counts."""
    first = lab("eval", *options(lab))
    taken, free = Path("runs/run_001"), Path("runs/run_002")
    assert (first.status, (writing.RUNS / "run_001").exists()) == (0, True)
    names = iter([writing.RUNS / taken.name, writing.RUNS / free.name])
    monkeypatch.setattr(writing, "_next_free", lambda: next(names))
    done = lab("eval", *options(lab))
    assert (done.status, done.err) == (0, "")
    assert (writing.RUNS / free.name).exists()


@posix
def test_an_outdir_that_is_a_link_to_nowhere_is_refused(lab: Lab) -> None:
    Path("link").symlink_to("nowhere")
    assert "expected a new folder" in lab.refused("eval", *options(lab), "--outdir", "link")


def test_a_place_under_a_file_is_refused(lab: Lab) -> None:
    lab.write("file", "mine")
    message = lab.refused("eval", *options(lab), "--outdir", "file/deep/run")
    assert "cannot write a run here: not a directory; nothing was written" in message


@pytest.mark.skipif(sys.platform != "linux", reason="/proc and /sys are Linux")
@pytest.mark.parametrize("place", ["/proc/nowhere/run", "/sys/run", "/sys/fs/cgroup/deep/../../run"])
def test_a_place_that_takes_no_folder_is_refused(lab: Lab, place: str) -> None:
    assert "cannot write a run here: " in lab.refused("eval", *options(lab), "--outdir", place)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_write_permission_is_refused(lab: Lab) -> None:
    Path("closed").mkdir(mode=0o500)
    assert "permission denied" in lab.refused("eval", *options(lab), "--outdir", "closed/run")


@pytest.fixture
def disk(lab: Lab, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk of so many pages of 4 KiB."""
    (lab.folder / "disk").mkdir()
    size = f"size={4 * request.param}k"
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a small disk")
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "none", "disk"], capture_output=True, check=False
    ).returncode:
        pytest.skip("this system lets nobody mount a tmpfs")
    yield Path("disk")
    subprocess.run(["umount", "disk"], check=True)


@pytest.mark.parametrize("disk", [1, 2, 3, 4], indirect=True)  # a run of five small files needs five pages
def test_a_full_disk_leaves_nothing_whichever_file_meets_it(lab: Lab, disk: Path) -> None:
    message = lab.refused("eval", *options(lab), "--outdir", disk / "deep" / "run")
    assert "no space left on device; nothing was written" in message


@pytest.mark.parametrize("disk", [5], indirect=True)
def test_a_disk_with_just_enough_room_takes_the_run(lab: Lab, disk: Path) -> None:
    assert lab("eval", *options(lab), "--outdir", disk / "run").status == 0


@posix
def test_a_file_size_limit_leaves_nothing(lab: Lab) -> None:
    import resource

    arguments = options(lab)
    before = files(lab.folder)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (900, 900))  # results and summary fit, the manifest does not

    done = lab.process("eval", *arguments, "--outdir", "deep/run", preexec_fn=limit)
    assert (done.status, done.out) == (2, "")
    assert done.err == ("error: deep/run: cannot write a run here: file too large; nothing was written\n")
    assert files(lab.folder) == before


WAITS = """
import time
def pick_best(samples):
    open("waiting", "w").close()
    time.sleep(60)
    return samples[0]
"""


def stopped(lab: Lab, how: signal.Signals) -> Done:
    """A run of Loop B that is stopped while it chooses: its folder is half written at that moment."""
    lab.picker(WAITS)
    arguments = "--dataset", lab.dataset([1]), "--samples", lab.pack([["1", "Final: 1"]]), "--n", 2
    process = lab.start("selection_demo", *arguments)
    while not (lab.folder / "waiting").exists():
        assert process.poll() is None, ended(process)
    assert len(list(lab.runs.glob(".*.partial"))) == 1
    process.send_signal(how)
    return ended(process)


@posix
def test_ctrl_c_leaves_no_folder_at_all(lab: Lab) -> None:
    done = stopped(lab, signal.SIGINT)
    assert (done.status, done.out) == (130, "")
    assert "Traceback" not in done.err
    assert not lab.runs.exists()


@posix
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_killed_command_leaves_the_other_runs_alone_and_the_next_one_takes_its_place(
    lab: Lab, how: signal.Signals
) -> None:
    lab.process("eval", *options(lab))
    runs = files(lab.runs)
    assert {"log.jsonl", "run_001"} <= runs.keys()
    assert stopped(lab, how).status == -how
    left = files(lab.runs)
    assert {name: data for name, data in left.items() if ".partial" not in name} == runs
    assert left != runs
    assert f"run: {lab.runs / 'run_002'}\n" in lab.process("eval", *options(lab)).out


def test_an_error_leaves_no_parent_that_was_made_for_the_run(lab: Lab) -> None:
    lab.write("old/keep", "mine")
    lab.refused("eval", "--dataset", lab.dataset([1, 2]), "--completions", lab.completions([""]), "--outdir", "new/r")
    lab.refused("eval", "--dataset", lab.dataset([1, 2]), "--completions", lab.completions([""]), "--outdir", "old/n/r")
    assert not Path("new").exists()
    assert not Path("old/n").exists()


def test_the_next_run_takes_the_first_free_number(lab: Lab) -> None:
    arguments = options(lab)
    for number in ("001", "002", "003"):
        assert f"run: runs/run_{number}\n" in lab("eval", *arguments).out
    Path("runs/run_002").rename("runs/kept")
    assert "run: runs/run_002\n" in lab("eval", *arguments).out


LINE = LogLine("", "0" * 64, "A", "course.eval", None, None, {}, [])


def sealed(writer: RunWriter, lab: Lab) -> None:
    lab("eval", *options(lab), "--outdir", "other")
    writer.write_manifest(msgspec.json.decode(Path("other/manifest.json").read_bytes(), type=Manifest))


def test_a_number_that_was_taken_meanwhile_is_passed_over(lab: Lab) -> None:
    with RunWriter(None) as writer:
        sealed(writer, lab)
        lab.write("runs/run_001/theirs", "theirs")
        with log_lock(lab.log) as log:
            assert writer.publish(log, LINE, "mine") == Path("runs/run_002")
    assert files(Path("runs/run_001")) == {"theirs": b"theirs"}
    assert Path("runs/run_002/README.md").read_text(encoding="utf-8") == "mine"
    assert [Path(line["run"]).name for line in lines_of(lab.log)] == ["other", "run_002"]


def test_an_outdir_that_was_taken_meanwhile_is_refused_and_theirs_stays(lab: Lab) -> None:
    def publish() -> None:
        with RunWriter(Path("mine")) as writer:
            sealed(writer, lab)
            lab.write("mine/theirs", "theirs")
            with log_lock(lab.log) as log:
                writer.publish(log, LINE, "mine")

    with pytest.raises(UserError, match="mine: expected a new folder, got a folder that exists"):
        publish()
    assert files(Path("mine")) == {"theirs": b"theirs"}
    assert not list(Path().glob(".*.partial"))
    assert [Path(line["run"]).name for line in lines_of(lab.log)] == ["other"]


def test_a_run_that_cannot_be_put_in_its_place_leaves_no_line(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with log_lock(lab.log) as log:
        append(log, LINE)
    monkeypatch.setattr(Path, "rename", refuse)
    assert "no space left on device; nothing was written" in lab.refused("eval", *options(lab), "--outdir", "mine")
    assert len(lines_of(lab.log)) == 1


def test_folders_with_long_names_work_and_with_too_long_ones_are_refused_at_once(lab: Lab) -> None:
    assert lab("eval", *options(lab), "--outdir", "r" * 255).status == 0
    message = lab.refused("eval", "--dataset", "not read", "--completions", "nor this", "--outdir", "r" * 256)
    assert "cannot write a run here: file name too long; nothing was written" in message


def test_the_finished_folder_holds_no_trace_of_the_hidden_one(lab: Lab) -> None:
    lab("eval", *options(lab), "--outdir", "deep/run")
    assert [path.name for path in Path("deep").iterdir()] == ["run"]


@pytest.mark.parametrize("loop", ["eval", "selection_demo"])
def test_equal_runs_are_equal_bytes_but_for_the_environment(
    lab: Lab, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = options(lab)
    if loop == "selection_demo":
        arguments = [*arguments[:2], "--samples", lab.pack([["22", "Final: 22"], ["7", "Final: 7"]]), "--n", 2]
    elsewhere = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "1", "PYTHONUTF8": "0", "COLUMNS": "20"}
    assert lab.process(loop, *arguments, "--outdir", "deep/one", env=elsewhere).status == 0
    monkeypatch.setattr(platform, "node", lambda: "a-host-of-that-name")
    assert lab(loop, *arguments, "--outdir", "two").status == 0
    one, two = files(Path("deep/one")), files(Path("two"))
    assert sorted(one) == sorted(two)
    for name in ("results.jsonl", "summary.json", "manifest.json"):
        assert one[name] == two[name]
        assert b"a-host-of-that-name" not in (two[name] or b"")
        assert str(lab.folder).encode() not in (two[name] or b"")
    environment = json.loads(two["environment.json"] or b"")
    assert environment["host"] == "a-host-of-that-name"
    assert set(environment) == {"finished_at", "host", "system", "python", "unicode", "packages", "command_line", "git"}


def test_a_copy_of_a_run_is_as_good_as_the_run(lab: Lab) -> None:
    run = lab.measured("run", [True, False])
    assert lab("inspect_run", "--run", copied(run, "copy"), "--verify").status == 0
    edited(Path("copy/environment.json"), lambda value: value.update(host="elsewhere"))
    assert lab("inspect_run", "--run", "copy", "--verify").status == 0


def test_rows_can_be_read_as_soon_as_they_are_added(lab: Lab) -> None:
    with RunWriter(Path("run")) as writer:
        for count in range(1, 4):
            writer.append("log.jsonl", msgspec.structs.replace(LINE, run=f"run-{count}"))
            (log,) = lab.folder.glob(".*.partial/log.jsonl")
            assert [row["run"] for row in lines_of(log)] == [f"run-{i}" for i in range(1, count + 1)]
            assert writer.outputs["log.jsonl"] == hashlib.sha256(log.read_bytes()).hexdigest()


def test_a_small_file_stands_under_its_name_when_it_is_whole(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(part: Path, place: Path) -> Path:
        assert not place.exists()
        seen.append((part.suffix, part.read_bytes()))
        return replace(part, place)

    seen: list[tuple[str, bytes]] = []
    replace = Path.replace
    with RunWriter(Path("run")) as writer:
        monkeypatch.setattr(Path, "replace", renamed)
        writer.write_bytes("folder/policy.npz", b"whole")
        assert seen == [(".part", b"whole")]
        (written,) = lab.folder.glob(".*.partial/folder/policy.npz")
        assert written.read_bytes() == b"whole"
        assert list(written.parent.iterdir()) == [written]


def test_every_file_of_a_run_and_its_folders_are_synced_as_they_are_before_the_rename(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a power cut could leave the run's name with files that are empty."""

    def sync(descriptor: int) -> None:
        state = os.fstat(descriptor)
        synced[state.st_ino] = state.st_size
        fsync(descriptor)

    def rename(folder: Path, place: Path) -> Path:
        at_rename.update(synced)
        return renamed(folder, place)

    fsync, renamed = os.fsync, Path.rename
    synced: dict[int, int] = {}  # inode -> size when it was synced
    at_rename: dict[int, int] = {}
    with RunWriter(Path("run")) as writer:
        sealed(writer, lab)
        monkeypatch.setattr(os, "fsync", sync)
        monkeypatch.setattr(Path, "rename", rename)
        writer.append("log.jsonl", LINE)
        writer.append("log.jsonl", LINE, LINE)
        writer.write_rows("results.jsonl", [LINE] * 3)
        writer.write_rows("rollouts/train.jsonl", [LINE])
        writer.write_bytes("policies/policy.npz", b"weights")
        writer.write_json("summary.json", {"n": 3})
        with log_lock(lab.log) as log:
            writer.publish(log, LINE, "a page")
    written = {path.relative_to("run").as_posix(): path.stat() for path in Path("run").rglob("*")}
    names = {"log.jsonl", "results.jsonl", "rollouts/train.jsonl", "policies/policy.npz", "summary.json"}
    assert written.keys() == names | {"manifest.json", "environment.json", "README.md", "rollouts", "policies"}
    of_files = {name: state.st_size for name, state in written.items() if Path("run", name).is_file()}
    assert {name: at_rename.get(written[name].st_ino) for name in of_files} == of_files
    if os.name == "posix":
        folders = (Path("run"), Path("run/rollouts"), Path("run/policies"))
        assert {folder.stat().st_ino for folder in folders} <= at_rename.keys()
        assert Path().stat().st_ino in synced  # the name itself
