"""A student's tests behind the pipe: what counts as caught, and the ways to cheat, of which none is paid.

An example: a test that asserts nothing but fails, or one that fails where its random number is odd, is no proof that it
can tell a wrong verifier from a right one, and kills none.
"""

import time
from itertools import count
from types import SimpleNamespace

import pytest

from check import kills
from check import run_tests as runner
from check.judging import SETS
from check.kills import CORRECT_CLASS, Judgement, judge
from check.run_tests import run_tests
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import VerifierSource
from course.errors import UserError

SHOWN = list(read_records(SETS / "shown.jsonl", VerifierSource))
FEW = [
    one for one in SHOWN if one.kind in (CORRECT_CLASS, "white_space", "prefix", "raises", "empty_details", "any_value")
]
FEW = [one for one in FEW if one.witness or one.kind == CORRECT_CLASS]
HEAD = "import pytest, sys, os\nE = {'prompt': 'p', 'expected_answer': 323}\n"


def run_and_judge(source: str, verifiers: list[VerifierSource] = FEW) -> tuple[kills.TestRun, Judgement]:
    run = run_tests((HEAD + source).encode(), verifiers)
    return run, judge(run, {"shown": verifiers})


CHEATS = {
    "fails always": "assert False",
    "fails always after a look": "rubric(E, 'Final: 324')\nassert False",
    "pytest.fail always": "rubric(E, '323')\npytest.fail('wrong')",
    "fails at random": "import random\nassert random.random() < 0.5",
    "passes always": "rubric(E, '323')",
    "an object that equals everything": "assert rubric(E, '323') == Same()",
    "an object that equals nothing": "assert rubric(E, '323') == Other()",
    "swallows its own assertion": "try:\n    assert not rubric(E, '323')['reward']\nexcept AssertionError:\n    pass",
    "skips": "rubric(E, '323')\npytest.skip('later')",
    "expects to fail": "rubric(E, '323')\npytest.xfail('later')",
    "exits with 0": "rubric(E, '323')\nsys.exit(0)",
    "exits with 1": "if rubric(E, '323')['reward']:\n    sys.exit(1)",
    "crashes where details lack": "assert rubric(E, '323')['details']['outcome']",
    "raises where it should assert": "if rubric(E, '323')['reward']:\n    raise ValueError",
    "asks for its name": "assert rubric.__name__ == 'score'",
    "asks for its source": "import inspect\nassert 'strip' not in inspect.getsource(rubric)",
    "asks for its file": "assert rubric.__code__.co_filename.endswith('score.py')",
    "looks through all objects": "import gc\nassert not [o for o in gc.get_objects() if 'believes' in repr(o)[:9999]]",
    "looks through the frames": "assert 'verifier' not in sys._getframe(1).f_locals",
    "asks the environment": "assert not [k for k in os.environ if 'VERIF' in k] and len(sys.argv) == 99",
    "patches how results are told": "rubric.__self__._run = lambda *_: ('assertion', '')\nassert False",
    "sends what no scorer takes": "assert rubric(object(), Same())['reward'] == 0.0",
}
MADE = """
class Same:
    def __eq__(self, _): return True
class Other:
    def __eq__(self, _): return False
"""


@pytest.fixture(scope="module")
def cheat_run() -> tuple[kills.TestRun, Judgement]:
    """All the cheats in one file but the one that changes how the others' results are told."""
    tests = [
        f"def test_{number}(rubric):\n    " + body.replace("\n", "\n    ")
        for number, (name, body) in enumerate(CHEATS.items())
        if "patches how" not in name
    ]
    return run_and_judge(MADE + "\n".join(tests))


@pytest.mark.parametrize("name", [name for name in CHEATS if "patches how" not in name])
def test_no_cheat_is_paid(cheat_run: tuple[kills.TestRun, Judgement], name: str) -> None:
    run, judgement = cheat_run
    assert run.error == ""
    test = f"test_{list(CHEATS).index(name)}"
    assert test in run.cells
    assert not judgement.kills.get(test)


FILES = {  # a whole file -> what is said of it
    "pytest.skip('all', allow_module_level=True)": "",
    "sys.exit(0)": "",
    "os._exit(0)": "an end of the process from the file, before its first test",
    "def test_it(rubric:": "SyntaxError: ",
    "x = 1": "",
    "def test_it(): assert False": "",
    "def test_it(rubric): pytest.exit('now')": "an end of the process from test_it",
    "def test_it(rubric): raise KeyboardInterrupt": "an end of the process from test_it",
    "def test_it(rubric): os._exit(0)": "an end of the process from test_it",
    "def test_it(rubric): os.closerange(0, 99)": "an end of the process from test_it",
    "def test_it(rubric): rubric.__self__.send('end', 'assertion', ''); rubric(E, '323')": "an end of the process",
    "def test_it(rubric): rubric.__self__.send('begin', 'test_that')": "an end of the process",
    "def test_it(rubric): os.write(4, b'[' * 99999 + b'\\n'); rubric(E, '323')": "an end of the process",
    "@pytest.fixture\ndef rubric(): return lambda e, c: {'reward': 0.0}\n"
    "def test_it(rubric): assert rubric(E, 'Final: 323')['reward'] == 0.0": "",
    "def test_it(rubric): rubric.__self__._run = lambda *_: ('assertion', '')": "",
}


