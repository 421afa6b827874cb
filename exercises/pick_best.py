"""Yours to write, for level 2: how Loop B chooses among N completions of one prompt.

Without --pick, Loop B chooses by the course's own rule. To choose with yours:

    python3 -m course.selection_demo --dataset data/datasets/math_dev.jsonl \\
        --samples data/rollouts/selection_pack_dev.jsonl --n 4 --pick exercises/pick_best.py:pick_best

``python3 -m check level_2`` shows samples from which your rule chooses wrongly, until it follows the sentences below.
Try other rules as well, and predict what happens: always the first sample, the last of the best, the shortest, the
worst. If you write a module of your own beside this file, import it as ``from exercises.helper import …``.
"""

from course.picking import Sample


def pick_best(samples: list[Sample]) -> Sample:
    """Return one of the given samples, itself and not a copy. A sample has ``index``, ``completion`` and ``reward``.

    1. Choose a sample with the highest ``reward``. Rewards may be any numbers, and they may be equal or below 0.
    2. If several samples have the highest reward, choose the one with the lowest ``index``. The list may hold the
       samples in any order.
    3. The list has at least one sample. The rule remembers nothing between calls, and leaves nothing to chance.
    """
    raise NotImplementedError("write pick_best in exercises/pick_best.py")
