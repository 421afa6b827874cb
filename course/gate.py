"""The gate: may the candidate replace the baseline? The gate derives what it can, compares like with like, and counts.

    python3 -m course.gate --baseline runs/run_001 --candidate runs/run_002 \\
        --min-delta 0.02

Verdicts and exit status: PROMOTE 0; REJECT by rule 4, 1; REJECT by rules 1 to 3, not comparable, 4; INCONCLUSIVE 3;
bad usage or input that cannot be read, 2. In order:

1. REJECT unless both runs are what they claim. A log of runs must hold both. Every digest and number is recomputed, and
   every completion is scored again. The installed scorer must pass its golden sets, and must be the one that was
   released under its version.
2. REJECT unless the room was locked: examples, the text around the prompts, split, verifier, loop, N and sampling must
   be known and the same. No verifier of one's own is run.
3. REJECT unless the difference means something: exactly one knob was turned, or nothing flipped; each prompt counts
   once and has a completion; and the candidate was trained on none of the prompts.
4. REJECT if the candidate is shown to fall short: the paired 95 % interval of the difference ends below --min-delta.
   With --min-delta 0, to fall short means to be worse, and the exact McNemar test on the flips must also give p < 0.05.
5. INCONCLUSIVE if the pass rate did not rise, or by less than --min-delta, or if n < 100 and it rose by at most 5
   points, or if the exact McNemar test gives p ≥ 0.05. The gate says how many more prompts would give a verdict.
6. PROMOTE.

The verdict depends on counts, never on rounded rates.

Not covered: a run invented from the start, with a line added to the log for it; a .meta.json that lies about the
policy, its template, its sampling or its training; what docs/reference/gate.md lists under "Not covered".
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import zip_longest
from math import ceil, gcd
from pathlib import Path
from typing import NamedTuple

from course.artifacts import run_log
from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import (
    POLICY,
    SCORER,
    SELECTION,
    Condition,
    knobs_turned,
    locked_room,
    room_digest,
    verifier_text,
)
from course.artifacts.reading import Broken, Run, open_run
from course.artifacts.records import MISSING, Manifest, Result, Selection, TrainedOn
from course.artifacts.run_log import LogLine, holdouts_opened, looks, read_logs
from course.artifacts.verification import Verification
from course.command import Parser, fraction, run_command
from course.datasets.sources import HOLDOUT, holdouts_in, note_on_holdouts
from course.errors import UserError
from course.gate_text import gate_json, gate_text
from course.show.terminal import show, with_progress
from course.stats import (
    flips_needed,
    judge_difference,
    mcnemar_exact,
    paired_interval,
    smallest_visible_difference,
    wilson_interval,
)
from course.text import clipped, visible_path

SMALL_N = 100
NOISE = Fraction(5, 100)  # with fewer than SMALL_N prompts; the test decides the same, and the rule says why in words
GATE_PAGE = "gate.html"
MOST_TIMES = 1_000  # at most so many times as many prompts are tried, to say how many would give a verdict
PAIRS_NAMED = 3  # of ids with one prompt
EXIT_STATUS = {"PROMOTE": 0, "REJECT": 1, "INCONCLUSIVE": 3}
NOT_COMPARABLE = 4  # the exit status of a REJECT without numbers


# ---- Both runs, read once and side by side


class Comparison(NamedTuple):
    """All facts that the rules ask about, once ``compare`` has read both runs to their ends."""

    baseline: Verification
    candidate: Verification
    conditions: list[Condition]
    knobs: list[str]  # that were turned
    room: str  # the digest of the candidate's conditions
    unlike: int  # rows that do not hold the same id, prompt and expected answer
    rewritten: int  # rows that hold other completions
    gained: list[str]  # ids that pass only in the candidate
    lost: list[str]  # ids that pass only in the baseline

    @property
    def n(self) -> int:
        return self.candidate.n


def compare(baseline: Run, candidate: Run, log: Sequence[LogLine]) -> Comparison:
    """Read both runs row by row, in the order of the dataset, and verify each on the way."""
    logged = {line.manifest for line in log}
    verified = Verification(baseline, logged), Verification(candidate, logged)
    conditions = locked_room(baseline.manifest, candidate.manifest)
    knobs = knobs_turned(conditions, baseline.manifest, candidate.manifest)
    room = room_digest(candidate.manifest)
    unlike = 0
    rewritten = 0
    gained: list[str] = []
    lost: list[str] = []
    pairs = zip_longest(verified[0].rows(), verified[1].rows())
    for before, after in with_progress(pairs, "verifying"):
        if before is None or after is None or question_of(before) != question_of(after):
            unlike += 1
            continue
        if texts_of(before) != texts_of(after):
            rewritten += 1
        if before.reward < after.reward:
            gained.append(before.id)
        elif before.reward > after.reward:
            lost.append(before.id)
    return Comparison(
        baseline=verified[0],
        candidate=verified[1],
        conditions=conditions,
        knobs=knobs,
        room=room,
        unlike=unlike,
        rewritten=rewritten,
        gained=gained,
        lost=lost,
    )


def question_of(row: Result) -> tuple[str, str, int]:
    return row.id, row.prompt, row.expected_answer


def texts_of(row: Result) -> list[str] | str | None:
    """What the policy wrote: the samples of a choice, else the completion."""
    if isinstance(row, Selection):
        return row.samples
    return row.completion


# ---- Rule 1: both runs are what they claim


def open_runs(paths: Mapping[str, Path]) -> tuple[dict[str, Run], list[str]]:
    """The runs that can be opened, by side, and why the others cannot. Raises UserError as ``refuse_runs`` does."""
    runs: dict[str, Run] = {}
    faults: list[str] = []
    for side, path in paths.items():
        try:
            runs[side] = open_run(path)
        except Broken as error:
            faults.append(f"{side} run: {error}")
    refuse_runs(runs)
    return runs, faults


def refuse_runs(runs: Mapping[str, Run]) -> None:
    """Raise UserError at runs that the gate is not for: one of Loop C, and two that one rubric measured."""
    for side, run in runs.items():
        if run.manifest.loop == "C":
            raise UserError(
                f"{run.path}: expected a {side} of Loop A or B, got a run of Loop C; sample from its policy with "
                "course.sample_rollouts, then measure the samples with course.eval"
            )
    verifiers = [verifier_text(run.manifest) for run in runs.values()]
    if len(verifiers) == 2 and verifiers[0] == verifiers[1] != SCORER:
        raise UserError(
            f"expected two runs without --rubric, got two of {clipped(verifiers[0], 60)}, and the gate does not run a "
            "rubric's code; measure both again without --rubric"
        )


def faults_of_runs(comparison: Comparison) -> list[str]:
    """What is wrong with the installed scorer, then with each run."""
    faults = [*comparison.candidate.instrument_faults]
    for side, verification in (("baseline", comparison.baseline), ("candidate", comparison.candidate)):
        faults += [f"{side} run: {fault}" for fault in verification.faults if fault not in faults]
    return faults


# ---- Rule 2: the room was locked


def faults_of_room(comparison: Comparison) -> list[str]:
    faults = [condition.fault for condition in comparison.conditions if condition.fault]
    if comparison.unlike:
        rows = f"{comparison.unlike:,} of the rows"
        faults.append(f"the two runs do not hold the same id, prompt and expected answer in {rows}")
    return faults


# ---- Rule 3: the difference means something


def faults_of_difference(comparison: Comparison) -> list[str]:
    """Why a difference between two sound runs from one room would not say that the candidate is better."""
    checks = (
        fault_of_knobs(comparison),
        fault_of_completions(comparison),
        fault_of_unanswered("baseline", comparison.baseline),
        fault_of_unanswered("candidate", comparison.candidate),
        fault_of_repeated_prompts(comparison),
        fault_of_training(comparison),
    )
    return [fault for fault in checks if fault]


def fault_of_knobs(comparison: Comparison) -> str | None:
    if len(comparison.knobs) < 2:
        return None
    return f"more than one knob was turned: {' and '.join(comparison.knobs)} (rule 3: turn one at a time)"


def fault_of_completions(comparison: Comparison) -> str | None:
    """Why the one knob that was turned cannot be the cause of different completions or rewards; None if it can."""
    before, after = comparison.baseline.run.manifest, comparison.candidate.run.manifest
    knobs, rewritten = comparison.knobs, comparison.rewritten
    flipped = len(comparison.gained) + len(comparison.lost)
    if rewritten:
        differ = f"{rewritten:,} of the completions {'differs' if rewritten == 1 else 'differ'}"
        if POLICY not in knobs and has_same_draws(before, after):
            return (
                f"{differ}, though both runs name the same policy, sampling and seed: one of the two runs is not what "
                'it claims (other weights need a different "policy")'
            )
        if knobs == [SELECTION]:
            return f"{differ}, and the rule of choice changed too: let both runs choose from the same samples"
    if knobs or not flipped:
        return None
    if rewritten:
        why = "the same policy wrote both sets of completions in different draws, so the flips are chance"
    else:
        why = (
            "the samples are equal and the files of the rule are the same, yet the rule chose differently (does the "
            "rule read other files?)"
        )
    return f"no knob was turned, and {flipped:,} of the examples flipped: {why}"


def has_same_draws(before: Manifest, after: Manifest) -> bool:
    """Whether one policy would have written the same completions for both: same settings, and a known seed."""
    return before.sampling is not None and before.sampling == after.sampling and before.sampling.reproducible


def fault_of_unanswered(side: str, verification: Verification) -> str | None:
    unanswered = verification.outcomes[MISSING]
    if not unanswered:
        return None
    return f"the {side} has no completion for {unanswered:,} of its prompts: add the missing completions"


def fault_of_repeated_prompts(comparison: Comparison) -> str | None:
    candidate = comparison.candidate
    if not candidate.repeated:
        return None
    pairs = [f"{clipped(first, 24)} and {clipped(again, 24)}" for first, again in candidate.repeated[:PAIRS_NAMED]]
    if len(candidate.repeated) > PAIRS_NAMED:
        pairs.append(f"{len(candidate.repeated) - PAIRS_NAMED:,} more")
    return (
        f"{comparison.n:,} ids have only {len(candidate.prompts):,} distinct prompts ({', '.join(pairs)}), so one "
        "result of chance counts twice: leave out one id of each pair; put several completions of a prompt into a "
        "selection pack"
    )


def fault_of_training(comparison: Comparison) -> str | None:
    training = comparison.candidate.run.manifest.trained_on
    if training is None or not training.measured_here:
        return None
    return (
        f"the candidate was trained on {training.measured_here:,} of these {comparison.n:,} prompts: measure both runs "
        "on prompts that the candidate has not seen"
    )


# ---- Rules 4 to 6: the verdict on the counts


def decide(n: int, gained: int, lost: int, min_delta: Fraction) -> tuple[str, str]:
    """``(verdict, reason)`` for two runs from one locked room. Only flips count."""
    delta = Fraction(gained - lost, n)
    upper = paired_interval(gained, lost, n)[1]
    judged = judge_difference(gained, lost, n)
    if upper < min_delta and not (min_delta == 0 and judged.shown is None):
        if judged.shown == "loss":
            return "REJECT", f"worse: {judged.text}"
        ends = f"the 95 % interval of the difference ends at {100 * upper:+.1f} points"
        return "REJECT", f"shown to fall short: {ends}, below --min-delta, {float(100 * min_delta):g} points"
    if delta < 0:
        return "INCONCLUSIVE", f"worse: {judged.text}"
    if delta == 0:
        return "INCONCLUSIVE", "the pass rate did not rise"
    if delta < min_delta:
        seen = f"a rise of {float(100 * delta):.1f} points is below --min-delta"
        return "INCONCLUSIVE", f"{seen}, but the 95 % interval of the difference goes up to {100 * upper:+.1f}"
    if n < SMALL_N and delta <= NOISE:
        return (
            "INCONCLUSIVE",
            f"noise rule: with {n} prompts, fewer than {SMALL_N}, a rise of up to 5 points counts as chance",
        )
    if judged.shown is None:
        return "INCONCLUSIVE", judged.text
    return "PROMOTE", "the room was locked, and the improvement is larger than chance explains"


# ---- Facts beside the verdict


def net_flips_needed(n: int, lost: int, min_delta: Fraction) -> int | None:
    """The smallest rise in passes that would be promoted, if the number lost stays the same.

    None if no rise on n prompts would be promoted.
    """
    significant = flips_needed(lost) - lost  # at least 6: more than the noise rule asks
    net = max(significant, ceil(min_delta * n))
    return None if net + 2 * lost > n else net  # net + lost are gained


def what_would_decide(n: int, gained: int, lost: int, min_delta: Fraction) -> str:
    """How many prompts that flip as these did would give a verdict, and which verdict.

    Only sizes are tried at which the shares of flips are exactly those seen. Among these sizes, a larger one decides
    everything that a smaller one decides.
    """
    parts = gcd(n, gained, lost)

    def verdict_of(times: int) -> str:
        return decide(n // parts * times, gained // parts * times, lost // parts * times, min_delta)[0]

    sizes = range(parts, MOST_TIMES * parts)
    first = bisect_left(sizes, True, key=lambda times: verdict_of(times) != "INCONCLUSIVE")
    if first == len(sizes):
        return f"not even {MOST_TIMES:,} times as many prompts would be enough, if they flip as these did"
    more = n // parts * sizes[first] - n
    return f"about {more:,} more prompts, if they flip as these did; the verdict would be {verdict_of(sizes[first])}"


def numbers_of(comparison: Comparison, min_delta: Fraction) -> Numbers:
    """Everything that can be said of the flips in numbers."""
    n, gained, lost = comparison.n, len(comparison.gained), len(comparison.lost)
    baseline_passes, candidate_passes = comparison.baseline.outcomes["ok"], comparison.candidate.outcomes["ok"]
    discordance = (gained + lost + 2) / (n + 2)
    return Numbers(
        n=n,
        baseline_passes=baseline_passes,
        candidate_passes=candidate_passes,
        baseline_ci95=wilson_interval(baseline_passes, n),
        candidate_ci95=wilson_interval(candidate_passes, n),
        gained=comparison.gained,
        lost=comparison.lost,
        delta=(gained - lost) / n,
        delta_ci95=paired_interval(gained, lost, n),
        mcnemar_p=mcnemar_exact(gained, lost),
        net_flips_needed=net_flips_needed(n, lost, min_delta),
        discordance=discordance,
        smallest_visible_difference=smallest_visible_difference(n, discordance),
    )


def knob_text(comparison: Comparison) -> str:
    if not all(condition.known for condition in comparison.conditions):
        return "not known"
    return " and ".join(comparison.knobs) or "nothing"


def notes_of(comparison: Comparison) -> list[str]:
    """What a verdict must not be read without."""
    manifests = {"baseline": comparison.baseline.run.manifest, "candidate": comparison.candidate.run.manifest}
    notes = []
    if SELECTION in comparison.knobs and POLICY not in comparison.knobs:
        notes.append("the policy did not change; only the way its completions are drawn or chosen did")
    unseeded = [side for side, run in manifests.items() if run.sampling and not run.sampling.reproducible]
    if unseeded:
        notes.append(f"no seed is known for the {' and the '.join(unseeded)}: the completions cannot be drawn again")
    notes += training_notes(manifests)
    if unknown := note_on_holdouts():
        notes.append(unknown)
    return notes


def training_notes(manifests: Mapping[str, Manifest]) -> list[str]:
    """What the policies were trained on. ``manifests``: side -> the manifest of its run."""
    unknown = [side for side, manifest in manifests.items() if manifest.trained_on is None]
    notes = []
    if unknown:
        notes.append(f"the training of the policy is not known for the {' and the '.join(unknown)}")
    for side, manifest in manifests.items():
        if manifest.trained_on is not None:
            notes.append(training_note(side, manifest.trained_on))
    return notes


def training_note(side: str, training: TrainedOn) -> str:
    how = "by imitation only" if training.rubric is None else f"with rubric {training.rubric}"
    if training.measured_here is None:
        return f"the policy of the {side} was trained {how}; its training prompts are not known"
    return (
        f"the policy of the {side} was trained {how} on {training.prompts:,} prompts, "
        f"{training.measured_here:,} of them measured here"
    )


def holdout_looks(comparison: Comparison, log: Sequence[LogLine]) -> int | None:
    """How often the holdout that these runs measure was opened; of several holdouts, the count of the most opened.

    None if neither the run nor the log calls these prompts a holdout.
    """
    holdouts = holdouts_in(comparison.baseline.prompts.keys())
    if comparison.baseline.run.manifest.split != HOLDOUT and holdouts_opened(log).isdisjoint(holdouts):
        return None
    return max(looks(log, holdout) for holdout in holdouts)


# ---- The rules in their order


def examine(baseline: Path, candidate: Path, min_delta: Fraction, log: Sequence[LogLine]) -> Finding:
    """Everything that the gate finds out about two runs, and its verdict."""
    runs, faults = open_runs({"baseline": baseline, "candidate": candidate})
    if faults:
        return Finding("REJECT", faults)
    comparison = compare(runs["baseline"], runs["candidate"], log)
    faults = faults_of_runs(comparison) + faults_of_room(comparison)
    if not faults:
        faults = faults_of_difference(comparison)
    would_decide = None
    if faults:
        verdict, reasons, numbers = "REJECT", faults, None
    else:
        counts = comparison.n, len(comparison.gained), len(comparison.lost)
        verdict, reason = decide(*counts, min_delta)
        reasons, numbers = [reason], numbers_of(comparison, min_delta)
        if verdict == "INCONCLUSIVE":
            would_decide = what_would_decide(*counts, min_delta)
    return Finding(
        verdict=verdict,
        reasons=reasons,
        conditions=comparison.conditions,
        knob=knob_text(comparison),
        policies=[run.manifest.policy for run in runs.values()],
        notes=notes_of(comparison),
        numbers=numbers,
        would_decide=would_decide,
        tries=sum(line.room == comparison.room for line in log),
        holdout_looks=holdout_looks(comparison, log),
    )


def main() -> int:
    parser = Parser("course.gate", "The gate: may the candidate run replace the baseline run?")
    parser.add_argument("--baseline", type=Path, required=True, help="the folder of the run to beat")
    parser.add_argument(
        "--candidate", type=Path, required=True, help="the folder of the run that may replace the baseline"
    )
    help_ = "the smallest improvement worth having, from 0 to 1 (0.02 is 2 points)"
    parser.add_argument("--min-delta", type=fraction, required=True, help=help_)
    help_ = "also use this log, which came with a run made elsewhere"
    parser.add_argument("--log", type=Path, action="append", default=[], help=help_)
    parser.add_argument("--details", action="store_true", help="also show each condition, each reason and the power")
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--report", action="store_true", help="also write gate.html into the candidate's folder")
    either.add_argument("--json", action="store_true", help="print one JSON object, for a program")
    args = parser.parse_args()
    finding = examine(args.baseline, args.candidate, args.min_delta, read_logs(run_log.LOG, args.log))
    if args.json:
        print(gate_json(finding))
    else:
        show(gate_text(finding, args.details))
    if args.report:
        page = write_report(args.baseline, args.candidate, finding, args.min_delta)
        print(f"report: {visible_path(page)}")
    if finding.verdict == "REJECT" and finding.numbers is None:
        return NOT_COMPARABLE
    return EXIT_STATUS[finding.verdict]


def write_report(baseline: Path, candidate: Path, finding: Finding, min_delta: Fraction) -> Path:
    """Write the page of the verdict into the candidate's folder. Returns its place."""
    from course.artifacts.writing import write_page
    from course.pages.gate import page_of_gate
    from course.pages.html import HEAD

    page = page_of_gate(baseline, candidate, finding, float(min_delta))
    return write_page(candidate / GATE_PAGE, page, HEAD)


if __name__ == "__main__":
    run_command(main)
