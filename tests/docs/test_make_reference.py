"""The pages of reference that are taken from the code: they are what the code gives now, and nothing is left out.

An example: a field is added to ``Manifest``, and nobody says what it means. Then the page cannot be written, and the
test names the field. Were its meaning in a table beside the code only, the page would go on as if there were no such
field.
"""

import argparse
import os
import re
from fractions import Fraction

import pytest
from conftest import COMMANDS
from msgspec import Struct

from course import gate, stats
from docs.make_reference import REFERENCE, pages
from docs.taken_from_code import commands, markdown, reward_spec, runs, structs, summaries
from docs.taken_from_code import gate as gate_page
from docs.taken_from_code.metrics import metrics_page

PAGES = pages()
OF_RUNS = [name for name in PAGES if name.startswith("artifacts")]
no_windows = pytest.mark.skipif(os.name == "nt", reason="Windows asks for a right to make a link to data/")


def held(name: str) -> None:
    """``.venv/bin/python docs/make_reference.py`` writes it anew."""
    assert (REFERENCE / f"{name}.md").read_text(encoding="utf-8") == PAGES[name]()


@pytest.mark.medium
@pytest.mark.parametrize("name", [name for name in PAGES if name not in OF_RUNS])
def test_a_page_is_what_the_code_gives(name: str) -> None:
    held(name)


@no_windows
@pytest.mark.medium
def test_the_pages_of_artifacts_are_what_types_and_runs_give() -> None:
    for name in OF_RUNS:
        held(name)


# --- commands


@pytest.mark.medium
def test_every_command_stands_on_one_page_and_no_option_is_missing() -> None:
    texts = [(REFERENCE / f"{name}.md").read_text(encoding="utf-8") for name in commands.PAGES]
    headings = [one for text in texts for one in re.findall(r"^## `course\.(\w+)`$", text, re.MULTILINE)]
    assert sorted(headings) == sorted(COMMANDS)
    for command in commands.commands():
        (text,) = (text for text in texts if f"## `course.{command.name}`" in text)
        options = [option for action in command.parser._actions for option in action.option_strings]
        assert [option for option in options if f"`{option}" not in text] == []


def test_a_command_has_statuses_of_its_own_where_its_main_returns_one() -> None:
    from importlib import import_module

    mains = {name: import_module(f"course.{name}").main for name in COMMANDS}
    assert {name for name, main in mains.items() if commands.returns_status(main)} == {*commands.STATUSES}


@pytest.mark.parametrize(
    ("given", "option", "said"),
    [
        ({"help": "how many (default: 8)"}, "`--it IT`", ("how many", "8")),
        ({"help": "how many (default: 8), or so"}, "`--it IT`", ("how many, or so", "8")),
        ({"help": "what", "required": True}, "`--it IT`", ("what", "required")),
        ({"help": "what", "action": "store_true"}, "`--it`", ("what", "")),
        ({"help": "40 %% of it", "nargs": "+", "metavar": "N"}, "`--it N …`", ("40 % of it", "")),
        ({"help": "what", "choices": ["a", "b"], "default": "a"}, "`--it a or b`", ("what", "a")),
        ({"help": "what", "nargs": "?", "metavar": "K", "default": 0}, "`--it [K]`", ("what", "0")),
    ],
)
def test_an_option_is_spelled_as_it_is_typed(given: dict[str, object], option: str, said: tuple[str, str]) -> None:
    action = argparse.ArgumentParser().add_argument("--it", **given)  # type: ignore[arg-type]
    if given.get("default") == 0:
        action.default = "0"
    assert commands.spelled(action) == option
    assert commands.help_and_default(action) == said


def test_a_backslash_and_an_option_in_a_help_are_code() -> None:
    assert commands.escaped(r"\n stands for it; see --log") == "`\\n` stands for it; see `--log`"


# --- fields


class Sample(Struct):
    """Some numbers of one thing. ``first``, ``second``: what both are. It goes on. ``third``: of it."""

    first: int
    second: str | None  # None without one
    third: list[float]
    fourth: float


def test_what_the_source_says_of_a_field_is_found() -> None:
    assert structs.fields_of(Sample) == [
        ("first", "int", "what both are"),
        ("second", "str or null", "None without one; what both are"),
        ("third", "list[float]", "of it"),
        ("fourth", "float", ""),
    ]


def test_a_field_that_nobody_explains_is_an_error_and_so_is_a_meaning_without_a_field() -> None:
    with pytest.raises(KeyError, match=r"Sample\.fourth: nobody says what it means"):
        structs.fields_table(Sample, {})
    with pytest.raises(KeyError, match="Sample has no fifth"):
        structs.fields_table(Sample, {"Sample": {"fourth": "a number", "fifth": "another"}})
    table = structs.fields_table(Sample, {"Sample": {"fourth": "a number"}})
    assert "| `second` | `str or null` | null without one; what both are |" in table
    assert "| `fourth` | `float` | a number |" in table


@pytest.mark.parametrize(
    ("value", "named", "names"),
    [
        ({"n": 1, "outcomes": {"ok": 1}}, False, ["n", "outcomes"]),
        ({"a": {"b": 1, "c": [1]}}, False, ["a.b", "a.c"]),
        ({"a": [{"b": 1}, {"b": 2}]}, False, ["a.b"]),
        ({"one": {"b": 1}, "two": {"b": 2, "c": 3}}, True, ["b", "c"]),
    ],
)
def test_the_names_in_a_summary(value: dict[str, object], named: bool, names: list[str]) -> None:
    assert runs.names_in(value, named=named) == names


