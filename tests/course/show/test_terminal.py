"""Text on its way to a terminal. ``tests/test_terminal.py`` sees what arrives there.

An example: on 40 columns "the policy of the baseline was trained on 7" is folded after "trained", and the rest
stands two columns in. In a pipe it is one line.

Another: three items are worked through at a terminal. A bar says 1/3 after the first, makes room for each row that is
shown, and is gone when the work is done; in a pipe there is none however long it takes.
"""

import io
import re
import sys

import pytest
from terminals import screen

from course.show.terminal import fold_lines, show, show_each, with_progress


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


def open_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Standard output and errors are one terminal of 80 columns that knows colours."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    for name in ("CI", "NO_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    return terminal


COLOURED = (
    ("PROMOTE", 32, "PROMOTE: because"),
    ("REJECT", 31, "REJECT: because"),
    ("INCONCLUSIVE", 33, "INCONCLUSIVE: because"),
    ("golden sets passed", 32, "golden sets passed, 95 cases"),
    ("ok", 32, "ok   split   dev"),
    ("NO", 31, "NO   split   dev"),
    ("  passed", 32, "  passed      prefix"),
    ("  failed", 31, "  failed      value"),
    ("whole", 32, "runs/a: whole. The run is in the log"),
    ("NOT verified", 31, "runs/a: NOT verified"),
    ("FAILED", 31, "FAILED: golden case"),
)
PLAIN = (
    "    0  PROMOTE: me",
    "completion  REJECT: it",
    "PROMOTED",
    "passed 3 of 4",
    "not reached prefix",
    "[red]'Final:  0'[/red] :smile: 12 \\[b]",
    "x" * 100,  # one word, such as a digest, stays one
)


def test_verdicts_and_checks_are_coloured_where_they_stand_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    for _, _, text in COLOURED:
        show(f"one\n{text}\ntwo")
    for text in PLAIN:
        show(text)
    expected = [
        f"one\n{text}\ntwo\n".replace(word, f"\x1b[1;{colour}m{word}\x1b[0m") for word, colour, text in COLOURED
    ]
    assert terminal.getvalue() == "".join(expected) + "\n".join(PLAIN) + "\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_person_can_have_no_colour(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    terminal = open_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    show("REJECT: x")
    assert screen(terminal.getvalue(), 80).lines == ["REJECT: x", ""]
    assert "31" not in terminal.getvalue()


def test_an_aside_is_shown_once_and_is_no_part(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_each(["heading", "row", "row"], "by the way") == ["heading", "row", "row"]
    assert capsys.readouterr().out == "heading\nby the way\nrow\nrow\n"
    assert show_each(iter(["heading"])) == ["heading"]
    assert capsys.readouterr().out == "heading\n"


def test_a_pipe_gets_plain_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "12")
    show("REJECT: because of it")
    assert terminal.getvalue() == "\x1b[1;31mREJECT\x1b[0m:\n  because of\n  it\n"
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdout", pipe)
    show("REJECT: because of it")
    assert pipe.getvalue() == "REJECT: because of it\n"


def test_a_bar_says_how_far_work_is_makes_room_for_what_is_shown_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    for done, item in enumerate(with_progress(iter("abc"), "scoring", 3)):
        show(f"row {item}")
        assert screen(terminal.getvalue(), 80).lines[-1].startswith(f"scoring {done}/3")
    assert screen(terminal.getvalue(), 80).lines == ["row a", "row b", "row c", ""]


def test_an_item_counts_for_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    assert list(with_progress(["abc", "de"], "scoring", 5, size=len)) == ["abc", "de"]
    assert "5/5" in re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue())


def test_the_cursor_can_be_seen_while_there_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed cannot show it again."""
    terminal = open_terminal(monkeypatch)
    for _ in with_progress("ab", "scoring", 2):
        show("row")
        assert terminal.getvalue().rfind("\x1b[?25h") > terminal.getvalue().rfind("\x1b[?25l") >= 0


@pytest.mark.parametrize(("name", "value"), [("CI", "true"), ("TERM", "dumb")])
def test_ci_and_a_dumb_terminal_get_no_bar(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    terminal = open_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    for item in with_progress("ab", "scoring", 2):
        show(item)
    assert terminal.getvalue() == "a\nb\n"


def test_a_pipe_gets_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    open_terminal(monkeypatch)
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    assert list(with_progress(iter("abc"), "scoring", 3)) == ["a", "b", "c"]
    assert pipe.getvalue() == ""


def test_an_error_in_the_work_is_passed_on_and_no_bar_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = open_terminal(monkeypatch)
    with pytest.raises(ZeroDivisionError):
        list(with_progress((1 // n for n in (1, 0)), "scoring", 2))
    show("after")
    assert screen(terminal.getvalue(), 80).lines == ["after", ""]
