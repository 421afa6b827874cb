"""A line for a person who waits, and nobody else.

An example: three items are worked through at a terminal, each in a second. The line says 1 of 3 and that the other two
will take 2 s, and is gone when the work is done; in a pipe there is none however long it takes.
"""

import io
import sys

import pytest

from course.reports import progress
from course.reports.progress import progress_line, with_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "40")
    clock = iter(range(0, 100, 4))
    monkeypatch.setattr(progress, "monotonic", lambda: next(clock))  # four seconds from one look at it to the next
    assert list(with_progress(iter("abc"), "scoring", 3)) == ["a", "b", "c"]
    return stream.getvalue()


def test_a_person_at_a_terminal_sees_how_far_work_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    gone = f"\r{' ' * 39}\r"
    shown = ["0 of 3", "1 of 3, 8 s left", "2 of 3, 4 s left", "3 of 3, 0 s left"]
    assert printed(monkeypatch, Terminal()) == "".join(f"{gone}scoring: {line}" for line in shown) + gone


def test_a_dumb_terminal_gets_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    assert printed(monkeypatch, Terminal()) == "scoring: 3 of 3, 0 s left\n"  # the first after ten seconds


@pytest.mark.parametrize(
    ("done", "total", "seconds", "line"),
    [
        (0, 12, 0.0, "learning: 0 of 12"),
        (0, None, 0.0, "learning: 0"),
        (1_500, None, 9.0, "learning: 1,500"),
        (3, 12, 10.0, "learning: 3 of 12, 30 s left"),
        (3, 12, 60.0, "learning: 3 of 12, 3 min left"),
    ],
)
def test_what_is_left_follows_from_what_was_done(done: int, total: int | None, seconds: float, line: str) -> None:
    assert progress_line("learning", done, total, seconds) == line


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
