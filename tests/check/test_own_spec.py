"""The reward spec and the choice as a student writes them: a gap is named by the rule that it breaks.

An example: a spec that trims with a bare ``strip()`` pays for a no-break space at the end. The check says that white
space was to be refused, how often that rule was broken, and one text that shows it.
"""

import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.functions import check_functions
from check.own_spec import check_my_score

RULE = Path("exercises") / "my_score.py"
PICKS = Path("exercises") / "pick_best.py"
SOLUTIONS = ROOT / "data" / "keys" / "exercises"
SCORE = (SOLUTIONS / "my_score.py").read_text(encoding="utf-8")
PICK = (SOLUTIONS / "pick_best.py").read_text(encoding="utf-8")


def spec(lab: Lab, source: str, seed: int = 0) -> tuple[str, str]:
    lab.write("exercises/my_score.py", source)
    found = check_my_score(RULE, seed)
    assert all(line.isprintable() for line in (*found.lines, found.short))
    return found.state, f"{found.short} {' '.join(found.lines)}"


def choice(lab: Lab, source: str, seed: int = 0) -> tuple[str, str]:
    lab.write("exercises/pick_best.py", source)
    found = check_functions(PICKS, seed)
    return found.state, f"{found.short} {' '.join(found.lines)}"


def test_stubs_are_not_started_and_solutions_done(lab: Lab) -> None:
    shutil.copytree(ROOT / "exercises", lab.folder / "exercises", ignore=shutil.ignore_patterns("*.md"))
    assert (check_my_score(RULE).state, check_functions(PICKS).state) == ("not started", "not started")
    for seed in range(3):
        assert spec(lab, SCORE, seed)[0] == "done"
        assert choice(lab, PICK, seed) == ("done", "1 of 1 right ")


TRIM, MATCH = '.strip(" \\t\\r\\n")', 're.fullmatch("Final: (0|-?[1-9][0-9]*)", text)'
GAPS_OF_A_SPEC = [  # what stands in the solution, what a student wrote, what the check must say
    (TRIM, ".strip()", "only ASCII characters"),
    (TRIM, "", "1 for what is right"),
    (TRIM, '.strip(" \\n")', "1 for what is right"),
    (MATCH, 're.match("Final: (0|-?[1-9][0-9]*)", text)', "a plain integer in base ten"),
    (MATCH, 're.fullmatch("Final: 0*(0|-?[1-9][0-9]*)", text)', "without leading zeros"),
    (MATCH, 're.fullmatch("Final: [+]?(0|-?[1-9][0-9]*)", text)', "without a plus sign"),
    (MATCH, 're.fullmatch("Final: (?:-(?=0))?(0|-?[1-9][0-9]*)", text)', "zero written without a sign"),
    (MATCH, 're.fullmatch("final: (0|-?[1-9][0-9]*)", text, re.I)', "a line that starts with 'Final: '"),
    (MATCH, 're.fullmatch("Final: *(0|-?[1-9][0-9]*)", text)', "a line that starts with 'Final: '"),
    (MATCH, 're.search("Final: (0|-?[1-9][0-9]*)$", text)', "a single line"),
    (MATCH, 're.fullmatch("Final: ([1-9][0-9]*)", text)', "1 for what is right"),
    ("match[1] == str(answer)", "True", "the right value"),
    ("match[1] == str(answer)", "match[1].endswith(str(answer))", "the right value"),
    ("match[1] == str(answer)", "abs(int(match[1])) == abs(answer)", "the right value"),
    ("float(match[1] == str(answer))", "match[1] == str(answer)", "a number as reward"),
    ("type(answer) is not int", "answer is None", "an example with prompt"),
    ("type(prompt) is not str or ", "", "an example with prompt"),
    ("type(completion) is not str", "completion is None", "exception"),
    ('"details": {"message": message}', '"details": {}', "details with a message"),
    ('"details": {"message": message}', '"details": {"message": ""}', "details with a message"),
    ('"details": {"message": message}', '"details": {"message": [message]}', "details with a message"),
    ('{"reward": reward, "details": {"message": message}}', "reward", "details with a message"),
    ("return _result(float(", "import random\n    return _result(random.random() * float(", "the same answer"),
    ("    text =", "    completion = completion.splitlines()[0]\n    text =", "exception"),
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
    _, text = spec(lab, "def score(example, completion:\n")
    assert text.count("SyntaxError") == 2  # in short and in full: one fault, and no rule of 3,000 texts


@pytest.mark.parametrize(
    "rule",
    [
        "def score(e, c): return {'reward': 0.0, 'details': {'message': 'x'}}",
        "def score(e, c): return {'reward': 1.0, 'details': {'message': 'x'}}",
        "def score(e, c): pass",
        "import sys\nsys.exit(0)",
    ],
)
def test_what_is_no_rule_is_wrong(lab: Lab, rule: str) -> None:
    assert spec(lab, rule)[0] == "wrong"


OTHER_SPECS = {
    "by hand": """
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
""",
    "in bytes": """
def score(example, completion):
    try:
        prompt, answer = example["prompt"], example["expected_answer"]
        assert type(prompt) is str and type(answer) is int
        text = completion.encode("utf-8", "surrogatepass").strip(b" \\t\\r\\n")
        return {"reward": float(text == b"Final: %d" % answer), "details": {"message": repr(text)[:100]}}
    except Exception as error:
        return {"reward": 0.0, "details": {"message": type(error).__name__}}
""",
}


@pytest.mark.parametrize("style", OTHER_SPECS)
def test_another_right_spec_is_done(lab: Lab, style: str) -> None:
    state, text = spec(lab, OTHER_SPECS[style])
    assert state == "done", text


BEGIN = "def pick_best(samples):\n    "
CHOICES = {  # what a student wrote -> what the check must say
    "return samples[0]": "the first of the list",
    "return samples[-1]": "the last of the list",
    "return min(samples, key=lambda s: s.index)": "the first that was drawn",
    "return min(samples, key=lambda s: (s.reward, s.index))": "the lowest reward",
    "return max(samples, key=lambda s: s.reward)": "the first of the best as the list has them",
    "return sorted(samples, key=lambda s: s.reward)[-1]": "the last of the best as the list has them",
    "return max(samples, key=lambda s: (s.reward, s.index))": "the highest index of the best",
    "return next((s for s in samples if s.reward == 1), samples[0])": "the first with the reward 1",
    "return min(samples, key=lambda s: len(s.completion))": "the shortest text",
    "return max(samples, key=lambda s: len(s.completion))": "the longest text",
    "import random; return random.choice(samples)": "got ",
    "return samples[0].completion": "got the text",
    "return 0": "got int",
    "exit(0)": "SystemExit",
    "x = 1\n    return samples[9]": "pick_best.py:3 pick_best: ",
}


@pytest.mark.parametrize("wrong", CHOICES)
def test_a_wrong_choice_is_called_by_its_name(lab: Lab, wrong: str) -> None:
    state, text = choice(lab, BEGIN + wrong)
    assert state != "done"
    assert CHOICES[wrong] in text


@pytest.mark.parametrize(
    "right",
    [
        "return sorted(samples, key=lambda s: (-s.reward, s.index))[0]",
        "top = max(s.reward for s in samples)\n    return min([s for s in samples if s.reward == top], key=repr)",
        "samples.sort(key=lambda s: s.index)\n    return max(samples, key=lambda s: s.reward)",
        "# not first_of_best(samples)\n    return min(samples, key=lambda s: (-s.reward, s.index))",
    ],
)
def test_another_right_choice_is_done(lab: Lab, right: str) -> None:
    assert choice(lab, BEGIN + right)[0] == "done"
