"""The token/text boundary as its user runs it: what is printed and kept, and what is refused.

The worked example. o200k_base splits 'Final: 323' into 'Final', ':', ' ', '323', and 'Final: 0323' into 'Final', ':',
' ', '032', '3': a policy chooses other tokens from the fourth on, and the verifier's reward falls from 1 to 0.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest
from conftest import ROOT, Done, Lab, lines_of
from reporting import columns

from course.token_inspect import TEXTS, unescape

BOTH = ["o200k_base", "mistral_v3"]
VERDICTS = [
    ("Final: 323", "ok"),
    ("Final:  323", "extra_whitespace"),
    ("Final: 0323", "leading_zeros"),
    ("Final:\n323", "not_single_line"),
    ("Final:323", "missing_prefix"),
    ("Final:\u00a0323", "missing_prefix"),
]
TOKENS = {
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


def printed(lab: Lab, *arguments: object) -> str:
    done: Done = lab("token_inspect", *arguments)
    assert (done.status, done.err) == (0, "")
    return done.out


def rows_of(lab: Lab, name: str = "tokens.jsonl") -> list[Any]:
    return lines_of(lab.folder / "runs" / "run_001" / name)


def test_without_a_text_the_right_line_and_five_near_misses_are_shown(lab: Lab) -> None:
    assert list(TEXTS) == [text for text, _ in VERDICTS]
    out = printed(lab)
    assert "1   'Final: 323'                            1.0   ok\n" in out
    assert "3   'Final: 0323'                           0.0   leading_zeros\n" in out
    first = out.index("tokens in o200k_base, of GPT-4o")
    second = out.index("tokens in mistral_v3, of Mistral NeMo")
    assert "3   5   'Final' ':' ' ' '032' '3'\n        15519 25 220 36733 18\n" in out[first:second]
    assert "3   7   'Final' ':' ' ' '0' '3' '2' '3'\n" in out[second:]
    assert re.search("\nrun: runs/run_001\ndigest: [0-9a-f]{64}\nread: runs/run_001/tokens.jsonl\npage: ", out)


def test_the_run_holds_every_token_and_the_verdict_on_each_text(lab: Lab) -> None:
    printed(lab, "--change", "nothing yet")
    run = lab.folder / "runs" / "run_001"
    assert sorted(path.name for path in run.iterdir()) == [
        "README.md", "environment.json", "manifest.json", "results.jsonl", "summary.json", "tokens.jsonl",
    ]  # fmt: skip
    results = rows_of(lab, "results.jsonl")
    assert [(row["completion"], row["details"]["outcome"], row["reward"]) for row in results] == [
        (text, outcome, float(outcome == "ok")) for text, outcome in VERDICTS
    ]
    rows = rows_of(lab)
    expected = []
    for vocabulary in BOTH:
        for number, tokens in enumerate(TOKENS[vocabulary], 1):
            token_bytes = [token.encode().hex() for token in tokens]
            expected.append((f"text-{number}", vocabulary, list(tokens), token_bytes))
    assert [(row["id"], row["vocabulary"], row["token_texts"], row["token_bytes"]) for row in rows] == expected
    assert rows[7]["token_ids"][1:] == [1000 + ord(char) for char in ":  323"]  # Tekken: bytes after 1,000 specials
    assert json.loads((run / "summary.json").read_text()) == {"rewards": [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]}
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["loop"], manifest["command"], manifest["change"]) == ("C", "course.token_inspect", "nothing yet")
    assert manifest["settings"] == {"texts": 6, "vocabularies": BOTH}
    assert manifest["outputs"] == {
        name: hashlib.sha256((run / name).read_bytes()).hexdigest()
        for name in ("tokens.jsonl", "results.jsonl", "summary.json")
    }
    assert lab("inspect_run", "--run", run, "--verify").status == 0


def test_the_same_texts_give_the_same_bytes(lab: Lab) -> None:
    for outdir in ("one", "two"):
        printed(lab, "Final: 323", "Final: 7", "--outdir", outdir)
    for name in ("tokens.jsonl", "results.jsonl", "summary.json", "manifest.json"):
        assert (lab.folder / "one" / name).read_bytes() == (lab.folder / "two" / name).read_bytes()


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (r"\n\tFinal: 323 \n", "ok"),
        ("Final: 324", "wrong_answer"),
        (r"Final: \u0663\u0662\u0663", "not_ascii"),
        (r"Final: 323\u200b", "not_ascii"),
        ("Final: 32 3", "extra_whitespace"),
        ("Final: +323", "plus_sign"),
        ("Final: 3,23", "not_an_integer"),
        ("", "empty"),
    ],
)
def test_the_verdict_is_that_of_the_text_whatever_the_tokens(lab: Lab, text: str, outcome: str) -> None:
    out = printed(lab, text)
    (row,) = rows_of(lab, "results.jsonl")
    assert (row["details"]["outcome"], row["reward"]) == (outcome, float(outcome == "ok"))
    assert [line.split()[-1] for line in out.split("\n") if line.startswith("1   '")] == [outcome]


def test_an_empty_text_has_no_tokens(lab: Lab) -> None:
    out = printed(lab, "", "Final: 323")
    assert "\n1   0\n" in out
    assert "\n2   4   'Final' ':' ' ' '323'\n" in out
    assert [(row["token_ids"], row["token_bytes"]) for row in rows_of(lab)[::2]] == [([], []), ([], [])]


def test_of_a_long_text_forty_tokens_are_shown_and_all_are_in_the_run(lab: Lab) -> None:
    text = "a,b " * 25_000  # 100 kB
    out = printed(lab, text)
    row = rows_of(lab)[0]
    assert b"".join(map(bytes.fromhex, row["token_bytes"])).decode() == text
    assert len(row["token_ids"]) > 50_000
    assert f"and {len(row['token_ids']) - 40:,} more" in " ".join(out.split())
    assert len(out) < 5_000


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
    out = printed(lab, *HOSTILE[:-2], r"\u0000\u007f", HOSTILE[-1])
    assert [row["completion"] for row in rows_of(lab, "results.jsonl")] == HOSTILE
    assert {char for char in out if not char.isprintable()} == {"\n"}
    assert not set("\u3164\U000e0041") & set(out)
    words = " ".join(out.split())
    assert "<U+001B ESCAPE>" in words
    assert "<U+202E RIGHT-TO-LEFT OVERRIDE>" in words
    assert "[bold red]x[/] :smile:" in words
    page = (lab.folder / "runs" / "run_001" / "README.md").read_text(encoding="utf-8")
    assert {char for char in page if not char.isprintable()} == {"\n"}


@pytest.mark.parametrize(
    "text",
    ["漢字かな" * 40, "😀é−" * 40, "x" * 3_000, " " * 500, "\u202e" * 90, "e\u0301\u0302" * 90, "3" * 200, r"\n" * 300],
    ids=range(8),
)
def test_every_line_fits_a_terminal(lab: Lab, text: str) -> None:
    for arguments in ([text], ["Final: 323", text], [text, "Final: 323"]):
        assert max(map(columns, printed(lab, *arguments).split("\n"))) <= 80


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
        (r"\ud83d\ude00", "😀"),
        ('say "323"', 'say "323"'),
        (r'\\"', '\\"'),
        ("", ""),
        ("😀", "😀"),
    ],
)
def test_escapes_written_out_become_their_characters(written: str, meant: str) -> None:
    assert unescape(written, 1) == meant


WANTED = "expected after each backslash n, t, uXXXX or a second backslash, got"


@pytest.mark.parametrize(
    ("texts", "complaint"),
    [
        ([r"a\qb"], rf"TEXT 1: {WANTED} a\qb"),
        ([r"a", r"\\\x41"], rf"TEXT 2: {WANTED} \\\x41"),
        (["end\\"], f"TEXT 1: {WANTED} end\\"),
        ([r"a\"b"], rf"TEXT 1: {WANTED} a\"b"),
        ([r"\u12"], rf"TEXT 1: {WANTED} \u12"),
        ([r"\u12g4"], rf"TEXT 1: {WANTED} \u12g4"),
        ([r"\u١٢٣٤"], rf"TEXT 1: {WANTED} \u١٢٣٤"),
        ([r"\N"], rf"TEXT 1: {WANTED} \N"),
        (["\\\x1b"], rf"TEXT 1: {WANTED} \<U+001B ESCAPE>"),
        ([r"x\ud800"], r"TEXT 1: expected whole characters in UTF-8, got x\ud800"),
        (
            [r"\nab" + "\udcff"],
            r"TEXT 1: expected whole characters in UTF-8, got \nab<U+DCFF unnamed, category Cs>",
        ),
    ],
)
def test_what_cannot_be_decoded_is_refused(lab: Lab, texts: list[str], complaint: str) -> None:
    assert lab.refused("token_inspect", *texts) == f"error: {complaint}\n"


@pytest.mark.skipif(os.name != "posix", reason="needs arguments that are bytes")
def test_bytes_on_the_command_line_that_are_no_text_are_refused(lab: Lab) -> None:
    done = lab.process("token_inspect", os.fsdecode(b"Final: \xff"), env={"PYTHONUTF8": "1"})
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: TEXT 1: expected whole characters in UTF-8, got Final: <U+DCFF")
    assert done.err.count("\n") == 1
    assert not list(lab.folder.iterdir())


@pytest.mark.parametrize("option", ["--json", "--vocabulary"])
def test_an_option_that_is_not_there_is_refused(lab: Lab, option: str) -> None:
    assert lab.refused("token_inspect", option, "323").startswith(f"error: unrecognized arguments: {option}")


def test_a_run_that_exists_is_not_overwritten(lab: Lab) -> None:
    printed(lab, "Final: 323", "--outdir", "run")
    assert "run: expected a new folder" in lab.refused("token_inspect", "Final: 323", "--outdir", "run")


def test_help_loads_nothing_heavy() -> None:
    script = (
        "import sys\nsys.argv = ['token_inspect', '--help']\nfrom course.token_inspect import main\n"
        "try:\n    main()\nexcept SystemExit as done:\n    assert done.code == 0\n"
        "print(sorted({'splintr', 'rich', 'numpy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.endswith("\n[]\n")
    assert done.stdout.startswith("usage: python3 -m course.token_inspect [-h] [--version] [--outdir OUTDIR]")
