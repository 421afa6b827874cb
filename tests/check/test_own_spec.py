"""The reward spec as a student writes it: a gap is named by the rule that it breaks.

An example: a spec that trims with a bare ``strip()`` pays for a no-break space at the end. The check says that white
space was to be refused, how often that rule was broken, and one text that shows it.
"""

from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.own_spec import check_my_score

RULE = Path("exercises") / "my_score.py"
SCORE = (ROOT / "data" / "keys" / RULE).read_text(encoding="utf-8")


def spec(lab: Lab, source: str) -> tuple[str, str]:
    lab.write(RULE.as_posix(), source)
    found = check_my_score(RULE)
    assert all(line.isprintable() for line in (*found.lines, found.short))
    return found.state, f"{found.short} {' '.join(found.lines)}"


def test_the_stub_is_not_started_and_the_solution_done(lab: Lab) -> None:
    assert spec(lab, (ROOT / RULE).read_text(encoding="utf-8"))[0] == "not started"
    assert spec(lab, SCORE)[0] == "done"


TRIM, MATCH = '.strip(" \\t\\r\\n")', 're.fullmatch("Final: (0|-?[1-9][0-9]*)", text)'
GAPS_OF_A_SPEC = [  # what stands in the solution, what a student wrote, what the check must say
    (TRIM, ".strip()", "only ASCII characters"),
    (TRIM, '.strip(" \\n")', "1 for what is right"),
    (MATCH, 're.match("Final: (0|-?[1-9][0-9]*)", text)', "a plain integer in base ten"),
    (MATCH, 're.fullmatch("Final: 0*(0|-?[1-9][0-9]*)", text)', "without leading zeros"),
    (MATCH, 're.fullmatch("Final: [+]?(0|-?[1-9][0-9]*)", text)', "without a plus sign"),
    (MATCH, 're.fullmatch("Final: (?:-(?=0))?(0|-?[1-9][0-9]*)", text)', "zero written without a sign"),
    (MATCH, 're.fullmatch("final: (0|-?[1-9][0-9]*)", text, re.I)', "a line that starts with 'Final: '"),
    (MATCH, 're.search("Final: (0|-?[1-9][0-9]*)$", text)', "a single line"),
    ("match[1] == str(answer)", "match[1].endswith(str(answer))", "the right value"),
    ("float(match[1] == str(answer))", "match[1] == str(answer)", "a number as reward"),
    ("type(answer) is not int", "answer is None", "an example with prompt"),
    ("type(completion) is not str", "completion is None", "exception"),
    ('"details": {"message": message}', '"details": {"message": ""}', "details with a message"),
    ('{"reward": reward, "details": {"message": message}}', "reward", "details with a message"),
    ("return _result(float(", "import random\n    return _result(random.random() * float(", "the same answer"),
]


@pytest.mark.parametrize(("right", "wrong", "said"), GAPS_OF_A_SPEC)
def test_a_gap_is_named_by_the_rule_it_breaks(lab: Lab, right: str, wrong: str, said: str) -> None:
    assert right in SCORE
    state, text = spec(lab, SCORE.replace(right, wrong))
    assert state == "wrong"
    assert said in text
    assert "got " in text


def test_a_wrong_text_that_is_paid_is_told_first(lab: Lab) -> None:
    """Before shorter calls: an example without a prompt, which is paid; a right line that is not; a bare number."""
    source = SCORE.replace(TRIM, '.strip(" ")').replace("type(prompt) is not str or ", "")
    source = source.replace("    match =", "    if not text: return 0\n    match =").replace("Final: (0", "Final: 0*(0")
    lab.write("exercises/my_score.py", source)
    zeros, *others = check_my_score(RULE).lines
    assert "without leading zeros" in zeros
    assert len(others) == 3


def test_an_exception_is_told_with_its_input_and_the_other_rules_beside_it(lab: Lab) -> None:
    source = SCORE.replace(TRIM, ".strip()").replace("type(completion) is not str", "False")
    line = next(number for number, line in enumerate(source.split("\n"), 1) if ".strip()" in line)
    _, text = spec(lab, source)
    asked = "score({'prompt': 'How many?', 'expected_answer': 1}, 1)"
    assert f"expected an answer and no exception: broken 5 times, as for {asked}, got {RULE}:{line} score: " in text
    assert "only ASCII characters" in text


BY_HAND = """
def score(example, completion):
    good = False
    if isinstance(example, dict) and type(example.get("expected_answer")) is int and type(completion) is str:
        if type(example.get("prompt")) is str:
            while completion and completion[0] in " \\t\\r\\n":
                completion = completion[1:]
            while completion and completion[-1] in " \\t\\r\\n":
                completion = completion[:-1]
            good = completion == f"Final: {example['expected_answer']}"
    return {"reward": 1 if good else 0, "details": {"message": "right" if good else "not the line", "more": [1]}}
"""


def test_another_right_spec_is_done(lab: Lab) -> None:
    state, text = spec(lab, BY_HAND)
    assert state == "done", text
