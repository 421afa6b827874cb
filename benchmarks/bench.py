"""How fast the lab is, as ratios within one run: machines differ, ratios less so.

    python3 benchmarks/bench.py

Commands that are held against each other are run in turn, A B C A B C …, as whole processes; the median of the ratios
is told, and the peak memory that the system accounts to the process. Linux and macOS: Windows has no such account.
What the ratios leave out stands in benchmarks/README.md, with the table of one machine.
"""

import hashlib
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
import timeit
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import learning

from course.bandit_train import draws_of, learn
from course.policies.bandit import arm_rewards
from course.score import score

LAB = Path(__file__).resolve().parents[1]
BENCH = LAB / "benchmarks"
ROWS = 200_000
TURNS = 5
SAMPLES = 4  # of a prompt, in Loop B
# Bytecode is cached as on any machine where the lab was used once before.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {"CI": "true"}


class Shape(NamedTuple):
    """How somebody's JSONL is written: the same rows, other bytes."""

    metadata: bool = False
    escapes: bool = False  # \uXXXX for all that is not ASCII, as Python's json.dumps writes it
    crlf: bool = False
    other_order: bool = False  # of the keys

    def line(self, record: dict[str, Any]) -> bytes:
        if self.metadata:
            record |= {"metadata": {"split": "dev", "topic": "addition", "digits": [3, 3], "difficulty": 0.25}}
        if self.other_order:
            record = dict(reversed(record.items()))
        text = json.dumps(record, ensure_ascii=self.escapes, separators=(",", ":"))
        return (text + ("\r\n" if self.crlf else "\n")).encode("utf-8")


SHAPES = {
    "plain": Shape(),
    "metadata": Shape(metadata=True),
    "escapes": Shape(escapes=True),
    "CRLF": Shape(crlf=True),
    "other order of keys": Shape(other_order=True),
    "all at once": Shape(metadata=True, escapes=True, crlf=True, other_order=True),
}


