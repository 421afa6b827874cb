"""The least that Loop B could do with a strict parser: compare each sample, take the first that is right, write rows.

    python3 benchmarks/bare_choice.py DATASET SAMPLES OUT

What course.selection_demo is held against. Trusts its input like bare_loop.py.
"""

import hashlib
import sys
from pathlib import Path

import msgspec
from bare_loop import Details, Example, Result, strict_decoder


class Group(msgspec.Struct):
    id: str
    samples: list[str]


class Choice(Result):
    samples: list[str]
    rewards: list[float]
    chosen: int
    others: list[str]
    other_rewards: list[float]


def main(dataset: Path, samples: Path, out: Path) -> None:
    decode_example, decode_group, encode = strict_decoder(Example), strict_decoder(Group), msgspec.json.Encoder().encode
    read_one, read_other, written = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    with dataset.open("rb") as one, samples.open("rb") as other, out.open("wb") as file:
        for line, line_of_other in zip(one, other, strict=True):
            read_one.update(line)
            read_other.update(line_of_other)
            example, group = decode_example(line), decode_group(line_of_other)
            rewards = [float(sample == f"Final: {example.expected_answer}") for sample in group.samples]
            chosen = rewards.index(max(rewards))
            scored = group.samples[chosen], rewards[chosen], Details("ok" if rewards[chosen] else "wrong_answer", None)
            row = Choice(
                example.id, example.prompt, example.expected_answer, *scored, group.samples, rewards, chosen, [], []
            )
            line_out = encode(row) + b"\n"
            written.update(line_out)
            file.write(line_out)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