@pytest.mark.parametrize("source", FILES)
def test_no_file_of_this_kind_is_paid(source: str) -> None:
    run, judgement = run_and_judge(source)
    assert FILES[source] in run.error
    assert bool(FILES[source]) == bool(run.error)
    assert run.error or not judgement.killed


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("while True: pass", "the file, before its first test"),
        ("def test_it(rubric):\n    while True: pass", "test_it"),
        ("def test_it(rubric):\n    while True: rubric(E, '323')", "test_it"),
        ("def test_it(rubric):\n    import re; re.match('(a*)*b', 'a' * 99)", "test_it"),
    ],
)
def test_what_never_ends_is_an_error(source: str, test: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "_START_SECONDS", 2.0)
    monkeypatch.setattr(runner, "_TEST_SECONDS", 0.5)
    assert run_tests((HEAD + source).encode(), FEW).error == f"no answer in time from {test}"


def test_a_test_that_times_out_is_shown_apart_and_the_others_are_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one of the verifiers is enough; and what fails by its own time is no kill."""
    monkeypatch.setattr(runner, "_TEST_SECONDS", 0.5)
    right = "def test_right(rubric):\n    assert rubric(E, '323')['reward'] == 0\n"
    slow = "def test_{}(rubric):\n    if rubric(E, '323')['reward']:\n        while True: pass\n"
    run, judgement = run_and_judge(slow.format("one") + right + slow.format("two"))
    assert (run.error, sorted(run.timed_out)) == ("", ["test_one", "test_two"])
    assert [*run.cells] == [*judgement.kills] == ["test_right"]
    assert judgement.kills["test_right"]
    monkeypatch.setattr(runner, "_MOST_HANGING", 1)
    assert run_and_judge(slow.format("one") + right + slow.format("two"))[0].error.startswith("no answer in time from ")


FORGED = {  # a message that the process sends out of turn, at import or from within a test -> when
    '["call","{}","1"]': "before any test",
    '["end","assertion",""]': "before any test",
    '["collected",[5],[]]': "before any test",
    '["begin","test_it"]': "within a test",
    '["begin","test_other"]': "before any test",
    '["over"]': "before any test",
    '["collected",["test_it"],[]]': "within a test",
    '["done"]': "within a test",
    '["broken",5]': "before any test",
    '["end","passed",5]': "within a test",
    '["other",""]': "before any test",
}


@pytest.mark.parametrize("message", FORGED)
def test_a_message_out_of_turn_is_an_error(message: str) -> None:
    write = """
def send():
    for number in range(3, 12):
        try: os.write(number, {message!r} + b"\\n")
        except OSError: pass
"""
    body = "def test_it(rubric):\n    {call}assert rubric(E, 'Final: 324')['reward'] == 0.0\n"
    call = "send()\n" if FORGED[message] == "before any test" else ""
    source = write.format(message=message.encode()) + call + body.format(call="" if call else "send(); ")
    run, judgement = run_and_judge(source)
    assert run.error.startswith("an end of the process from ")
    del judgement


KILLS = {  # a test -> the class of all that it kills among the few
    "assert rubric(E, 'Final: 324')['reward'] == 0.0": {"any_value"},
    "assert rubric(E, '\\x0bFinal: 323')['reward'] == 0.0": {"white_space", "raises"},  # the exception leaves both
    "rubric(E, '')": {"raises"},
    "try:\n    rubric(E, '')\nexcept Exception:\n    pytest.fail('it must not raise')": {"raises"},
    "if rubric(E, 'Final: 324')['reward']:\n    pytest.fail('paid')": {"any_value"},
    "result = rubric(E, 'Final: 323')\nassert 'outcome' in result['details']": {"empty_details"},
}


def test_a_verifier_is_killed_by_an_assertion_about_what_it_really_answered() -> None:
    bodies = [body.replace("\n", "\n    ") for body in KILLS]
    run, judgement = run_and_judge("\n".join(f"def test_{n}(rubric):\n    {body}" for n, body in enumerate(bodies)))
    assert run.error == ""
    kinds = {one.id: one.kind for one in FEW}
    killed = [{kinds[id_] for id_ in judgement.kills[f"test_{n}"]} for n in range(len(KILLS))]
    assert killed == list(KILLS.values())


def test_without_pytest_it_says_what_fetches_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "find_spec", lambda _: None)
    with pytest.raises(UserError, match="expected pytest, got a Python without it"):
        run_tests(b"", FEW)


def test_each_witness_is_a_call_on_which_its_verifier_is_wrong() -> None:
    score = runner.load(SHOWN[0])
    for path in (SETS / "shown.jsonl", SETS / "held_out.jsonl", LAB / "teacher" / "verifiers.jsonl"):
        for one in read_records(path, VerifierSource):
            verify, ticks = runner.load(one), count()
            verify.__globals__["time"] = SimpleNamespace(thread_time=ticks.__next__)
            if one.witness is None:
                assert one.kind == CORRECT_CLASS or one.id == "white_space_3"
                continue
            example = {"prompt": "p", "expected_answer": one.witness.expected_answer}
            right = runner.answer(score, example, one.witness.completion)
            responses = [runner.answer(verify, example, one.witness.completion) for _ in range(3)]
            is_slow = next(ticks) > 0
            assert is_slow or any(runner.difference(answer, right) for answer in responses), one.id
            assert is_slow == (one.kind == "slow")


def test_slow_verifiers_are_quick_on_short_texts_and_the_others_on_long_ones() -> None:
    for path in (SETS / "shown.jsonl", SETS / "held_out.jsonl"):
        for one in read_records(path, VerifierSource):
            verify, ticks = runner.load(one), count()
            verify.__globals__["time"] = SimpleNamespace(thread_time=ticks.__next__)
            example = {"prompt": "p", "expected_answer": 323}
            runner.answer(verify, example, "Final: 323" + " 0" * 100)
            assert next(ticks) == 0
            start = time.process_time()
            for text in ("Final: " + "9" * 100_000, " " * 100_000 + "x", "Final: 3" + " a" * 50_000):
                runner.answer(verify, example, text)
            assert time.process_time() - start < 2, one.id
