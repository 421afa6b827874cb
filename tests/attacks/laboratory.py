"""What the attacks share: labs of their own, pairs of runs to start from, and what gate and ``--verify`` say of them.

A pair is made once with the real commands and then kept as bytes, so that each attack gets a fresh copy.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pytest
from conftest import Done, Lab, files

from course.artifacts import run_log

N = 24  # examples in a pair: few, so that an attack takes milliseconds
WEAK, STRONG = 8, 20  # how many of them pass: 12 gained and none lost, to be promoted in a locked room
SIDES = ("baseline", "candidate")
TAKES_FIRST = "def pick_best(samples):\n    return samples[0]\n"


@contextmanager
def laboratory() -> Iterator[Lab]:
    """A lab in an empty folder, as the fixture ``lab`` gives one to a test, with a log of its own."""
    with TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name).resolve() / "lab"
        folder.mkdir()
        lab = Lab(folder)
        patch.chdir(folder)
        patch.setattr(run_log, "LOG", lab.log)
        yield lab


@contextmanager
def another_clone(lab: Lab) -> Iterator[Path]:
    """Inside, commands write to the log of another clone of the lab: its path."""
    with pytest.MonkeyPatch.context() as patch:
        theirs = lab.folder / "their_log.jsonl"
        patch.setattr(run_log, "LOG", theirs)
        yield theirs


def sampling(**changes: object) -> dict[str, object]:
    return {"temperature": 1.0, "top_p": 1.0, "seed": 7, "n": 1} | changes


def answers(passes: int, of: int = N) -> list[str]:
    """A completion for each of the examples whose answers are 0, 1, 2, …; the first ``passes`` are right."""
    return [f"Final: {i}" if i < passes else f"Final: {i + 1}" for i in range(of)]


def examples(of: int = N, **more: object) -> list[dict[str, Any]]:
    return [{"id": f"q{i}", "prompt": f"Question {i}?", "expected_answer": i - 1} | more for i in range(1, of + 1)]


def done(ended: Done) -> Done:
    """A command that has to work."""
    assert ended.status == 0, ended.err
    return ended


def measured(
    lab: Lab,
    name: str,
    texts: Sequence[str],
    *more: object,
    data: list[dict[str, Any]] | None = None,
    dataset: str = "dataset.jsonl",
    **said: object,
) -> Path:
    """A run of Loop A under this name. ``said`` goes to the .meta.json; the policy bears the run's name."""
    if data is not None or not (lab.folder / dataset).exists():
        lab.write(dataset, examples(len(texts)) if data is None else data)
    records = [json.loads(line) for line in (lab.folder / dataset).read_text("utf-8").splitlines() if line]
    pairs = zip(records, texts, strict=False)
    lab.write(f"of-{name}.jsonl", [{"id": record["id"], "completion": text} for record, text in pairs])
    lab.meta(f"of-{name}", **({"policy": f"policy of {name}"} | said))
    done(lab("eval", "--dataset", dataset, "--completions", f"of-{name}.jsonl", "--outdir", name, *more))
    return Path(name)


def groups(passes: int, of: int = N, size: int = 4) -> list[list[str]]:
    """A group of samples for each example: the first is right where ``i < passes``, the last is right everywhere."""
    return [[text] + ["no idea"] * (size - 2) + [f"Final: {i}"] for i, text in enumerate(answers(passes, of))]


def chosen(lab: Lab, name: str, n: int, packed: list[list[str]], picker: str | None = None, **said: object) -> Path:
    """A run of Loop B under this name, of the first n samples of each group."""
    lab.picker(picker)
    lab.write("dataset.jsonl", examples(len(packed)))
    lab.write(f"pack-{name}.jsonl", [{"id": f"q{i}", "samples": group} for i, group in enumerate(packed, 1)])
    lab.meta(f"pack-{name}", **({"policy": "a policy", "sampling": sampling(n=len(packed[0]))} | said))
    pack = ["--dataset", "dataset.jsonl", "--samples", f"pack-{name}.jsonl", "--n", n]
    done(lab("selection_demo", *pack, "--outdir", name))
    return Path(name)


def digests(*prompts: str) -> list[str]:
    return sorted(hashlib.sha256(prompt.encode()).hexdigest()[:16] for prompt in prompts)


class Pair(NamedTuple):
    """The files of two runs, and the log in which they stand."""

    files: dict[str, bytes]
    log: bytes


@cache
def pair_of(make: Callable[[Lab], object]) -> Pair:
    """The two runs that ``make`` leaves behind in an empty lab."""
    with laboratory() as lab:
        make(lab)
        of_runs = {name: data for name, data in files(lab.folder).items() if name.startswith(SIDES)}
        return Pair({name: data for name, data in of_runs.items() if data is not None}, lab.log.read_bytes())


def lay(lab: Lab, pair: Pair) -> None:
    """Put two runs and their log into an empty lab."""
    for folder in (*(lab.folder / side for side in SIDES), lab.log.parent):
        folder.mkdir(parents=True)
    for name, data in pair.files.items():
        (lab.folder / name).write_bytes(data)
    lab.log.write_bytes(pair.log)


class Said(NamedTuple):
    """What the gate said: its exit status, and its reasons or its error."""

    status: int
    reasons: str


def gate(lab: Lab, *more: object, baseline: object = "baseline", candidate: object = "candidate") -> Said:
    """The real command, on the lab's two runs."""
    ended = lab("gate", "--baseline", baseline, "--candidate", candidate, "--json", "--min-delta", 0, *more)
    if ended.status == 2:
        return Said(2, ended.err)
    assert not ended.err
    return Said(ended.status, "; ".join(json.loads(ended.out)["reasons"]))


VERDICTS = {0: "PROMOTE", 1: "REJECT", 2: "refused", 3: "INCONCLUSIVE"}


def log_forged(lab: Lab) -> Path:
    """A log in which both runs stand as they are now: what somebody has who can edit the lab's own."""
    (line, *_) = lab.log.read_text("utf-8").splitlines()
    lines = []
    for side in SIDES:
        manifest = lab.folder / side / "manifest.json"
        if manifest.is_file():
            lines.append(json.loads(line) | {"manifest": hashlib.sha256(manifest.read_bytes()).hexdigest()})
    return lab.write("forged_log.jsonl", lines)
