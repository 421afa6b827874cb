"""Yours to change, for level 0: a copy of the dev set with one spoiled answer, to see what a measurement makes of it.

    python3 exercises/tamper.py dev-001     in the copy, the expected answer of dev-001 is 1 larger
    python3 exercises/tamper.py             the copy is the same as the original

Both commands write exercises/copy.jsonl. The original stays as it is.
"""

import json
import sys
from pathlib import Path

changed = sys.argv[1] if len(sys.argv) > 1 else ""
original = Path("data/datasets/math_dev.jsonl").read_bytes()
lines = original.decode("utf-8").split("\n")
count = 0
for number, line in enumerate(lines):
    if line and json.loads(line)["id"] == changed:
        example = json.loads(line)
        example["expected_answer"] += 1
        lines[number] = json.dumps(example, ensure_ascii=False, separators=(",", ":"))
        count += 1
if changed and count == 0:
    sys.exit(f"error: expected the id of an example, such as dev-001, got {changed!r}; nothing was written")
Path("exercises/copy.jsonl").write_bytes("\n".join(lines).encode("utf-8"))
print(f"exercises/copy.jsonl: {count} expected answers changed")
