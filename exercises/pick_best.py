"""Yours to change: how Loop B chooses among N completions of one prompt.

``pick_best`` gets the samples in the order in which they were drawn; each has ``index``, ``completion`` and
``reward`` (what the scorer paid it). It returns one of them. It works as it stands: change it, predict what will
happen, and run

    python3 -m course.selection_demo --dataset data/datasets/math_dev.jsonl \\
        --samples data/rollouts/selection_pack_dev.jsonl --n 4

Ideas: always the first; the last of the best; the shortest; the worst. What happens to the three numbers, and to
which of them does nothing happen, whatever you write here? A module of your own beside this file is imported as
``from exercises.helper import …``.
"""

from course.picking import Sample


def pick_best(samples: list[Sample]) -> Sample:
    """The sample with the highest reward. Ties go to the first, so that the same samples give the same choice."""
    # ---- from here on it is yours
    best = samples[0]
    for sample in samples[1:]:
        if sample.reward > best.reward:  # with >= ties would go to the last
            best = sample
    return best
    # ---- down to here
