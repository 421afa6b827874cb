"""The least that could check runs: read their results with a strict parser, compare two strings a row, hash it all.

    python3 benchmarks/bare_read.py RESULTS [RESULTS]

What course.gate (two runs) and course.inspect_run --verify (one) are held against.
"""

import hashlib
import sys
from pathlib import Path

from bare_loop import Result, strict_decoder

if __name__ == "__main__":
    decode = strict_decoder(Result)
    for path in sys.argv[1:]:
        digest, right = hashlib.sha256(), 0
        with Path(path).open("rb") as file:
            for line in file:
                digest.update(line)
                row = decode(line)
                right += row.completion == f"Final: {row.expected_answer}"
