"""A verifier of any file: what it may return, and that each of its faults is told with the input and is no reward.

An example: ``verify`` divides by zero for 'Final: 1'. That is one line with the text, the exception and its line; a
reward of 0 would have called the policy wrong.

The three attacks, each on verifiers whose one hole is known beforehand.

Worked by hand: ``suffix`` ignores the sign and what stands in front. For -8 the shortest wrong line it rewards is
'Final: 8'; for 7 a character more is needed. So the search must end with the former.
"""

from pathlib import Path
from typing import Any

import pytest

from course import verifier as module
from course.child import Stopped
from course.errors import UserError
from course.policies.train_config import MEMORISE
from course.rubrics.witness import candidates
from course.verifier import Verifier, optimise, search, try_golden_sets

SEVEN = {"id": "a", "prompt": "?", "expected_answer": 7}


def written(folder: Path, body: str) -> str:
    path = folder / "mine.py"
    path.write_text(f"def verify(example, completion):\n    {body}\n", encoding="utf-8", newline="\n")
    return f"{path}:verify"


@pytest.mark.parametrize(
    ("body", "reward"),
    [
        ("return True", 1.0),
        ("return 0", 0.0),
        ("return 0.25", 0.25),
        ("return {'reward': 1}", 1.0),
        ("return {'reward': False, 'details': 'x'}", 0.0),
        ("return example['expected_answer'] == 7 and completion == 'Final: 7'", 1.0),
        ("import numpy as np\n    return np.float64(0.5)", 0.5),
    ],
)
def test_what_a_verifier_may_return(tmp_path: Path, body: str, reward: float) -> None:
    with Verifier(written(tmp_path, body)) as verifier:
        assert verifier(SEVEN, "Final: 7") == {"reward": reward, "details": {}}


@pytest.mark.parametrize(
    ("body", "got"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero (line 2)"),
        ("raise SystemExit(0)", "SystemExit: 0 (line 2)"),
        ("return None", "None"),
        ("return 'yes'", "'yes'"),
        ("return float('nan')", "nan"),
        ("return 1.5", "1.5"),
        ("return -1", "-1"),
        ("return {'score': 1}", "None"),
        ("return {'reward': [1]}", "[1]"),
        ("return object()", "TypeError: Object of type object is not JSON serializable"),
        ("raise ValueError('\\x1b[31m')", "ValueError: <U+001B ESCAPE>[31m (line 2)"),
        ("import os; os._exit(3)", "an end with exit status 3"),
        ("while True: pass", "no answer within 1 s"),
        ("return (", "SyntaxError: '(' was never closed (mine.py, line 2) (line 2)"),
    ],
)
def test_a_fault_is_told_with_its_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, got: str) -> None:
    monkeypatch.setattr(module, "_ANSWERING", 1.0)
    with Verifier(written(tmp_path, body)) as verifier, pytest.raises(UserError) as error:
        verifier.compare([(SEVEN, "Final: 7"), (SEVEN, "\x1b")])
    asked = "expected a reward from 0 to 1 for 'Final: 7' where 7 is expected, got "
    assert str(error.value).endswith(f"mine.py:verify {asked}{got}; mend the verifier")


def test_a_function_that_is_not_there_is_named(tmp_path: Path) -> None:
    place = written(tmp_path, "return 1").replace(":verify", ":verfy")
    with Verifier(place) as verifier, pytest.raises(UserError, match="expected a function verfy, got none in this"):
        verifier(SEVEN, "")


@pytest.mark.parametrize("place", ["sufix", "mine.py", "mine.py:verify", "mine.py:a b", ":f", "", "\x1b:f", "suffix:"])
def test_a_place_that_names_no_verifier_is_one_line(place: str) -> None:
    with pytest.raises(
        UserError, match=r"expected a file and its function, such as mine\.py:verify, or one of sc"
    ) as e:
        Verifier(place)
    assert "\x1b" not in str(e.value)
    assert str(e.value).startswith("did you mean suffix? ") == (place in ("sufix", "suffix:"))


def test_a_rubric_of_the_course_goes_by_its_name() -> None:
    with Verifier("suffix") as verifier:
        one, other = verifier.compare([(SEVEN, "Final: 17"), (SEVEN, "Final: 7")])
    assert ((one.reward, one.true), (other.reward, other.true)) == ((1.0, 0.0), (1.0, 1.0))
    assert str(one) == "'Final: 17' where 7 is expected: reward 1"


