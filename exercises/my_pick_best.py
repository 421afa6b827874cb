"""Yours to write: the rule of Loop B, from its sentences. exercises/pick_best.py beside it works as it is; leave it.

    python3 -m check my_pick_best

Until you write it, the course's rule stands in, and says so. To choose with yours, make the last line of
exercises/pick_best.py ``from exercises.my_pick_best import pick_best``.
"""

from course.picking import Sample, course_rule


def pick_best(samples: list[Sample]) -> Sample:
    """One of the samples that are given, itself and not a copy.

    1. It is one with the highest ``reward``. Rewards may be any numbers, also equal, also below 0.
    2. Of several with the highest it is the one with the lowest ``index``, in whatever order the list holds them.
    3. The list may have one sample; it is never empty. Nothing is remembered, and nothing is left to chance.
    """
    return course_rule(samples)
