"""A verifier of any file: how it is called, what it may return, and that no fault of it is a reward.

An example: ``verify`` divides by zero for 'Final: 1'. That text has no reward, with the exception and its line; a
reward of 0 would have called the policy wrong.
"""

import doctest
import hashlib
import os
from math import copysign
from pathlib import Path

import pytest
from clusters import wait_for
from handed_in import linux, processes_of

from course import verifier as module
from course.errors import UserError
from course.rubrics import calling
from course.verifier import Verifier

SEVEN = {"id": "a", "prompt": "What is 3 + 4?", "expected_answer": 7}
RIGHT = (SEVEN, "Final: 7")


def written(folder: Path, body: str, parameters: str = "example, completion") -> str:
    path = folder / "mine.py"
    path.write_text(f"def verify({parameters}):\n    {body}\n", encoding="utf-8", newline="\n")
    return f"{path}:verify"


@pytest.mark.parametrize(
    ("body", "reward"),
    [
        ("return True", 1.0),
        ("return None", 0.0),
        ("return -2.5", -2.5),
        ("return 0.25", 0.25),
        ("return -0.0", 0.0),
        ("return [1]", 1.0),
        ("return {'reward': 1}", 1.0),
        ("return {'reward': False, 'details': 'x'}", 0.0),
        ("return {'score': 0.5, 'acc': 1, 'pred': None}", 0.5),
        ("return {'score': 0.5, 'reward': 0.75}", 0.75),
        ("return example['expected_answer'] == 7 and completion == 'Final: 7'", 1.0),
        ("import numpy as np\n    return np.float64(0.5)", 0.5),
    ],
)
def test_what_a_verifier_may_return(tmp_path: Path, body: str, reward: float) -> None:
    with Verifier(written(tmp_path, body)) as verifier:
        result = verifier(*RIGHT)
        assert result == {"reward": reward, "details": {}}
        assert copysign(1, result["reward"]) == (-1 if reward < 0 else 1)  # no −0


@pytest.mark.parametrize(
    ("parameters", "body"),
    [
        ("example, completion", "return completion == f\"Final: {example['expected_answer']}\""),
        ("row, text", "return text == f\"Final: {row['expected_answer']}\""),
        ("*given", "return given[1] == f\"Final: {given[0]['expected_answer']}\""),
        ("completion, answer", "return completion == 'Final: ' + answer"),
        ("response, gold, strict=True", "return strict and response == 'Final: ' + gold"),
        ("output, *, target", "return output == 'Final: ' + target"),
        ("completion, solution, /", "return completion == 'Final: ' + solution"),
        ("completions, **kwargs", "return [c == 'Final: ' + a for c, a in zip(completions, kwargs['answer'])]"),
        ("prompts, completions, ground_truth", "return [c == 'Final: ' + ground_truth[0] for c in completions]"),
        ("completions, answer", "return [c[-1]['content'] == 'Final: ' + a for c, a in zip(completions, answer)]"),
        ("completion, answer", "return completion[0]['content'] == 'Final: ' + answer"),
        ("prompt, completion, answer", "return prompt.endswith('4?') and completion == 'Final: ' + answer"),
        ("solution_str, ground_truth", "return solution_str == 'Final: ' + ground_truth"),
        ("text, gt", "return text == 'Final: ' + gt"),
        ("prediction, reference", "return prediction == 'Final: ' + reference"),
        ("model_output, label", "return model_output == 'Final: ' + label"),
        ("generation, expected", "return generation == 'Final: ' + expected"),
        ("answer, completion", "return completion == 'Final: ' + answer"),
        ("gold, *, output", "return output == 'Final: ' + gold"),
        ("question, answer", "return question == 'Final: ' + answer"),
        ("response, mine", "return response == 'Final: ' + mine"),
        ("row, response", "return response == f\"Final: {row['expected_answer']}\""),
        ("output, example, label=3", "return label == 3 and output == f\"Final: {example['expected_answer']}\""),
        ("a, b, label=3", "return label == 3 and b == f\"Final: {a['expected_answer']}\""),
        ("completion, answer=None, gold=None", "return gold is None and completion == 'Final: ' + answer"),
        ("data_source, solution_str, ground_truth, extra_info",
            "return data_source + solution_str == 'Final: ' + ground_truth and extra_info == {}"),
        ("data_source, solution_str, ground_truth, extra_info=None",
            "return solution_str == 'Final: ' + ground_truth and extra_info is None"),
    ],
)  # fmt: skip
def test_the_parameters_say_how_it_is_called(tmp_path: Path, parameters: str, body: str) -> None:
    with Verifier(written(tmp_path, body, parameters)) as verifier:
        rewards = [verifier(SEVEN, text)["reward"] for text in ("Final: 7", "Final: 8")]
    assert rewards == [1.0, 0.0]


