"""Text on its way to a terminal. ``tests/test_terminal.py`` sees what arrives there.

An example: on 40 columns "the policy of the baseline was trained on 7" is folded after "trained", and the rest
stands two columns in. In a pipe it is one line.

Another: three items are worked through at a terminal, each in a second. The line says 1 of 3 and that the other two
will take 2 s, and is gone when the work is done; in a pipe there is none however long it takes.
"""

import io
import sys

import pytest

from course.show.terminal import colour_verdicts, fold_lines, progress_line, show, show_each, with_progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("text", "columns", "expected"),
    [
        ("the policy of the baseline was trained on 7", 40, "the policy of the baseline was trained\n  on 7"),
        ("short\n\n  and indented words", 16, "short\n\n  and indented\n    words"),
        ("── not a rule", 8, "── not a\n  rule"),
        ("─" * 12, 8, "─" * 8),
        ("digest: 0123456789abcdef", 12, "digest:\n  0123456789abcdef"),  # one word stays one
        ("name   12.5 %   ok", 12, "name   12.5\n  %   ok"),
        ("as wide as it", 13, "as wide as it"),
        ("", 10, ""),
    ],
)  # fmt: skip
def test_lines_are_folded_at_spaces(text: str, columns: int, expected: str) -> None:
    assert fold_lines(text, columns) == expected


def test_verdicts_and_checks_are_coloured_where_they_stand_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for word, colour, text in (
        ("PROMOTE", 32, "PROMOTE: because"),
        ("REJECT", 31, "REJECT: because"),
        ("INCONCLUSIVE", 33, "INCONCLUSIVE: because"),
        ("ok", 32, "ok   split   dev"),
        ("NO", 31, "NO   split   dev"),
        ("  passed", 32, "  passed      prefix"),
        ("  failed", 31, "  failed      value"),
        ("NOT verified", 31, "runs/a: NOT verified"),
        ("FAILED", 31, "FAILED: golden case"),
    ):
        assert colour_verdicts(f"one\n{text}\ntwo") == f"one\n{text}\ntwo".replace(
            word, f"\x1b[1;{colour}m{word}\x1b[0m"
        )
    for text in ("    0  PROMOTE: me", "completion  REJECT: it", "PROMOTED", "passed 3 of 4", "not reached prefix"):
        assert colour_verdicts(text) == text
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert colour_verdicts("REJECT: x") == "REJECT: x"


def test_an_aside_is_shown_once_and_is_no_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_each(["heading", "row", "row"], "by the way") == ["heading", "row", "row"]
    assert capsys.readouterr().out == "heading\nby the way\nrow\nrow\n"
    assert show_each(iter(["heading"])) == ["heading"]
    assert capsys.readouterr().out == "heading\n"


def test_a_pipe_gets_plain_whole_lines_and_the_progress_line_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "12")
    monkeypatch.delenv("NO_COLOR", raising=False)
    said, pipe, terminal, bar = "REJECT: because of it", io.StringIO(), Terminal(), Terminal()
    for out, err in ((pipe, bar), (terminal, io.StringIO())):
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        show(said)
    assert pipe.getvalue() == f"{said}\n"
    assert bar.getvalue() == f"\r{' ' * 11}\r"
    assert terminal.getvalue() == "\x1b[1;31mREJECT\x1b[0m:\n  because of\n  it\n"


def printed(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "40")
    clock = iter(range(0, 100, 4))  # four seconds from one look at it to the next
    monkeypatch.setattr("course.show.terminal.monotonic", lambda: next(clock))
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
