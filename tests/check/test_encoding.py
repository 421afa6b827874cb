"""Solutions in base64: each is given back whole, safe to print, and stands nowhere in the open."""

import json
from pathlib import Path

import pytest

from check import encoding
from check.encoding import decode, encode, solutions_of


def test_base64_is_that_of_the_standard() -> None:
    assert encode("foobar") == "Zm9vYmFy"  # RFC 4648, section 10
    assert decode(encode("é\n\u2028")) == "é\n\u2028"


def test_a_solution_is_that_of_its_file_and_safe_to_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "solutions.json"
    path.write_text(json.dumps({"a.py": encode("x = 1"), "b.py": encode("# b\nx = '\x1b'\n")}), encoding="utf-8")
    monkeypatch.setattr(encoding, "SOLUTIONS", path)
    assert solutions_of(["b.py", "c.py"]) == {"b.py": "# b\nx = '<U+001B ESCAPE>'\n"}
    assert solutions_of([]) == {}
    assert "x = " not in path.read_text(encoding="utf-8")