def test_a_method_of_an_object_is_a_verifier(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    method = "def verify(self, completion, answer):\n        return completion == self.before + answer"
    path.write_text(f"class Checker:\n    before = 'Final: '\n    {method}\nchecker = Checker()\n", encoding="utf-8")
    with Verifier(f"{path}:checker.verify") as verifier:
        assert [verifier(SEVEN, text)["reward"] for text in ("Final: 7", "Final: 8")] == [1.0, 0.0]
    for class_ in ("Checker", "Checker.verify"):
        with pytest.raises(UserError, match=r"make an object in the file, checker = Checker\(\), and name a method"):
            Verifier(f"{path}:{class_}").__enter__()


@pytest.mark.parametrize(
    ("parameters", "is_guess"),
    [
        ("example, completion", False),
        ("answer, text", False),
        ("completions, **kwargs", False),
        ("foo, bar", True),
        ("row, text", True),
        ("question, answer", True),
        ("*given", True),
        ("data_source, solution_str, ground_truth", True),
    ],
)
def test_a_guessed_call_that_raises_on_a_right_line_is_no_fault_of_the_verifier(
    tmp_path: Path, parameters: str, is_guess: bool
) -> None:
    with Verifier(written(tmp_path, "return 1 / 0", parameters)) as verifier:
        assert verifier.is_guess == is_guess
        if is_guess:
            with pytest.raises(UserError, match=r"raised ZeroDivisionError: .* verify\(.* was guessed"):
                verifier.check_guess(*RIGHT)
            with pytest.raises(UserError, match="was guessed"):
                verifier.results([RIGHT])
        else:
            verifier.check_guess(*RIGHT)
    with Verifier(written(tmp_path, "return 1", parameters)) as verifier:
        verifier.check_guess(*RIGHT)


@pytest.mark.parametrize(
    ("call", "why"),
    [
        ("bad(bad(", "was never closed"),
        ("completion; answer", "invalid syntax"),
        ("completion), (answer", "more than one call"),
        ("completion)(answer", "more than one call"),
        ("completion, foo", "name 'foo' is not defined"),
        ("completion, int(answer", "was never closed"),
        ("completion", "missing a required argument: 'b'"),
        ("completion, answer, prompt", "too many positional arguments"),
        ("completion + 1, answer", "can only concatenate str"),
        ("\x1b", "invalid non-printable character"),
    ],
)
def test_a_call_that_cannot_be_is_no_verdict(tmp_path: Path, call: str, why: str) -> None:
    with pytest.raises(UserError, match=r"--call: expected arguments that are expressions of example, .*, got '") as e:
        Verifier(written(tmp_path, "return 1", "a, b"), call=call).__enter__()
    assert why in str(e.value)
    assert "\x1b" not in str(e.value)
    with pytest.raises(UserError, match="--call is for a FILE:FUNCTION of your own"):
        Verifier("suffix", call="example, completion")


def test_arguments_may_depend_on_the_text(tmp_path: Path) -> None:
    """What raises for some texts is a finding about these."""
    with Verifier(written(tmp_path, "return a == b", "a, b"), call="completion.split(': ')[1], answer") as verifier:
        right, other = verifier.answers([RIGHT, (SEVEN, "7")])
    assert (right.reward, other.failure) == (1.0, "IndexError: list index out of range")


def test_a_call_is_said_outright(tmp_path: Path) -> None:
    place = written(tmp_path, "return a == 'gsm' and b == 'Final: %d' % c", "a, b, c")
    with Verifier(place, call="'gsm', completion, int(answer)") as verifier:
        assert verifier.call == "verify('gsm', completion, int(answer))"
        assert verifier(*RIGHT)["reward"] == 1.0
    assert doctest.testmod(calling).failed == 0


@pytest.mark.parametrize(
    "parameters",
    ["a, b, c", "completion", "prompt, completion", "prompt, answer", "answer, gold", "completion, answer, mode", ""],
)
def test_a_shape_that_is_not_known_shows_those_that_are(tmp_path: Path, parameters: str) -> None:
    with pytest.raises(UserError, match=r"one of the shapes verify\(example, completion\), .*; got verify\("):
        Verifier(written(tmp_path, "return 1", parameters)).__enter__()


@pytest.mark.parametrize(
    ("body", "failure"),
    [
        ("return 1 / 0", "ZeroDivisionError: division by zero (line 2)"),
        ("raise SystemExit(0)", "SystemExit: 0 (line 2)"),
        ("return 'yes'", "'yes', which is not a reward"),
        ("return float('nan')", "nan, which is not a reward"),
        ("return -float('inf')", "-inf, which is not a reward"),
        ("return 10 ** 400", None),
        ("return {'a': 1, '\\x1b': 2}", "a dict with the keys a, <U+001B ESCAPE>; expected a number, or a dict with"),
        ("return {}", "a dict with no keys; expected a number, or a dict with reward or score"),
        ("return (1.0, {'a': 2})", "2 values, 1.0, {'a': 2}; expected one number, or a dict with reward"),
        ("return []", "[], which is not a reward"),
        ("return {'reward': [1]}", "[1], which is not a reward"),
        ("return object()", "TypeError: Object of type object is not JSON serializable"),
        ("raise ValueError('\\x1b[31m')", "ValueError: <U+001B ESCAPE>[31m (line 2)"),
        ("import os; os._exit(3)", "an end with exit status 3"),
        ("while True: pass", "no answer within 1 s"),
    ],
)
def test_a_fault_costs_its_own_text_and_is_no_reward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, failure: str | None
) -> None:
    monkeypatch.setattr(module, "_ANSWERING", 1.0)
    place = written(tmp_path, f"if completion != 'Final: 7': return 1\n    {body}")
    questions = [(SEVEN, "\x1b"), RIGHT, (SEVEN, "7")]
    with Verifier(place) as verifier:
        before, answer, after = verifier.answers(questions)
        with pytest.raises(UserError, match=r"expected a reward for 'Final: 7' where 7 is right, got .*; fix the"):
            verifier.results(questions)
    assert (before.reward, answer.reward, after.reward) == (1.0, None, 1.0)
    assert not answer.is_paid
    if failure:
        assert answer.failure.startswith(failure.replace("(line 2)", "(line 3)"))


