"""How fast the lab is, as ratios within one run: machines differ, ratios less so.

    python3 benchmarks/bench.py

Each pair of commands is run in turn, A B A B …, as whole processes; the median of the ratios is told, and the peak
memory the system accounts to the process. Linux and macOS: Windows has no such account.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import timeit
from functools import partial
from pathlib import Path
from statistics import median

from course.bandit_train import draws_of, learn
from course.policies.bandit import arm_rewards
from course.score import score

LAB = Path(__file__).resolve().parents[1]
ROWS = 200_000
PAIRS = 7
# Bytecode is cached as on any machine where the lab was used once before.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"CI": "true"}


def write_data(folder: Path) -> None:
    """A dataset and two files of completions of about the mix that the shipped rollouts have."""
    draw = random.Random(0)
    with (
        (folder / "dataset.jsonl").open("w", encoding="utf-8", newline="\n") as dataset,
        (folder / "before.jsonl").open("w", encoding="utf-8", newline="\n") as before,
        (folder / "after.jsonl").open("w", encoding="utf-8", newline="\n") as after,
    ):
        for row in range(ROWS):
            a, b = row, draw.randrange(1000)  # no prompt twice
            prompt = f"Compute {a} + {b}. Answer with exactly one line: Final: <int>"
            example = {"id": f"dev-{row:06d}", "prompt": prompt, "expected_answer": a + b}
            dataset.write(json.dumps(example, separators=(",", ":")) + "\n")
            for file, skill in ((before, 0.45), (after, 0.55)):
                completion = simulated(a, b, draw.random(), skill)
                rollout = {"id": example["id"], "completion": completion}
                file.write(json.dumps(rollout, separators=(",", ":")) + "\n")
    for name in ("before", "after"):
        meta = {
            "policy": f"benchmark, {name}",
            "created": "2026-11-21",
            "sampling": {"temperature": 1.0, "top_p": 1.0, "seed": 0, "n": 1},
            "completions_sha256": hashlib.sha256((folder / f"{name}.jsonl").read_bytes()).hexdigest(),
        }
        (folder / f"{name}.meta.json").write_text(json.dumps(meta), encoding="utf-8")


def simulated(a: int, b: int, luck: float, skill: float) -> str:
    if luck < skill:
        return f"Final: {a + b}"
    if luck < skill + 0.2:
        return f"Final: {a + b + 1}"
    return f"The answer is {a + b}." if luck < 0.85 else f"{a} + {b} = {a + b}\nFinal: {a + b}"


def run(command: list[str], root: Path) -> tuple[float, float]:
    """``(wall seconds, peak MiB)`` of one process. ``root``: a lab of its own, with a log of its own."""
    started = timeit.default_timer()
    environment = ENVIRONMENT | {"PYTHONPATH": str(root)}
    child = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = timeit.default_timer() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return seconds, usage.ru_maxrss / (1024**2 if sys.platform == "darwin" else 1024)


def compare(name: str, ours: list[str], bare: list[str], limit: float, root: Path) -> None:
    """Print the median ratio of ``ours`` to ``bare``; ``{run}`` in ours is a fresh name each time."""
    ratios, peaks, times, bare_times = [], [], [], []
    for turn in range(PAIRS + 1):
        seconds, peak = run([word.replace("{run}", str(turn)) for word in ours], root)
        bare_seconds, _ = run(bare, root)
        if turn:  # the first is a warm-up
            ratios.append(seconds / bare_seconds)
            peaks.append(peak)
            times.append(seconds)
            bare_times.append(bare_seconds)
    print(
        f"{name:34}{median(times) * 1e3:8.0f} ms {median(bare_times) * 1e3:8.0f} ms {median(ratios):7.2f} x"
        f"   (at most {limit})   peak {max(peaks):4.0f} MiB",
        flush=True,
    )


def ablation_cost() -> None:
    """A thousand learners side by side against one, 200 steps each, by the same code."""
    times = []
    for runs in (1, 1000):
        draws = draws_of(0, 200, runs)
        learner = partial(lambda draws: list(learn(arm_rewards(), draws, 0.5, True)), draws)
        times.append(min(timeit.repeat(learner, number=3, repeat=7)) / 3)
    one, many = times
    print(
        f"learn(), 1,000 runs against one: {many * 1e3:.1f} ms, {one * 1e3:.1f} ms, {many / one:.1f} x   (at most 20)"
    )


def score_times() -> None:
    """A call of score(), in microseconds, for a completion of each outcome; best of seven."""
    example = {"id": "x", "prompt": "Compute 17 * 19.", "expected_answer": 323}
    completions: list[object] = ["Final: 323", "Final: 324", "Final: 0323", "Final: -0", "Final: 323.", "Final: ٣٢٣"]
    completions += ["Final: +323", "Final:  323", "323", "17 * 19 = 323\nFinal: 323", "", None]
    for completion in completions:
        times = timeit.repeat(partial(score, example, completion), number=20_000, repeat=7)
        outcome = score(example, completion)["details"]["outcome"]
        print(f"score(): {outcome:25}{min(times) / 20_000 * 1e6:8.2f} µs")
    for name, text in (
        ("5 MB of digits", "Final: " + "9" * 5_000_000),
        ("5 MB of letters", "Final: " + "a" * 5_000_000),
        ("5 MB, two lines a piece", "a\n" * 2_500_000),
        ("5 MB, a private character last", "Final: " + "a" * 4_999_990 + "\ue000"),
        ("5 MB of Cyrillic, the same", "Final: " + "ж" * 2_500_000 + "\ue000"),
    ):
        times = timeit.repeat(partial(score, example, text), number=1, repeat=7)
        print(f"score(): {name:32}{min(times) * 1e3:8.2f} ms")


def main() -> None:
    python = sys.executable
    bench = LAB / "benchmarks"
    print(f"{'':34}{'ours':>11} {'bare':>11} {'ratio':>9}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("course", "data"):
            (folder / part).symlink_to(LAB / part, target_is_directory=True)
        write_data(folder)
        dataset, before, after = (folder / f"{name}.jsonl" for name in ("dataset", "before", "after"))
        evaluate = [python, "-m", "course.eval", "--dataset", str(dataset), "--completions"]
        bare = [python, str(bench / "bare_loop.py"), str(dataset), str(before), str(folder / "bare.jsonl")]
        compare(
            f"eval, {ROWS:,} rows", [*evaluate, str(before), "--outdir", str(folder / "run{run}")], bare, 2.5, folder
        )
        run([*evaluate, str(after), "--outdir", str(folder / "after")], folder)
        runs = ["--baseline", str(folder / "run0"), "--candidate", str(folder / "after"), "--min-delta", "0.01"]
        results = [str(folder / run_name / "results.jsonl") for run_name in ("run0", "after")]
        read = [python, str(bench / "bare_read.py"), *results]
        compare(f"gate, two runs of {ROWS:,}", [python, "-m", "course.gate", *runs], read, 3, folder)
        for command in sorted(
            path.stem for path in (LAB / "course").glob("*.py") if "run_command(main)" in path.read_text("utf-8")
        ):
            light = [python, "-c", "import argparse, json, hashlib"]
            module = f"course.{command.replace('__main__', '')}".rstrip(".")
            compare(f"{command} --help", [python, "-m", module, "--help"], light, 3, folder)
    print()
    ablation_cost()
    score_times()  # last: what this process has held counts as its children's peak


if __name__ == "__main__":
    main()
