"""Yours to write: how Loop B chooses among N completions of one prompt.

Without your rule, Loop B chooses by the course's own. To choose with yours:

    python3 -m course.selection_demo --dataset data/datasets/math_dev.jsonl \\
        --samples data/rollouts/selection_pack_dev.jsonl --n 4 --pick exercises/pick_best.py:pick_best

``python3 -m check level_2`` says whether your rule is the one in the sentences below. Try other rules, too, and predict
what happens: always the first; the last of the best; the shortest; the worst. A module of your own beside this file is
imported as ``from exercises.helper import …``.
"""

from course.picking import Sample


def pick_best(samples: list[Sample]) -> Sample:
    """One of the samples that are given, itself and not a copy. Each has ``index``, ``completion`` and ``reward``.

    1. It is one with the highest ``reward``. Rewards may be any numbers, also equal, also below 0.
    2. Of several with the highest it is the one with the lowest ``index``, in whatever order the list holds them.
    3. The list may have one sample; it is never empty. Nothing is remembered, and nothing is left to chance.
    """
    raise NotImplementedError("write pick_best in exercises/pick_best.py")
