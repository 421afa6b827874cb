"""The gate: may this candidate take the baseline's place? It believes nothing, compares like with like, and counts.

    python -m course.gate --baseline runs/run_001 --candidate runs/run_002 --min-delta 0.02

Verdicts and exit status: PROMOTE 0; REJECT 1; INCONCLUSIVE 3; bad usage or input that cannot be read, 2. In order:

1. REJECT unless both runs are as they were written, and the installed scorer, scoring again, says what they say.
2. REJECT unless the room was locked: same dataset, prompts, split, scorer, loop, N and sampling, and all of it known.
3. REJECT if the scorer failed the golden sets, if a holdout got worse, or if the improvement is below --min-delta.
4. INCONCLUSIVE if the pass rate did not rise, if n < 100 and it rose by at most 5 points, or if the exact McNemar
   test on the flips gives p ≥ 0.05.
5. PROMOTE.

Decided on counts and fractions of counts, never on rounded rates.
"""

from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from course.artifacts.holdout import HOLDOUT, looks
from course.artifacts.locked_room import Condition, knob_turned, locked_room
from course.artifacts.reading import Broken, Run, open_run, verified_rows
from course.artifacts.records import Result
from course.artifacts.scorer_identity import installed
from course.artifacts.writing import RUNS
from course.command import Parser, fraction, run_command
from course.errors import UserError
from course.reports.gate import Finding, Numbers, gate_json, gate_text
from course.reports.progress import with_progress
from course.stats import flips_needed, mcnemar_exact, paired_interval, smallest_visible_difference, wilson_interval

SMALL_N = 100
NOISE = Fraction(5, 100)  # with fewer than SMALL_N prompts, a rise up to this is taken for luck
SIGNIFICANT = 0.05
HOW_TO_MEASURE = "measure what its policy writes: course.sample_rollouts, then course.eval"
EXIT_STATUS = {"PROMOTE": 0, "REJECT": 1, "INCONCLUSIVE": 3}


class Flips(NamedTuple):
    """What changed between two runs on the same examples: counts, and the ids that flipped."""

    n: int
    baseline_passes: int
    candidate_passes: int
    gained: list[str]
    lost: list[str]

    @property
    def delta(self) -> Fraction:
        return Fraction(self.candidate_passes - self.baseline_passes, self.n)


def compare(baseline: Run, candidate: Run) -> tuple[Flips, list[str]]:
    """Read both runs side by side and verify each on the way: the flips, and whatever is wrong with either.

    Results stand in dataset order, so in a locked room the same row holds the same id, prompt and answer.
    """
    baseline_faults: list[str] = []
    candidate_faults: list[str] = []
    n = candidate_passes = unlike = 0
    gained: list[str] = []
    lost: list[str] = []
    pairs = zip_longest(verified_rows(baseline, baseline_faults), verified_rows(candidate, candidate_faults))
    for before, after in with_progress(pairs, "verifying"):
        if before is None or after is None or _question(before) != _question(after):
            unlike += 1
            continue
        n += 1
        if after.reward == 1.0:
            candidate_passes += 1
        if before.reward != after.reward:
            (gained if after.reward == 1.0 else lost).append(before.id)
    faults = [f"baseline run: {fault}" for fault in baseline_faults]
    faults += [f"candidate run: {fault}" for fault in candidate_faults]
    if unlike:
        faults.append(f"{unlike:,} of the rows do not hold the same id, prompt and expected answer in both runs")
    return Flips(n, candidate_passes - len(gained) + len(lost), candidate_passes, gained, lost), faults


def _question(row: Result) -> tuple[str, str, int]:
    return row.id, row.prompt, row.expected_answer


def room_faults(conditions: list[Condition], runs: dict[str, Run]) -> list[str]:
    """Why the two cannot be compared at all: a condition of the room, or the instrument."""
    faults = [fault for condition in conditions if (fault := condition.fault)]
    now = installed()
    for side, opened in runs.items():
        if opened.manifest.scorer_fingerprint != now.fingerprint:
            faults.append(f"the {side} was not measured with the scorer installed here ({now.name} {now.version})")
        if not opened.manifest.golden.passed:
            faults.append(f"the golden sets failed when the {side} was measured")
    if not now.golden.passed:
        faults.append("the scorer installed here fails the golden sets (course.validate_scorer says which)")
    return faults


def decide(flips: Flips, min_delta: Fraction, split: str | None) -> tuple[str, str]:
    """``(verdict, reason)`` for two runs from one locked room, on counts and fractions only."""
    if split == HOLDOUT and flips.delta < 0:
        return "REJECT", "the holdout got worse"
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
    gained, lost = len(flips.gained), len(flips.lost)
    return Numbers(
        n=flips.n,
        baseline_passes=flips.baseline_passes,
        candidate_passes=flips.candidate_passes,
        baseline_ci95=wilson_interval(flips.baseline_passes, flips.n),
        candidate_ci95=wilson_interval(flips.candidate_passes, flips.n),
        gained=flips.gained,
        lost=flips.lost,
        delta=float(flips.delta),
        delta_ci95=paired_interval(gained, lost, flips.n),
        mcnemar_p=mcnemar_exact(gained, lost),
        net_flips_needed=net_flips_needed(flips, min_delta),
        smallest_visible_difference=smallest_visible_difference(flips.n),
    )


def examine(baseline: Path, candidate: Path, min_delta: Fraction) -> Finding:
    """Everything the gate finds out about two runs, and its verdict."""
    runs: dict[str, Run] = {}
    broken: list[str] = []
    for side, path in (("baseline", baseline), ("candidate", candidate)):
        try:
            runs[side] = open_run(path)
        except Broken as error:
            broken.append(f"{side} run: {error}")
    for side, opened in runs.items():
        if opened.manifest.loop == "C":
            raise UserError(f"{opened.path}: expected a {side} of Loop A or B, got a run of Loop C; {HOW_TO_MEASURE}")
    if broken:
        return Finding("REJECT", broken)
    manifests = runs["baseline"].manifest, runs["candidate"].manifest
    conditions = locked_room(*manifests)
    flips, unsound = compare(runs["baseline"], runs["candidate"])
    faults = room_faults(conditions, runs) + unsound
    if not faults and not flips.n:
        faults = ["there are no rows to compare"]
    holdout = next((manifest for manifest in manifests if manifest.split == HOLDOUT), None)
    verdict, reason = ("REJECT", "") if faults else decide(flips, min_delta, manifests[0].split)
    return Finding(
        verdict=verdict,
        reasons=faults or [reason],
        conditions=conditions,
        knob=knob_turned(conditions, *manifests),
        numbers=None if faults else comparison_numbers(flips, min_delta),
        holdout_looks=looks(RUNS, holdout.dataset_fingerprint) if holdout else None,
    )


def main() -> int:
    parser = Parser(
        "course.gate",
        "The gate: compare two runs from one locked room. "
        "Exit status: 0 PROMOTE, 1 REJECT, 3 INCONCLUSIVE, 2 bad usage.",
    )
    parser.add_argument("--baseline", type=Path, required=True, help="the folder of the run to beat")
    parser.add_argument("--candidate", type=Path, required=True, help="the folder of the run that wants its place")
    parser.add_argument(
        "--min-delta", type=fraction, required=True, help="the smallest improvement worth having, 0 to 1"
    )
    parser.add_argument("--json", action="store_true", help="print the same for a program")
    args = parser.parse_args()
    finding = examine(args.baseline, args.candidate, args.min_delta)
    print(gate_json(finding) if args.json else gate_text(finding))
    return EXIT_STATUS[finding.verdict]


if __name__ == "__main__":
    run_command(main)
