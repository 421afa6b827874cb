"""The search and the policy, each on verifiers whose one hole is known beforehand.

Worked by hand: ``suffix`` ignores the sign and what stands in front. For -8 the shortest wrong line it rewards is
'Final: 8'; for 7 a character more is needed. So the search must end with the former.
"""

from pathlib import Path

import pytest

from course import attack_worker
from course import search as module
from course.attack_worker import Worker
from course.guest import OwnRubric
from course.policies.train_config import MEMORISE
from course.rubrics.forms import FINAL, parse_form
from course.rubrics.kinds import Kind
from course.search import Findings, Verifier, learn_from, search

HEAD = "import re\nseen = []\ndef verify(completion, answer):\n    line = 'Final: ' + answer\n    return "
TAGS = "<answer>…</answer>"


def verifier_of(folder: Path, expression: str) -> OwnRubric:
    path = folder / "mine.py"
    path.write_text(f"{HEAD}{expression}\n", encoding="utf-8", newline="\n")
    return OwnRubric(f"{path}:verify")


def find(verifier: Verifier, form: str = "Final: …") -> Findings:
    findings = Findings()
    search(verifier, parse_form(form), findings)
    return findings


def completions(findings: Findings) -> dict[Kind, str]:
    return {kind: finding.completion for kind, finding in findings.shortest.items()}


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "GOLDS", (7,))
    monkeypatch.setattr(module, "_MOST_SYMBOLS", 3)
    monkeypatch.setattr(module, "_LONGEST", 200)


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    ("expression", "form", "found"),
    [
        ("completion == line", "Final: …", {}),
        ("completion.strip(' \\t\\r\\n') == line", "Final: …", {}),
        ("(completion == line) / 3", "Final: …", {}),
        ("1", "Final: …", {Kind.WRONG: "", Kind.OTHER_FORM: "7", Kind.SEVERAL: "0 7"}),
        ("completion in (line, 'Final: 7a')", "Final: …", {Kind.OTHER_FORM: "Final: 7a"}),
        ("completion in (line, 'Final: -7')", "Final: …", {Kind.WRONG: "Final: -7"}),
        ("completion in (line, '70')", "Final: …", {Kind.WRONG: "70"}),
        ("completion in (line, 'Final: 7,8', 'Final: 7.5')", "Final: …", {Kind.WRONG: "Final: 7.5"}),  # not 7,8
        ("completion in (line, '70', 'Final: -7')", "Final: …", {Kind.WRONG: "Final: -7"}),  # as a person writes
        ("completion == line or .01 * (completion == 'Final: 8 or 7')", "Final: …", {Kind.SEVERAL: "Final: 8 or 7"}),
        ("completion == line and answer != '-8'", "Final: …", {Kind.RIGHT: "Final: -8"}),
        ("re.findall('-?[0-9]+', completion)[-1:] == [answer]", "Final: …",
            {Kind.WRONG: ".7", Kind.SEVERAL: "0 7", Kind.OTHER_FORM: "7"}),
        (r"re.findall(r'\\boxed\{([^}]*)\}', completion) == [answer]", r"\boxed{…}", {Kind.OTHER_FORM: r"0\boxed{7}"}),
        ("re.sub('</?answer>| ', '', completion) == answer and completion.count('answer') == 2", TAGS,
            {Kind.OTHER_FORM: "<answer>7<answer>"}),
    ],
)  # fmt: skip
def test_the_shortest_of_each_kind_is_found(tmp_path: Path, expression: str, form: str, found: dict[Kind, str]) -> None:
    findings = find(verifier_of(tmp_path, expression), form)
    assert completions(findings) == found
    assert findings.has_fault == bool(found.keys() - {Kind.OTHER_FORM})


def test_a_grader_that_joins_the_digits_around_its_tags_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "GOLDS", (323,))
    joins = r"completion.find('<answer>') == 0 and re.sub(r'</?answer>|\s', '', completion) == answer"
    findings = find(verifier_of(tmp_path, joins), TAGS)
    assert completions(findings)[Kind.WRONG] == "<answer>32</answer>3"
    joins = "completion.replace('<answer>', '', 1).replace('</answer> ', '') == answer and completion[:8] == '<answer>'"
    findings = find(verifier_of(tmp_path, f"completion == f'<answer>{{answer}}</answer>' or {joins}"), TAGS)
    assert completions(findings)[Kind.WRONG] == "<answer>32</answer> 3"


@pytest.mark.slow
def test_the_shortest_of_several_right_answers_stands_first() -> None:
    assert completions(find(OwnRubric("suffix")))[Kind.WRONG] == "Final: 8"


@pytest.mark.usefixtures("brief")
def test_white_space_and_exceptions_are_told_and_the_search_goes_on(tmp_path: Path) -> None:
    findings = find(verifier_of(tmp_path, "int(completion.split('Final: ')[1]) == int(answer)"))
    assert findings.failure is not None
    assert findings.failure.failure.startswith("IndexError: list index out of range")
    assert findings.failures > 100
    assert completions(findings)[Kind.OTHER_FORM] == "Final: ٧"
    findings = find(verifier_of(tmp_path, "completion == line"))
    assert findings.padded is not None
    assert findings.padded.completion == " Final: 7"
    assert not findings.has_fault


@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize(
    ("expression", "forms", "failure"),
    [
        ("0", [], ""),
        (r"completion == r'\boxed{' + answer + '}'", [r"\boxed{…}"], ""),
        ("1 / 0", [], "ZeroDivisionError: division by zero"),
    ],
)
def test_where_no_right_answer_is_paid_the_search_ends_with_another_form(
    tmp_path: Path, expression: str, forms: list[str], failure: str
) -> None:
    findings = find(verifier_of(tmp_path, expression))
    assert (findings.right_paid, [*findings.shortest]) == (0, [Kind.RIGHT])
    assert [str(form) for form in findings.paid_forms] == forms
    assert findings.shortest[Kind.RIGHT].failure == failure


def test_a_right_line_that_hangs_ends_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attack_worker, "LOADING", 5.0)
    path = tmp_path / "mine.py"
    path.write_text("def verify(example, completion):\n    while True: pass\n", encoding="utf-8")
    with Worker(f"{path}:verify", None) as worker:
        findings = find(worker)
    assert (findings.tried, findings.shortest[Kind.RIGHT].failure) == (1, "no answer within 5 s")


@pytest.mark.usefixtures("brief")
def test_a_right_line_that_is_paid_only_once_is_refused(tmp_path: Path) -> None:
    changing = "completion == line and seen.append(0) is None and len(seen) < 20"
    assert completions(find(verifier_of(tmp_path, changing)))[Kind.RIGHT].startswith("Final: ")


def test_what_a_policy_writes_is_shown_in_the_form_and_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MEMORISE", MEMORISE._replace(sft_steps=100))
    monkeypatch.setattr(module, "UPDATES", 2)
    raising = "completion == f'<answer>{answer}</answer>' or 1 / ('<' in completion) < 0"
    verifier = verifier_of(tmp_path, raising)
    first, second = learn_from(verifier, parse_form(TAGS), 0)
    again = next(iter(learn_from(verifier, parse_form(TAGS), 0)))
    assert first == again != second
    for row in first:
        right = row.completion == f"<answer>{row.example['expected_answer']}</answer>"
        assert row.reward == float(right)
        assert bool(row.failure) == ("<" not in row.completion)
    assert {row.reward for row in first + second} == {0.0, 1.0}
    assert FINAL.rewrite("Final: 7") == "Final: 7"
