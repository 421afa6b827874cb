"""A solution of exercises/pick_best.py."""

from course.picking import Sample


def pick_best(samples: list[Sample]) -> Sample:
    best = samples[0]
    for sample in samples[1:]:
        if (sample.reward, -sample.index) > (best.reward, -best.index):
            best = sample
    return best
