"""The least that Loop A could do with a strict parser: read both files, compare two strings, write rows, hash it all.

    python3 benchmarks/bare_loop.py DATASET COMPLETIONS OUT [--blind]

It reads with jiter, which sees a key given twice; ``--blind`` reads with msgspec alone, which does not. It trusts its
input otherwise, knows two outcomes, pairs lines by position, and syncs nothing. It is what course.eval is held against;
the rows it writes have the shape of course.eval's, and within one per cent their size.
"""

import hashlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import jiter
import msgspec

S = TypeVar("S", bound=msgspec.Struct)


class Example(msgspec.Struct):
    id: str
    prompt: str
    expected_answer: int
    metadata: dict[str, Any] | None = None


class Rollout(msgspec.Struct):
    id: str
    completion: str
    metadata: dict[str, Any] | None = None


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


def strict_decoder(struct_type: type[S]) -> Callable[[bytes], S]:
    def decode(line: bytes) -> S:
        value = jiter.from_json(line, catch_duplicate_keys=True, allow_inf_nan=False)
        return msgspec.convert(value, struct_type)

    return decode


def main(dataset: Path, completions: Path, out: Path, blind: bool) -> None:
    decode_example: Callable[[bytes], Example] = strict_decoder(Example)
    decode_rollout: Callable[[bytes], Rollout] = strict_decoder(Rollout)
    if blind:
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
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), blind="--blind" in sys.argv[4:])
