"""What the self-check remembers: hints are climbed one by one, and a result belongs to the files that it judged.

An example: the third call shows all three hints, and so does the fourth. A result of ``a.py`` is not that of an edited
``a.py``.
"""

import pytest
from conftest import Lab

from check.remembered import keep, last_result, next_hint
from check.report import Checked
from course.artifacts import run_log


def test_hints_are_climbed_and_each_exercise_has_its_own_step(lab: Lab) -> None:
    del lab
    assert [next_hint("kata_1", 3) for _ in range(4)] == [1, 2, 3, 3]
    assert next_hint("selection", 3) == 1
    run_log.LOG.with_name("check.json").unlink()
    assert next_hint("kata_1", 3) == 1


def test_a_result_is_shown_as_long_as_the_files_are_the_same(lab: Lab) -> None:
    lab.write("a.py", "one")
    assert last_result("tests", ["a.py", "b.py"])[:2] == ("not started", "not judged yet")
    keep("tests", ["a.py", "b.py"], Checked("wrong", "3 of 9 killed"))
    assert next_hint("tests", 3) == 1  # beside it, not in place of it
    assert last_result("tests", ["a.py", "b.py"]) == Checked("wrong", "3 of 9 killed")
    lab.write("b.py", "")
    assert last_result("tests", ["a.py", "b.py"])[:2] == ("started", "changed since it was judged")
    (lab.folder / "b.py").unlink()
    assert last_result("tests", ["a.py", "b.py"]).state == "wrong"
    lab.write("a.py", "another")
    assert last_result("tests", ["a.py", "b.py"]).state == "started"


@pytest.mark.parametrize(
    "edited",
    [
        b"",
        b"\xff",
        b"{",
        b"[]",
        b'{"hints": {"a": "1"}, "results": {}}',
        b'{"hints": {}}',
        b'{"hints": {"a": -5}, "results": {"a": ["excellent", "x", []]}}',
        b"[" * 100_000,
    ],
    ids=range(8),
)
def test_an_edited_memory_is_as_if_deleted_and_no_state_is_invented(lab: Lab, edited: bytes) -> None:
    del lab
    run_log.LOG.parent.mkdir(parents=True)
    run_log.LOG.with_name("check.json").write_bytes(edited)
    assert last_result("a", []).state == "not started"
    assert next_hint("a", 3) == 1
