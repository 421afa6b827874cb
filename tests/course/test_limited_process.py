"""A command under limits: each limit ends it with all that it started, and nobody can keep the caller waiting.

An example: a command that forks without end reaches the limit of processes, and a moment later none of them is in the
process table, which the test reads itself.
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from handed_in import end_left_behind, left_behind, linux

from course.limited_process import Limits, Process

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")
SMALL = Limits(seconds=60, cpu_seconds=30, memory_mb=300, output_mb=1, file_mb=4, processes=10)


def started(place: Path, source: str, limits: Limits = SMALL, **more: Any) -> Process:
    path = place / "code.py"
    path.write_text(source, encoding="utf-8", newline="\n")
    return Process([sys.executable, "-I", str(path)], limits, **more)


def test_what_it_prints_and_its_status_come_back(tmp_path: Path) -> None:
    source = "import sys\nprint(sys.stdin.read() == '')\nprint('err', file=sys.stderr)\nsys.exit(3)"
    process = started(tmp_path, source)
    assert process.wait() == ""
    assert (process.status, process.output, process.error_output) == (3, b"True\n", b"err\n")


@posix
def test_the_status_is_that_of_the_signal_and_none_while_it_runs(tmp_path: Path) -> None:
    with started(tmp_path, "import time; time.sleep(600)") as process:
        assert process.status is None
    process.end()
    assert process.status == 128 + signal.SIGKILL
    process = started(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert process.wait() == ""
    assert process.status == 128 + signal.SIGTERM


@posix
def test_it_has_a_folder_an_environment_and_a_session_of_its_own(tmp_path: Path) -> None:
    source = "import json, os\nmine = os.environ.get('MINE'), os.environ.get('HOME')\n"
    source += "print(json.dumps([os.getcwd(), *mine, os.getsid(0) == os.getpid()]))"
    folder = tmp_path / "work"
    folder.mkdir()
    process = started(tmp_path, source, working_folder=folder, environment={"MINE": "yes"})
    assert process.wait() == ""
    assert json.loads(process.output) == [str(folder.resolve()), "yes", None, True]


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
def test_what_has_no_end_is_ended_and_nothing_is_left_of_it(tmp_path: Path, source: str) -> None:
    limit = HOSTILE[source]
    limits = SMALL
    if limit == "1 s":
        limits = SMALL._replace(seconds=1)
    elif limit == "1 s of CPU time":
        limits = SMALL._replace(cpu_seconds=1)
    with started(tmp_path, source, limits) as process:
        assert process.wait() == limit
    assert max(len(process.output), len(process.error_output)) <= 1 << 20
    assert left_behind(tmp_path) == []


IN_A_FOLDER = {  # what it does there -> the limit that it reaches, of 20 files and 2 MB
    "for i in range(21): open(str(i), 'w')": "20 files",
    "for i in range(21): os.mkdir(str(i))": "20 files",
    "os.makedirs('a/b')\nfor i in range(21): open(f'a/b/{i}', 'w')": "20 files",
    "for _ in range(100):\n    os.mkdir('a' * 250)\n    os.chdir('a' * 250)": "20 files",  # too long a path
    "for i in range(3): open(str(i), 'wb').write(bytes(1 << 20))": "2 MB of files",
    "os.mkdir('a')\nfor i in range(3): open(f'a/{i}', 'wb').write(bytes(1 << 20))": "2 MB of files",
    "for i in range(19): open(str(i), 'w')\nopen('a', 'wb').write(bytes(2 << 20))": "5 s",
    "open('../large', 'wb').write(bytes(3 << 20))\nos.symlink('../large', 'a')\nos.symlink('..', 'b')": "5 s",
}


@posix
@pytest.mark.parametrize("source", IN_A_FOLDER)
def test_the_number_and_the_size_of_files_in_a_folder_are_limited(tmp_path: Path, source: str) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    limits = SMALL._replace(seconds=5, disk_mb=2, files=20)
    ending = "\nimport time; time.sleep(600)"
    process = started(tmp_path, f"import os\n{source}{ending}", limits, working_folder=folder, folder=folder)
    assert process.wait() == IN_A_FOLDER[source]
    if sys.platform == "linux":
        assert left_behind(tmp_path) == []


@posix
def test_each_process_has_its_own_limits_and_a_caller_who_has_less_gives_less(tmp_path: Path) -> None:
    names = ["RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE"]
    source = f"import json, resource\nprint(json.dumps([resource.getrlimit(getattr(resource, n))[0] for n in {names}]))"
    process = started(tmp_path, source)
    assert process.wait() == ""
    assert json.loads(process.output) == [30, 4 << 20, 1024, 0]
    caller = f"""
import resource, sys
sys.path.insert(0, {str(ROOT)!r})
from course.limited_process import Limits, Process
resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
command = [sys.executable, "-I", {str(tmp_path / "code.py")!r}]
process = Process(command, Limits(open_files=200, cpu_seconds=30, file_mb=4))
process.wait()
print(process.output.decode(), process.error_output.decode())
"""
    done = subprocess.run([sys.executable, "-c", caller], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [30, 4 << 20, 100, 0]


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
    process = started(tmp_path, source, SMALL._replace(seconds=2))
    assert (process.wait(), process.output) == ("2 s", b"ready\n")
    assert left_behind(tmp_path) == []


@posix
@pytest.mark.parametrize(
    ("ending", "limit", "status"),
    [("os._exit(5)", "", 5), ("os.close(1)\nos.close(2)\ntime.sleep(600)", "5 s", 137)],  # 137: SIGKILL
)
def test_a_daemon_that_holds_the_pipe_keeps_nobody_waiting(
    tmp_path: Path, ending: str, limit: str, status: int
) -> None:
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
        process = started(tmp_path, source, SMALL._replace(seconds=5))
        assert process.wait() == limit
        assert process.status == status
        assert process.output == b"before\ndaemon\n"
    finally:
        end_left_behind(tmp_path)
