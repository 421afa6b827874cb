"""The token/text boundary: what is printed and kept, against cuts and verdicts worked by hand."""

import hashlib
import json
import os
import subprocess
import sys
import unicodedata
from typing import Any

import pytest
from conftest import ROOT, Done, Lab, lines_of
from hypothesis import given
from hypothesis import strategies as st

from course.artifacts.learning import Inspected
from course.reports.token_text import blocks, closing, cut_apart, difference, piece_text, quoted, verdicts
from course.token_inspect import TEXTS, unescaped

BOTH = ["o200k_base", "mistral_v3"]
VERDICTS = [
    ("Final: 323", "ok"),
    ("Final:  323", "extra_whitespace"),
    ("Final: 0323", "leading_zeros"),
    ("Final:\n323", "not_single_line"),
    ("Final:323", "missing_prefix"),
    ("Final:\u00a0323", "missing_prefix"),
]
PIECES = {
    "o200k_base": [
        ["Final", ":", " ", "323"],
        ["Final", ":", " ", " ", "323"],
        ["Final", ":", " ", "032", "3"],
        ["Final", ":\n", "323"],
        ["Final", ":", "323"],
        ["Final", ":", "\u00a0", "323"],
    ],
    "mistral_v3": [
        ["Final", ":", " ", "3", "2", "3"],
        ["Final", ":", " ", " ", "3", "2", "3"],
        ["Final", ":", " ", "0", "3", "2", "3"],
        ["Final", ":\n", "3", "2", "3"],
        ["Final", ":", "3", "2", "3"],
        ["Final", ":", "\u00a0", "3", "2", "3"],
    ],
}
# A single byte's id: the printable ones from ! on are the first of o200k_base, and Tekken's come after 1,000 specials.
DEFAULT_O200K = """\
The policy chooses tokens. Vocabulary: o200k_base, of GPT-4o
^ marks what differs from string 1.

1: 4 tokens
   'Final'  ':'  ' '  '323'
   15519    25   220  29173

2: 5 tokens; token 4 is added
   'Final'  ':'  ' '  ' '  '323'
   15519    25   220  220  29173
                      ^^^

3: 5 tokens; tokens 4 to 5 instead of '323'
   'Final'  ':'  ' '  '032'  '3'
   15519    25   220  36733  18
                      ^^^^^  ^^^

4: 3 tokens; token 2 instead of ':' ' '
   'Final'  ':<U+000A LINE FEED>'  '323'
   15519    734                    29173
            ^^^^^^^^^^^^^^^^^^^^^

5: 3 tokens; ' ' of 1 is missing after token 2
   'Final'  ':'     '323'
   15519    25      29173
                 ^

6: 4 tokens; token 3 instead of ' '
   'Final'  ':'  '<U+00A0 NO-BREAK SPACE>'  '323'
   15519    25   5310                       29173
                 ^^^^^^^^^^^^^^^^^^^^^^^^^
"""
DEFAULT_VERDICTS = """\
The verifier reads text. It pays for Final: 323

    text                                 reward   outcome
──────────────────────────────────────────────────────────────────
1   'Final: 323'                            1.0   ok
2   'Final:  323'                           0.0   extra_whitespace
3   'Final: 0323'                           0.0   leading_zeros
4   'Final:<U+000A LINE FEED>323'           0.0   not_single_line
5   'Final:323'                             0.0   missing_prefix
6   'Final:<U+00A0 NO-BREAK SPACE>323'      0.0   missing_prefix
"""


def worked(lab: Lab, *arguments: object) -> str:
    done: Done = lab("token_inspect", *arguments)
    assert (done.status, done.err) == (0, "")
    return done.out


def rows_of(lab: Lab, run: str = "runs/run_001") -> list[Any]:
    return lines_of(lab.folder / run / "tokens.jsonl")


