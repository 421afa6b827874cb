"""Work on several processes: in order, all ended at once, none left.

An example: three numbers are squared on two processes. The squares come in the order of the numbers, and from two
processes that are not this one.
"""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab

from course.errors import UserError
from course.jobs import machines, map_in_order, processes
from course.limited_process import Limits, Process

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")


def squared(number: int) -> tuple[int, int]:
    time.sleep(0.05 * (3 - number))  # the first is done last
    return number * number, os.getpid()


def failing(number: int) -> int:
    if number:
        raise UserError(f"number {number}")
    time.sleep(60)
    return number


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_one_process_is_this_one_and_works_when_it_is_asked() -> None:
    with processes(1) as executor:
        assert executor is None
        results = map_in_order(executor, squared, [(2,), (3,)])
        assert next(results) == (4, os.getpid())


def test_results_come_in_order_from_other_processes() -> None:
    with processes(2) as executor:
        results = list(map_in_order(executor, squared, [(number,) for number in range(4)]))
    assert [square for square, _ in results] == [0, 1, 4, 9]
    assert os.getpid() not in {pid for _, pid in results}
    assert multiprocessing.active_children() == []


def test_a_number_that_no_system_has_is_as_many_as_windows_takes() -> None:
    with processes(999_999_999) as executor:
        assert vars(executor)["_max_workers"] == 61
        assert next(map_in_order(executor, squared, [(2,)]))[0] == 4


def test_a_fault_in_one_ends_the_others_at_once() -> None:
    with pytest.raises(UserError, match="number 1"), processes(2) as executor:
        list(map_in_order(executor, failing, [(1,), (0,)]))
    assert multiprocessing.active_children() == []


def test_no_more_are_in_flight_than_asked_for_and_they_come_in_order() -> None:
    submitted: list[str] = []

    class AtOnce(Executor):
        def submit(self, function: Any, /, *arguments: Any, **_: Any) -> "Future[Any]":
            submitted.append(*arguments)
            future: Future[Any] = Future()
            future.set_result(function(*arguments))
            return future

    found = [(value, len(submitted)) for value in map_in_order(AtOnce(), int, [("1",), ("2",), ("3",), ("4",)], 2)]
    assert found == [(1, 2), (2, 3), (3, 4), (4, 4)]


def killed_or_large(number: int) -> bytes:
    if number:
        killed()
    time.sleep(1)
    return bytes(1 << 22)


@posix
def test_a_worker_that_is_killed_ends_another_that_has_a_large_result() -> None:
    """Nobody reads that result any more, so its worker would wait for ever."""
    with pytest.raises(UserError, match="a worker process was killed"), processes(2) as executor:
        list(map_in_order(executor, killed_or_large, [(1,), (0,)]))
    assert multiprocessing.active_children() == []


@posix
def test_a_worker_that_is_killed_is_one_line() -> None:
    with (
        pytest.raises(UserError, match="a worker process was killed before it finished; use fewer --jobs"),
        processes(2) as executor,
    ):
        list(map_in_order(executor, killed, [()]))
    assert multiprocessing.active_children() == []


def run_sleeper(place: str) -> None:
    """What a worker runs in a session of its own: it writes its number and sleeps."""
    code = "import os, sys, time; open(sys.argv[1], 'w').write(f'{os.getpid()} '); time.sleep(600)"
    with Process([sys.executable, "-c", code, place], Limits(seconds=600)) as process:
        process.wait()


def is_running(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


@posix
def test_what_a_worker_runs_ends_with_the_process_that_started_the_worker(tmp_path: Path) -> None:
    """Killed, that process tells nobody; and what the worker runs is in a session of its own."""
    place = tmp_path / "number"
    source = f"""
        import sys
        sys.path[:0] = [{str(ROOT / "tests" / "course")!r}, {str(ROOT / "tests")!r}, {str(ROOT)!r}]
        if __name__ == "__main__":
            from test_jobs import map_in_order, processes, run_sleeper
            with processes(2) as executor:
                list(map_in_order(executor, run_sleeper, [({str(place)!r},)]))
    """
    (tmp_path / "main.py").write_text(textwrap.dedent(source), encoding="utf-8")
    parent = subprocess.Popen([sys.executable, str(tmp_path / "main.py")], stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not (place.exists() and place.read_text(encoding="ascii").endswith(" ")) and time.monotonic() < end:
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    sleeper = int(place.read_text(encoding="ascii"))
    end = time.monotonic() + 10
    while is_running(sleeper) and time.monotonic() < end:
        time.sleep(0.02)
    is_left = is_running(sleeper)
    if is_left:
        os.kill(sleeper, signal.SIGKILL)
    assert not is_left


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda one: one.name)
def test_however_this_process_ends_no_worker_stays(lab: Lab, number: signal.Signals) -> None:
    """A command at work: it is told to end, as by Ctrl-C or by kill -9, and its whole group is empty soon after."""
    words = ["coverage", "--values", "10", "20", "--steps", "100000", "--jobs", "2", "--outdir", "run"]
    with lab.start("experiment", *words, cwd=lab.root, start_new_session=True) as command:
        assert command.stdout
        assert command.stdout.readline()
        time.sleep(2)  # the workers have started, or are starting
        command.send_signal(number)
        command.stdout.read()
        command.wait()
        for _ in range(100):
            try:
                os.killpg(command.pid, 0)
            except ProcessLookupError:
                return
            time.sleep(0.1)
    os.killpg(command.pid, signal.SIGKILL)
    pytest.fail("a worker is left")


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere", "tcp://[", ""])
def test_an_address_where_no_scheduler_answers_is_one_line(address: str) -> None:
    with pytest.raises(UserError) as refused, machines(address):
        pass
    assert str(refused.value).startswith(
        f"--cluster {address}: cannot reach a Dask scheduler, such as tcp://host:8786, there: "
    )
    assert "\n" not in str(refused.value)


def test_a_python_without_dask_is_told_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = "--cluster needs the package distributed, which is not installed; install it"
    with pytest.raises(UserError, match=message), machines("tcp://127.0.0.1:1"):
        pass
