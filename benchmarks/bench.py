"""How fast the lab is, each figure a ratio to a bare loop within one run: machines differ, ratios less so.

    .venv/bin/python benchmarks/bench.py

A command and its bare loop are run in turn, A B A B …, as whole processes; printed are the median seconds of CPU, which
change less than the clock's where the machine has other work, and the median of the ratios. A training step is held
against its matrix products alone, of the same shapes and as many.

Covered
    A bare loop decodes the same lines, compares two strings a row, keeps ids, digests what it reads and writes, and
    writes rows of the same shape.
Not covered
    Disks (runs are synced, bare loops are not), a first call without cached bytecode, prompts longer than sums.
    Windows, which does not tell the CPU time of a process that has ended.
"""

import hashlib
import json
import os
import platform
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import process_time
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from course.policies.token_policy import Completions, Weights

LAB = Path(__file__).resolve().parents[1]
ROWS = 200_000
TURNS = 5
SAMPLES = 4  # of a prompt, in Loop B
TRAINING_STEPS = 200
# Bytecode is cached as on any machine where the lab was used once before. One BLAS thread, as in all of the lab.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT |= {"CI": "true", "OPENBLAS_NUM_THREADS": "1"}


# The bare loops


class Example(msgspec.Struct):
    id: str
    prompt: str
    expected_answer: int
    metadata: dict[str, Any] | None = None


class Rollout(msgspec.Struct):
    id: str
    completion: str
    metadata: dict[str, Any] | None = None


class Group(msgspec.Struct):
    id: str
    samples: list[str]


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


class Choice(Result):
    samples: list[str]
    rewards: list[float]
    chosen: int
    others: list[str]
    other_rewards: list[float]


def read_bare(path: Path, decode: Callable[[bytes], Any]) -> Iterator[Any]:
    """Each line decoded; ids are kept, and bytes digested."""
    ids = set()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for line in file:
            digest.update(line)
            record = decode(line)
            ids.add(record.id)
            yield record


def write_bare(path: Path, rows: Iterator[Result]) -> None:
    encode = msgspec.json.Encoder().encode
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for row in rows:
            line = encode(row) + b"\n"
            digest.update(line)
            file.write(line)


def bare_eval(dataset: Path, completions: Path, out: Path) -> None:
    def rows() -> Iterator[Result]:
        examples = read_bare(dataset, msgspec.json.Decoder(Example).decode)
        rollouts = read_bare(completions, msgspec.json.Decoder(Rollout).decode)
        for example, rollout in zip(examples, rollouts, strict=True):
            right = rollout.completion == f"Final: {example.expected_answer}"
            details = Details("ok" if right else "missing_prefix", None)
            yield Result(
                id=example.id,
                prompt=example.prompt,
                expected_answer=example.expected_answer,
                completion=rollout.completion,
                reward=float(right),
                details=details,
            )

    write_bare(out, rows())


def bare_gate(baseline: Path, candidate: Path) -> None:
    decode = msgspec.json.Decoder(Result).decode
    gained = lost = 0
    for before, after in zip(read_bare(baseline, decode), read_bare(candidate, decode), strict=True):
        was_right = before.completion == f"Final: {before.expected_answer}"
        is_right = after.completion == f"Final: {after.expected_answer}"
        if is_right and not was_right:
            gained += 1
        if was_right and not is_right:
            lost += 1
    print(gained, lost)


def bare_selection(dataset: Path, samples: Path, out: Path) -> None:
    def rows() -> Iterator[Choice]:
        examples = read_bare(dataset, msgspec.json.Decoder(Example).decode)
        groups = read_bare(samples, msgspec.json.Decoder(Group).decode)
        for example, group in zip(examples, groups, strict=True):
            rewards = [float(sample == f"Final: {example.expected_answer}") for sample in group.samples]
            chosen = rewards.index(max(rewards))
            details = Details("ok" if rewards[chosen] else "wrong_answer", None)
            yield Choice(
                id=example.id,
                prompt=example.prompt,
                expected_answer=example.expected_answer,
                completion=group.samples[chosen],
                reward=rewards[chosen],
                details=details,
                samples=group.samples,
                rewards=rewards,
                chosen=chosen,
                others=[],
                other_rewards=[],
            )

    write_bare(out, rows())


