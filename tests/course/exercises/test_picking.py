"""The student's pick_best is loaded, called, and not believed.

An example: a pick_best that returns ``samples[0].completion``, a text, made no choice among samples. The run is refused
with one line that names the student's file and line, and says to return the sample itself.
"""

from pathlib import Path

import pytest
from conftest import Lab, lines_of

ANSWERS = [22, -8]
GROUPS = [["Final: 21", "Final: 22"], ["Final: -8", "Final: 8"]]


def refused(lab: Lab) -> str:
    return lab.refused("selection_demo", "--dataset", lab.dataset(ANSWERS), "--samples", lab.pack(GROUPS), "--n", 2)


RAISED = "pick_best: expected a choice, got an exception on q1: "
LOADED = "pick_best: expected a choice, got an exception while it was loaded: "
NO_SAMPLE = "pick_best: expected one of the 2 samples of q1, got "
SYNTAX = "expected Python, got a syntax error: "
NONE = "expected a function pick_best(samples), got none in this file"
BROKEN = {  # source of pick_best.py -> what is said after its name
    "def pick_best(samples):\n    n = 1\n    return samples[9]": f":3 {RAISED}IndexError",
    "def f():\n    raise OSError('\\x1b')\ndef pick_best(s):\n    f()": f":2 {RAISED}OSError: <U+001B ESCAPE>",
    "def pick_best(samples):\n    samples[0].reward = 1.0": f":2 {RAISED}AttributeError",
    "import sys\ndef pick_best(samples):\n    sys.exit(0)": f":3 {RAISED}SystemExit",
    "def pick_best(samples):\n    return pick_best(samples)": f":2 {RAISED}RecursionError",
    "def pick_best(samples, more):\n    pass": f":1 {RAISED}TypeError",
    "\ndef pick_best(samples):\n    return 'Final: 22'": f":2 {NO_SAMPLE}the text 'Final: 22'; return the sample",
    "def pick_best(samples):\n    pass": f":1 {NO_SAMPLE}NoneType",
    "def pick_best(samples):\n    return 0": f":1 {NO_SAMPLE}int",
    "def pick_best(samples):\n    return samples": f":1 {NO_SAMPLE}list",
    "def pick_best(samples):\n    return type(samples[0])(0, 'Final: 22', 1.0)": f":1 {NO_SAMPLE}Sample",
    "class Yes:\n    __eq__ = lambda *_: True\npick_best = lambda samples: Yes()": f":3 {NO_SAMPLE}Yes",
    "x = 1\nraise KeyError(3)": f":2 {LOADED}KeyError",
    "raise SystemExit": f":1 {LOADED}SystemExit",
    "\0": ":1 ",  # a syntax error since Python 3.12
    "x = 1\ndef pick_best(samples)\n": f":2 {SYNTAX}expected ':'",
    "x = '\udcff'": f":1 {SYNTAX}",
    "def pick_worst(samples):\n    pass": f": {NONE}",
    "pick_best = 3": f": {NONE}",
    "": f": {NONE}",
}


@pytest.mark.parametrize("source", BROKEN)
def test_a_broken_pick_best_is_one_line_that_names_the_students_file_and_line(lab: Lab, source: str) -> None:
    lab.write("exercises/pick_best.py", source.encode(errors="surrogateescape"))
    path = Path("exercises", "pick_best.py")
    assert f"error: {path}{BROKEN[source]}" in refused(lab)


def test_a_missing_pick_best_is_one_line_that_says_where_to_stand(lab: Lab) -> None:
    assert f"{Path('exercises', 'pick_best.py')}: expected your pick_best, got: " in refused(lab)
    assert "run from the lab's folder" in refused(lab)


def test_a_pick_best_that_empties_its_list_changes_nothing(lab: Lab) -> None:
    lab.picker("def pick_best(samples):\n    best = samples[1]\n    samples.clear()\n    return best\n")
    assert lab.select(ANSWERS, GROUPS, 2).status == 0
    assert [row["chosen"] for row in lines_of(Path("runs/run_001/results.jsonl"))] == [1, 1]
