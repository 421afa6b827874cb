"""The process of a student's tests: what it sends, line by line.

An example: a file with one test makes the lines collected, begin, call, end, done for each verifier, and over after it.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from check import rubric_plugin

SOURCE = """
import pytest

@pytest.fixture
def text():
    return "Final: 1"

@pytest.mark.parametrize("reward", [1.0])
def test_one(rubric, text, reward):
    print("no part of the pipe")
    assert rubric({"a": (1, None)}, text + "\\udc80")["reward"] == reward

def test_without():
    assert False

def test_hangs(rubric):
    assert False
"""


def lay_out(folder: Path, source: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "test_rubric.py").write_text(source, encoding="utf-8", newline="\n")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8", newline="\n")


def converse(lines: Sequence[object]) -> list[list[object]]:
    """All that is sent where these lines are read, one after the other as they are asked for."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-B", str(rubric_plugin.__file__)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    left = list(lines)
    sent: list[list[object]] = []
    with process:
        while not sent or left or sent[-1][0] not in ("call", "over"):
            if not sent or sent[-1][0] in ("call", "over"):
                process.stdin.write(json.dumps(left.pop(0)).encode() + b"\n")
                process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                break
            sent.append(json.loads(line))
        process.stdin.close()
        sent += [json.loads(line) for line in process.stdout]
    return sent


def test_what_is_sent_is_a_line_for_each_thing_that_happens(tmp_path: Path) -> None:
    for name in ("a", "b"):
        lay_out(tmp_path / name, SOURCE)
    questions = [[str(tmp_path / name), ["test_hangs"]] for name in ("a", "b")]
    answers = [questions[0], [False, {"reward": 0.0}], questions[1], [True, "ValueError: no"]]
    before: list[list[object]] = [
        ["collected", ["test_one[1.0]"], ["test_without"]],
        ["begin", "test_one[1.0]"],
        ["call", "{'a': (1, None)}", "'Final: 1\\udc80'"],
    ]
    after: list[list[object]] = [["done"], ["over"]]
    first: list[list[object]] = [["end", "assertion", ""]]
    second: list[list[object]] = [["end", "exception", "VerifierRaised: ValueError: no"]]
    assert converse(answers) == before + first + after + before + second + after


def test_where_nobody_answers_it_ends(tmp_path: Path) -> None:
    lay_out(tmp_path, SOURCE)
    assert [kind for kind, *_ in converse([[str(tmp_path), []]])] == ["collected", "begin", "call", "over"]
