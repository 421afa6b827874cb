"""Machinery: the versions of a function on which a student's tests are tried, right ones and wrong ones.

Those of the verifier are plain files, ``data/wrong/rubric/``. A version's name is its class and a number, and its
docstring ends the sentence "a verifier that ...". Most are the scorer but for one thing, and a decorator says what kind
of thing. Those of ``pick_best`` and ``reinforce_step`` are the common mistakes in ``data/exercises/functions.toml``.
"""

import time
from collections.abc import Callable, Sequence
from functools import wraps
from inspect import getdoc
from pathlib import Path
from typing import Any, NamedTuple

from check.oracles import FUNCTIONS
from course.picking import Sample
from course.score import score

Verify = Callable[[Any, Any], Any]
_ENDS = " \t\r\n"


class Version(NamedTuple):
    """One version. ``kind``: its class. ``believes``: what is wrong with it, or how it differs from another right one.

    A function that remembers calls has them in an attribute ``calls``, which the judge empties.
    """

    id: str
    kind: str
    believes: str
    function: Callable[..., Any]


def read_versions(path: Path) -> list[Version]:
    """The functions that a file of ``data/wrong/`` defines."""
    namespace: dict[str, Any] = {"__name__": path.stem}
    exec(compile(path.read_bytes(), str(path), "exec"), namespace)
    functions = [value for value in namespace.values() if getattr(value, "__module__", "") == path.stem]
    return [Version(each.__name__, each.__name__.rpartition("_")[0], getdoc(each) or "", each) for each in functions]


def pick_versions() -> tuple[list[Version], list[Version]]:
    """Right and wrong versions of ``pick_best``."""

    def version(name: str, expression: str) -> Version:
        def pick_best(samples: Sequence[Sample]) -> Sample:
            group = [(sample.index, sample.completion, sample.reward) for sample in samples]
            index = FUNCTIONS["pick_best"].value(expression, [group])
            return next(sample for sample in samples if sample.index == index)

        return Version(name, f"a pick_best that looks like {name}", name, pick_best)

    return _versions_of("pick_best", version)


def step_versions() -> tuple[list[Version], list[Version]]:
    """Right and wrong versions of ``reinforce_step``."""

    def version(name: str, expression: str) -> Version:
        def reinforce_step(
            theta: list[list[float]], actions: list[int], reward: float, baseline: float, lr: float
        ) -> Any:
            return FUNCTIONS["reinforce_step"].value(expression, [theta, actions, reward, baseline, lr])

        return Version(name, f"a reinforce_step that looks like {name}", name, reinforce_step)

    return _versions_of("reinforce_step", version)


def _versions_of(name: str, version: Callable[[str, str], Version]) -> tuple[list[Version], list[Version]]:
    quantity = FUNCTIONS[name]
    wrong = [version(mistake, expression) for mistake, expression in quantity.mistakes.items()]
    return [version("right", quantity.right)._replace(kind="the course's own version")], wrong


# What the files of verifiers are made of


def trim(completion: str) -> str:
    """The text as the spec trims it."""
    return completion.strip(_ENDS)


def reads(change: Callable[[str], str]) -> Verify:
    """It scores another text than the one that stands there, trimmed."""
    return reads_untrimmed(wraps(change)(lambda completion: change(trim(completion))))


def reads_untrimmed(change: Callable[[str], str]) -> Verify:
    @wraps(change)
    def verify(example: Any, completion: Any) -> Any:
        return score(example, change(completion) if type(completion) is str else completion)

    return verify


def pays(condition: Callable[[str, int], Any]) -> Verify:
    """It takes a text for the right line, although the text is none, where ``condition(text, gold)`` holds."""

    @wraps(condition)
    def verify(example: Any, completion: Any) -> Any:
        result = score(example, completion)
        if result["details"]["outcome"] in ("ok", "invalid_example", "completion_not_text"):
            return result
        gold = example["expected_answer"]
        return score(example, f"Final: {gold}") if condition(trim(completion), gold) else result

    return verify


def refuses(condition: Callable[[str, int], Any]) -> Verify:
    """It refuses the right line where ``condition(completion, gold)`` holds."""

    @wraps(condition)
    def verify(example: Any, completion: Any) -> Any:
        result = score(example, completion)
        if result["reward"] and condition(completion, example["expected_answer"]):
            return score(example, "Final: ?")
        return result

    return verify


def says(change: Callable[[dict[str, Any]], object]) -> Verify:
    """It changes the result."""

    @wraps(change)
    def verify(example: Any, completion: Any) -> Any:
        result = score(example, completion)
        change(result)
        return result

    return verify


def rename(result: dict[str, Any], outcome: str, name: str) -> None:
    if result["details"]["outcome"] == outcome:
        result["details"]["outcome"] = name


def reads_gold(change: Callable[[Any], Any]) -> Verify:
    """It takes another expected answer than the one that stands there."""

    @wraps(change)
    def verify(example: Any, completion: Any) -> Any:
        if isinstance(example, dict):
            example = {**example, "expected_answer": change(example.get("expected_answer"))}
        return score(example, completion)

    return verify


def pays_unreadable(condition: Callable[[Any, Any], Any]) -> Verify:
    """It pays although the expected answer is none, where ``condition(example, completion)`` holds."""

    @wraps(condition)
    def verify(example: Any, completion: Any) -> Any:
        result = score(example, completion)
        if result["details"]["outcome"] == "invalid_example" and condition(example, completion):
            result["reward"], result["details"]["outcome"] = 1.0, "ok"
        return result

    return verify


def flips(errs: Callable[[list[Any]], Any]) -> Verify:
    """It turns the reward round where ``errs`` holds of the completions so far, this one the last."""
    calls: list[Any] = []

    @wraps(errs)
    def verify(example: Any, completion: Any) -> Any:
        calls.append(completion)
        result = score(example, completion)
        if errs(calls):
            result["reward"] = 1.0 - result["reward"]
        return result

    vars(verify)["calls"] = calls
    return verify


def slow(condition: Callable[[str], Any]) -> Verify:
    """It sleeps, as long as a regular expression would try that begins again at every character."""

    @wraps(condition)
    def verify(example: Any, completion: Any) -> Any:
        if type(completion) is str and condition(completion):
            time.sleep(0.5)
        return score(example, completion)

    return verify
