"""Yours to mend: a verifier that pays for wrong answers. Milestone 5: break it, then close the whole class.

Choose one of the eight in course/rubrics/hackable.py, from easy to hard: format_only, anywhere, last_number,
without_punctuation, any_candidate, suffix, format_bonus, cast. Write its name into ``STARTED_FROM``. Then

1. break it: write completions that it pays and that are wrong into exercises/exploits.jsonl, and into ``why`` what the
   verifier overlooks there. To try one:

       python3 -m course.attack --rubric suffix --try "Final: 7323" --expected 323

2. mend it: put the lines of the verifier in place of the ``return`` below, return 1 or 0 in place of ``_result(...)``,
   and change what the lines believe. Use no import of course.score: the rule is to be yours.

3. ``python3 -m check redteam`` tries texts of the same class that you have not seen. Then a policy learns from
   the rewards of your patch. What it gets away with is added to exercises/exploits.jsonl: your next test.
"""

import re  # some of the verifiers' lines need it, and PREFIX
from typing import Any

from course.faults import PREFIX
from course.rubrics.hackable import GAPS

STARTED_FROM = "anywhere"


def patched(example: dict[str, Any], completion: str) -> Any:
    """The reward of a completion. ``example``: a mapping with ``prompt`` and ``expected_answer``, an int."""
    # ---- from here on it is yours
    return GAPS[STARTED_FROM].rubric(example, completion)
    # ---- down to here
