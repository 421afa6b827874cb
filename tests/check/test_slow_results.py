"""The last results of slow checks: a result belongs to the files that it judged.

An example: a result of ``a.py`` is not that of an edited ``a.py``.
"""

import pytest
from conftest import Lab

from check.result import CheckResult
from check.slow_results import keep_result, read_last_result
from course.artifacts import run_log


def test_a_result_is_shown_as_long_as_the_files_are_the_same(lab: Lab) -> None:
    lab.write("a.py", "one")
    assert read_last_result("tests", ["a.py", "b.py"])[:2] == ("not started", "not judged yet")
    keep_result("tests", ["a.py", "b.py"], CheckResult("wrong", "3 of 9 killed"))
    assert read_last_result("tests", ["a.py", "b.py"]) == CheckResult("wrong", "3 of 9 killed")
    lab.write("b.py", "")
    assert read_last_result("tests", ["a.py", "b.py"])[:2] == ("started", "changed since it was judged")
    (lab.folder / "b.py").unlink()
    assert read_last_result("tests", ["a.py", "b.py"]).state == "wrong"
    lab.write("a.py", "another")
    assert read_last_result("tests", ["a.py", "b.py"]).state == "started"


@pytest.mark.parametrize(
    "edited",
    [
        b"",
        b"\xff",
        b"{",
        b"[]",
        b'{"results": {"a": ["done", "x", "y"]}}',
        b'{"results": {"a": ["excellent", "x", []]}}',
        b"[" * 100_000,
    ],
    ids=range(7),
)
def test_an_edited_file_is_as_if_deleted_and_no_state_is_invented(lab: Lab, edited: bytes) -> None:
    del lab
    run_log.LOG.parent.mkdir(parents=True)
    run_log.LOG.with_name("check.json").write_bytes(edited)
    assert read_last_result("a", []).state == "not started"
