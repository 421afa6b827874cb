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
from contextlib import suppress
from pathlib import Path
from typing import IO

import msgspec
import pytest
from conftest import ROOT, Done, Lab, copied, edited, ended, files, lines_of

from course.artifacts import writing
from course.artifacts.holdout import HoldoutLook
from course.artifacts.records import Manifest
from course.artifacts.writing import RunWriter
from course.errors import UserError

posix = pytest.mark.skipif(os.name != "posix", reason="named pipes and resource limits are POSIX")


def options(lab: Lab) -> list[object]:
    return ["--dataset", lab.dataset([22, 7]), "--completions", lab.completions(["Final: 22", "seven"])]


def test_an_outdir_that_exists_is_refused_before_any_work(lab: Lab) -> None:
    Path("folder").mkdir()
    lab.write("file", "mine")
    for path in ("folder", "file", "."):
        said = lab.refused("eval", "--dataset", "not even read", "--completions", "nor this", "--outdir", path)
        assert said == f"error: {path}: expected a new folder, got one that exists; choose another --outdir\n"


@posix
def test_an_outdir_that_is_a_link_to_nowhere_is_refused(lab: Lab) -> None:
    Path("link").symlink_to("nowhere")
    assert "expected a new folder" in lab.refused("eval", *options(lab), "--outdir", "link")


def test_a_place_under_a_file_is_refused(lab: Lab) -> None:
    lab.write("file", "mine")
    said = lab.refused("eval", *options(lab), "--outdir", "file/deep/run")
    assert "expected a place where a run can be written, got: not a directory; nothing was written" in said


@pytest.mark.skipif(sys.platform != "linux", reason="/proc and /sys are Linux")
@pytest.mark.parametrize("place", ["/proc/nowhere/run", "/sys/run", "/sys/fs/cgroup/deep/../../run"])
def test_a_place_that_takes_no_folder_is_refused(lab: Lab, place: str) -> None:
    assert "expected a place where a run can be written" in lab.refused("eval", *options(lab), "--outdir", place)


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
    said = lab.refused("eval", *options(lab), "--outdir", disk / "deep" / "run")
    assert "got: no space left on device; nothing was written" in said


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
    assert done.err == (
        "error: deep/run: expected a place where a run can be written, got: file too large; nothing was written\n"
    )
    assert files(lab.folder) == before


