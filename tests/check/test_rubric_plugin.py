"""The process of a student's tests: what it sends, line by line, and that the course is not to be had in it.

An example: a file with one test and two verifiers makes the lines collected, begin, call, end, begin, call, end, done.
"""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

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


def conversation(folder: Path, source: str, answers: Sequence[object]) -> list[list[object]]:
    """All that is sent where these are the answers, the first of which has the number of verifiers."""
    (folder / "test_rubric.py").write_text(source, encoding="utf-8", newline="\n")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8", newline="\n")
    done = subprocess.run(
        [sys.executable, "-I", "-B", str(rubric_plugin.__file__)],
        input="".join(json.dumps(answer) + "\n" for answer in answers).encode(),
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        cwd=folder,
        capture_output=True,
        check=False,
    )
    return [json.loads(line) for line in done.stdout.split(b"\n") if line]


@pytest.mark.medium
def test_what_is_sent_is_a_line_for_each_thing_that_happens(tmp_path: Path) -> None:
    answers = [[3, ["test_hangs"]], [False, {"reward": 1.0}], [False, {"reward": 0.0}], [True, "ValueError: no"]]
    call = ["call", "{'a': (1, None)}", "'Final: 1\\udc80'"]
    assert conversation(tmp_path, SOURCE, answers) == [
        ["collected", ["test_one[1.0]"], ["test_without"]],
        ["begin", "test_one[1.0]", 0],
        call,
        ["end", "passed", ""],
        ["begin", "test_one[1.0]", 1],
        call,
        ["end", "assertion", ""],
        ["begin", "test_one[1.0]", 2],
        call,
        ["end", "exception", "VerifierRaised: ValueError: no"],
        ["done"],
    ]


@pytest.mark.medium
@pytest.mark.parametrize(
    "line",
    ["import course", "from course import score", "import micro", "open(__import__('pytest').__file__ + 'x')"],
)
def test_the_course_cannot_be_imported(tmp_path: Path, line: str) -> None:
    (kind, why), *_ = conversation(tmp_path, line, [[1, []]])
    assert kind == "broken"
    assert ("tests need the fixture rubric only, not " in str(why)) == ("pytest" not in line)


@pytest.mark.medium
def test_where_nobody_answers_it_ends(tmp_path: Path) -> None:
    assert conversation(tmp_path, SOURCE, [[3, []]])[-1][0] == "call"
