"""A command under limits: each limit ends it, and nothing that it started is left.

An example: a command forks a hundred children, each a session leader so that no signal to its group reaches them, and
ends at once. A moment later none of them is in the process table, which the test reads itself.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import ROOT
from handed_in import left_behind, linux, protected

from course.limited_process import Limits
from teacher.sandbox import Ending, can_protect, fault_of_bubblewrap, list_missing_limits, remove, run_limited

SMALL = Limits(
    seconds=20,
    cpu_seconds=10,
    memory_mb=400,
    output_mb=1,
    file_mb=4,
    disk_mb=16,
    files=200,
    open_files=64,
    processes=20,
)


@pytest.fixture(autouse=True)
def nothing_deep_is_left(tmp_path: Path) -> Iterator[None]:
    """Folders in folders without end stop pytest, too, when it takes them away."""
    yield
    if os.name == "posix":
        subprocess.run(["rm", "-rf", str(tmp_path / "own")], check=True)


def ran(folder: Path, source: str, limits: Limits = SMALL, *, shut_in: bool | None = None) -> Ending:
    (folder / "own" / "lab").mkdir(parents=True, exist_ok=True)
    (folder / "code.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-I", "-S", str(folder / "code.py")]
    return run_limited(command, folder / "own", limits, can_protect() if shut_in is None else shut_in)


def test_what_a_command_prints_and_its_status_come_back(tmp_path: Path) -> None:
    done = ran(tmp_path, "import sys; print('out'); print('err', file=sys.stderr); sys.exit(1)")
    assert done == ("", 1, b"out\n", b"err\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["code.py", "own"]


ENDLESS = {
    "1 s": "import time; time.sleep(60)",
    "1 s of CPU time": "while True: pass",
    "1 MB of output": "while True: print('x' * 1000)",
    "20 processes": "import os, time\nwhile True:\n    if os.fork() == 0: time.sleep(60)",
    "9999 files": (
        "import os, time\nos.chdir('exercises')\nfor n in range(2500): os.mkdir('d'); os.chdir('d')\ntime.sleep(60)"
    ),
    "200 files": "n = 0\nwhile True:\n    open(f'exercises/f{n}', 'w').close(); n += 1",
    "16 MB of files": "for n in range(8): open(f'exercises/f{n}', 'wb').write(bytes(3 << 20))\nwhile True: pass",
    "400 MB of memory": (
        "import os, time\nfor _ in range(4):\n    if os.fork() == 0:\n        held = bytearray(150 << 20)\n"
        "        held[::4096] = b'x' * len(held[::4096])\n        time.sleep(60)\ntime.sleep(60)"
    ),
}


@linux
@pytest.mark.parametrize("limit", ENDLESS)
def test_what_has_no_end_is_ended_and_nothing_is_left_of_it(tmp_path: Path, limit: str) -> None:
    others = {"1 s": {"seconds": 1}, "1 s of CPU time": {"cpu_seconds": 1}, "9999 files": {"files": 9999}}
    limits = SMALL._replace(**others.get(limit, {}))
    assert ran(tmp_path, ENDLESS[limit], limits).limit == limit
    assert left_behind(tmp_path) == []


@linux
def test_one_process_alone_gets_no_more_memory_and_no_longer_file(tmp_path: Path) -> None:
    done = ran(tmp_path, "held = bytearray(500 << 20)")
    assert (done.limit, done.status) == ("", 1)
    assert b"MemoryError" in done.errors
    done = ran(tmp_path, "open('exercises/f', 'wb').write(bytes(5 << 20))")
    assert b"File too large" in done.errors


@protected
@pytest.mark.parametrize("end", ["", "while True: pass"], ids=["it ends", "it is ended"])
def test_a_hundred_children_are_ended_with_the_command(tmp_path: Path, end: str) -> None:
    source = (
        f"import os, time\nfor _ in range(100):\n    if os.fork() == 0:\n        os.setsid(); time.sleep(60)\n{end}"
    )
    done = ran(tmp_path, source, SMALL._replace(processes=500, memory_mb=8000, seconds=1))
    assert done.limit == ("1 s" if end else "")
    assert left_behind(tmp_path) == []


@protected
def test_whoever_it_kills_it_is_its_own(tmp_path: Path) -> None:
    ran(tmp_path, f"import os\ntry: os.kill({os.getpid()}, 9)\nexcept OSError: pass\nos.kill(-1, 9)")
    assert left_behind(tmp_path) == []  # and this process is here to say so


@protected
def test_it_sees_no_file_of_anybody_elses_no_other_process_and_no_network(tmp_path: Path) -> None:
    """The teacher's keys and a neighbour's hand-in lie beside its folder; it tries to unmount what hides them."""
    for name in ("keys/key.txt", "other/lab/exercises/a.py"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("4", encoding="utf-8")
    places = [
        str(tmp_path / "keys"),
        str(tmp_path / "other"),
        str(ROOT / "teacher"),
        str(ROOT / "course"),
        "/etc/passwd",
    ]
    source = f"""
