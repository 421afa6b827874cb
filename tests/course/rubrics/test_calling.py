"""How a verifier is called: the names of its parameters decide, and where one is not known the call is a guess.

An example: ``verify(answer, completion)`` gets the answer first, because names decide and not their order.
"""

import inspect

import pytest
from conftest import Lab

from course.errors import UserError
from course.guest import OwnRubric
from course.rubrics.calling import find_arguments

SEVEN = {"id": "q1", "prompt": "What is 3 + 4?", "expected_answer": 7}
# The parameters of a function, the arguments that it is given, and whether they are guessed.
CALLS = [
    ("example, completion", "example, completion", False),
    ("completion, answer", "completion, answer", False),
    ("answer, completion", "answer, completion", False),
    ("response, gold, strict=True", "completion, answer", False),
    ("output, *, target", "completion, target=answer", False),
    ("completion, solution, /", "completion, answer", False),
    ("prompt, completion, answer", "prompt, completion, answer", False),
    ("completion, answer=None, gold=None", "completion, answer", False),
    ("output, example, label=3", "completion, example", False),
    ("completions, answer", "[completion], [answer]", False),
    ("prompts, completions, ground_truth", "[prompt], [completion], [answer]", False),
    ("solution_str, ground_truth", "completion, answer", False),
    ("data_source, solution_str, ground_truth, extra_info", "'', completion, answer, {}", True),
    ("data_source, solution_str, ground_truth, extra_info=None", "'', completion, answer", True),
    ("row, text", "example, completion", True),
    ("a, b, label=3", "example, completion", True),
    ("*given", "example, completion", True),
    ("question, answer", "completion, answer", True),
    ("response, mine", "completion, answer", True),
    ("row, response", "example, completion", True),
    ("gold, *, output", "answer, output=completion", False),
]
UNKNOWN = [
    "a, b, c",
    "completion",
    "prompt, completion",
    "prompt, answer",
    "answer, gold",
    "completion, answer, mode",
    "",
]


@pytest.mark.parametrize(("parameters", "arguments", "is_guess"), CALLS)
def test_the_parameters_say_how_it_is_called(parameters: str, arguments: str, is_guess: bool) -> None:
    function = eval(f"lambda {parameters}: None")
    found = find_arguments([*inspect.signature(function).parameters.values()])
    assert found is not None
    assert (found.expression, found.is_guess) == (arguments, is_guess)
    eval(
        f"function({arguments})", {"function": function} | dict.fromkeys(("example", "completion", "answer", "prompt"))
    )


def test_a_function_that_takes_any_name_is_given_the_answer_under_each() -> None:
    function = eval("lambda completions, **kwargs: None")
    found = find_arguments([*inspect.signature(function).parameters.values()])
    assert found is not None
    assert found.expression.startswith("[completion], answer=[answer], solution=[answer], ")


@pytest.mark.parametrize("parameters", UNKNOWN)
def test_a_shape_that_is_not_known_shows_those_that_are(lab: Lab, parameters: str) -> None:
    lab.write("mine.py", f"def verify({parameters}): return 1\n")
    with pytest.raises(
        UserError, match=r"mine.py:1 verify: expected one of the shapes verify\(example, completion\), "
    ):
        OwnRubric("mine.py:verify")


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("completions, answer", "[c[-1]['content'] == 'Final: ' + a for c, a in zip(completions, answer)]"),
        ("completion, answer", "completion[0]['content'] == 'Final: ' + answer"),
    ],
)
def test_a_chat_is_given_where_a_text_raises(lab: Lab, parameters: str, body: str) -> None:
    lab.write("mine.py", f"def verify({parameters}):\n    return {body}\n")
    rubric = OwnRubric("mine.py:verify")
    assert [rubric(SEVEN, text)["reward"] for text in ("Final: 7", "Final: 8")] == [1.0, 0.0]


def test_a_call_is_said_outright(lab: Lab) -> None:
    lab.write("mine.py", "def verify(a, b, c):\n    return a == 'gsm' and b == 'Final: %d' % c\n")
    rubric = OwnRubric("mine.py:verify", "'gsm', completion, int(answer)")
    assert rubric.call == "verify('gsm', completion, int(answer))"
    assert rubric(SEVEN, "Final: 7")["reward"] == 1.0
    for call in ("bad(bad(", "completion; answer", "\x1b"):
        with pytest.raises(UserError, match=r"^--call: expected arguments that are expressions of ") as error:
            OwnRubric("mine.py:verify", call)
        assert str(error.value).isprintable()
    lab.write("mine.py", "MODE = 'gsm'\ndef verify(a, b):\n    return a == 'gsm' and b == 7\n")
    assert OwnRubric("mine.py:verify", "MODE, int(answer)")(SEVEN, "")["reward"] == 1.0  # names of the file, too
    with pytest.raises(UserError, match="--call is for a FILE:FUNCTION of your own"):
        OwnRubric("suffix", "example, completion")
    for call in ("completion, foo", "completion"):  # what raises for some texts is a finding about these
        assert OwnRubric("mine.py:verify", call).answers([(SEVEN, "Final: 7")])[0].reward is None
    lab.write("mine.py", "verify = dict.fromkeys\n")  # which does not say what it takes
    assert OwnRubric("mine.py:verify", "'a', 1").call == "verify('a', 1)"


@pytest.mark.parametrize(("parameters", "is_guess"), [("foo, bar", True), ("example, completion", False)])
def test_the_fault_of_a_guessed_call_says_how_to_name_one(lab: Lab, parameters: str, is_guess: bool) -> None:
    lab.write("mine.py", f"def verify({parameters}):\n    return 1 / 0\n")
    with pytest.raises(UserError) as error:
        OwnRubric("mine.py:verify")(SEVEN, "Final: 7")
    assert ("--call" in str(error.value)) == is_guess