def test_a_first_call_may_import_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ANSWERING", 0.5)
    with Verifier(written(tmp_path, "import time\n    time.sleep(1)\n    return 1")) as verifier:
        first, second = verifier.answers([RIGHT, RIGHT])
    assert (first.reward, second.failure) == (1.0, "no answer within 0.5 s")


@pytest.mark.parametrize(
    ("source", "function", "why"),
    [
        ("", "verfy", "this file has no function verfy"),
        ("", "verify.it", "this file has no function verify.it"),
        ("return (", "verify", "cannot load this verifier: SyntaxError: "),
        ("pass\n1 / 0", "verify", "ZeroDivisionError: division by zero (line 3); fix the file"),
        ("pass\nimport no_such.package", "verify", " -m pip install no_such"),
        (
            "pass\nasync def wait(completion, answer): return 1",
            "wait",
            "is an async function, and a verifier must not be one; wrap it: ",
        ),
        ("pass\nverify = 7", "verify", "TypeError: 7 is not a callable object"),
    ],
)
def test_a_file_that_does_not_load_is_one_line(tmp_path: Path, source: str, function: str, why: str) -> None:
    place = written(tmp_path, source or "return 1").replace(":verify", f":{function}")
    with pytest.raises(UserError) as e:
        Verifier(place).__enter__()
    assert why in str(e.value)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("sufix", "did you mean suffix? expected a file and its function, such as mine.py:verify, or one of score, "),
        ("suffix:", "expected a file and its function, but the file suffix does not exist"),
        ("none.py", "expected a file and its function, such as mine.py:verify, or one of score, "),
        ("none.py:verify", "none.py:verify: expected a file and its function, but the file none.py"),
        ("mine.py", "mine.py: expected a file and its function, such as mine.py:verify, got the file alone"),
        ("mine.py:", "mine.py:: expected the name of a function after the colon, such as verify or checker.verify"),
        ("mine.py:a b", "such as verify or checker.verify, got a b"),
        ("mine.py:a.", "such as verify or checker.verify, got a."),
        (":f", "expected a file and its function, such as mine.py:verify, or one of score, "),
        ("", "or one of score, anywhere, last_number, suffix, "),
        ("\x1b:f", "<U+001B ESCAPE>:f: expected a file and its function, but the file <U+001B ESCAPE>"),
    ],
)
def test_a_place_that_names_no_verifier_is_one_line_on_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, why: str
) -> None:
    written(tmp_path, "return 1")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as e:
        Verifier(place)
    assert why in str(e.value)


