"""Make the three pairs of runs that a promotion committee decides on, their log, and the proposal of each.

    python3 teacher/make_committee.py

Reads the completions of the runs in ``data/committee/``, has each scored again, and writes runs, log and proposals
anew: run it after a change of a scorer, of a manifest or of a sentence below. Every number in a proposal is taken from
the runs. With ``--train`` the policies of pairs 2 and 3 are trained again first, which takes two minutes. ``--out
FOLDER`` writes there.

    pair 1    one pack of samples, chosen from with another N: the room was not locked
    pair 2    two trainings that differ in their prompts alone; 40 of the candidate's are among those measured
    pair 3    one training, stopped twice, measured on prompts of neither: honest, and too few prompts

In pair 2 the candidate is better on the 40 prompts of its training and no better on the other 60. In
pair 3 the fifty prompts were chosen so that the candidate gains five: on most other fifties it gains fewer.

Left out
    The page and the environment of each run, which differ from one machine to the next. Trained again on a different
    machine, policies may differ in their last bits, so a test holds the verdicts of such runs and not their bytes.
"""

import argparse
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

import msgspec  # noqa: E402

from course.artifacts.locked_room import room_conditions, short_value  # noqa: E402
from course.artifacts.reading import Run, open_run, rows  # noqa: E402
from course.artifacts.records import MANIFEST, RESULTS, SUMMARY, Result  # noqa: E402
from course.artifacts.run_log import read_log  # noqa: E402
from course.datasets.files import sha256_of  # noqa: E402
from course.datasets.records import PROMPT_ALONE, Provenance, training_on  # noqa: E402
from course.gate import Comparison, compare  # noqa: E402
from course.show.tables import percent  # noqa: E402
from course.stats import mcnemar_exact  # noqa: E402
from course.text import clipped, visible  # noqa: E402

COMMITTEE = "data/committee"
SUMS = "data/datasets/two_digit_sums_dev.jsonl"
SIDES = ("baseline", "candidate")
RUBRIC = "score"
WIDTH = 120


class Measured(NamedTuple):
    """What one side of a pair of Loop A measures. Ranges are of the dev sums, from 0."""

    trained_on: Sequence[range]
    updates: int
    measured: range


class Pair(NamedTuple):
    """``changes``: what the team says it changed, of each side. ``proposal``: with blanks for the numbers of the runs.

    ``samples``: N of each side of a pair of Loop B. ``sides``: those of a pair of Loop A.
    """

    title: str
    changes: Sequence[str]
    proposal: str
    samples: Sequence[int] = ()
    sides: Sequence[Measured] = ()


_SEEN = range(60, 100)
_EARLIER = [range(100, 300)]
_LATER = [_SEEN, range(300, 460)]
_HUNDRED = range(100)
_FIFTY = range(480, 530)

PAIRS = {
    "pair_1": Pair(
        title="a second release of the answering service",
        changes=("release 1", "release 2"),
        samples=(2, 8),
        proposal="""\
We propose release 2 of the service that answers easy sums. On the same {n} prompts, release 1 delivers {before} right
answers, and release 2 delivers {after}: {points} points more. {gained} prompts that failed now pass, and {lost} were
lost. Chance does not explain such a result: the exact McNemar test gives p = {p}.

Nobody can have overfitted, because nothing was trained: the language model is the same, and its sampling settings are
the same. Prompts, expected answers, scorer and golden sets are the same to the last byte. Both releases even draw on
the same file of recorded samples, so that the draws cannot favour either side.

Users see the difference today. We ask for the promotion of release 2.""",
    ),
    "pair_2": Pair(
        title="better training prompts",
        changes=("training set 1", "training set 2"),
        sides=(Measured(_EARLIER, 600, _HUNDRED), Measured(_LATER, 600, _HUNDRED)),
        proposal="""\
Our policy for two-digit sums has had one training set since it began. We drew a second one, of the same size, and
trained the policy again. Nothing else was touched: the same start, the same seed, the same learning rate, the same
number of updates, the same verifier as the reward. One knob was turned.

We measured both policies on {n} prompts, with one sample each at the same temperature. The rate rose from {before_rate}
to {after_rate}. {gained} prompts were gained, and {lost} were lost. The exact McNemar test gives p = {p}, so chance is
no explanation.

In relative terms the policy is {relative} better, at no cost: a call of the new policy takes as long as a call of the
old one. What a policy is trained on matters more than how long, and this result shows it. We ask for the promotion of
the new policy.""",
    ),
    "pair_3": Pair(
        title="four times as many updates",
        changes=("150 updates", "600 updates"),
        sides=(Measured(_EARLIER, 150, _FIFTY), Measured(_EARLIER, 600, _FIFTY)),
        proposal="""\
The policy that is in use was trained for 150 updates. We went on to 600, with everything else as it was: the same
training prompts, the same verifier, the same learning rate, the same seed.

We measured both on prompts that neither has ever been trained on. {before} of {n} passed before, and {after} of {n}
pass now. In relative terms the policy is {relative} better. Prompts gained: {gained}; prompts lost: {lost}. The
direction is the one that theory predicts: more updates, more reward.

Nothing about this comparison is doubtful. The prompts are fresh, the room is the same, and one knob was turned. To
train for longer cost us a minute, and every day with the old policy costs right answers. We ask for the promotion of
the new policy.""",
    ),
}


