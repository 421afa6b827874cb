"""The last verdicts of slow checks: a verdict belongs to the files that it judged."""

import pytest
from conftest import Lab

from check.result import CheckResult
from check.slow_results import keep_result, read_last_result
from course.artifacts import run_log


def test_a_result_is_shown_as_long_as_the_files_are_the_same(lab: Lab) -> None:
    lab.write("a.py", "one")
    assert read_last_result("tests", ["a.py", "b.py"])[:2] == ("not started", "not judged yet")
    keep_result("tests", ["a.py", "b.py"], CheckResult("wrong", "3 of 9 killed"))
    keep_result("redteam", ["b.py"], CheckResult("done"))
    assert read_last_result("tests", ["a.py", "b.py"]) == CheckResult("wrong", "3 of 9 killed")
    lab.write("b.py", "")
    for name, judged in (("tests", ["a.py", "b.py"]), ("redteam", ["b.py"])):
        assert read_last_result(name, judged)[:2] == ("started", "changed since it was judged")


@pytest.mark.parametrize("edited", [b"", b'{"a": "done"}'])
def test_a_file_of_another_form_is_as_if_deleted(lab: Lab, edited: bytes) -> None:
    del lab
    run_log.LOG.parent.mkdir(parents=True)
    run_log.LOG.with_name("check.json").write_bytes(edited)
    assert read_last_result("a", []).state == "not started"
    keep_result("a", [], CheckResult("done"))
    assert read_last_result("a", []).state == "done"
