"""Make the four pairs of runs that a promotion committee decides on, their log, and the page of each.

    python3 teacher/make_committee.py

Trains the policies of pairs 2 to 4, measures both sides of each pair, and writes ``data/committee/`` anew, in a minute:
run it after a change of a scorer, of a manifest or of a sentence below. Every number in a page is taken from the runs.

    pair 1    one model, with and without examples before the prompt: two templates
    pair 2    two trainings that differ in their prompts alone; 40 of the candidate's are among those measured
    pair 3    one training, stopped twice, measured on prompts of neither: honest, and too few prompts
    pair 4    60 training prompts more, measured on 300 prompts of neither: honest, and deserving

In pair 3 the fifty prompts were chosen so that the candidate gains five: on most other fifties it gains fewer.

Left out
    The README and the environment of each run, which differ from one machine to the next. Trained again on a different
    machine, policies may differ in their last bits, so a test holds the verdicts of such runs and not their bytes.
"""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))

from course.artifacts.locked_room import room_conditions, short_value  # noqa: E402
from course.artifacts.reading import Run, open_run  # noqa: E402
from course.artifacts.records import MANIFEST, RESULTS, SUMMARY  # noqa: E402
from course.artifacts.run_log import read_log  # noqa: E402
from course.gate import compare  # noqa: E402
from course.show.tables import percent  # noqa: E402
from course.stats import mcnemar_exact  # noqa: E402

COMMITTEE = "data/committee"
SUMS = "data/datasets/two_digit_sums_dev.jsonl"
SIDES = ("baseline", "candidate")
WIDTH = 120


class Side(NamedTuple):
    """What wrote the completions of a run: a file that is there, or a policy that is trained on these of the sums."""

    change: str
    completions: str = ""
    trained_on: Sequence[range] = ()
    updates: int = 600


class Pair(NamedTuple):
    """``measured``: these of the sums; None for the easy sums of pair 1. ``proposal``: with blanks for its numbers."""

    title: str
    baseline: Side
    candidate: Side
    measured: range | None
    proposal: str


_EARLIER = [range(100, 300)]
_SEEN = range(60, 100)

PAIRS = {
    "pair_1": Pair(
        "a second release of the answering service",
        Side("release 1", completions="data/rollouts/smollm2_zero_shot_dev.jsonl"),
        Side("release 2", completions="data/rollouts/smollm2_rollouts_dev.jsonl"),
        measured=None,
        proposal="""\
We propose release 2 of the service that answers easy sums. On the same {n} prompts, release 1 gave {before} right
answers, and release 2 gives {after}: {points} points more. {gained} prompts that failed now pass, and {lost} were lost.
Chance does not explain this: the exact McNemar test gives p = {p}.

Nothing was trained, so nothing can be overfitted. The language model is the same, its temperature is the same, and
prompts, expected answers and scorer are the same to the last byte. Users see the difference today. We ask for the
promotion of release 2.""",
    ),
    "pair_2": Pair(
        "better training prompts",
        Side("training set 1", trained_on=_EARLIER),
        Side("training set 2", trained_on=[_SEEN, range(300, 460)]),
        measured=range(100),
        proposal="""\
Our policy for two-digit sums has had one training set since it began. We drew a second one, of the same size, and
trained the policy again. Nothing else was touched: the same start, seed, learning rate, number of updates and verifier.

We measured both policies on {n} prompts, with one sample each. The rate rose from {before_rate} to {after_rate}.
{gained} prompts were gained, and {lost} were lost; the exact McNemar test gives p = {p}. What a policy is trained on
matters more than how long. We ask for the promotion of the new policy.""",
    ),
    "pair_3": Pair(
        "four times as many updates",
        Side("150 updates", trained_on=_EARLIER, updates=150),
        Side("600 updates", trained_on=_EARLIER),
        measured=range(480, 530),
        proposal="""\
The policy that is in use was trained for 150 updates. We went on to 600, with everything else as it was.

We measured both on {n} prompts that neither was trained on. {before} passed before, and {after} pass now. In relative
terms the policy is {relative} better. Prompts gained: {gained}; prompts lost: {lost}. The direction is the one that
theory predicts: more updates, more reward. Every day with the old policy costs right answers. We ask for the promotion
of the new policy.""",
    ),
    "pair_4": Pair(
        "sixty training prompts more",
        Side("200 training prompts", trained_on=_EARLIER),
        Side("260 training prompts", trained_on=[range(100, 360)]),
        measured=range(700, 1000),
        proposal="""\
We trained our policy for two-digit sums on 260 prompts: the 200 that it had before, and 60 more. Start, seed, learning
rate, number of updates and verifier are as they were.

Before either training we put {n} prompts aside. We measured both policies on these, once, with one sample each.
{before} passed before, and {after} pass now: {points} points more. {gained} prompts were gained, and {lost} that passed
before now fail. We trained once, with one seed, and we do not know what 60 other prompts would have brought. We ask for
the promotion of the new policy.""",
    ),
}


# ---- Runs