def records(rows: int) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Examples, and completions of each, of about the mix that the shipped rollouts have. No prompt comes twice."""
    draw = random.Random(0)
    for row in range(rows):
        a, b = row, draw.randrange(1000)
        prompt = f"Compute {a} + {b}. Answer with exactly one line – nothing else: Final: <int>"
        skills = [0.45, 0.55, *[0.45] * (SAMPLES - 2)]
        completions = [simulated(a, b, draw.random(), skill) for skill in skills]
        yield {"id": f"dev-{row:06d}", "prompt": prompt, "expected_answer": a + b}, completions


def simulated(a: int, b: int, luck: float, skill: float) -> str:
    if luck < skill:
        return f"Final: {a + b}"
    if luck < skill + 0.2:
        return f"Final: {a + b + 1}"
    return f"The answer is {a + b}…" if luck < 0.85 else f"{a} + {b} = {a + b}\nFinal: {a + b}"


def write_data(folder: Path, rows: int, shape: Shape) -> None:
    """dataset.jsonl, before.jsonl and after.jsonl with a completion of each prompt, and samples.jsonl with all."""
    folder.mkdir()
    files = {name: (folder / f"{name}.jsonl").open("wb") for name in ("dataset", "before", "after", "samples")}
    for example, completions in records(rows):
        files["dataset"].write(shape.line(dict(example)))
        for name, completion in zip(("before", "after"), completions, strict=False):
            files[name].write(shape.line({"id": example["id"], "completion": completion}))
        files["samples"].write(Shape().line({"id": example["id"], "samples": completions}))
    for file in files.values():
        file.close()
    for name, n in (("before", 1), ("after", 1), ("samples", SAMPLES)):
        meta = {
            "policy": f"benchmark, {name}",
            "created": "2026-11-21",
            "sampling": {"temperature": 1.0, "top_p": 1.0, "seed": 0, "n": n},
            "completions_sha256": hashlib.sha256((folder / f"{name}.jsonl").read_bytes()).hexdigest(),
        }
        (folder / f"{name}.meta.json").write_text(json.dumps(meta), encoding="utf-8")


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


def compare(name: str, commands: list[list[str]], limit: float, root: Path) -> None:
    """Print the median ratios of the first command to each of the others.

    ``limit``: of the first ratio. ``{turn}`` in a command is another name each time.
    """
    times: list[list[float]] = []
    peaks = []
    for turn in range(TURNS + 1):
        found = [run([word.replace("{turn}", str(turn)) for word in command], root) for command in commands]
        if turn:  # the first is a warm-up
            times.append([seconds for seconds, _ in found])
            peaks.append(found[0][1])
    milliseconds = [f"{median(column) * 1e3:7.0f}" for column in zip(*times, strict=True)]
    ratios = [median(row[0] / row[other] for row in times) for other in range(1, len(commands))]
    shown = "".join(f"{ratio:7.2f} x" for ratio in ratios)
    verdict = f"at most {limit:g}: {'ok' if ratios[0] <= limit else 'missed'}"
    print(f"{name:32}{' '.join(milliseconds)} ms{shown}   {verdict}   {max(peaks):4.0f} MiB", flush=True)


def evaluation(folder: Path, completions: str, outdir: str) -> list[str]:
    files = ["--dataset", str(folder / "dataset.jsonl"), "--completions", str(folder / f"{completions}.jsonl")]
    return [sys.executable, "-m", "course.eval", *files, "--outdir", str(folder / outdir)]


def bare(script: str, folder: Path, *names: str) -> list[str]:
    return [sys.executable, str(BENCH / f"{script}.py"), *(str(folder / name) for name in names)]


def loops_a_and_b(root: Path) -> None:
    """eval on files of every shape, and what reads a run or chooses, on plain ones."""
    print(f"{ROWS:,} rows: ours, a bare loop with a strict parser, one with a blind parser; the ratio to each\n")
    for name, shape in SHAPES.items():
        folder = root / name.replace(" ", "_")
        write_data(folder, ROWS, shape)
        loop = bare("bare_loop", folder, "dataset.jsonl", "before.jsonl", "bare.jsonl")
        compare(f"eval, {name}", [evaluation(folder, "before", "run{turn}"), loop, [*loop, "--blind"]], 2.0, root)
    folder = root / "plain"
    run(evaluation(folder, "after", "after"), root)
    module = [sys.executable, "-m"]
    runs = ["--baseline", str(folder / "run0"), "--candidate", str(folder / "after"), "--min-delta", "0.01"]
    read = bare("bare_read", folder, "run0/results.jsonl", "after/results.jsonl")
    compare("gate, two runs", [[*module, "course.gate", *runs], read], 3, root)
    verify = [*module, "course.inspect_run", "--run", str(folder / "run0"), "--verify"]
    compare("inspect_run --verify", [verify, bare("bare_read", folder, "run0/results.jsonl")], 3, root)
    files = [
        "--dataset",
        str(folder / "dataset.jsonl"),
        "--samples",
        str(folder / "samples.jsonl"),
        "--n",
        str(SAMPLES),
    ]
    select = [*module, "course.selection_demo", *files, "--outdir", str(folder / "chosen{turn}")]
    choice = bare("bare_choice", folder, "dataset.jsonl", "samples.jsonl", "choice.jsonl")
    compare(f"selection_demo, {SAMPLES} samples", [select, choice], 3, root)


def a_million_rows(root: Path) -> None:
    """Whether time and memory grow with the rows and no faster."""
    found = {}
    for rows in (ROWS, 5 * ROWS):
        folder = root / f"rows_{rows}"
        write_data(folder, rows, Shape())
        found[rows] = min(run(evaluation(folder, "before", f"run_{turn}"), root) for turn in range(2))
    (seconds, peak), (longer, higher) = found.values()
    bytes_a_row = (higher - peak) * 1024**2 / (4 * ROWS)
    print(f"\neval, 5 times the rows: {longer / seconds:.2f} times as long, {bytes_a_row:.0f} bytes more a row\n")


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


def helps(root: Path) -> None:
    light = [sys.executable, "-c", "import argparse, json, hashlib"]
    for path in sorted((LAB / "course").glob("*.py")):
        if "run_command(main)" in path.read_text(encoding="utf-8"):
            module = f"course.{path.stem}".removesuffix(".__main__")
            compare(f"{module} --help", [[sys.executable, "-m", module, "--help"], light], 3, root)


def main() -> None:
    print(f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        for part in ("course", "data", "exercises"):
            (root / part).symlink_to(LAB / part, target_is_directory=True)
        loops_a_and_b(root)
        a_million_rows(root)
        helps(root)
    print()
    learning.step_costs()
    ablation_cost()
    score_times()  # last: what this process has held counts as its children's peak


if __name__ == "__main__":
    main()
