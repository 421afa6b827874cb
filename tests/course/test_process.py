"""How a process ends before its time: signals early, late and twice, and faults of the lab.

An example: Ctrl-C, and Ctrl-C again while the command cleans up. The second changes nothing: the clean-up comes to its
end, and the status is 130.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, Lab, ended

from course import process

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
INTERRUPTED = "error: interrupted; a run that was not finished has left nothing behind\n"
ENDS = {"SIGINT": (130, INTERRUPTED), "SIGTERM": (143, ""), "SIGHUP": (129, "")}
HEAD = """
import os, signal, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
"""


def ended_by(code: str, *arguments: object) -> tuple[int, str, str]:
    """A process that runs this code: its status, what it wrote, what it complained of."""
    command = [sys.executable, "-c", HEAD + code, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def command(main: str) -> str:
    body = "".join(f"    {line}\n" for line in main.splitlines())
    return f"from course.command import run_command\ndef main():\n{body}run_command(main)"


@pytest.mark.parametrize("first", ENDS)
@pytest.mark.parametrize("second", ENDS)
def test_a_second_signal_during_clean_up_changes_nothing(first: str, second: str) -> None:
    code = command(f"""
try:
    os.kill(os.getpid(), signal.{first})
    time.sleep(60)
finally:
    for _ in range(3):
        os.kill(os.getpid(), signal.{second})
        time.sleep(0.01)
    print("cleaned up", flush=True)
""")
    assert ended_by(code) == (ENDS[first][0], "cleaned up\n", ENDS[first][1])


@pytest.mark.parametrize("second", ENDS)
def test_a_signal_after_the_work_is_done_changes_nothing(second: str) -> None:
    late = f"import atexit\natexit.register(lambda: os.kill(os.getpid(), signal.{second}))\nreturn 3"
    assert ended_by(command(late)) == (3, "", "")


def test_ctrl_c_in_the_moment_in_which_an_error_is_told_is_no_fault_of_the_lab() -> None:
    told = "from course.errors import UserError\nclass Slow(UserError):\n    def __str__(self):\n"
    told += "        os.kill(os.getpid(), signal.SIGINT)\n        time.sleep(9)\nraise Slow"
    assert ended_by(command(told)) == (130, "", "")


def test_what_the_parent_wants_ignored_stays_ignored() -> None:
    """As under nohup: the terminal is closed, and the command works on."""
    ignored = "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    assert ended_by(ignored + command("os.kill(os.getpid(), signal.SIGHUP)\nprint('on')\nreturn 0")) == (0, "on\n", "")


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_while_modules_load_is_one_line_at_most(lab: Lab, name: str, status: int) -> None:
    """In the midst of loading the package that a command needs first."""
    lab.write("msgspec.py", f"import os, signal\nos.kill(os.getpid(), signal.{name})\nraise ValueError('too far')\n")
    done = lab.process("eval", env={"PYTHONPATH": os.pathsep.join([str(lab.folder), str(ROOT)])})
    said = "error: interrupted; nothing was begun\n" if name == "SIGINT" else ""
    assert done == (status, "", said)


def test_a_module_that_cannot_be_loaded_is_a_fault_of_the_lab(lab: Lab) -> None:
    lab.write("msgspec.py", "raise ValueError('torn \\x1b[2J')\n")
    done = lab.process("eval", env={"PYTHONPATH": os.pathsep.join([str(lab.folder), str(ROOT)])})
    assert (done.status, done.out) == (process.FAULT, "")
    assert done.err.startswith("Traceback")
    assert done.err.endswith(
        "ValueError: torn \\x1b[2J\nerror: this is a fault of the lab, the lines above say where\n"
    )


@pytest.mark.parametrize("error", ["ZeroDivisionError", "AssertionError", "GeneratorExit", "RecursionError"])
def test_an_exception_that_nobody_expected_ends_with_status_70(error: str) -> None:
    """1 stays the "no" of a check, whatever happens."""
    status, out, err = ended_by(command(f"print('so far')\nraise {error}('odd')"))
    assert (status, out) == (70, "so far\n")
    assert err.startswith("Traceback")
    assert err.endswith(f"{error}: odd\nerror: this is a fault of the lab, the lines above say where\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_fault_that_cannot_be_told_still_ends_with_its_status() -> None:
    with Path("/dev/full").open("wb") as full:
        code = [sys.executable, "-c", HEAD + command("sys.stdout.write('x')\n1 // 0")]
        env = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
        done = subprocess.run(code, cwd=ROOT, env=env, stdout=full, stderr=subprocess.PIPE, check=False)
        assert done.returncode == 70
        assert done.stderr.startswith(b"Traceback")
        for main, status in (("1 // 0", 70), ("os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)", 130)):
            code = [sys.executable, "-c", HEAD + command(main)]
            done = subprocess.run(code, cwd=ROOT, stdout=full, stderr=full, check=False)
            assert done.returncode == status


def test_a_signal_that_was_swallowed_is_raised_again_by_whoever_asks() -> None:
    swallow = """
from course import process
try:
    os.kill(os.getpid(), signal.SIGTERM)
except BaseException:
    pass
process.raise_received()
return 0
"""
    assert ended_by(command(swallow)) == (143, "", "")


def test_every_record_type_is_known_to_msgspec_before_a_signal_is_raised_as_an_exception() -> None:
    """Ctrl-C in the midst of msgspec's first look at a type has crashed Python: here, no such look is left to main."""
    code = command("""
from msgspec import convert
from course.artifacts.records import RESULT_TYPES, Manifest
looked = []
sys.setprofile(lambda frame, event, _: looked.append(frame.f_code.co_name) if "msgspec" in str(frame.f_globals) else 0)
for kind in (*RESULT_TYPES.values(), Manifest):
    try:
        convert({}, kind)
    except ValueError:
        pass
sys.setprofile(None)
print([name for name in looked if name == "get_class_annotations"])
return 0
""")
    assert ended_by("import course.gate, course.eval\n" + code) == (0, "[]\n", "")


def test_ctrl_c_at_any_moment_is_130_or_a_whole_run_and_never_a_traceback(lab: Lab) -> None:
    options = ["--dataset", lab.dataset([1]), "--completions", lab.completions(["Final: 1"]), "--outdir"]
    for trial in range(12):
        child = lab.start(
            "eval", *options, f"run{trial}", preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
        )
        time.sleep(0.1 + 0.03 * trial)  # Python itself has started by then
        child.send_signal(signal.SIGINT)
        child.send_signal(signal.SIGINT)
        done = ended(child)
        # Python kills itself by SIGINT (130 to a shell) where the signal came inside an eval, as of a namedtuple.
        assert done.status in (0, 130, -signal.SIGINT), done
        assert "Traceback" not in done.err
        assert done.status or Path(f"run{trial}").exists()
    assert not list(Path().glob(".*.partial"))


HELD = """
import os, signal
from course.process import begin_running, signals_held
begin_running()
try:
    with signals_held():
        os.kill(os.getpid(), signal.{name})
        print("written together", flush=True)
    print("not reached", flush=True)
except BaseException as error:
    print(type(error).__name__, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize(("name", "raised"), [("SIGINT", "KeyboardInterrupt"), ("SIGTERM", "Terminated")])
def test_a_signal_that_comes_while_it_is_held_is_raised_at_the_end_of_the_block(name: str, raised: str) -> None:
    """It once came between a row of the log and its digest, and a training that was kept could not be verified."""
    line = [sys.executable, "-c", HELD.format(name=name)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == f"written together\n{raised}\n"


def test_a_block_in_which_none_comes_raises_nothing() -> None:
    with process.signals_held():
        pass
