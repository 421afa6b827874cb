"""A solution is locked under the path of its file: it opens under that path, and its text stands nowhere in the open.

An example: the solution ``x = 1`` of ``exercises/a.py`` does not open as that of ``exercises/b.py``.
"""

import json
from pathlib import Path

import pytest

from check import locked as locked_module
from check.locked import KEY, lock, solutions_of


def test_what_was_locked_opens_and_is_safe_to_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locked = {name: lock(f"# {name}\nx = 'é\x1b'\n", KEY, name) for name in ("exercises/a.py", "exercises/b.py")}
    path = tmp_path / "solutions.json"
    path.write_text(json.dumps(locked), encoding="utf-8")
    monkeypatch.setattr(locked_module, "SOLUTIONS", path)
    assert solutions_of(["exercises/b.py", "exercises/c.py"]) == {
        "exercises/b.py": "# exercises/b.py\nx = 'é<U+001B ESCAPE>'\n"
    }
    assert solutions_of([]) == {}
    assert b"x = " not in bytes.fromhex(locked["exercises/a.py"])
    path.write_text(json.dumps({"exercises/a.py": locked["exercises/b.py"]}), encoding="utf-8")
    assert solutions_of(["exercises/a.py"]) == {"exercises/a.py": ""}
