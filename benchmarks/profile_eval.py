"""Where the time of course.eval goes, on plain rows and on rows with metadata.

    python3 benchmarks/profile_eval.py

Prints the share of each function, without the functions that it calls, as cProfile sees it. Each call costs cProfile
some time, so what is called once a row looks slower than it is.
"""

import pstats
import tempfile
from pathlib import Path

from bench import LAB, ROWS, SHAPES, evaluation, run, write_data

SHOWN = 15  # functions


def print_profile(folder: Path, shape: str, root: Path) -> None:
    write_data(folder, ROWS, SHAPES[shape])
    python, *rest = evaluation(folder, "before", "run")
    run([python, "-m", "cProfile", "-o", str(folder / "profile"), *rest], root)
    stats = vars(pstats.Stats(str(folder / "profile")))
    functions = sorted(stats["stats"].items(), key=lambda item: -item[1][2])
    print(f"\neval, {shape}, {ROWS:,} rows")
    for (file, line, name), (_, calls, seconds, *_) in functions[:SHOWN]:
        place = f"{Path(file).name}:{line} " if line else ""
        print(f"{seconds / stats['total_tt']:7.1%}{calls:11,}  {place}{name}"[:80])


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for part in ("course", "data", "exercises"):
            (root / part).symlink_to(LAB / part, target_is_directory=True)
        for shape in ("plain", "metadata"):
            print_profile(root / shape, shape, root)


if __name__ == "__main__":
    main()
