"""A bar for a person who waits, and nobody else.

An example: three items are worked through at a terminal. The bar names the work, and is gone when it is done; in a
pipe there is none however long it takes.
"""

import io
import sys

import pytest

from course.reports.progress import with_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    assert list(with_progress(iter("abc"), "scoring", 3)) == ["a", "b", "c"]
    return stream.getvalue()


def test_a_person_at_a_terminal_sees_how_far_work_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert "scoring" in printed(monkeypatch, Terminal())


def test_a_pipe_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert printed(monkeypatch, io.StringIO()) == ""


def test_ci_gets_nothing_even_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert printed(monkeypatch, Terminal()) == ""


def test_an_error_in_the_work_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with pytest.raises(ZeroDivisionError):
        list(with_progress((1 // n for n in (1, 0)), "scoring", 2))
