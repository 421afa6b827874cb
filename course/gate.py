"""The gate: may this candidate take the baseline's place? It derives what it can, compares like with like, and counts.

    python3 -m course.gate --baseline runs/run_001 --candidate runs/run_002 \\
        --min-delta 0.02

Verdicts and exit status: PROMOTE 0; REJECT 1; INCONCLUSIVE 3; bad usage or input that cannot be read, 2. In order:

1. REJECT unless both runs are what they claim: in a log of runs, every digest and number taken again, every completion
   scored again by the installed scorer, which passes its golden sets and is what was released under its version.
2. REJECT unless the room was locked: same examples, split, scorer, loop, N and sampling, and all of it known.
3. REJECT unless the difference means something: one knob was turned and no more, or nothing flipped; each prompt counts
   once, none is unanswered, and none is one that the candidate was trained on.
4. REJECT if a holdout got worse, or if the improvement is below --min-delta.
5. INCONCLUSIVE if the pass rate did not rise, if n < 100 and it rose by at most 5 points, or if the exact McNemar
   test on the flips gives p ≥ 0.05.
6. PROMOTE.

Decided on counts and fractions of counts, never on rounded rates.

Not covered: a run invented from the start with a line added to the log for it, and a .meta.json that does not tell the
truth about the policy, its sampling or its training.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from course.artifacts import run_log
from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import POLICY, SELECTION, Condition, knobs_turned, locked_room, room_digest
from course.artifacts.reading import Broken, Run, open_run
from course.artifacts.records import MISSING, Manifest
from course.artifacts.run_log import looks, read_logs
from course.artifacts.scorer_identity import faults_of_scorer
from course.artifacts.verifying import Verification
from course.artifacts.writing import write_page
from course.command import Parser, fraction, run_command
from course.datasets.sources import HOLDOUT, holdouts_in
from course.errors import UserError
from course.gate_text import gate_json, gate_text
from course.pages.gate import page_of_gate
from course.pages.html import HEAD
from course.show.terminal import show, with_progress
from course.stats import flips_needed, mcnemar_exact, paired_interval, smallest_visible_difference, wilson_interval
from course.text import visible_path

SMALL_N = 100
NOISE = Fraction(5, 100)  # with fewer than SMALL_N prompts a rise up to this is luck; the test below never says else
SIGNIFICANT = 0.05
GATE_PAGE = "gate.html"
EXIT_STATUS = {"PROMOTE": 0, "REJECT": 1, "INCONCLUSIVE": 3}


class Flips(NamedTuple):
    """What changed between two runs on the same examples: counts, and the ids that flipped."""

    n: int
    unlike: int  # rows that do not hold the same id, prompt and expected answer
    rewritten: int  # rows that hold other completions
    baseline_passes: int
    candidate_passes: int
    gained: list[str]
    lost: list[str]

    @property
    def delta(self) -> Fraction:
        return Fraction(self.candidate_passes - self.baseline_passes, self.n)


def compare(baseline: Verification, candidate: Verification) -> Flips:
    """Read both runs row by row: both are in the order of the dataset. Each is verified on the way."""
    unlike = rewritten = 0
    gained: list[str] = []
    lost: list[str] = []
    loop_b = baseline.run.manifest.loop == candidate.run.manifest.loop == "B"
    question, answers = attrgetter("id", "prompt", "expected_answer"), attrgetter("samples" if loop_b else "completion")
    for before, after in with_progress(zip_longest(baseline.rows(), candidate.rows()), "verifying"):
        if before is None or after is None or question(before) != question(after):
            unlike += 1
            continue
        rewritten += answers(before) != answers(after)
        if before.reward != after.reward:
            (gained if after.reward == 1.0 else lost).append(before.id)
    return Flips(candidate.n, unlike, rewritten, baseline.outcomes["ok"], candidate.outcomes["ok"], gained, lost)


def faults_of_runs(conditions: list[Condition], flips: Flips, runs: dict[str, Verification]) -> list[str]:
    """Why the two cannot be compared at all: a run that is not what it claims, another room, another instrument."""
    faults = faults_of_scorer()
    faults += [f"{side} run: {fault}" for side, run in runs.items() for fault in run.faults if fault not in faults]
    faults += [fault for condition in conditions if (fault := condition.fault)]
    if flips.unlike:
        faults.append(f"the two do not hold the same id, prompt and expected answer in {flips.unlike:,} of the rows")
    return faults


def faults_of_comparison(knobs: list[str], flips: Flips, baseline: Verification, candidate: Verification) -> list[str]:
    """Why a difference between the two, though both are sound, would not say that the candidate is better."""
    faults = []
    before, after = baseline.run.manifest, candidate.run.manifest
    if len(knobs) > 1:
        faults.append(f"more than one knob was turned: {' and '.join(knobs)} (rule 3: one at a time)")
    flipped = len(flips.gained) + len(flips.lost)
    same_draws = before.sampling is not None and before.sampling == after.sampling and before.sampling.reproducible
    differ = f"{flips.rewritten:,} of the completions differ{'s' * (flips.rewritten == 1)}"
    if flips.rewritten and before.completions_fingerprint == after.completions_fingerprint:
        faults.append(f"{differ}, though both runs say that they read one file")
    elif flips.rewritten and POLICY not in knobs and same_draws:
        faults.append(
            f"{differ}, though policy, sampling and seed are said to be the same: one of the two is not what it claims "
            '(another policy or prompt template has another "policy")'
        )
    elif flips.rewritten and knobs == [SELECTION]:
        faults.append(f"{differ}, and the choice changed too: let both choose from the same samples")
    elif flipped and not knobs:
        luck = "the same policy wrote both, in other draws: that is luck"
        other_files = "on equal samples: pick_best chose otherwise though its files are the same (does it read others?)"
        why = luck if flips.rewritten else other_files
        faults.append(f"nothing was turned, and {flipped:,} of the examples flipped; {why}")
    for side, run in (("baseline", baseline), ("candidate", candidate)):
        if unanswered := run.outcomes[MISSING]:
            faults.append(f"the {side} has no completion for {unanswered:,} of its prompts: complete it")
    if len(candidate.prompts) < flips.n:
        faults.append(
            f"{flips.n:,} ids have only {len(candidate.prompts):,} distinct prompts, so the same luck counts twice: "
            "several completions of a prompt belong in a selection pack"
        )
    if after.trained_on and after.trained_on.measured_here:
        faults.append(
            f"the candidate was trained on {after.trained_on.measured_here:,} of these {flips.n:,} prompts: measure "
            "both on prompts that it has not seen"
        )
    return faults


def decide(flips: Flips, min_delta: Fraction, split: str | None) -> tuple[str, str]:
    """``(verdict, reason)`` for two runs from one locked room, on counts and fractions only."""
    if split == HOLDOUT and flips.delta < 0:
        k, p = flips.baseline_passes - flips.candidate_passes, mcnemar_exact(len(flips.gained), len(flips.lost))
        worth = "which may be luck, and is no reason to promote" if p >= SIGNIFICANT else "more than luck explains"
        return "REJECT", f"the holdout got worse, by {k:,} of {flips.n:,} prompts (exact McNemar p = {p:.2g}): {worth}"
    if flips.delta < min_delta:
        return "REJECT", f"the improvement is below --min-delta: {float(flips.delta):+.4f} < {float(min_delta):.4f}"
    if flips.delta <= 0:
        return "INCONCLUSIVE", "the pass rate did not rise"
    if flips.n < SMALL_N and flips.delta <= NOISE:
        return "INCONCLUSIVE", f"noise rule: with n = {flips.n}, below {SMALL_N}, up to 5 points are taken for luck"
    p = mcnemar_exact(len(flips.gained), len(flips.lost))
    if p >= SIGNIFICANT:
        return "INCONCLUSIVE", f"the flips may be luck: exact McNemar p = {p:.4f}, not below 0.05"
    return "PROMOTE", "same room, and the improvement is larger than noise"


def net_flips_needed(flips: Flips, min_delta: Fraction) -> int:
    """The smallest rise in passes that would be promoted, with as many lost as were lost here."""
    lost = len(flips.lost)
    at_least_delta = -int(-min_delta * flips.n // 1)
    return max(flips_needed(lost) - lost, at_least_delta)  # the first is at least 6: more than the noise rule asks


def comparison_numbers(flips: Flips, min_delta: Fraction) -> Numbers:
    """Everything that can be said of the flips in numbers."""
    n, gained, lost = flips.n, len(flips.gained), len(flips.lost)
    discordance = (gained + lost + 2) / (n + 2)
    visible = smallest_visible_difference(n, discordance)
    return Numbers(
        *(n, flips.baseline_passes, flips.candidate_passes),
        baseline_ci95=wilson_interval(flips.baseline_passes, n),
        candidate_ci95=wilson_interval(flips.candidate_passes, n),
        gained=flips.gained,
        lost=flips.lost,
        delta=float(flips.delta),
        delta_ci95=paired_interval(gained, lost, n),
        mcnemar_p=mcnemar_exact(gained, lost),
        net_flips_needed=net_flips_needed(flips, min_delta),
        discordance=discordance,
        smallest_visible_difference=visible if visible <= discordance else None,
    )


def notes_of(knobs: Sequence[str], manifests: Mapping[str, Manifest]) -> list[str]:
    """What a verdict must not be read without."""
    lines = []
    if SELECTION in knobs and POLICY not in knobs:
        lines.append("the policy did not change: what changed is how its completions are drawn or chosen")
    if unseeded := [side for side, one in manifests.items() if one.sampling and not one.sampling.reproducible]:
        lines.append(f"no seed is known of the {' and the '.join(unseeded)}: these completions cannot be drawn again")
    for side, manifest in manifests.items():
        training = manifest.trained_on
        if training is None:
            lines.append(f"what the policy of the {side} was trained on is not known")
        else:
            how = "by imitation only" if training.rubric is None else f"with rubric {training.rubric}"
            lines.append(
                f"the policy of the {side} was trained {how} on {training.prompts:,} prompts, "
                f"{training.measured_here:,} of them measured here"
            )
    return lines


def examine(baseline: Path, candidate: Path, min_delta: Fraction, log: Path, other_logs: Sequence[Path]) -> Finding:
    """Everything the gate finds out about two runs, and its verdict. ``log``: the lab's own."""
    lines = read_logs(log, other_logs)
    logged = {line.manifest for line in lines}
    runs: dict[str, Run] = {}
    broken: list[str] = []
    for side, path in (("baseline", baseline), ("candidate", candidate)):
        try:
            runs[side] = open_run(path)
        except Broken as error:
            broken.append(f"{side} run: {error}")
    for side, run in runs.items():
        if run.manifest.loop == "C":
            raise UserError(
                f"{run.path}: expected a {side} of Loop A or B, got a run of Loop C; measure what its policy "
                "writes: course.sample_rollouts, then course.eval"
            )
    if broken:
        return Finding("REJECT", broken)
    manifests = {side: run.manifest for side, run in runs.items()}
    conditions = locked_room(*manifests.values())
    knobs = knobs_turned(conditions, *manifests.values())
    checks = {side: Verification(run, logged) for side, run in runs.items()}
    flips = compare(*checks.values())
    faults = faults_of_runs(conditions, flips, checks) or faults_of_comparison(knobs, flips, *checks.values())
    room = room_digest(manifests["candidate"])
    opened_holdouts = holdouts_in(checks["baseline"].prompts) if manifests["baseline"].split == HOLDOUT else []
    verdict, reason = ("REJECT", "") if faults else decide(flips, min_delta, manifests["baseline"].split)
    return Finding(
        verdict=verdict,
        reasons=faults or [reason],
        conditions=conditions,
        knob=" and ".join(knobs) or "nothing" if all(condition.known for condition in conditions) else "not known",
        policies=[manifest.policy for manifest in manifests.values()],
        notes=notes_of(knobs, manifests),
        numbers=None if faults else comparison_numbers(flips, min_delta),
        tries=sum(line.room == room for line in lines),
        holdout_looks=max(looks(lines, holdout) for holdout in opened_holdouts) if opened_holdouts else None,
    )