def fed(lab: Lab, pipe: str, data: bytes) -> "tuple[subprocess.Popen[bytes], IO[bytes]]":
    """A running eval that waits for more of one of its files; its run is half written at that moment.

    The file is a pipe, as slow as the test wants it, in a process that takes everything for a regular file.
    The pipe takes 64 KiB at most: once a larger ``data`` is written, the command has read of it and works.
    """
    os.mkfifo(lab.folder / pipe)
    names = {"--dataset": "dataset.jsonl", "--completions": "completions.jsonl"}
    lab.write("patched/sitecustomize.py", "import stat\nstat.S_ISREG = lambda mode: True\n")
    env = {"PYTHONPATH": os.pathsep.join([str(lab.folder / "patched"), str(ROOT)])}
    process = lab.start("eval", *(word for pair in names.items() for word in pair), env=env)
    while process.poll() is None:  # until the command opens its end, there is none to write to
        try:
            writer = os.open(lab.folder / pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue
        os.set_blocking(writer, True)
        file = os.fdopen(writer, "wb", buffering=0)
        file.write(data)
        return process, file
    raise AssertionError(ended(process))


def stopped(lab: Lab, pipe: str, how: signal.Signals) -> Done:
    many = "".join(f'{{"id":"q{i}","prompt":"p","expected_answer":{i}}}\n' for i in range(20_000)).encode()
    if pipe == "dataset.jsonl":
        lab.completions([""])
    else:
        lab.dataset([1, 2])
    process, file = fed(lab, pipe, many if pipe == "dataset.jsonl" else b'{"id":"q1"')
    with file, suppress(BrokenPipeError):
        assert len(list((lab.folder / "runs").glob(".*.partial"))) == 1
        process.send_signal(how)
        for _ in range(99):  # Python heeds a signal between two reads of a block: let it finish the one it is in
            file.write(b"\n" * 65_536)
    return ended(process)


@posix
@pytest.mark.parametrize("pipe", ["dataset.jsonl", "completions.jsonl"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_command_leaves_no_folder_at_all(lab: Lab, pipe: str, how: signal.Signals) -> None:
    done = stopped(lab, pipe, how)
    assert (done.status, done.out) == ({signal.SIGINT: 130, signal.SIGTERM: 143}[how], "")
    assert "Traceback" not in done.err
    assert not Path("runs").exists()


@posix
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_stopped_command_leaves_the_other_runs_alone(lab: Lab, how: signal.Signals) -> None:
    lab("eval", *options(lab))
    runs = files(Path("runs"))
    Path("dataset.jsonl").unlink()
    stopped(lab, "dataset.jsonl", how)
    left = files(Path("runs"))
    assert {name: data for name, data in left.items() if ".partial" not in name} == runs
    assert (left != runs) == (how == signal.SIGKILL)


@posix
def test_a_killed_command_leaves_no_run_and_the_next_one_takes_its_place(lab: Lab) -> None:
    assert stopped(lab, "dataset.jsonl", signal.SIGKILL).status == -signal.SIGKILL
    (left,) = Path("runs").iterdir()
    assert left.name.startswith(".run_001.")
    assert left.name.endswith(".partial")
    Path("dataset.jsonl").unlink()
    assert "run: runs/run_001" in lab("eval", *options(lab)).out


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


def manifest_of_a_run(lab: Lab) -> Manifest:
    lab("eval", *options(lab), "--outdir", "other")
    return msgspec.json.decode(Path("other/manifest.json").read_bytes(), type=Manifest)


def test_a_number_that_was_taken_meanwhile_is_passed_over(lab: Lab) -> None:
    manifest = manifest_of_a_run(lab)
    with RunWriter(None) as writer:
        lab.write("runs/run_001/theirs", "theirs")
        assert writer.commit(manifest, "mine") == Path("runs/run_002")
    assert files(Path("runs/run_001")) == {"theirs": b"theirs"}
    assert Path("runs/run_002/README.md").read_text(encoding="utf-8") == "mine"


def test_an_outdir_that_was_taken_meanwhile_is_refused_and_theirs_stays(lab: Lab) -> None:
    manifest = manifest_of_a_run(lab)

    def publish() -> None:
        with RunWriter(Path("mine")) as writer:
            lab.write("mine/theirs", "theirs")
            writer.commit(manifest, "mine")

    with pytest.raises(UserError, match="mine: expected a place where a run can be written"):
        publish()
    assert files(Path("mine")) == {"theirs": b"theirs"}
    assert not list(Path().glob(".*.partial"))


def test_the_finished_folder_holds_no_trace_of_the_hidden_one(lab: Lab) -> None:
    lab("eval", *options(lab), "--outdir", "deep/run")
    assert [path.name for path in Path("deep").iterdir()] == ["run"]


@pytest.mark.parametrize("loop", ["eval", "selection_demo"])
def test_equal_runs_are_equal_bytes_but_for_the_environment(
    lab: Lab, loop: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.picker()
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
            writer.append("log.jsonl", HoldoutLook(f"run-{count}", "a", None))
            (log,) = lab.folder.glob(".run.*.partial/log.jsonl")
            assert [row["run"] for row in lines_of(log)] == [f"run-{i}" for i in range(1, count + 1)]
            assert writer.outputs["log.jsonl"] == hashlib.sha256(log.read_bytes()).hexdigest()


def test_a_small_file_stands_under_its_name_when_it_is_whole(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def synced(*_: object) -> None:
        seen.append(sorted(path.name for path in lab.folder.glob(".run.*.partial/**/*") if path.is_file()))

    seen: list[list[str]] = []
    with RunWriter(Path("run")) as writer:
        monkeypatch.setattr(writing, "_sync", synced)
        writer.write_bytes("folder/policy.npz", b"whole")
        assert seen == [["policy.npz.part"]]
        (written,) = lab.folder.glob(".run.*.partial/folder/policy.npz")
        assert written.read_bytes() == b"whole"
        assert list(written.parent.iterdir()) == [written]
