"""Makes the sums of ``data/datasets``, for a token policy small enough to learn them on a laptop.

    python3 data/make_sums.py [--out FOLDER]

writes the same bytes each time: ``one_digit_sums``, all 100 of them, and ``two_digit_sums``, drawn from those that need
no carry; and the first one-digit sums once more, for trainings of a second. Records are written as make_data.py writes
them, and no prompt is a word problem.

Left out
    Sums that need a carry: without one, each digit of the answer depends on two digits of the prompt and no more.
    Keeping a sum and its mirror image together: 12 + 34 and 34 + 12 are two prompts, and may fall into two splits.
"""

import argparse
import random
from pathlib import Path

from make_data import Problem, example, write_jsonl

# The seeds were not picked: each is the number of digits.
ONE_DIGIT_SEED, TWO_DIGIT_SEED = 1, 2
ONE_DIGIT_DEV, ONE_DIGIT_HOLDOUT = 75, 25  # together all there are
SMALL = 25  # the first of dev, in a file of their own
TWO_DIGIT_DEV, TWO_DIGIT_HOLDOUT = 1000, 300  # the rest is left over

Pairs = list[tuple[int, int]]


def needs_no_carry(a: int, b: int) -> bool:
    """Of two-digit numbers: neither the ones nor the tens add up to more than one digit."""
    return a % 10 + b % 10 <= 9 and a // 10 + b // 10 <= 9


def write_files(folder: Path) -> None:
    one_digit = [(a, b) for a in range(10) for b in range(10)]
    two_digit = [(a, b) for a in range(10, 100) for b in range(10, 100) if needs_no_carry(a, b)]
    write_splits(folder, "one_digit_sum", one_digit, ONE_DIGIT_SEED, ONE_DIGIT_DEV, ONE_DIGIT_HOLDOUT)
    dev = (folder / "datasets" / "one_digit_sums_dev.jsonl").read_bytes()
    (folder / "datasets" / "one_digit_sums_small.jsonl").write_bytes(b"".join(dev.splitlines(keepends=True)[:SMALL]))
    write_splits(folder, "two_digit_sum", two_digit, TWO_DIGIT_SEED, TWO_DIGIT_DEV, TWO_DIGIT_HOLDOUT)


def write_splits(folder: Path, kind: str, pairs: Pairs, seed: int, dev: int, holdout: int) -> None:
    """Shuffled once, then cut: the first N of dev, for any N, are as fair a sample as dev itself."""
    random.Random(seed).shuffle(pairs)
    for split, drawn in (("dev", pairs[:dev]), ("holdout", pairs[dev : dev + holdout])):
        width = max(3, len(str(len(drawn))))
        # No completions are written for these: they need no working, and no trap to fall into.
        problems = [Problem(kind, f"{a} + {b}", a + b, steps="", trap=a + b) for a, b in drawn]
        examples = [example(f"{split}-{number:0{width}}", split, row) for number, row in enumerate(problems, 1)]
        write_jsonl(folder / "datasets" / f"{kind}s_{split}.jsonl", examples)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the sums of datasets/ anew, the same bytes each time.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="FOLDER", help="default: data/")
    write_files(parser.parse_args().out)
