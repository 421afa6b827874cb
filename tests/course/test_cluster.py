"""A real Dask cluster on this machine: the same bytes as in one process, also when its workers are killed.

An example: twelve shards are measured by two workers, and ten times one is killed with -9 in the midst of a shard. The
digest of the run is that of one process.
"""

import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from clusters import cluster, large, measure, names, shard, started, wait_for, wait_for_workers, watching
from conftest import ROOT, Lab, ended

from course.cluster import installed_lab, is_at_work, refuse_other_lab, work
from course.errors import UserError

slow = pytest.mark.slow
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


@pytest.fixture(autouse=True)
def _as_in_a_command(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With one BLAS thread, whoever asked first what this process is."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    installed_lab.cache_clear()
    yield
    installed_lab.cache_clear()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with cluster(tmp_path_factory.mktemp("dask"), {"PYTHONPATH": str(ROOT)}) as found:
        yield found


@pytest.fixture
def address(shared: str) -> str:
    """Of a cluster of two workers."""
    wait_for_workers(shared, 2)
    return shared


def test_another_lab_is_refused_by_the_workers_name() -> None:
    ours: dict[str, str | None] = {"files of course/": "1" * 64, "scorer": "2" * 64}
    refuse_other_lab("w", dict(ours), ours)
    with pytest.raises(UserError, match=r"worker w: expected this lab on it, got other scorer: None, and here 222"):
        refuse_other_lab("w", {"files of course/": "1" * 64}, ours)
    with pytest.raises(UserError, match=r"worker <U\+001B ESCAPE>\[31m: .* got none: ModuleNotFoundError: no <U\+0007"):
        refuse_other_lab("\x1b[31m", ModuleNotFoundError("no \x07"), ours)


def test_a_worker_that_joined_later_is_asked_before_its_first_piece_of_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("distributed.get_worker", lambda: SimpleNamespace(name="the late one"))
    assert work(installed_lab(), int, "7") == 7
    with pytest.raises(UserError, match="worker the late one: expected this lab on it, got other scorer"):
        work(installed_lab() | {"scorer": "3" * 64}, int, "7")


def test_a_process_whose_files_changed_since_it_was_asked_is_another_lab(monkeypatch: pytest.MonkeyPatch) -> None:
    before = installed_lab()
    monkeypatch.setattr(Path, "read_bytes", lambda _: b"edited")
    assert installed_lab() is before  # what runs is what was loaded
    assert installed_lab.__wrapped__()["files of course/"] != before["files of course/"]


def test_without_dask_one_line_says_what_to_install(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    shard(lab, "a", [True])
    said = lab.refused("eval_shards", "in", "--outdir", "run", "--cluster", "tcp://127.0.0.1:1")
    assert "got a Python without it; install it with: python3 -m pip install distributed" in said


@pytest.mark.medium
@pytest.mark.parametrize(
    "address", [pytest.param("tcp://127.0.0.1:1", marks=slow), "no\x1b[31m address", pytest.param("x://", marks=slow)]
)
def test_an_address_that_nobody_answers_is_one_line_within_seconds(lab: Lab, address: str) -> None:
    shard(lab, "a", [True])
    begun = time.monotonic()
    done = lab.process("eval_shards", "in", "--outdir", "run", "--cluster", address)
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert "expected a Dask scheduler, such as tcp://host:8786, got" in done.err
    assert "\x1b" not in done.err
    assert time.monotonic() - begun < 30
    assert names(lab.folder) == ["in"]


@slow
def test_a_cluster_makes_the_bytes_of_one_process(lab: Lab, address: str) -> None:
    for name in ("a", "b", "c"):
        shard(lab, name, [True, False] * 50)
    where = ("--cluster", address)
    assert measure(lab, *where) == measure(lab, run="one") == measure(lab, "--jobs", 2, run="two")
    sweep = ("sweep_demo", "cold_start", "--values", 0, 1, "--steps", 1, "--seeds", 2)
    (lab.folder / "data").symlink_to(ROOT / "data", target_is_directory=True)
    done = [lab.process(*sweep, "--outdir", f"s{len(more)}", *more) for more in ((), where)]
    assert [one.status for one in done] == [0, 0], done
    digests = [one.out.partition("digest: ")[2] for one in done]
    assert digests[0].split()[0] == digests[1].split()[0]


@slow
def test_a_worker_with_another_lab_or_none_is_refused_by_name(lab: Lab, address: str, tmp_path: Path) -> None:
    shard(lab, "a", [True])
    other = tmp_path / "other"
    shutil.copytree(ROOT / "course", other / "course")
    for change, said in (("# one comment more\n", "got other files of course/: "), (None, "got none: ")):
        if change:
            with (other / "course" / "stats.py").open("a", encoding="utf-8") as file:
                file.write(change)
        else:
            shutil.rmtree(other / "course")
            lab.write("other/course/__init__.py", "")
        path = {"PYTHONPATH": str(other)}
        worker = started("dask_worker", address, "--name", "the other", "--no-dashboard", folder=other, env=path)
        with watching(address) as client:
            wait_for(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == 3)
        said_of_it = lab("eval_shards", "in", "--outdir", "run", "--cluster", address).err
        worker.terminate()
        worker.wait()
        assert "worker the other at tcp://127.0.0.1:" in said_of_it
        assert said in said_of_it
        with watching(address) as client:
            wait_for(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == 2)


@slow
@posix
def test_ten_workers_are_killed_in_the_midst_of_a_shard_and_nothing_is_lost(lab: Lab, address: str) -> None:
    large(lab, 12, 60_000)
    command = lab.start("eval_shards", "in", "--outdir", "run", "--cluster", address)
    place, kills, hit, pids = lab.folder / "run.partial" / "shards", Counter[str](), 0, dict[str, int]()
    wait_for(place.exists)
    with watching(address) as client:
        while hit < 10:
            assert command.poll() is None, (hit, command.communicate())
            work = killed(client, place, kills, pids)
            hit += bool(work)
            kills.update(work)
    done = ended(command)
    assert (done.status, done.err) == (0, "")
    one = lab.process("eval_shards", "in", "--outdir", "one")
    assert one.out.splitlines()[-2] == done.out.splitlines()[-2]
    assert [name for name in names(lab.folder / "run/shards") if name[0] == "."] == []


def killed(client: Any, place: Path, kills: Counter[str], pids: dict[str, int]) -> list[str]:
    """Kill a worker in the midst of a shard: the keys of what it had to do, or nothing.

    It is stopped first: then nothing can be done between the last look and the kill.
    """
    for address, keys in [*client.processing().items()]:
        if address not in pids:
            pids |= client.run(os.getpid, workers=[address], on_error="ignore")
        elif keys and max(kills[key] for key in keys) < 3:  # one piece of work that kills four workers is given up
            os.kill(pids[address], signal.SIGSTOP)
            time.sleep(0.05)  # what it has said until now arrives
            unfinished = client.processing().get(address, ())
            if unfinished and any(name[0] == "." for name in names(place)):
                os.kill(pids.pop(address), signal.SIGKILL)
                for other in pids.values():  # so that shards are left for the next kill
                    os.kill(other, signal.SIGSTOP)
                while len({*client.scheduler_info(n_workers=-1)["workers"]} - {address}) < 2:
                    time.sleep(0.02)
                for other in pids.values():
                    os.kill(other, signal.SIGCONT)
                return list(unfinished)
            os.kill(pids[address], signal.SIGCONT)
    return []


@slow
@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_when_the_command_has_ended_no_worker_writes_for_it(lab: Lab, address: str, number: signal.Signals) -> None:
    large(lab, 6, 20_000)
    command = lab.start("eval_shards", "in", "--outdir", "run", "--cluster", address)
    place = lab.folder / "run.partial" / "shards"
    wait_for(lambda: command.poll() is not None or (place.exists() and any(name[0] != "." for name in names(place))))
    command.send_signal(number)
    done = ended(command)
    assert (done.status, "Traceback" in done.err) == (128 + number, False)
    with watching(address) as client:
        assert not any(client.run(is_at_work, "").values())
    assert 0 < len(names(place)) < 6
    assert [name for name in names(place) if name[0] == "."] == []
    assert measure(lab, "--cluster", address) == measure(lab, run="one")


@slow
@posix
def test_a_scheduler_that_goes_is_one_line(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> None:
    large(lab, 4, 20_000)
    folder = tmp_path_factory.mktemp("dask")
    with cluster(folder, lab.path(), workers=1) as address:
        command = lab.start("eval_shards", "in", "--outdir", "run", "--cluster", address)
        wait_for(lambda: [*(lab.folder / "run.partial" / "shards").glob("*")])
    done = ended(command)
    assert (done.status, done.err.count("\n")) == (2, 1), done.err
    assert "expected a scheduler that stays" in done.err
