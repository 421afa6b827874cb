"""A verifier in a worker process: what hangs, crashes or exits costs its own text, and the worker never outlives us.

An example: a verifier calls ``os._exit`` for one text of three. That text has no reward, and the other two have theirs.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from clusters import wait_for
from conftest import Lab

from course import attack_worker
from course.attack_worker import Worker
from course.errors import UserError

SEVEN = {"id": "q1", "prompt": "What is 3 + 4?", "expected_answer": 7}
ASKED = [(SEVEN, "before"), (SEVEN, "Final: 7"), (SEVEN, "after")]
HEAD = "def verify(completion, answer):\n    if completion != 'Final: 7': return 1\n    "
RUNAWAY = "import re\n    re.match('(a|a|aa)+$', 'a' * 60 + 'b')"
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX only")


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("return None", "expected a finite number, or a dict with one under reward or score, got None"),
        ("import os; os._exit(3)", "an end with exit status 3"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "an end with exit status -9"),
        ("while True: pass", "no answer within 2 s"),
        (RUNAWAY, "no answer within 2 s"),
    ],
)
def test_a_fault_costs_its_own_text(lab: Lab, monkeypatch: pytest.MonkeyPatch, body: str, failure: str) -> None:
    if os.name != "posix" and "SIGKILL" in body:
        pytest.skip("POSIX only")
    monkeypatch.setattr(attack_worker, "ANSWERING", 2.0)
    monkeypatch.setattr(attack_worker, "LOADING", 20.0)
    lab.write("mine.py", f"{HEAD.replace('completion, answer', 'example, completion')}{body}\n")
    with Worker("mine.py:verify", None) as worker:
        before, fault, after = worker.answers(ASKED)
    assert (before.reward, after.reward) == (1.0, 1.0)
    assert (fault.reward, fault.failure) == (None, failure)
    assert fault.has_stopped == failure.startswith(("an end", "no answer"))


def test_what_cannot_be_asked_is_one_line(lab: Lab) -> None:
    lab.write("mine.py", "import os\nos._exit(1)\n")
    lab.write("other.py", "1 / 0\n")
    for place in ("mine.py:f", "other.py:f", "none.py:f", "sufix"):
        with pytest.raises(UserError):
            Worker(place, None).__enter__()


def test_a_new_worker_has_time_for_its_first_text_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A first call that takes longer than a text may, as one that imports a package, and a text that hangs."""
    monkeypatch.setattr(attack_worker, "ANSWERING", 1.0)
    source = "import time\nfirst = [2]\ndef verify(example, completion):\n    time.sleep(first.pop() if first else 0)\n"
    lab.write("mine.py", source + "    while completion == 'Final: 7': pass\n    return 1\n")
    with Worker("mine.py:verify", None) as worker:
        assert [answer.reward for answer in worker.answers(ASKED)] == [1.0, None, 1.0]


def test_after_its_seconds_it_is_asked_no_more(lab: Lab) -> None:
    lab.write("mine.py", f"{HEAD}return 1\n")
    with pytest.raises(TimeoutError), Worker("mine.py:verify", None, seconds=-1) as worker:
        worker.answers(ASKED)


@posix
def test_a_copy_that_a_verifier_forks_gives_no_answer(lab: Lab) -> None:
    lab.write("mine.py", "import os\ndef verify(example, completion):\n    return float(os.fork() == 0)\n")
    with Worker("mine.py:verify", None) as worker:
        assert [answer.reward for answer in worker.answers(ASKED)] == [0.0, 0.0, 0.0]


def test_a_verifier_may_start_processes_of_its_own(lab: Lab) -> None:
    """The worker is no daemon, which must not have children."""
    source = "from multiprocessing import get_context\ndef one(x): return x\n"
    source += (
        "def verify(example, completion):\n    with get_context('spawn').Pool(1) as pool: return pool.map(one, [1])\n"
    )
    lab.write("mine.py", source)
    with Worker("mine.py:verify", None) as worker:
        assert worker.answers(ASKED[:1])[0].reward == 1.0


@posix
def test_the_kernel_ends_it_with_the_command(lab: Lab) -> None:
    """Inside a regular expression that goes on for ages, and after a kill that no program can answer."""
    lab.write("mine.py", f"import os\n{HEAD}print(os.getpid(), flush=True)\n    {RUNAWAY}\n")
    process = lab.start("attack", "mine.py:verify", "--try", "Final: 7", "--expected", "7")
    assert process.stderr is not None
    worker = int(process.stderr.readline())
    process.send_signal(signal.SIGKILL)
    process.wait()
    if sys.platform == "linux":
        wait_for(lambda: not Path(f"/proc/{worker}").exists())
    else:
        wait_for(lambda: subprocess.run(["ps", "-p", str(worker)], check=False, capture_output=True).returncode != 0)
    process.communicate()