def test_a_rubric_of_the_course_goes_by_its_name_and_a_file_by_its_digest(tmp_path: Path) -> None:
    with Verifier("suffix") as verifier:
        assert [answer.reward for answer in verifier.answers([(SEVEN, "Final: 17"), (SEVEN, "Final: 8")])] == [1.0, 0.0]
        assert verifier.name == "suffix"
    place = written(tmp_path, "return 1")
    digest = hashlib.sha256((tmp_path / "mine.py").read_bytes()).hexdigest()
    with Verifier(place) as verifier:
        assert (verifier.name, verifier.sha256()) == ("mine.py:verify", digest)


def test_after_its_seconds_it_is_asked_no_more(tmp_path: Path) -> None:
    with Verifier(written(tmp_path, "return 1"), seconds=-1) as verifier, pytest.raises(TimeoutError):
        verifier(*RIGHT)


@pytest.mark.parametrize(
    ("body", "calls", "limit"),
    [
        ("print('x' * (1 << 20))", 40, "16 MB of output"),
        pytest.param("import os, time\n    if os.fork() == 0: time.sleep(600)", 300, "64 processes", marks=linux),
    ],
)
def test_what_its_calls_use_up_together_is_no_fault_of_one(tmp_path: Path, body: str, calls: int, limit: str) -> None:
    with Verifier(written(tmp_path, f"{body}\n    return 1")) as verifier:
        assert [answer.failure for answer in verifier.answers([RIGHT] * calls)] == [""] * calls
        assert [*verifier.asked_again] == [f"no answer within {limit}"]


@linux
def test_what_its_calls_used_up_keeps_no_digest_back(tmp_path: Path) -> None:
    """After its last answer it leaves more processes than it may."""
    source = """
import os, threading, time
def leave():
    for _ in range(100):
        if os.fork() == 0:
            time.sleep(600)
def verify(example, completion):
    threading.Timer(0.1, leave).start()
    return 1
"""
    (tmp_path / "mine.py").write_text(source, encoding="utf-8")
    with Verifier(f"{tmp_path / 'mine.py'}:verify") as verifier:
        before = verifier.sha256()
        assert verifier(*RIGHT)["reward"] == 1
        wait_for(lambda: len(processes_of(tmp_path)) > 100)
        assert verifier.sha256() == before


def test_a_text_that_uses_up_a_limit_alone_has_no_reward(tmp_path: Path) -> None:
    place = written(tmp_path, "print('x' * (1 + 19 * (completion == '8')) * (1 << 20))\n    return 1")
    with Verifier(place) as verifier:
        failures = [answer.failure for answer in verifier.answers([RIGHT, (SEVEN, "8"), RIGHT])]
    assert failures == ["", "no answer within 16 MB of output", ""]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX only")
def test_a_copy_that_a_verifier_forks_gives_no_second_answer(tmp_path: Path) -> None:
    place = written(tmp_path, "import os; os.fork()\n    return completion == 'Final: 7'")
    with Verifier(place) as verifier:
        assert [answer.reward for answer in verifier.answers([RIGHT, (SEVEN, "7"), RIGHT])] == [1.0, 0.0, 1.0]
