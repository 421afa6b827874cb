"""The least that Loop A could do: read both files, compare two strings, write rows, hash what is read and written.

    python3 benchmarks/bare_loop.py DATASET COMPLETIONS OUT

It trusts its input, knows two outcomes, pairs lines by position, and syncs nothing. It is what course.eval is held
against; the rows it writes have the shape of course.eval's, and within one per cent their size.
"""

import hashlib
import sys
from pathlib import Path

import msgspec


class Example(msgspec.Struct):
    id: str
    prompt: str
    expected_answer: int


class Rollout(msgspec.Struct):
    id: str
    completion: str


class Details(msgspec.Struct):
    outcome: str
    parsed_answer: str | None


class Result(msgspec.Struct):
    id: str
    prompt: str
    expected_answer: int
    completion: str
    reward: float
    details: Details


def main(dataset: Path, completions: Path, out: Path) -> None:
    decode_example, decode_rollout = msgspec.json.Decoder(Example).decode, msgspec.json.Decoder(Rollout).decode
    encode = msgspec.json.Encoder().encode
    read_one, read_other, written = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    with dataset.open("rb") as one, completions.open("rb") as other, out.open("wb") as file:
        for line, line_of_other in zip(one, other, strict=True):
            read_one.update(line)
            read_other.update(line_of_other)
            example, rollout = decode_example(line), decode_rollout(line_of_other)
            right = rollout.completion == f"Final: {example.expected_answer}"
            reward, outcome = (1.0, "ok") if right else (0.0, "missing_prefix")
            row = Result(
                example.id, example.prompt, example.expected_answer, rollout.completion, reward, Details(outcome, None)
            )
            line_out = encode(row) + b"\n"
            written.update(line_out)
            file.write(line_out)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