def write_committee(out: Path) -> None:
    """Write the runs, their log and the pages into a folder. Files of the same names are replaced."""
    with TemporaryDirectory() as place:
        root = Path(place)  # a lab with a log of its own
        shutil.copytree(LAB / "course", root / "course", ignore=shutil.ignore_patterns("__pycache__"))
        for folder in ("datasets", "rollouts"):
            shutil.copytree(LAB / "data" / folder, root / "data" / folder)
        for name, pair in PAIRS.items():
            measure(root, f"{COMMITTEE}/{name}/baseline", pair.baseline, pair.measured)
            measure(root, f"{COMMITTEE}/{name}/candidate", pair.candidate, pair.measured)
        lines = (root / "runs" / "log.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        own = [line for line in lines if json.loads(line)["run"].startswith(f"{COMMITTEE}/")]
        write_text(out / "log.jsonl", "".join(own))
        for name in PAIRS:
            for side in SIDES:
                copied_to = out / name / side
                copied_to.mkdir(parents=True, exist_ok=True)
                for file in (MANIFEST, RESULTS, SUMMARY):
                    shutil.copyfile(root / COMMITTEE / name / side / file, copied_to / file)
    for name in PAIRS:
        write_text(out / f"{name}.md", page_of(out, name))


def measure(root: Path, name: str, side: Side, measured: range | None) -> None:
    """Measure one side of a pair in the lab at ``root``; train and sample the policy first if there is one."""
    dataset = "data/datasets/easy_sums_dev.jsonl"
    completions = side.completions
    if measured is not None:
        own = f"own/{name}"
        dataset = write_text(root / own / "measured.jsonl", read_lines([measured]))
        trained_on = write_text(root / own / "trained_on.jsonl", read_lines(side.trained_on))
        steps = ["--steps", str(side.updates), "--eval-every", str(side.updates)]
        command(root, "token_train", "--dataset", trained_on, *steps, "--outdir", f"{own}/training")
        policy = ["--policy", f"{own}/training/policy.npz", "--dataset", dataset]
        command(root, "sample_rollouts", *policy, "--outdir", f"{own}/samples")
        completions = f"{own}/samples/rollouts.jsonl"
    files = ["--dataset", dataset, "--completions", completions]
    command(root, "eval", *files, "--change", side.change, "--outdir", name)


def read_lines(positions: Sequence[range]) -> str:
    """These of the dev sums, counted from 0, as a dataset."""
    lines = (LAB / SUMS).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for part in positions for line in lines[part.start : part.stop])


def write_text(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return str(path)


def command(root: Path, module: str, *words: str) -> None:
    """A command of the lab at ``root``. Raises CalledProcessError where it fails."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    line = [sys.executable, "-m", f"course.{module}", *words]
    subprocess.run(line, cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)


# ---- Pages


def page_of(committee: Path, name: str) -> str:
    """The page of a pair: what the team says, and what both runs say of themselves. It holds no verdict."""
    pair = PAIRS[name]
    runs = [open_run(committee / name / side) for side in SIDES]
    comparison = compare(runs[0], runs[1], read_log(committee / "log.jsonl"))
    before, after = comparison.baseline.outcomes["ok"], comparison.candidate.outcomes["ok"]
    gained, lost = comparison.gained, comparison.lost
    n = comparison.n
    blanks = {
        "n": n,
        "before": before or "no",
        "after": after,
        "before_rate": percent(before / n, 0),
        "after_rate": percent(after / n, 0),
        "points": f"{100 * (after - before) / n:.0f}",
        "relative": percent(after / max(before, 1) - 1, 0),
        "gained": len(gained),
        "lost": len(lost) or "none",
        "p": f"{mcnemar_exact(len(gained), len(lost)):.2g}",
    }
    before_facts, after_facts = (facts_of(run) for run in runs)
    facts = [[fact, before_facts[fact], after_facts[fact]] for fact in before_facts]
    introduction = """A team asks for a promotion, and you are the committee. The proposal is in the team's words. All
    that stands below it was taken from the two runs, and nothing is marked. The smallest improvement worth having is 2
    points."""
    number = name.removeprefix("pair_")
    folder = f"{COMMITTEE}/{name}"
    your_part = f"""The runs are `{folder}/baseline` and `{folder}/candidate`; `python3 -m course.inspect_run
    {folder}/candidate` shows rows. Write your verdict and your evidence below Pair {number} in
    [notes/committee.md](../../notes/committee.md). Ask the gate afterwards."""
    parts = [
        f"# Pair {number}: {pair.title}",
        fill(introduction),
        "## The proposal",
        *(fill(part.format(**blanks)) for part in pair.proposal.split("\n\n")),
        "## What both runs say of themselves",
        table([["condition", *SIDES], *facts]),
        "## What was measured",
        table([["run", "passed", "of", "pass rate"], rate("baseline", before, n), rate("candidate", after, n)]),
        fill(f"Gained, {len(gained)}: {', '.join(gained) or 'none'}."),
        fill(f"Lost, {len(lost)}: {', '.join(lost) or 'none'}."),
        "## Your part",
        fill(your_part),
    ]
    return "\n\n".join(parts) + "\n"


def rate(side: str, passed: int, n: int) -> list[str]:
    return [side, str(passed), str(n), percent(passed / n)]


def facts_of(run: Run) -> dict[str, str]:
    """Every fact of a manifest that says under which conditions was measured, in one order for all pairs."""
    manifest = run.manifest
    training = manifest.trained_on
    facts = {
        "change": manifest.change,
        **room_conditions(manifest),
        "golden sets": f"{'passed' if manifest.golden.passed else 'failed'}, {manifest.golden.cases} cases",
        "policy": manifest.policy,
        "completions_fingerprint": manifest.completions_fingerprint,
        "prompts of its training": None if training is None else training.prompts,
        "prompts of its training in this run": None if training is None else training.measured_here,
    }
    return {name: short_value(None if value is None else str(value)) for name, value in facts.items()}


def fill(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def table(lines: Sequence[Sequence[str]]) -> str:
    head, *body = ["| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines]
    return "\n".join([head, "|" + "---|" * len(lines[0]), *body])


if __name__ == "__main__":
    write_committee(Path(sys.argv[1]) if len(sys.argv) > 1 else LAB / COMMITTEE)
