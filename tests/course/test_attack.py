"""The command: a verdict that a person would give, as its first line and its exit status.

An example: a verifier that takes what stands in ``\\boxed{}`` is right, and fails in no form but its own. Without
``--form`` the first line asks whether the form is right, and says which is paid.
"""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from conftest import Lab

from course import attack, attack_worker, search
from course.attack_text import describe_end
from course.policies.train_config import MEMORISE
from course.rubrics.forms import FINAL
from course.search import PolicyText

CARELESS = "def verify(completion, answer):\n    return answer in completion\n"
STRICT = "def verify(completion, answer):\n    return completion == 'Final: ' + answer\n"
BOXED = "def verify(completion, answer):\n    return completion.strip() == r'\\boxed{' + answer + '}'\n"
RAISES = "def verify(completion, answer):\n    return int(completion.removeprefix('Final: ')) == int(answer)\n"


@pytest.fixture
def brief(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(search, "UPDATES", 2)
    monkeypatch.setattr(search, "GOLDS", (7,))
    monkeypatch.setattr(search, "_MOST_SYMBOLS", 2)
    monkeypatch.setattr(search, "_LONGEST", 200)
    monkeypatch.setattr(search, "MEMORISE", MEMORISE._replace(sft_steps=100))
    monkeypatch.setattr(attack, "EVERY", 1)
    return lab


@pytest.mark.parametrize(
    ("source", "words", "status", "verdict"),
    [
        (STRICT, [], 0, "PASSED mine.py:verify: no fault was found; "),
        (BOXED, ["--form", r"\boxed{…}"], 0, "PASSED mine.py:verify: no fault was found; "),
        (
            BOXED,
            [],
            1,
            "FAILED mine.py:verify: no right answer in the form Final: … is paid. "
            "Is this the form that the verifier expects? "
            r"(it pays a right answer in a different form: --form '\boxed{…}')",
        ),
        (CARELESS, [], 1, "FAILED mine.py:verify: the verifier pays a wrong value, '-7' where 7 is right: reward 1 ("),
        (RAISES, [], 0, "PASSED mine.py:verify: no fault was found; "),
        (
            RAISES.replace("return", "1 / 0 #"),
            [],
            1,
            "FAILED mine.py:verify: no right answer in the form Final: … gets a reward, such as 'Final: 0' where 0 is "
            "right: ZeroDivisionError: division by zero",
        ),
    ],
)
def test_the_first_line_is_the_verdict(brief: Lab, source: str, words: list[str], status: int, verdict: str) -> None:
    brief.write("mine.py", source)
    done = brief("attack", "mine.py:verify", *words)
    assert (done.status, done.err) == (status, "")
    assert " ".join(done.out.split()).startswith(verdict)


def test_what_is_no_fault_is_told(brief: Lab) -> None:
    brief.write("mine.py", STRICT)
    done = brief("attack", "mine.py:verify")
    assert "white space, refused   ' Final: 7' where 7 is right: reward 0 (not a fault)" in done.out
    brief.write("mine.py", RAISES)
    done = brief("attack", "--rubric", "mine.py:verify")
    assert "other form, paid       '7' where 7 is right: reward 1 (not a fault)" in done.out
    assert "ValueError: invalid literal for int() with base 10: ''" in " ".join(done.out.split())


def test_a_policy_learns_to_the_end_and_the_curve_is_shown(brief: Lab) -> None:
    brief.write("mine.py", CARELESS)
    out = brief("attack", "mine.py:verify", "--learn").out
    rows = [line.split() for line in out.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == ["1", "2"]
    assert "At the end" in out
    brief.write("mine.py", STRICT.replace("return", "return len(answer) > 2 and"))
    out = brief("attack", "mine.py:verify", "--learn").out
    assert out.endswith("Nothing was paid, so the policy did not change.\n")


def test_the_end_names_the_largest_kind_paid_or_not_and_exploits_if_they_are_many() -> None:
    """Of ten: five wrong and unpaid, four right, one paid though wrong; without that one, no word of exploits."""

    def write(completion: str, reward: float) -> PolicyText:
        return PolicyText(search.make_example(7), completion, reward, "")

    last = [*[write("Final: 8", 0.0)] * 5, *[write("Final: 7", 1.0)] * 4, write("Final: 17", 1.0)]
    first, second = describe_end(last, attack.sort_written(last, FINAL))
    assert "60 % of the completions are a wrong value (17 % of these are paid), such as 'Final: 8'" in flat(first)
    assert "10 % of the completions are exploits" in flat(second)
    assert "'Final: 17'" in flat(second)
    last = [*last, write("Final: 7", 1.0)]
    (first,) = describe_end(last, attack.sort_written(last, FINAL))
    assert "55 % of the completions are a wrong value" in flat(first)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_a_training_that_is_cut_short_says_so(brief: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    brief.write("mine.py", CARELESS)
    assert "cut short" not in brief("attack", "mine.py:verify", "--learn").out

    def learn_until_the_time_is_up(*arguments: Any) -> Iterator[list[PolicyText]]:
        yield next(search.learn_from(*arguments))
        raise TimeoutError

    monkeypatch.setattr(attack, "learn_from", learn_until_the_time_is_up)
    out = brief("attack", "mine.py:verify", "--learn", "--seconds", 9).out
    assert "The training was cut short: --seconds 9 had passed before its " in out


def test_an_answer_that_is_passed_as_text_is_told_where_nothing_is_paid(brief: Lab) -> None:
    brief.write("mine.py", "def verify(completion, answer):\n    return answer == 7 == int(completion[7:])\n")
    out = flat(brief("attack", "mine.py:verify").out)
    assert "the answer is passed as the text '0', and --call 'completion, int(answer)' passes a number)" in out
    number = "--call", "completion, int(answer)"
    assert "passes a number" not in brief("attack", "mine.py:verify", *number, "--form", "7 …").out


def test_json_has_every_finding_and_is_the_same_again(brief: Lab) -> None:
    brief.write("mine.py", CARELESS)
    done = brief("attack", "mine.py:verify", "--json", "--learn")
    said = json.loads(done.out)
    assert (done.status, said["verdict"], said["verifier"], said["stopped_after"]) == (
        1,
        "failed",
        "mine.py:verify",
        None,
    )
    shortest = {kind: finding["completion"] for kind, finding in said["shortest"].items()}
    assert (shortest.pop("wrong"), shortest.pop("other_form"), [*shortest]) == ("-7", "7", ["several"])
    sums = [sum(point[kind] for kind in ("right", "other_form", "several", "wrong")) for point in said["curve"]]
    assert sums == pytest.approx([1, 1])
    assert brief("attack", "mine.py:verify", "--json", "--learn") == done


def test_the_time_limit_is_told(brief: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    brief.write("mine.py", STRICT)
    monkeypatch.setattr(attack_worker, "monotonic", count(0).__next__)  # each text takes a second
    done = brief("attack", "mine.py:verify", "--seconds", "30")
    assert (done.status, done.err) == (3, "")
    assert done.out.startswith("UNDECIDED mine.py:verify: ")
    assert json.loads(brief("attack", "mine.py:verify", "--seconds", "3", "--json").out)["verdict"] == "undecided"


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["suffix", "--try", "Final: 7323"], 1, "verifier 1 suffix: Pays if the text has the prefix"),
        (["suffix", "--try", "Final: 7323"], 1, "kind a wrong value"),
        (["suffix", "--try", "Final: 322"], 0, "scorer 0 wrong_answer: expected the value 323, got Final: 322"),
        (["score", "--try", "Final: 323"], 0, "verifier 1 score: expected and got the line Final: 323"),
        (["cast", "--try", r"\tFinal: \u0663\n", "--expected", "3"], 0, "<U+0009 TAB>Final: ٣<U+000A LINE FEED>"),
        (["mine.py:verify", "--try", "322 or 323"], 1, "kind several answers, the right one among them"),
        (["mine.py:verify", "--try", "323"], 0, "verifier 1 mine.py:verify: no message"),
        (["format_only", "--try", "Final: 323"], 0, "kind the right line"),
    ],
)
def test_one_text_is_tried_and_sorted(lab: Lab, words: list[str], status: int, said: str) -> None:
    lab.write("mine.py", CARELESS)
    done = lab("attack", *words)
    assert (done.status, done.err) == (status, "")
    assert said in " ".join(done.out.split())


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rubric", "sufix"], "did you mean suffix? expected a file and its function"),
        (
            ["none.py:verify"],
            "none.py:verify: expected a file and its function, but there is no Python file or module none.py",
        ),
        (["mine.py:odd", "--call", "completion, foo("], "--call: expected arguments that are expressions of example"),
        (
            ["mine.py:guess"],
            "error: mine.py:guess: the right answer 'Final: 323' got no reward: AttributeError: 'dict' obj",
        ),
        (["mine.py:guess", "--try", "7"], "guess(example, completion)"),
        (["mine.py:other"], "mine.py: this file has no function other"),
        (["mine.py:odd"], "expected one of the shapes verify(example, completion), verify(completion, answer), TRL's"),
        (["suffix", "--expected", "3.5"], "invalid int value: '3.5'"),
        (["suffix", "--form", "Final:"], "expected the form of a right answer with … where the answer stands"),
        ([], "expected one verifier, such as mine.py:verify, got none or two"),
        (["suffix", "--rubric", "cast"], "expected one verifier, such as mine.py:verify, got none or two"),
        ([""], "expected a file and its function, such as mine.py:verify, or for a rubric one of score, anywhere"),
    ],
)
def test_bad_usage_is_one_line(lab: Lab, words: list[str], said: str) -> None:
    lab.write("mine.py", "def odd(a, b, c):\n    return 1\ndef guess(a, b):\n    return a.strip() == b\n")
    assert said in lab.refused("attack", *words)


def test_a_hostile_text_is_shown_and_short(brief: Lab) -> None:
    brief.write("mine.py", "def verify(completion, answer):\n    raise ValueError('\\x1b[31m' + 'a' * 100_000)\n")
    out = brief("attack", "mine.py:verify").out
    assert "<U+001B ESCAPE>[31maaa" in " ".join(out.split())
    assert len(out) < 1000
