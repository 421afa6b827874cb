"""Yours to change: spoil a copy of the dev set, to see what a measurement makes of it. The original stays as it is.

    python3 exercises/tamper.py

Writes exercises/tampered.jsonl, in which every tenth expected answer is 1 too large.
"""

import json
from pathlib import Path

EVERY = 10

source = Path("data/datasets/math_dev.jsonl").read_text(encoding="utf-8")
examples = [json.loads(line) for line in source.splitlines()]
for example in examples[EVERY - 1 :: EVERY]:
    example["expected_answer"] += 1
lines = [json.dumps(example, ensure_ascii=False) + "\n" for example in examples]
Path("exercises/tampered.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")
print(f"exercises/tampered.jsonl: {len(examples[EVERY - 1 :: EVERY])} of {len(examples)} answers changed")