def row(pieces: list[bytes], vocabulary: str = "o200k_base") -> Inspected:
    """A string of these pieces. Equal pieces have equal ids."""
    return Inspected(
        text=b"".join(pieces).decode("utf-8", "replace"),
        vocabulary=vocabulary,
        ids=[int.from_bytes(hashlib.sha256(piece).digest()[:2], "big") for piece in pieces],
        pieces=[piece.hex() for piece in pieces],
        reward=0.0,
        outcome="missing_prefix",
    )


def columns(line: str) -> int:
    """How wide a terminal prints a line, by the Unicode database."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    return len(line) + wide - sum(unicodedata.category(char) in ("Mn", "Me") for char in line)


def test_without_a_text_the_right_line_and_five_near_misses_are_shown(lab: Lab) -> None:
    out = worked(lab)
    assert DEFAULT_VERDICTS in out
    assert DEFAULT_O200K in out
    second = out.split("Vocabulary: mistral_v3, of Mistral NeMo\n")[1]
    assert "1: 6 tokens\n   'Final'  ':'   ' '   '3'   '2'   '3'\n" in second
    assert "3: 7 tokens; token 4 is added\n   'Final'  ':'   ' '   '0'   '3'   '2'   '3'\n" in second
    assert out.index("o200k_base, of") < out.index("mistral_v3, of")
    assert "'323' is 1 token in o200k_base and 3 in mistral_v3.\n" in second
    assert out.endswith("run: runs/run_001\nread: runs/run_001/tokens.jsonl\n")


def test_the_run_holds_every_token_and_what_the_verifier_said(lab: Lab) -> None:
    worked(lab, "--change", "nothing yet")
    run = lab.folder / "runs" / "run_001"
    assert sorted(path.name for path in run.iterdir()) == [
        "README.md", "environment.json", "manifest.json", "summary.json", "tokens.jsonl",
    ]  # fmt: skip
    expected = [
        (text, vocabulary, [piece.encode().hex() for piece in pieces], 1.0 if outcome == "ok" else 0.0, outcome)
        for vocabulary in BOTH
        for (text, outcome), pieces in zip(VERDICTS, PIECES[vocabulary], strict=True)
    ]
    rows = rows_of(lab)
    assert [
        tuple(row[key] for key in ("text", "vocabulary", "pieces", "reward", "outcome")) for row in rows
    ] == expected
    assert rows[7]["ids"][1:] == [1000 + ord(char) for char in ":  323"]
    assert all(len(row["ids"]) == len(row["pieces"]) for row in rows)
    assert json.loads((run / "summary.json").read_text()) == {
        "strings": 6,
        "tokens": {"o200k_base": [4, 5, 5, 3, 3, 4], "mistral_v3": [6, 7, 7, 5, 5, 6]},
        "rewards": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    }
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["loop"], manifest["command"], manifest["change"]) == ("C", "course.token_inspect", "nothing yet")
    assert manifest["settings"] == {"strings": 6, "expected": 323, "vocabularies": BOTH}
    assert manifest["outputs"] == {
        name: hashlib.sha256((run / name).read_bytes()).hexdigest() for name in ("tokens.jsonl", "summary.json")
    }


def test_the_same_strings_give_the_same_bytes(lab: Lab) -> None:
    for outdir in ("one", "two"):
        worked(lab, "Final: 323", "Final: 7", "--outdir", outdir)
    for name in ("tokens.jsonl", "summary.json", "manifest.json"):
        assert (lab.folder / "one" / name).read_bytes() == (lab.folder / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("text", "expected", "outcome"),
    [
        ("Final: 323", 323, "ok"),
        (r"\n\tFinal: 323 \n", 323, "ok"),
        ("Final: 323", 324, "wrong_answer"),
        ("Final: -7", -7, "ok"),
        ("Final: 0", 0, "ok"),
        (r"Final: \u0663\u0662\u0663", 323, "non_ascii_digits"),
        (r"Final: 323\u200b", 323, "extra_whitespace"),
        ("Final: -0", 0, "negative_zero"),
        ("Final: +323", 323, "plus_sign"),
        ("Final: 3,23", 323, "not_an_integer"),
        ("", 323, "empty"),
    ],
)
def test_the_verdict_is_that_of_the_text_whatever_the_tokens(lab: Lab, text: str, expected: int, outcome: str) -> None:
    out = worked(lab, text, "--expected", expected)
    found = rows_of(lab)
    assert [row["outcome"] for row in found] == [outcome, outcome]
    assert [row["reward"] for row in found] == [float(outcome == "ok")] * 2
    assert f"It pays for Final: {expected}\n" in out
    assert [line.split()[-1] for line in out.split("\n") if line.startswith("1   '")] == [outcome]


def test_one_vocabulary_alone_is_compared_with_none(lab: Lab) -> None:
    out = worked(lab, "Final: 323", "--vocabulary", "mistral_v3")
    assert "o200k_base" not in out
    assert "\n^ marks" not in out  # one string differs from nothing
    assert "\nString 1 is 6 tokens in mistral_v3: as many choices, and one reward.\n" in out
    assert [row["vocabulary"] for row in rows_of(lab)] == ["mistral_v3"]


def test_strings_that_both_vocabularies_cut_alike_are_said_to_be(lab: Lab) -> None:
    out = worked(lab, "Final: -7", "Final: -7")
    assert "\n2: 4 tokens; the same as 1\n" in out
    assert "   ^" not in out
    assert "\no200k_base and mistral_v3 cut these strings alike, as it happens.\n" in out


def test_an_empty_text_has_no_tokens(lab: Lab) -> None:
    out = worked(lab, "", "Final: 323")
    assert "\n1: 0 tokens\n\n2: 4 tokens; tokens 1 to 4 are added\n" in out
    assert [(row["ids"], row["pieces"]) for row in rows_of(lab)[::2]] == [([], []), ([], [])]


def test_of_a_long_text_forty_tokens_are_shown_and_all_are_kept(lab: Lab) -> None:
    text = "a,b " * 25_000  # 100 kB
    out = worked(lab, text, "Final: 323", "--vocabulary", "o200k_base")
    kept = rows_of(lab)[0]
    assert b"".join(map(bytes.fromhex, kept["pieces"])).decode() == text
    first = out.split("\n\n1: ")[1].split("\n\n")[0]
    assert first.startswith(f"{len(kept['ids']):,} tokens\n")
    assert first.endswith(f"\n   and {len(kept['ids']) - 40:,} more tokens")
    assert len(kept["ids"]) > 50_000
    shown = [word for line in first.split("\n")[2:-1:2] for word in line.split()]
    assert shown == [str(id_) for id_ in kept["ids"][:40]]
    assert len(out) < 5_000


def test_forty_tokens_are_shown_whole_and_the_forty_first_is_counted() -> None:
    forty, one_more = row([b"a"] * 40), row([b"a"] * 41)
    assert "more token" not in blocks([forty], "a model")
    assert blocks([one_more], "a model").endswith("\n   and 1 more token")


HOSTILE = [
    "\x1b[2J\x1b]0;owned\x07",
    "\x9b31m",
    "Final: \u202e323\u2066",
    "one\r\ntwo\x0b\x0c\x85\u2028three",
    "\u200b\ufeff\u3164\U000e0041",
    "[bold red]x[/] :smile:",
    "\0\x7f",
    "\ue000\U0010ffff",
]


def test_hostile_text_is_shown_and_never_obeyed(lab: Lab) -> None:
    out = worked(lab, *HOSTILE[:-2], r"\u0000\u007f", HOSTILE[-1])
    assert [row["text"] for row in rows_of(lab)] == HOSTILE * 2
    assert {char for char in out if not char.isprintable()} == {"\n"}
    assert not set("\u3164\U000e0041") & set(out)
    assert "<U+001B ESCAPE>" in out
    assert "<U+202E RIGHT-TO-LEFT OVERRIDE>" in out
    assert "[bold red]x[/] :smile:" in out
    page = (lab.folder / "runs" / "run_001" / "README.md").read_text(encoding="utf-8")
    assert {char for char in page if not char.isprintable()} == {"\n"}


@pytest.mark.parametrize(
    "text",
    [
        "漢字かな" * 40,
        "😀é−" * 40,
        "x" * 3_000,
        " " * 500,
        "\u202e" * 90,
        "e\u0301\u0302" * 90,
        "3" * 200,
        r"\n" * 300,
        "ب" * 90,
    ],
    ids=range(9),
)
def test_every_line_fits_a_terminal(lab: Lab, text: str) -> None:
    for arguments in ([text], ["Final: 323", text], [text, "Final: 323"]):
        out = worked(lab, *arguments, "--expected", "9" * 1000)
        assert max(map(columns, out.split("\n"))) <= 80


BITS = [
    b"Final:",
    b" ",
    b"323",
    b"\n",
    b"\x1b",
    b"\xe2\x80",
    b"\xff",
    "漢".encode(),
    "😀".encode(),
    "é".encode(),
    b"x" * 35,
]
PIECE = st.lists(st.sampled_from(BITS), min_size=1, max_size=4).map(b"".join)


@given(texts=st.lists(st.lists(PIECE, max_size=50), min_size=1, max_size=3))
def test_every_line_fits_a_terminal_whatever_the_bytes(texts: list[list[bytes]]) -> None:
    rows = [row(pieces) for pieces in texts]
    out = "\n".join([verdicts(rows, "323"), blocks(rows, "a model"), closing({"o200k_base": rows})])
    assert max(map(columns, out.split("\n"))) <= 80
    assert {char for char in out if not char.isprintable()} <= {"\n"}


@pytest.mark.parametrize(
    ("piece", "shown"),
    [
        (b"Final", "Final"),
        (b"", ""),
        (b" \n", " <U+000A LINE FEED>"),
        ("漢é−".encode(), "漢é−"),
        (b"\xe2\x80", "<E2 80>"),
        (b"\xe2\x80a\xff", "<E2 80>a<FF>"),
        (b"\xc2\xa0\xc2", "<U+00A0 NO-BREAK SPACE><C2>"),
        (b"\xed\xa0\x80", "<ED A0 80>"),  # a surrogate written as if it were a character
        (b"\x1b[0m", "<U+001B ESCAPE>[0m"),
    ],
)
def test_a_piece_is_shown_as_text_and_its_broken_characters_as_bytes(piece: bytes, shown: str) -> None:
    assert piece_text(piece) == shown


@pytest.mark.parametrize(
    ("piece", "width", "shown"),
    [
        ("x" * 8, 10, "'xxxxxxxx'"),
        ("x" * 9, 10, "'xxxxxxxx…"),
        ("漢漢漢漢", 10, "'漢漢漢漢'"),
        ("漢漢漢漢漢", 10, "'漢漢漢漢…"),
        ("x漢漢漢漢", 10, "'x漢漢漢 …"),  # half a character does not fit
        ("\u0301" * 4, 10, "'\u0301\u0301\u0301\u0301'"),
        ("x" * 9 + "\u0301" * 500, 10, "'xxxxxxxx…"),
        ("\u0301" * 500, 10, "'" + "\u0301" * 39 + "…"),
    ],
    ids=range(8),
)
def test_a_piece_that_goes_on_is_cut_at_a_character_and_says_so(piece: str, width: int, shown: str) -> None:
    assert quoted(piece.encode(), width) == shown


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("Final: 323", "Final: 323"),
        (r"Final:\n323", "Final:\n323"),
        ("Final:\n323", "Final:\n323"),
        (r"\tx\t", "\tx\t"),
        (r"\u00a0\u00A0\u202E", "\u00a0\u00a0\u202e"),
        (r"\u00410", "A0"),
        (r"\\", "\\"),
        (r"\\n", r"\n"),
        (r"\\\n", "\\\n"),
        (r"\\u00a0", r"\u00a0"),
        ("", ""),
        ("😀", "😀"),
    ],
)
def test_escapes_written_out_become_their_characters(written: str, meant: str) -> None:
    assert unescaped(written, 1) == meant


WANTED = r"expected \n, \t, \uXXXX or \\ (a backslash itself), got"


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        ([r"a\qb"], rf"TEXT 1, character 2: {WANTED} \q"),
        ([r"a", r"\\\x41"], rf"TEXT 2, character 3: {WANTED} \x"),
        (["end\\"], f"TEXT 1, character 4: {WANTED} \\"),
        ([r"\u12"], rf"TEXT 1, character 1: {WANTED} \u"),
        ([r"\u12g4"], rf"TEXT 1, character 1: {WANTED} \u"),
        ([r"\u١٢٣٤"], rf"TEXT 1, character 1: {WANTED} \u"),
        ([r"\N"], rf"TEXT 1, character 1: {WANTED} \N"),
        (["\\\x1b"], rf"TEXT 1, character 1: {WANTED} \<U+001B ESCAPE>"),
        (
            [r"x\ud800"],
            r"TEXT 1, character 2: expected a character, got \ud800, half of one; write the character itself",
        ),
        (
            [r"\nab" + "\udcff"],
            "TEXT 1, character 5: expected text, got U+DCFF unnamed, category Cs: a byte that is not UTF-8, "
            "or half a character",
        ),
    ],
)
def test_what_cannot_be_decoded_is_refused_with_its_place(lab: Lab, texts: list[str], complaint: str) -> None:
    assert lab.refused("token_inspect", *texts) == f"error: {complaint}\n"


@pytest.mark.skipif(os.name != "posix", reason="needs arguments that are bytes")
def test_bytes_on_the_command_line_that_are_no_text_are_refused(lab: Lab) -> None:
    done = lab.process("token_inspect", os.fsdecode(b"Final: \xff"), env={"PYTHONUTF8": "1"})
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: TEXT 1, character 8: expected text, got U+DCFF")
    assert done.err.count("\n") == 1
    assert not list(lab.folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--expected", "0323"],
            "argument --expected: expected an integer of at most 1,000 digits, such as -7, got 0323",
        ),
        (["--expected", "-0"], "argument --expected: expected an integer of at most 1,000 digits, such as -7, got -0"),
        (["--expected", "3.0"], "argument --expected: expected an integer"),
        (["--expected", "٣"], "argument --expected: expected an integer"),
        (["--expected", "3\n"], "argument --expected: expected an integer"),
        (["--expected", "1" * 1001], "argument --expected: expected an integer"),
        (["--vocabulary", "cl100k_base"], "argument --vocabulary: invalid choice: 'cl100k_base'"),
        (["--vocabularies", "o200k_base"], "unrecognized arguments: --vocabularies"),
    ],
    ids=lambda value: value[-1][:12] if isinstance(value, list) else "",
)
def test_wrong_arguments_are_refused(lab: Lab, arguments: list[str], complaint: str) -> None:
    assert lab.refused("token_inspect", *arguments).startswith(f"error: {complaint}")


def test_a_run_that_exists_is_not_overwritten(lab: Lab) -> None:
    worked(lab, "Final: 323", "--outdir", "run")
    assert "run: expected a new folder" in lab.refused("token_inspect", "Final: 323", "--outdir", "run")


@pytest.mark.parametrize(
    ("first", "other", "expected"),
    [
        ("abc", "abc", (3, 3, 3)),
        ("", "", (0, 0, 0)),
        ("abc", "abxc", (2, 2, 3)),
        ("abc", "ac", (1, 2, 1)),
        ("abc", "axyc", (1, 2, 3)),
        ("aaa", "aa", (2, 3, 2)),
        ("aa", "aaaa", (2, 2, 4)),
        ("abcde", "axcye", (1, 4, 4)),  # the c in between agrees, the stretch goes over it
        ("", "ab", (0, 0, 2)),
        ("ab", "", (0, 2, 0)),
        ("ab", "cd", (0, 2, 2)),
    ],
)
def test_a_difference_is_one_stretch_in_both(first: str, other: str, expected: tuple[int, int, int]) -> None:
    assert difference([ord(char) for char in first], [ord(char) for char in other]) == expected


SHORT = st.lists(st.integers(0, 2), max_size=8)


@given(first=SHORT, other=SHORT)
def test_a_difference_put_back_gives_the_other_string(first: list[int], other: list[int]) -> None:
    start, first_stop, stop = difference(first, other)
    assert first[:start] + other[start:stop] + first[first_stop:] == other
    assert start <= first_stop
    if start < min(first_stop, stop):  # nothing more could be left out at either end
        assert first[start] != other[start]
        assert first[first_stop - 1] != other[stop - 1]


def test_each_kind_of_difference_has_its_words() -> None:
    first = [b"a", b"b", b"c"]
    others = [
        [b"a", b"b"],
        [b"c"],
        [b"x", b"y", b"a", b"b", b"c"],
        [b"a", b"x", b"c"],
        [b"\xe2\x80"],
        [b"a", b"b", b"c"],
    ]
    found = blocks([row(pieces) for pieces in [first, *others]], "a model")
    heads = [line for line in found.split("\n") if line[:1].isdigit()]
    assert heads == [
        "1: 3 tokens",
        "2: 2 tokens; 'c' of 1 is missing after token 2",
        "3: 1 token; 'a' 'b' of 1 are missing at the start",
        "4: 5 tokens; tokens 1 to 2 are added",
        "5: 3 tokens; token 2 instead of 'b'",
        "6: 1 token; token 1 instead of 'a' 'b' 'c'",
        "7: 3 tokens; the same as 1",
    ]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (["abc"], ["a", "bc"], ("abc", 1, 2)),
        (["x", "ab", "c"], ["x", "a", "bc"], ("abc", 2, 2)),
        (["x", "y", "323", "z"], ["x", "y", "3", "2", "3", "z"], ("323", 1, 3)),
        (["a", "b", "c"], ["a", "bc"], ("bc", 2, 1)),
        (["a", "b"], ["a", "b"], None),
        ([], [], None),
    ],
)
def test_the_first_stretch_cut_apart_runs_between_shared_boundaries(
    one: list[str], other: list[str], expected: tuple[str, int, int] | None
) -> None:
    found = cut_apart([piece.encode() for piece in one], [piece.encode() for piece in other])
    assert found == (expected and (expected[0].encode(), *expected[1:]))


def test_the_closing_words_count_what_was_seen_and_not_what_is_known() -> None:
    alike, apart = row([b"a", b"b"]), row([b"a\xe2", b"\x80\x94"])
    others = [row([b"a", b"b"]), row([b"a", b"\xe2\x80", b"\x94"])]
    assert closing({"v": [alike, apart], "w": others}).split("\n")[0] == "'a—' is 2 tokens in v and 3 in w."
    assert closing({"v": [alike], "w": [alike]}).split("\n")[0] == "v and w cut these strings alike, as it happens."
    assert closing({"v": [row([b"x"])]}).split("\n")[0] == "String 1 is 1 token in v: as many choices, and one reward."


@pytest.mark.medium
def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nsys.argv = ['token_inspect', '--help']\nfrom course.token_inspect import main\n"
        "try:\n    main()\nexcept SystemExit as done:\n    assert done.code == 0\n"
        "print(sorted({'splintr', 'rich', 'numpy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
    assert done.stdout.startswith("usage: python -m course.token_inspect [-h] [--expected INT]")


def test_the_list_of_the_course_is_the_one_that_was_worked_by_hand() -> None:
    assert list(TEXTS) == [text for text, _ in VERDICTS]
