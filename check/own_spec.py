"""Machinery: the reward spec as a student writes it, held against the scorer; a gap is named by the rule it breaks.

Covered
    A spec that pays too much or too little, answers twice differently, raises or says nothing.
Not covered
    Whose code it is. A gap that no golden case and no text of a few edits shows.
"""

from collections import Counter
from random import Random
from typing import Any

from check.functions import NOT_STARTED, called, close, own_file
from check.report import Checked
from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.child import Child, Raised
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase
from course.faults import CHECKS
from course.score import score
from course.text import quote

_EDITS = (  # what an edit puts into a right line, or in place of one of its characters
    "",
    " ",
    "\t",
    "\n",
    "\r",
    "\v",
    "\f",
    "\x1c",
    "\x85",
    "\xa0",
    "\u2028",
    "\u3000",
    "\u200b",
    "+",
    "-",
    "\u2212",
    "0",
    "1",
    "7",
    "\u0663",
    "\uff11",
    "\xb2",
    ".",
    ".0",
    ",",
    "_",
    "e1",
    "/1",
    "%",
    " or 3",
    "**",
    "x",
    "Final: ",
)
_TASK: dict[str, Any] = {"prompt": "How many?", "expected_answer": 1}
_NO_TEXTS: list[Any] = ["", None, 1, True, ["Final: 1"], {}]
_NO_EXAMPLES: list[Any] = [
    _TASK | {"expected_answer": True},
    _TASK | {"expected_answer": 1.0},
    _TASK | {"expected_answer": "1"},
    _TASK | {"expected_answer": None},
    {},
    {"expected_answer": 1},
    _TASK | {"prompt": 1},
    [],
    None,
]
_ODD: list[tuple[Any, Any]] = [(_TASK, completion) for completion in _NO_TEXTS]
_ODD += [(example, "Final: 1") for example in _NO_EXAMPLES]


def check_my_score(seed: int = 0) -> Checked:
    """The student's spec on the golden sets, on texts that are a few edits from right, and on what is no text."""
    path, rng = own_file("my_score"), Random(seed)
    golden = [*read_records(GOLDEN_CORRECT, GoldenCase), *read_records(GOLDEN_EXPLOITS, GoldenCase)]
    asked = _ODD + [_near_right(rng) for _ in range(3_000)]
    asked += [(_TASK | {"expected_answer": case.expected_answer}, case.completion) for case in golden]
    with Child(path, isolated=True) as child:
        trouble, values = called(child, path, "score", [*asked, *asked[::-1]])
    if trouble and all(isinstance(value, Raised) for value in values):
        return Checked(trouble) if trouble == NOT_STARTED else Checked("wrong", trouble, [trouble])
    broken: Counter[str] = Counter()
    shown: dict[str, str] = {}  # rule -> the shortest that breaks it
    for (task, text), value, again in zip(asked, values[: len(asked)], values[: len(asked) - 1 : -1], strict=True):
        right, got = score(task, text), value if isinstance(value, dict) else {}
        details, outcome = got.get("details"), right["details"]["outcome"]
        words = quote(repr(got.get("reward", value)))
        if isinstance(value, Raised):
            rule, words = "an answer and no exception", f"{value.kind} at {path}:{value.line or 1}: {value.text}"
        elif value != again:
            rule = "the same answer whenever it is asked"
        elif not isinstance(details, dict) or not isinstance(details.get("message"), str) or not details["message"]:
            rule = "a reward, and details with a message"
        elif not close(got.get("reward"), right["reward"]):
            rule = f"{CHECKS[outcome].expected}, else 0" if outcome in CHECKS else "1 for what is right"
        else:
            continue
        broken[rule] += 1
        said = f"score({quote(repr(task))}, {quote(repr(text))}), got {words}"
        shown[rule] = min(shown.get(rule, said), said, key=len)
    lines = [f"expected {rule}: broken {broken[rule]:,} times, as for {said}" for rule, said in shown.items()]
    short = f"{len(asked) - broken.total():,} of {len(asked):,} texts as the spec has them"
    return Checked("wrong" if lines else "done", short, lines)


def _near_right(rng: Random) -> tuple[dict[str, Any], str]:
    """An example, and its right line or another value's with up to three edits."""
    answer = rng.choice((0, 7, -8, 10, 22, -120, rng.randint(-999, 999), 10**30 + 7))
    line = f"Final: {rng.choice((answer,) * 6 + (-answer, answer + 1, answer * 10, abs(answer)))}"
    for _ in range(rng.randint(0, 3)):
        at = rng.choice((0, 7, len(line), rng.randint(0, len(line))))
        line = line[:at] + rng.choice(_EDITS) + line[at + rng.choice((0, 0, 1)) :]
    return _TASK | {"expected_answer": answer}, line
