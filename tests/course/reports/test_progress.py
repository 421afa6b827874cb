"""A bar for a person who waits, and nobody else.

An example: work of one second shows no bar; in a pipe there is none however long it takes.
"""

import io
import sys

import pytest

from course.reports import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, patience: float) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", patience)
    assert list(progress.with_progress(iter("abc"), "scoring [bold]", 3)) == ["a", "b", "c"]
    return stream.getvalue()


def test_a_person_at_a_terminal_sees_how_far_long_work_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    text = shown(monkeypatch, Terminal(), patience=-1)
    assert "scoring [bold]" in text
    assert "/3" in text


def test_the_last_item_is_told_beside_the_bar_without_its_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(sys, "stderr", stream := Terminal())
    monkeypatch.setattr(progress, "_PATIENCE_SECONDS", -1)
    monkeypatch.setattr(progress, "_EVERY_SECONDS", -1)
    assert list(progress.with_progress(iter("abc"), "learning", 3, tell=lambda item: f"[bold]{item}")) == [
        "a",
        "b",
        "c",
    ]
    assert "[bold]c" in stream.getvalue()


def test_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert shown(monkeypatch, Terminal(), patience=60) == ""


def test_a_pipe_gets_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert shown(monkeypatch, io.StringIO(), patience=-1) == ""


def test_ci_gets_nothing_even_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    assert shown(monkeypatch, Terminal(), patience=-1) == ""