def test_what_is_too_slow_together_is_asked_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def call(_: object, questions: list[Any], __: float) -> list[Any]:
        if len(questions) > 1:
            raise Stopped("no answer")
        return [text == "Final: 7" for _, text in questions]

    verifier = Verifier(written(tmp_path, "return 1"))
    monkeypatch.setattr(verifier._child, "call", call)
    rewards = [result["reward"] for result in verifier.results([(SEVEN, "Final: 7"), (SEVEN, "Final: 8")])]
    assert rewards == [1.0, 0.0]


def test_after_its_seconds_it_is_asked_no_more(tmp_path: Path) -> None:
    verifier = Verifier(written(tmp_path, "return 1"), seconds=-1)
    with pytest.raises(TimeoutError):
        verifier(SEVEN, "")


STRICT = "completion.strip(' \\t\\r\\n') == 'Final: %d' % example['expected_answer']"


def verifier_of(folder: Path, expression: str) -> Verifier:
    path = folder / "mine.py"
    head = "from collections import Counter\nimport re\nseen = Counter()\n"
    source = f"{head}def verify(example, completion):\n    return {expression}\n"
    path.write_text(source, encoding="utf-8", newline="\n")
    return Verifier(f"{path}:verify")


def test_the_golden_sets_say_what_is_rewarded_and_what_is_refused(tmp_path: Path) -> None:
    with verifier_of(tmp_path, "True") as verifier:
        found = try_golden_sets(verifier)
    assert (found.tried, len(found.false_positives), len(found.false_negatives)) == (100, 84, 0)
    with verifier_of(tmp_path, "False") as verifier:
        found = try_golden_sets(verifier)
    assert (len(found.false_positives), len(found.false_negatives)) == (0, 16)
    assert found.false_negatives[0].completion == "Final: 0"
    with verifier_of(tmp_path, STRICT) as verifier:
        assert try_golden_sets(verifier).false_positives == try_golden_sets(verifier).false_negatives == []


def test_a_verifier_that_changes_its_mind_is_a_fault(tmp_path: Path) -> None:
    toggling = "seen.update([completion]) or seen[completion] % 2"
    with verifier_of(tmp_path, toggling) as verifier, pytest.raises(UserError, match="got 1, then 0; mend"):
        try_golden_sets(verifier)


@pytest.mark.parametrize(
    ("expression", "above", "below"),
    [
        (STRICT, None, None),
        ("True", "", None),
        ("False", None, "Final: 7"),
        (f"{STRICT} or completion == 'Final: 7a'", "Final: 7a", None),
        (f"{STRICT} and completion != '\\nFinal: 7'", None, "\nFinal: 7"),
        (f"completion == '7' or completion != '\\nFinal: 7' and {STRICT}", "7", "\nFinal: 7"),
        (f"({STRICT}) / 2", None, "Final: 7"),
        (f"{STRICT} or 0.01 * (completion == '7')", "7", None),
    ],
)
def test_the_search_finds_the_shortest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expression: str, above: str | None, below: str | None
) -> None:
    monkeypatch.setattr(module, "GOLDS", (7,))
    monkeypatch.setattr(module, "candidates", lambda gold: (text for text in candidates(gold) if len(text) <= 10))
    with verifier_of(tmp_path, expression) as verifier:
        found = search(verifier)
    assert [one.completion for one in found.false_positives] == [above][: above is not None]
    assert [one.completion for one in found.false_negatives] == [below][: below is not None]


@pytest.mark.slow
def test_the_shortest_of_several_answers_stands_first() -> None:
    with Verifier("suffix") as verifier:
        found = search(verifier)
    assert [len(one.completion) for one in found.false_positives] == [8, 9, 9, 11]
    assert (found.false_positives[0].completion, found.false_positives[0].example["expected_answer"]) == (
        "Final: 8",
        -8,
    )
    assert found.false_negatives == []


@pytest.fixture
def briefly_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MEMORISE", MEMORISE._replace(sft_steps=100))


@pytest.mark.usefixtures("briefly_tuned")
def test_the_optimiser_stops_at_the_first_cheat_and_finds_the_same_again(tmp_path: Path) -> None:
    """All that the careless hand showed it is right or has another form; so a single step is enough here."""
    with verifier_of(tmp_path, "re.findall('[0-9]+', completion) == [str(example['expected_answer'])]") as verifier:
        found = optimise(verifier, 0)
        assert optimise(verifier, 0) == found
    assert found.tried == 256
    assert found.false_negatives == []
    cheat = found.false_positives[0]
    assert cheat.completion == str(cheat.example["expected_answer"])


@pytest.mark.usefixtures("briefly_tuned")
def test_the_optimiser_gives_up_on_a_right_verifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UPDATES", 2)
    with verifier_of(tmp_path, STRICT) as verifier:
        found = optimise(verifier, 0)
    assert (found.tried, found.false_positives, found.false_negatives) == (512, [], [])
