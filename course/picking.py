"""The samples of a prompt, and the course's own rule by which Loop B chooses one of them."""

from msgspec import Struct

COURSE_RULE = "first_of_best"


class Sample(Struct, frozen=True, gc=False):
    """One of N completions of a prompt: its place among them, its text, and its reward."""

    index: int
    completion: str
    reward: float


def first_of_best(samples: list[Sample]) -> Sample:
    """The first drawn of the samples with the highest reward."""
    return min(samples, key=lambda sample: (-sample.reward, sample.index))
