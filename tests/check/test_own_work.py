"""Whether a file borrows the course's answer, by its text and when it runs.

An example: ``import importlib as il`` and ``il.import_module("course.score")`` borrow; ``re.compile`` does not.
"""

import pytest
from conftest import ROOT, Lab

from check.own_work import find_borrowed

BORROWED = [  # a text, and how the part that borrows begins
    ("import __main__", "import __main__"),
    ("import os, __main__ as m", "import os, __main__"),
    ("from __main__ import close_answers", "from __main__"),
    ("exec('from course.score import score')", "exec"),
    ("run = exec", "exec"),
    ("eval('1')", "eval"),
    ("compile('1', 'x', 'eval')", "compile"),
    ("from re import compile\nfrom builtins import compile", "from builtins"),
    ("__import__('course.score')", "__import__"),
    ("import ctypes", "import ctypes"),
    ("import ctypes.util", "import ctypes.util"),
    ("from ctypes import CDLL", "from ctypes"),
    ("import builtins", "import builtins"),
    ("import gc", "import gc"),
    ("import sys\ndel sys.meta_path[0]", "sys.meta_path"),
    ("import sys as s\ns.modules", "s.modules"),
    ("import sys as s\nimport os as s\ns.modules", "s.modules"),
    ("import sys\nsys._getframe()", "sys._getframe"),
    ("from sys import _getframe", "from sys"),
    ("from sys import meta_path as m", "from sys"),
    ("def f(frame):\n    return frame.f_globals", "frame.f_globals"),
    ("import importlib as il\nil.import_module('course.score')", "il.import_module"),
    ("import importlib.util", "import importlib.util"),
    ("import importlib.util as u", "import importlib.util"),
    ("from importlib import reload, import_module", "from importlib"),
    ("from picking import first_of_best", "from picking"),
    ("import picking", "import picking"),
    ("from course.picking import first_of_best", "from course.picking"),
    ("from course.picking import Sample, first_of_best", "from course.picking"),
]
OWN = [
    "import re\nFORM = re.compile('[0-9]+')\n",
    "from re import compile\nFORM = compile('[0-9]+')\n",
    "import importlib\nimport exercises.pick_best as mine\nimportlib.reload(mine)\n",
    "from importlib import reload\n",
    "import sys\nsys.path.insert(0, 'exercises')\nsys.setrecursionlimit(99)\n",
    "from sys import maxsize\n",
    "from course.picking import Sample\n",
    "import numpy as np\nimport math, random, json, dataclasses, collections\n",
    "def evaluate(self):\n    return self.eval(1) + self.exec + self.modules\n",
]


@pytest.mark.parametrize(("source", "shown"), [row for row in BORROWED if row[1]])
def test_what_borrows_is_shown(lab: Lab, source: str, shown: str) -> None:
    del lab
    assert find_borrowed("pick_best.py", source.encode()).startswith(shown)


@pytest.mark.parametrize("source", OWN)
def test_what_is_a_students_own_is_not_refused(lab: Lab, source: str) -> None:
    del lab
    assert find_borrowed("pick_best.py", source.encode()) == ""


def test_the_files_that_ship_borrow_nothing(lab: Lab) -> None:
    del lab
    solutions = ROOT / "teacher" / "solutions"
    files = [*(ROOT / "exercises").glob("*.py"), *solutions.rglob("*.py")]
    files += [ROOT / "tests" / f"test_{name}.py" for name in ("rubric", "pick_best", "reinforce")]
    assert len(files) > 9
    for path in files:
        assert find_borrowed(path.name, path.read_bytes()) == "", path