BARE: dict[str, Callable[..., None]] = {"eval": bare_eval, "gate": bare_gate, "selection": bare_selection}


# The data


def simulate_completion(a: int, b: int, luck: float, skill: float) -> str:
    if luck < skill:
        return f"Final: {a + b}"
    if luck < skill + 0.2:
        return f"Final: {a + b + 1}"
    if luck < 0.85:
        return f"The answer is {a + b}…"
    return f"{a} + {b} = {a + b}\nFinal: {a + b}"


def write_data(folder: Path, metadata: bool) -> None:
    """dataset.jsonl, before.jsonl and after.jsonl with a completion of each prompt, and samples.jsonl.

    The mix of completions is about that of the shipped rollouts. No prompt comes twice.
    """
    folder.mkdir()
    draw = random.Random(0)
    lines: dict[str, list[str]] = {"dataset": [], "before": [], "after": [], "samples": []}
    more = {"metadata": {"split": "dev", "topic": "addition", "digits": [3, 3], "difficulty": 0.25}} if metadata else {}
    for row in range(ROWS):
        a, b = row, draw.randrange(1000)
        name = f"dev-{row:06d}"
        prompt = f"Compute {a} + {b}. Answer with exactly one line – nothing else: Final: <int>"
        before, after, *others = (simulate_completion(a, b, draw.random(), skill) for skill in (0.45, 0.55, 0.45, 0.45))
        records = {
            "dataset": {"id": name, "prompt": prompt, "expected_answer": a + b} | more,
            "before": {"id": name, "completion": before} | more,
            "after": {"id": name, "completion": after} | more,
            "samples": {"id": name, "samples": [before, after, *others]},
        }
        for file, record in records.items():
            lines[file].append(json.dumps(record, ensure_ascii=False, separators=(",", ":")))
    for file, rows in lines.items():
        data = ("\n".join(rows) + "\n").encode()
        (folder / f"{file}.jsonl").write_bytes(data)
        if file != "dataset":
            sampling = {"temperature": 1.0, "top_p": 1.0, "seed": 0, "n": SAMPLES if file == "samples" else 1}
            meta = {
                "policy": f"benchmark, {file}",
                "created": "2026-11-22",
                "sampling": sampling,
                "template": "{prompt}",
                "completions_sha256": hashlib.sha256(data).hexdigest(),
            }
            (folder / f"{file}.meta.json").write_text(json.dumps(meta), encoding="utf-8")


# The commands against their bare loops