# ---- Completions: those of the runs that are there, or new ones


def read_lines(positions: Sequence[range]) -> str:
    """These of the dev sums, as a dataset."""
    lines = (LAB / SUMS).read_text(encoding="utf-8").splitlines(keepends=True)
    return "".join(line for part in positions for line in lines[part.start : part.stop])


def write_text(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def write_recorded(root: Path, name: str, side: Measured) -> str:
    """The completions of a run that is there, as a file with its .meta.json. Returns its path below ``root``."""
    run = open_run(LAB / COMMITTEE / name)
    place = f"completions/{name}.jsonl"
    records = [json.dumps({"id": row.id, "completion": row.completion}, separators=(",", ":")) for row in rows(run)]
    path = write_text(root / place, "".join(f"{record}\n" for record in records))
    manifest = run.manifest
    if manifest.policy is None or manifest.sampling is None:
        raise ValueError(f"{run.path}: a policy and its sampling")
    prompts = [json.loads(line)["prompt"] for line in read_lines(side.trained_on).splitlines()]
    source = Provenance(
        manifest.policy, None, manifest.sampling, PROMPT_ALONE, sha256_of(path), training_on(prompts, RUBRIC)
    )
    path.with_suffix(".meta.json").write_bytes(msgspec.json.format(msgspec.json.encode(source), indent=2) + b"\n")
    return place


def train(root: Path, name: str, side: Measured, dataset: str) -> str:
    """Train a policy, and let it answer ``dataset``. Returns the file of its completions below ``root``."""
    trained_on = write_text(root / "trained_on" / f"{name}.jsonl", read_lines(side.trained_on))
    updates = ["--steps", str(side.updates), "--eval-every", str(side.updates)]
    command(root, "token_train", "--dataset", trained_on, *updates, "--outdir", f"trained/{name}")
    policy = ["--policy", f"trained/{name}/policy.npz"]
    command(root, "sample_rollouts", *policy, "--dataset", dataset, "--outdir", f"sampled/{name}")
    return f"sampled/{name}/rollouts.jsonl"


def command(root: Path, module: str, *words: object) -> None:
    """A command of the lab at ``root``, which has a log of its own. Raises CalledProcessError where it fails."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    line = [sys.executable, "-m", f"course.{module}", *map(str, words)]
    subprocess.run(line, cwd=root, env=environment, check=True, stdout=subprocess.DEVNULL)


# ---- Runs


def make_runs(root: Path, with_training: bool) -> None:
    """Measure each side of each pair in the lab at ``root``."""
    for name, pair in PAIRS.items():
        for n, side, change in zip(pair.samples, SIDES, pair.changes, strict=False):
            files = ["--dataset", "data/datasets/easy_sums_dev.jsonl"]
            files += ["--samples", "data/rollouts/smollm2_pack_dev.jsonl", "--n", str(n)]
            command(root, "selection_demo", *files, "--change", change, "--outdir", f"{COMMITTEE}/{name}/{side}")
        for what, side, change in zip(pair.sides, SIDES, pair.changes, strict=False):
            run_name = f"{name}/{side}"
            dataset = f"datasets/{name}.jsonl"
            write_text(root / dataset, read_lines([what.measured]))
            completions = (
                train(root, run_name, what, dataset) if with_training else write_recorded(root, run_name, what)
            )
            files = ["--dataset", dataset, "--completions", completions]
            command(root, "eval", *files, "--change", change, "--outdir", f"{COMMITTEE}/{run_name}")


def write_committee(out: Path, with_training: bool = False) -> None:
    """Write the runs, their log and the proposals into a folder. Files of the same names are replaced."""
    with TemporaryDirectory() as place:
        root = Path(place)
        shutil.copytree(LAB / "course", root / "course", ignore=shutil.ignore_patterns("__pycache__"))
        for folder in ("datasets", "rollouts"):
            shutil.copytree(LAB / "data" / folder, root / "data" / folder)
        make_runs(root, with_training)
        log = (root / "runs" / "log.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
        own = [line for line in log if json.loads(line)["run"].startswith(f"{COMMITTEE}/")]
        log_file = write_text(out / "log.jsonl", "".join(own))
        for name in PAIRS:
            for side in SIDES:
                copied_to = out / name / side
                copied_to.mkdir(parents=True, exist_ok=True)
                for file in (MANIFEST, RESULTS, SUMMARY):
                    shutil.copyfile(root / COMMITTEE / name / side / file, copied_to / file)
    for name, pair in PAIRS.items():
        runs = [open_run(out / name / side) for side in SIDES]
        comparison = compare(runs[0], runs[1], read_log(log_file))
        write_text(out / f"{name}.md", proposal_text(name, pair, runs, comparison))


# ---- Proposals


def proposal_text(name: str, pair: Pair, runs: Sequence[Run], comparison: Comparison) -> str:
    """The page of a pair: what the team says, and what both runs say of themselves. It holds no verdict."""
    number = name.removeprefix("pair_")
    before, after = comparison.baseline.outcomes["ok"], comparison.candidate.outcomes["ok"]
    gained, lost = len(comparison.gained), len(comparison.lost)
    n = comparison.n
    blanks = {
        "n": n,
        "before": before,
        "after": after,
        "before_rate": percent(before / n, 0),
        "after_rate": percent(after / n, 0),
        "points": round(100 * (after - before) / n),
        "relative": percent((after - before) / before, 0),
        "gained": gained,
        "lost": lost or "none",
        "p": f"{mcnemar_exact(gained, lost):.5f}",
    }
    paragraphs = [fill(part.format(**blanks)) for part in pair.proposal.split("\n\n")]
    rates = [["run", "passed", "of", "pass rate"]]
    rates += [
        [side, str(passed), str(n), percent(passed / n)] for side, passed in zip(SIDES, (before, after), strict=True)
    ]
    introduction = """A team asks for a promotion, and you are the committee. The proposal is in the team's words. All
    that stands below it was taken from the two runs, and nothing is marked. The smallest improvement worth having is 2
    points."""
    your_part = f"""The runs are `{COMMITTEE}/{name}/baseline` and `{COMMITTEE}/{name}/candidate`. Write your verdict
    and your evidence below Pair {number} in [notes/committee.md](../../notes/committee.md). Ask the gate afterwards."""
    parts = [
        f"# Pair {number}: {pair.title}",
        fill(introduction),
        "## The proposal",
        *paragraphs,
        "## What both runs say of themselves",
        table([["condition", *SIDES], *facts_table(runs)]),
        "## What was measured",
        table(rates),
        fill(f"Gained, {gained}: {', '.join(comparison.gained) or 'none'}."),
        fill(f"Lost, {lost}: {', '.join(comparison.lost) or 'none'}."),
        "## Five rows, evenly spaced",
        five_rows(runs),
        "## Your part",
        fill(your_part),
    ]
    return "\n\n".join(parts) + "\n"


def fill(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def table(lines: Sequence[Sequence[object]]) -> str:
    head, *body = ["| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |" for line in lines]
    return "\n".join([head, "|" + "---|" * len(lines[0]), *body])


def facts_table(runs: Sequence[Run]) -> list[list[str]]:
    """Every fact of both manifests that says under which conditions was measured, in one order for all pairs."""
    before, after = (facts_of(run) for run in runs)
    return [[name, before[name], after[name]] for name in before]


def facts_of(run: Run) -> dict[str, str]:
    manifest = run.manifest
    facts: dict[str, object] = {"command": manifest.command, "change": manifest.change}
    facts |= room_conditions(manifest)
    facts |= {
        "golden sets": f"{'passed' if manifest.golden.passed else 'failed'}, {manifest.golden.cases} cases",
        "policy": manifest.policy,
        "completions_fingerprint": manifest.completions_fingerprint,
        "seed of the sampling": None if manifest.sampling is None else manifest.sampling.seed,
    }
    training = manifest.trained_on
    facts["trained with the rubric"] = None if training is None else training.rubric
    facts["prompts of that training"] = None if training is None else training.prompts
    facts["prompts of that training in this run"] = None if training is None else training.measured_here
    return {name: short_value(None if value is None else str(value)) for name, value in facts.items()}


def five_rows(runs: Sequence[Run]) -> str:
    both = list(zip(*(rows(run) for run in runs), strict=True))
    blocks = []
    for before, after in both[len(both) // 10 :: len(both) // 5]:
        lines = [f"- {before.id}: `{visible(before.prompt)}` Expected: {before.expected_answer}."]
        lines += [f"  - {side}: {row_text(row)}" for side, row in zip(SIDES, (before, after), strict=True)]
        blocks.append("\n".join(lines))
    return "\n".join(blocks)


def row_text(row: Result) -> str:
    text = clipped(row.completion or "", 60).replace("`", "'")
    return f"`{text or '(empty)'}`, {row.details.outcome}, reward {row.reward:g}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the committee's pairs of runs, their log and their proposals.")
    help_ = "another folder to write to (default: the lab's)"
    parser.add_argument("--out", type=Path, default=LAB / COMMITTEE, help=help_)
    parser.add_argument("--train", action="store_true", help="train the policies again first: two minutes")
    args = parser.parse_args()
    write_committee(args.out, args.train)


if __name__ == "__main__":
    main()
