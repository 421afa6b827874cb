"""A command under limits: each limit ends it with all that it started, and nobody can keep the caller waiting.

An example: a command that forks without end reaches the limit of processes, and a moment later none of them is in the
process table, which the test reads itself.
"""

import os
import sys
from pathlib import Path

import pytest
from handed_in import end_left_behind, left_behind, linux

from course.execution import LimitReached, Limits, Process

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")
SMALL = Limits(seconds=60, cpu_seconds=30, memory_mb=300, output_mb=1, file_mb=4, processes=10)


def started(folder: Path, source: str, limits: Limits = SMALL) -> Process:
    path = folder / "code.py"
    path.write_text(source, encoding="utf-8", newline="\n")
    return Process([sys.executable, "-I", str(path)], limits)


def test_what_it_prints_and_its_status_come_back(tmp_path: Path) -> None:
    source = "import sys\nprint(sys.stdin.read() == '')\nprint('err', file=sys.stderr)\nsys.exit(3)"
    process = started(tmp_path, source)
    assert process.wait() == ""
    assert (process.status, process.output, process.error_output) == (3, b"True\n", b"err\n")


def test_lines_are_answered_and_a_block_ends_what_goes_on(tmp_path: Path) -> None:
    source = "import sys, time\nfor line in sys.stdin:\n    print(line.strip() * 2, flush=True)\ntime.sleep(600)"
    with started(tmp_path, source) as process:
        process.send(b"one\n" * 2)
        assert [process.read_line(60), process.read_line(60)] == [b"oneone"] * 2
    if sys.platform == "linux":
        assert left_behind(tmp_path) == []


def test_nobody_has_to_read_what_is_sent(tmp_path: Path) -> None:
    with started(tmp_path, "print('ready', flush=True)\nwhile True: pass") as process:
        process.send(b"x" * (1 << 22))
        assert process.read_line(60) == b"ready"


HOSTILE = {  # what it does -> the limit that it reaches
    "import time; time.sleep(600)": "1 s",
    "while True: pass": "1 s of CPU time",
    "print('x' * (20 << 20))": "1 MB of output",
    "import sys; sys.stderr.write('x' * (20 << 20))": "1 MB of output",
    "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(600)": "10 processes",
    "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        held = b'x' * (150 << 20)\n"
    "        time.sleep(600)\ntime.sleep(600)": "300 MB of memory",
}


@linux
@pytest.mark.parametrize("source", HOSTILE)
@pytest.mark.parametrize("by_line", [False, True], ids=["alone", "asked"])
def test_what_has_no_end_is_ended_and_nothing_is_left_of_it(tmp_path: Path, source: str, by_line: bool) -> None:
    limit = HOSTILE[source]
    limits = SMALL
    if limit == "1 s":
        limits = SMALL._replace(seconds=1)
    elif limit == "1 s of CPU time":
        limits = SMALL._replace(cpu_seconds=1)
    with started(tmp_path, source, limits) as process:
        if by_line:
            with pytest.raises(LimitReached) as reached:
                process.read_line(limits.seconds)
            assert str(reached.value) == limit
        else:
            assert process.wait() == limit
    assert left_behind(tmp_path) == []


@linux
def test_one_process_alone_gets_no_more_memory_and_no_longer_file(tmp_path: Path) -> None:
    process = started(tmp_path, "held = bytearray(500 << 20)")
    assert process.wait() == ""
    assert b"MemoryError" in process.error_output
    process = started(tmp_path, f"open({str(tmp_path / 'f')!r}, 'wb').write(bytes(5 << 20))")
    assert process.wait() == ""
    assert b"File too large" in process.error_output


@linux
def test_a_child_with_a_session_of_its_own_ends_with_its_parent(tmp_path: Path) -> None:
    source = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    print('ready', flush=True)\ntime.sleep(600)"
    with started(tmp_path, source) as process:
        assert process.read_line(60) == b"ready"
    assert left_behind(tmp_path) == []


@posix
@pytest.mark.parametrize("ending", ["os._exit(5)", "os.close(1)\nos.close(2)\ntime.sleep(600)"])
def test_a_daemon_that_holds_the_pipe_keeps_nobody_waiting(tmp_path: Path, ending: str) -> None:
    """It lives on, as the module says; and what was written before it is there."""
    source = f"""
import os, time
print("before", flush=True)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print("daemon", flush=True)
        time.sleep(600)
    os._exit(0)
os.wait()
time.sleep(0.5)
{ending}
"""
    try:
        with started(tmp_path, source, SMALL._replace(seconds=5)) as process:
            assert process.read_line(60) == b"before"
            assert process.read_line(60) == b"daemon"
            if "_exit" in ending:
                assert process.read_line(60) == b""
                assert process.status == 5
            else:
                with pytest.raises(LimitReached, match="3 s"):
                    process.read_line(3)
    finally:
        end_left_behind(tmp_path)
