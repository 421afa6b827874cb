"""Text on its way to a terminal. ``tests/test_terminal.py`` sees what arrives there.

An example: on 40 columns "the policy of the baseline was trained on 7" is folded after "trained", and the rest
stands two columns in. In a pipe it is one line.
"""

import io
import sys

import pytest

from course.reports.terminal import coloured, folded, show, show_each


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
    assert folded(text, columns) == expected


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
        assert coloured(f"one\n{text}\ntwo") == f"one\n{text}\ntwo".replace(word, f"\x1b[1;{colour}m{word}\x1b[0m")
    for text in ("    0  PROMOTE: me", "completion  REJECT: it", "PROMOTED", "passed 3 of 4", "not reached prefix"):
        assert coloured(text) == text
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert coloured("REJECT: x") == "REJECT: x"


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
