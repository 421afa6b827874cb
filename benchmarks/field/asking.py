"""What every adapter shares: it puts each case before each of its verifiers. Standard library only.

An adapter runs in an environment of its own: ``python -m field.in_NAME CASES.json ANSWERS.json``, in ``benchmarks/``.
"""

import json
import re
import sys
from collections.abc import Callable
from importlib.metadata import version as version_of
from pathlib import Path

Verifier = Callable[[str, str], float]  # (expected answer, completion) -> reward

# One answer: from the marker to the end of its line, or to the next marker. White space after it stays outside, and so
# does bold or a code span that was opened before the marker.
_ANSWER = re.compile(r"(\*\*|`|)Final: ((?:(?!Final: ).)*?)(?=[ \t\r]*\1[ \t\r]*(?:\n|\Z|Final: ))")


def in_form(completion: str, form: str) -> str:
    r"""The completion as a model would have written it for this verifier.

    >>> in_form("11 * 2 = 22\nFinal: 22\n", r"\boxed{…}")
    '11 * 2 = 22\n\\boxed{22}\n'
    """
    before, after = form.split("…")
    return _ANSWER.sub(lambda found: f"{found[1]}{before}{found[2]}{after}", completion)


def answer_cases(verifiers: dict[str, Verifier], version: str = "") -> None:
    """Read the cases, and write what each verifier gave: a reward, or the name of what it raised. ``version``: its own
    word, where it is no installed distribution.
    """
    asked = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    answers: dict[str, list[float | str]] = {key: [] for key in verifiers}
    for key, verifier in verifiers.items():
        for case in asked["cases"]:
            text = in_form(case["completion"], asked["forms"][key])
            try:
                answers[key].append(round(float(verifier(str(case["expected_answer"]), text)), 4))
            except Exception as error:  # that it raises is what is reported
                answers[key].append(type(error).__name__)
    answered = {"version": version or version_of(asked["distribution"]), "rewards": answers}
    Path(sys.argv[2]).write_text(json.dumps(answered), encoding="utf-8")
