"""The least that the gate could do: read the results of two runs once, row by row, and look at nothing.

python3 benchmarks/bare_read.py RESULTS RESULTS
"""

import sys
from pathlib import Path

import msgspec
from bare_loop import Result

if __name__ == "__main__":
    decode = msgspec.json.Decoder(Result).decode
    for path in sys.argv[1:]:
        with Path(path).open("rb") as file:
            for line in file:
                decode(line)