def main() -> int:
    parser = Parser("course.gate", "The gate: compare two runs from one locked room.")
    parser.add_argument("--baseline", type=Path, required=True, help="the folder of the run to beat")
    parser.add_argument("--candidate", type=Path, required=True, help="the folder of the run that wants its place")
    help_ = "the smallest improvement worth having, 0 to 1"
    parser.add_argument("--min-delta", type=fraction, required=True, help=help_)
    help_ = "the log that came with a run made elsewhere"
    parser.add_argument("--log", type=Path, action="append", default=[], help=help_)
    parser.add_argument("--details", action="store_true", help="each condition of the room, each reason, the power")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--report", action="store_true", help="also write gate.html into the candidate's folder")
    either.add_argument("--json", action="store_true", help="print the same for a program")
    args = parser.parse_args()
    finding = examine(args.baseline, args.candidate, args.min_delta, run_log.LOG, args.log)
    if args.json:
        print(gate_json(finding))
    else:
        show(gate_text(finding, args.details))
    if args.report:
        page = page_of_gate(args.baseline, args.candidate, finding, float(args.min_delta))
        print(f"report: {visible_path(write_page(args.candidate / GATE_PAGE, page, HEAD))}")
    return EXIT_STATUS[finding.verdict]


if __name__ == "__main__":
    run_command(main)