def test_every_command_that_leaves_a_run_is_run() -> None:
    leave_none = {"inspect_run", "gate", "validate_scorer", "attack", "check", "report"}
    assert {command for command, *_ in runs.RUNS.values()} == {*COMMANDS} - leave_none
    assert {run for _, _, of, _ in summaries.SUMMARIES for run in of} == {*runs.RUNS}


# --- the spec and the gate


def test_a_promise_is_held_by_tests_that_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [row[0] for row in reward_spec.promise_rows()] == [
        *("deterministic", "total", "explainable", "fast", "versioned")
    ]
    gone = (("fast", "It is.", {reward_spec.SCORE: ["test_it_is_fast"]}),)
    monkeypatch.setattr(reward_spec, "PROMISES", gone)
    with pytest.raises(KeyError, match=r"test_score\.py has no test_it_is_fast"):
        list(reward_spec.promise_rows())


def says(n: int) -> str:
    """No reason: nobody says this."""
    what = "few" if n < 3 else "many"
    return f"{n} rows are {what}, and that is odd"


def test_the_sentences_of_a_function_are_found_with_blanks() -> None:
    assert gate_page.messages(says) == ["… rows are …, and that is odd"]


def test_a_reason_that_nobody_explains_is_an_error() -> None:
    with pytest.raises(KeyError, match="rows are"):
        gate_page.reasons({}, says)
    with pytest.raises(KeyError, match="nobody says"):
        gate_page.reasons({"… rows are …, and that is odd": "now", "what nobody says": "never"}, says)


def test_every_decision_of_the_gate_is_one_of_the_reasons_on_the_page() -> None:
    """Each way through ``decide``, by flips made for it."""

    def flips(n: int, gained: int, lost: int) -> gate.Flips:
        return gate.Flips(n, 0, 0, lost, gained, ["g"] * gained, ["l"] * lost)

    cases = [
        gate.decide(flips(100, 0, 1), Fraction(0), "holdout"),
        gate.decide(flips(100, 1, 0), Fraction(1, 2), "dev"),
        gate.decide(flips(100, 1, 1), Fraction(0), "dev"),
        gate.decide(flips(50, 2, 0), Fraction(0), "dev"),
        gate.decide(flips(100, 5, 0), Fraction(0), "dev"),
        gate.decide(flips(100, 6, 0), Fraction(0), "dev"),
    ]
    for (verdict, said), (reason, when) in zip(cases, gate_page.DECISION.items(), strict=True):
        assert re.fullmatch(re.escape(reason).replace("…", ".*"), said)
        assert when.startswith(verdict)


@no_windows
@pytest.mark.slow
def test_what_the_gate_said_of_every_attack_is_one_of_the_reasons_on_the_page() -> None:
    from attacks.findings import of_forgery, of_mistake
    from attacks.forgeries import FORGERIES
    from attacks.mistakes import MISTAKES

    known = [*gate_page.CLAIMS, *gate_page.ROOM, *gate_page.MEANING, *gate_page.DECISION]
    patterns = [re.compile(re.escape(reason).replace("…", ".*")) for reason in known]
    answers = [of_forgery(one).gate for kind in FORGERIES.values() for one in kind]
    answers += [of_mistake(one) for kind in MISTAKES.values() for one in kind]
    rejected = [answer.reasons for answer in answers if answer.status in (1, 3)]
    assert len(rejected) > 100
    assert [said for said in rejected if not any(pattern.search(said) for pattern in patterns)] == []


# --- numbers


@pytest.mark.parametrize(
    ("name", "examples"),
    [
        (
            "metrics",
            [
                "20 of 20: 0.8389 to 1",  # Wilson's lower end is n / (n + z²): 20 / 23.84
                "n 4, c 1, k 2: 0.5",  # of the 6 pairs of 4 samples 3 hold the right one
                "p 0.5, N 4: 0.4594",  # q = 15/16: 15/16 ln(15/8) + 1/16 ln(1/8)
                "N 4: 0.6363",  # ln 4 − 3/4
                "6 gained, 0 lost: 0.03125",  # 2 / 2^6
                "0 lost: 6",  # 2 / 2^5 is 0.0625
                "20 candidates: 0.3973",  # 1 − 0.975^20
            ],
        )
    ],
)
def test_the_examples_of_the_metrics_are_those_worked_by_hand(name: str, examples: list[str]) -> None:
    text = metrics_page(name)
    assert [one for one in examples if one not in text] == []


def test_wilsons_lower_end_of_all_passed_is_n_by_n_plus_z_squared() -> None:
    assert stats.wilson_interval(20, 20)[0] == pytest.approx(20 / (20 + stats.Z95**2))


# --- pages


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("two  words\nand more", "two words and more"),
        ("- " + "word " * 30, "- " + " ".join(["word"] * 23) + "\n  " + " ".join(["word"] * 7)),
    ],
)
def test_a_paragraph_is_folded(text: str, folded: str) -> None:
    assert markdown.paragraph(text) == folded


def test_a_bar_in_a_cell_ends_no_cell() -> None:
    assert markdown.table(["a"], [["x | y"]]) == "| a |\n| --- |\n| x \\| y |"
