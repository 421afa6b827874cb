"""Yours to fix: a verifier that pays for wrong answers. Milestone 5: break it, then close the whole class.

Choose one of seven verifiers in course/rubrics/hackable.py. From easy to hard they are: format_only, anywhere,
last_number, without_punctuation, any_candidate, suffix, format_bonus. Write its name into ``STARTED_FROM``. Then

1. break it: write wrong completions that it pays into exercises/exploits.jsonl, its name into ``fooled``, and into
   ``why`` what it overlooks. To try one text:

       python3 -m course.attack --rubric suffix --try "Final: 7323" --expected 323

2. fix it: copy the lines of the verifier in place of the ``return`` below, let them return 1 or 0 in place of
   ``_result(...)``, and change what they believe. Do not import course.score, because the rule has to be yours.

3. ``python3 -m check redteam`` tries texts of the same class that you have not seen. Then a policy learns from the
   rewards of your patch, and a search tries short texts. If either finds a wrong text that the patch pays, the check
   adds the text to exercises/exploits.jsonl: your next test.

The spec

    (yours: what earns 1, in one or two sentences)

Its changes

    1: the verifier as it was
"""

import re  # the lines of some verifiers need re and PREFIX
from typing import Any

from course.faults import PREFIX
from course.rubrics.hackable import GAPS

STARTED_FROM = "anywhere"
VERSION = "1"  # a new one for each change of the spec; every run that this file measures records it


def patched(example: dict[str, Any], completion: str) -> Any:
    """The reward of a completion. ``example``: a mapping with ``prompt`` and ``expected_answer``, an int."""
    # ---- yours from here on
    return GAPS[STARTED_FROM].rubric(example, completion)
    # ---- to here