import ctypes, os, socket
libc = ctypes.CDLL(None)
libc.umount2(b"/", 2)
libc.unshare(0x10020000) or libc.umount2(b"/", 2)
print([place for place in {places!r} if os.path.exists(place)])
print(sorted(int(name) for name in os.listdir("/proc") if name.isdigit())[-1] < 10)
print([name for _, name in socket.if_nameindex()])
try: socket.create_connection(("127.0.0.1", 9), 1)
except OSError as error: print(error.strerror)
try: socket.create_connection(("8.8.8.8", 53), 1)
except OSError as error: print(error.strerror)
"""
    done = ran(tmp_path, source)
    assert done.output.decode().splitlines() == [
        "[]",
        "True",
        "['lo']",
        "Connection refused",
        "Network is unreachable",
    ], done.errors
    assert (tmp_path / "keys" / "key.txt").exists()


@protected
def test_it_writes_in_its_exercises_and_its_home_only(tmp_path: Path) -> None:
    """What judges it lies beside these, and stays as it is."""
    source = """
import os, sys, tempfile
print(tempfile.gettempdir() == os.path.realpath("../home"))
print(open("../home/own", "w").write("x"), open("exercises/own", "w").write("x"))
places = ["own", "../own", "../../other", "/other", "/dev/other", "../../code.py", sys.prefix + "/other", "/usr/other"]
for place in places:
    try: open(place, "w")
    except OSError as error: print(error.strerror)
try: open("/dev/shm/other", "wb").write(bytes(1 << 20))
except OSError as error: print(error.strerror)
"""
    output = ran(tmp_path, source).output.decode()
    assert output == "True\n1 1\n" + "Read-only file system\n" * 8 + "No space left on device\n"


@pytest.mark.parametrize("rights", [0o700, 0])
def test_what_it_leaves_is_taken_away_however_deep_and_closed(tmp_path: Path, rights: int) -> None:
    source = f"""
import os
os.chdir("exercises")
for n in range(1500):
    os.mkdir("d"); os.chdir("d")
os.chmod(".", {rights})
"""
    assert ran(tmp_path, source).limit in ("", "200 files")
    remove(tmp_path / "own")
    assert not (tmp_path / "own").exists()


def test_no_secret_of_the_environment_is_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_TOKEN", "secret")
    found = json.loads(ran(tmp_path, "import json, os; print(json.dumps(dict(os.environ)))").output)
    assert found.keys() <= {
        *("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "PATH", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE"),
        *("SYSTEMROOT", "LANG", "LC_ALL", "LC_CTYPE", "PWD"),
    }
    assert {found[name] for name in ("HOME", "TMPDIR", "TEMP")} == {str(tmp_path / "own" / "home")}


@linux
def test_on_linux_every_limit_is_kept() -> None:
    assert list_missing_limits(protected=True) == []
    assert len(list_missing_limits(protected=False)) == 2


@linux
def test_without_protection_the_group_is_ended_at_least(tmp_path: Path) -> None:
    source = "import os, time\nfor _ in range(30):\n    if os.fork() == 0: time.sleep(60)\n"
    assert ran(tmp_path, source, SMALL._replace(processes=500), shut_in=False).limit == ""
    assert left_behind(tmp_path) == []


@linux
@pytest.mark.parametrize(
    ("program", "fault"),
    [
        (None, "is not installed"),
        ("exit 0", ""),
        ("echo one >&2; echo 'no\x1b' >&2; exit 1", "is installed and did not start: no<U+001B ESCAPE>"),
        ("exit 3", "is installed and did not start: status 3"),
    ],
)
def test_why_bubblewrap_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, fault: str
) -> None:
    if program is not None:
        (tmp_path / "bwrap").write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
        (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fault_of_bubblewrap.__wrapped__() == fault
