"""That another version of the scorer gives the same rewards, outcome by outcome. For whoever changes the scorer.

    git show REVISION:course/score.py > old_score.py
    PYTHONPATH=tests python3 benchmarks/rewards_unchanged.py old_score.py
    PYTHONPATH=.:tests python3.13 benchmarks/rewards_unchanged.py --outcomes

Both versions score 2,000,000 seeded near misses of the line, and every code point in seven places of it. Printed: how
many completions, which outcomes changed into which, and how many rewards differ. Status 1 if any does. The old file
must stand alone. ``--outcomes`` needs no old one: the same digest from each Python means that each gives the same
outcome to every code point in every place.
"""

import argparse
import hashlib
import importlib.util
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from near_misses import PLACES, every_code_point, near_misses

from course.score import measure, score


def module_from(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("old_score", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"error: {path}: expected a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compare(old: ModuleType, cases: Iterator[tuple[int, str]]) -> tuple[Counter[tuple[str, str]], int, int]:
    """How often each pair (old outcome, new outcome) was met, how many got the reward, how many rewards differ."""
    pairs: Counter[tuple[str, str]] = Counter()
    rewarded = different = 0
    for answer, text in cases:
        example = {"prompt": "", "expected_answer": answer}
        before, now = old.score(example, text), measure(answer, text)
        pairs[before["details"]["outcome"], now.outcome] += 1
        rewarded += now.reward == 1.0
        different += not before["reward"] == now.reward == score(example, text)["reward"]
    return pairs, rewarded, different


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the rewards of two versions of the scorer.")
    parser.add_argument("old", type=Path, nargs="?", help="score.py of the other version")
    parser.add_argument("--n", type=int, default=2_000_000, help="near misses (default: 2,000,000)")
    parser.add_argument("--seed", type=int, default=0, help="of the near misses (default: 0)")
    parser.add_argument("--outcomes", action="store_true", help="only print a digest of the outcomes of code points")
    args = parser.parse_args()
    if args.outcomes:
        outcomes = [measure(*case).outcome for case in every_code_point()]
        counts = ", ".join(f"{outcome} {n:,}" for outcome, n in sorted(Counter(outcomes).items()))
        print(
            f"{len(outcomes):,} outcomes, SHA-256 {hashlib.sha256(' '.join(outcomes).encode()).hexdigest()}\n{counts}"
        )
        return 0
    if args.old is None:
        parser.error("expected the score.py of another version, got none")

    total = Counter[tuple[str, str]]()
    differing = 0
    old = module_from(args.old)
    for name, cases in (
        (f"near misses (seed {args.seed})", near_misses(args.seed, args.n)),
        (f"code points in {len(PLACES)} places", every_code_point()),
    ):
        pairs, rewarded, different = compare(old, cases)
        print(f"{name}: {pairs.total():,} completions, {rewarded:,} with reward 1.0, {different:,} rewards differ")
        total += pairs
        differing += different
    print(f"\n{'old outcome':<20} {'new outcome':<20} {'n':>12}")
    for (before, now), n in sorted(total.items()):
        print(f"{before:<20} {now:<20} {n:>12,}{'' if before == now else '   changed'}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
