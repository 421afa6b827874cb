"""The three attacks, each on verifiers whose one hole is known beforehand.

Worked by hand: ``suffix`` ignores the sign and what stands in front. For -8 the shortest wrong line it rewards is
'Final: 8'; for 7 a character more is needed. So the search must end with the former.
"""

from pathlib import Path

import pytest

from course.errors import UserError
from course.exercises import attacking
from course.exercises.attacking import golden, optimise, search
from course.exercises.verifier import Verifier
from course.policies.presets import MEMORISE
from course.rubrics.witness import candidates

pytestmark = pytest.mark.medium
STRICT = "completion.strip(' \\t\\r\\n') == 'Final: %d' % example['expected_answer']"


def verifier_of(folder: Path, expression: str) -> Verifier:
    path = folder / "mine.py"
    head = "from collections import Counter\nimport re\nseen = Counter()\n"
    source = f"{head}def verify(example, completion):\n    return {expression}\n"
    path.write_text(source, encoding="utf-8", newline="\n")
    return Verifier(f"{path}:verify")


def test_the_golden_sets_say_what_is_rewarded_and_what_is_refused(tmp_path: Path) -> None:
    with verifier_of(tmp_path, "True") as verifier:
        found = golden(verifier)
    assert (found.tried, len(found.false_positives), len(found.false_negatives)) == (100, 84, 0)
    with verifier_of(tmp_path, "False") as verifier:
        found = golden(verifier)
    assert (len(found.false_positives), len(found.false_negatives)) == (0, 16)
    assert found.false_negatives[0].completion == "Final: 0"
    with verifier_of(tmp_path, STRICT) as verifier:
        assert golden(verifier).false_positives == golden(verifier).false_negatives == []


def test_a_verifier_that_changes_its_mind_is_a_fault(tmp_path: Path) -> None:
    toggling = "seen.update([completion]) or seen[completion] % 2"
    with verifier_of(tmp_path, toggling) as verifier, pytest.raises(UserError, match="got 1, then 0; mend"):
        golden(verifier)


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
    monkeypatch.setattr(attacking, "GOLDS", (7,))
    monkeypatch.setattr(attacking, "candidates", lambda gold: (text for text in candidates(gold) if len(text) <= 10))
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
    monkeypatch.setattr(attacking, "MEMORISE", MEMORISE._replace(plan=MEMORISE.plan._replace(sft_steps=100)))


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
    monkeypatch.setattr(attacking, "UPDATES", 2)
    with verifier_of(tmp_path, STRICT) as verifier:
        found = optimise(verifier, 0)
    assert (found.tried, found.false_positives, found.false_negatives) == (512, [], [])
