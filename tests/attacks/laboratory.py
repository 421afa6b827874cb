"""Two runs by the real commands, in a lab of their own, and what the gate says of them."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import msgspec
import pytest
from conftest import Done, Lab

from course.artifacts import run_log
from course.datasets.records import training_on

N = 24  # examples in a run: few, so that an attack takes milliseconds
WEAK, STRONG = 8, 20  # how many of them pass: 12 gained and none lost, to be promoted in a locked room
SIDES = ("baseline", "candidate")
TAKES_FIRST = "def pick_best(samples):\n    return samples[0]\n"

Step = Callable[[Lab, str], Done]  # makes the run of this name with a real command


class Pair(NamedTuple):
    """How two runs are made, one after the other."""

    baseline: Step
    candidate: Step


class Said(NamedTuple):
    """The exit status of a command, and its reasons or its error."""

    status: int
    reasons: str


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


def answers(passes: int, of: int = N) -> list[str]:
    """A completion for each of the examples whose answers are 0, 1, 2, …; the first ``passes`` are right."""
    return [f"Final: {i}" if i < passes else f"Final: {i + 1}" for i in range(of)]


def examples(of: int = N, **more: object) -> list[dict[str, Any]]:
    return [{"id": f"q{i}", "prompt": f"Question {i}?", "expected_answer": i - 1} | more for i in range(1, of + 1)]


def groups(passes: int, of: int = N, size: int = 4) -> list[list[str]]:
    """A group of samples for each example: the first is right where ``i < passes``, the last is right everywhere."""
    return [[text] + ["no idea"] * (size - 2) + [f"Final: {i}"] for i, text in enumerate(answers(passes, of))]


def sampled(**changes: object) -> dict[str, object]:
    """The sampling settings of a .meta.json."""
    return {"temperature": 1.0, "top_p": 1.0, "seed": 7, "n": 1} | changes


def trained_on(*prompts: str, rubric: str | None = "last_number") -> dict[str, object]:
    """The training that a .meta.json states."""
    return msgspec.structs.asdict(training_on(prompts, rubric))


def loop_a(
    texts: Sequence[str],
    *options: object,
    data: bytes | list[dict[str, Any]] | None = None,
    ids: Sequence[str] | None = None,
    with_meta: bool = True,
    **meta: object,
) -> Step:
    """course.eval on these completions; ``meta`` goes to their .meta.json, where the policy bears the run's name.

    ``data``: the dataset; None: the one that is there, else ``examples``. ``ids``: of the completions; None: of the
    dataset, in its order.
    """

    def step(lab: Lab, name: str) -> Done:
        dataset = lab.folder / "dataset.jsonl"
        if data is not None:
            lab.write(dataset.name, data)
        elif not dataset.exists():
            lab.write(dataset.name, examples(len(texts)))
        answered = ids or [json.loads(line)["id"] for line in dataset.read_bytes().splitlines() if line]
        records = [{"id": id_, "completion": text} for id_, text in zip(answered, texts, strict=False)]
        completions = lab.write(f"of-{name}.jsonl", records)
        if with_meta:
            lab.meta(f"of-{name}", **({"policy": f"policy of {name}"} | meta))
        return lab("eval", "--dataset", dataset.name, "--completions", completions, "--outdir", name, *options)

    return step


def loop_b(packed: Sequence[Sequence[str]], n: int, pick_best: str | None = None, **meta: object) -> Step:
    """course.selection_demo on the first ``n`` samples of each group, all of one policy; None: the course's rule."""

    def step(lab: Lab, name: str) -> Done:
        lab.picker(pick_best)
        lab.write("dataset.jsonl", examples(len(packed)))
        samples = lab.write(
            f"of-{name}.jsonl", [{"id": f"q{i}", "samples": group} for i, group in enumerate(packed, 1)]
        )
        lab.meta(f"of-{name}", **({"policy": "a policy", "sampling": sampled(n=len(packed[0]))} | meta))
        return lab("selection_demo", "--dataset", "dataset.jsonl", "--samples", samples, "--n", n, "--outdir", name)

    return step


def loop_c(*options: object) -> Step:
    return lambda lab, name: lab("toy_mdp", *options, "--outdir", name)


def in_another_clone(step: Step) -> Step:
    """The same, where the log is that of another clone of the lab: their_log.jsonl."""

    def elsewhere(lab: Lab, name: str) -> Done:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(run_log, "LOG", lab.folder / "their_log.jsonl")
            return step(lab, name)

    return elsewhere


def make(lab: Lab, pair: Pair) -> Done:
    """Both runs, in an empty lab: how the last command ended. Where the first is refused there is no second."""
    done = pair.baseline(lab, "baseline")
    return done if done.status else pair.candidate(lab, "candidate")


def ask_gate(lab: Lab, *options: object) -> Said:
    """The real command, on the lab's two runs; ``options`` stand last, so that they replace those that are given."""
    done = lab("gate", "--baseline", "baseline", "--candidate", "candidate", "--json", "--min-delta", 0, *options)
    if done.status == 2:
        return Said(2, done.err)
    assert not done.err
    return Said(done.status, "; ".join(json.loads(done.out)["reasons"]))