def run(command: list[str], lab: Path) -> float:
    """Seconds of CPU of one process. ``lab``: a lab of its own, with runs and a log of its own."""
    before = os.times()
    environment = ENVIRONMENT | {"PYTHONPATH": str(lab)}
    done = subprocess.run(command, cwd=lab, env=environment, stdout=subprocess.DEVNULL, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    after = os.times()
    user = after.children_user - before.children_user
    system = after.children_system - before.children_system
    return user + system


def compare(name: str, ours: list[str], bare: list[str], lab: Path) -> None:
    """Print the median times and the median ratio. ``{turn}`` in a command is another name each time."""
    times = []
    for turn in range(TURNS + 1):
        command = [word.replace("{turn}", str(turn)) for word in ours]
        pair = run(command, lab), run(bare, lab)
        if turn > 0:  # the first is a warm-up
            times.append(pair)
    our_seconds = median(one for one, _ in times)
    bare_seconds = median(other for _, other in times)
    ratio = median(one / other for one, other in times)
    print(f"{name:32}{our_seconds:9.2f} s {bare_seconds:9.2f} s {ratio:8.2f}", flush=True)


def course(command: str, *words: object) -> list[str]:
    return [sys.executable, "-m", f"course.{command}", *map(str, words)]


def bare(name: str, *paths: Path) -> list[str]:
    return [sys.executable, str(Path(__file__).resolve()), name, *map(str, paths)]


def compare_commands(lab: Path) -> None:
    for name in ("plain", "metadata"):
        folder = lab / name
        write_data(folder, metadata=name == "metadata")
        dataset, before = folder / "dataset.jsonl", folder / "before.jsonl"
        ours = course("eval", "--dataset", dataset, "--completions", before, "--outdir", folder / "run{turn}")
        compare(f"eval, {name}", ours, bare("eval", dataset, before, folder / "bare.jsonl"), lab)
    folder = lab / "plain"
    dataset, samples = folder / "dataset.jsonl", folder / "samples.jsonl"
    baseline, candidate = folder / "run0", folder / "after"
    after = folder / "after.jsonl"
    run(course("eval", "--dataset", dataset, "--completions", after, "--outdir", candidate), lab)
    ours = course("gate", "--baseline", baseline, "--candidate", candidate, "--min-delta", 0.01)
    compare("gate", ours, bare("gate", baseline / "results.jsonl", candidate / "results.jsonl"), lab)
    files = ["--dataset", dataset, "--samples", samples, "--n", SAMPLES]
    ours = course("selection_demo", *files, "--outdir", folder / "chosen{turn}")
    compare(f"selection_demo, {SAMPLES} samples", ours, bare("selection", dataset, samples, folder / "bare.jsonl"), lab)


# A training step against its matrix products


def products(weights: "Weights", completions: "Completions") -> Callable[[], None]:
    """The matrix products of one step, ready to run: those of sampling, token by token, and those of the gradient."""
    import numpy as np

    units, vocabulary = weights.out.shape
    writing = [int((completions.lengths > t).sum()) for t in range(completions.tokens.shape[1])]
    all_tokens = int(completions.lengths.sum())
    inputs = np.ones((all_tokens, len(weights.hidden)))
    hidden = np.ones((all_tokens, units))
    theta = np.ones((all_tokens, vocabulary))

    def multiply() -> None:
        for rows in (*writing, all_tokens):  # the gradient goes forward once more, over all tokens
            inputs[:rows] @ weights.hidden
            hidden[:rows] @ weights.out
        theta @ weights.out.T
        hidden @ weights.hidden.T
        inputs.T @ hidden
        hidden.T @ theta

    return multiply


def compare_training_step(name: str, rubric: str) -> None:
    """Print the median times of a step of ``learn`` and of its products, and the median ratio."""
    from course.datasets.records import task_of
    from course.datasets.sources import Dataset
    from course.policies.token_learner import fine_tune, learn
    from course.policies.train_config import PRESETS
    from course.rubrics.hackable import RUBRICS

    preset = PRESETS[name]
    tasks = [task_of(example) for example in Dataset(LAB / preset.dataset)]
    reference = fine_tune(tasks, preset, 0)
    config = preset._replace(steps=TRAINING_STEPS + 1)
    updates = learn(reference, tasks, RUBRICS[rubric], config, 0)
    update = next(updates)
    times = []
    for _ in range(TRAINING_STEPS):
        started = process_time()
        update = next(updates)
        step = process_time() - started
        multiply = products(update.policy.weights, update.completions)
        started = process_time()
        multiply()
        times.append((step, process_time() - started))
    ours = median(one for one, _ in times) * 1e3
    multiplied = median(other for _, other in times) * 1e3
    ratio = median(one / other for one, other in times)
    print(f"{f'training step, {name}, {rubric}':38}{ours:6.2f} ms {multiplied:8.2f} ms {ratio:7.2f}", flush=True)


def main() -> None:
    print(f"{platform.system()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{ROWS:,} rows, medians of {TURNS} turns; training: of {TRAINING_STEPS} steps\n")
    print(f"{'':32}{'ours':>11} {'bare loop':>11} {'ratio':>8}")
    with tempfile.TemporaryDirectory() as name:
        lab = Path(name)
        for part in ("course", "data", "exercises"):
            (lab / part).symlink_to(LAB / part, target_is_directory=True)
        compare_commands(lab)
    for preset, rubric in (("memorise", "score"), ("memorise", "anywhere"), ("generalise", "score")):
        compare_training_step(preset, rubric)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        BARE[sys.argv[1]](*map(Path, sys.argv[2:]))
    else:
        os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded
        main()
