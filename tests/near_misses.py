"""Completions close to the line that the spec asks for: seeded draws, and seven places in it for a character."""

import random
from collections.abc import Iterator

PLACES = ("{}Final: 22", "Fin{}al: 22", "Final:{}22", "Final: {}22", "Final: -{}22", "Final: 2{}2", "Final: 22{}")
ANSWERS = (0, 2, -2, 7, 9, 22, -22, 222, 1024, -120, 10**30 + 7)
STARTS = ("Final: ",) * 12 + (" \n\tFinal: ", "\u00a0Final: ", "Final:", "final: ", "Final:\u00a0", "")
PARTS = (
    *"000012229+++---− .,_%xe²٢②Ⅻ½",
    *"\t\r\n\v\x1c\x1f\x85\0\x7f\u2028\u00a0\u3000\u200b\u00ad\u034f\u2800\u3164\ufe0f\ufeff\ud800",
    *("22", "7", "1024", "120", " or ", " apples", "Final: ", "**", "\U0001d7da", "\U000e0041", "\U00016fe4"),
)


def near_misses(seed: int, n: int) -> Iterator[tuple[int, str]]:
    """``(expected_answer, completion)``: the right line, with nothing to five parts put in, out or in their place."""
    rng = random.Random(seed)
    for _ in range(n):
        answer = rng.choice(ANSWERS)
        rest = list(str(answer)) if rng.random() < 0.5 else []
        for _ in range(rng.randrange(6)):
            place = rng.randrange(len(rest) + 1)
            rest[place : place + rng.randrange(2)] = [rng.choice(PARTS)]
        yield answer, rng.choice(STARTS) + "".join(rest) + rng.choice(("", "", "\n", " \r\n"))
