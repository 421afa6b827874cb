"""Machinery: the one check of a run, for ``inspect_run --verify`` and the gate alike.

Nothing that can be derived is believed. The check recomputes every digest and scores every completion again with the
installed scorer; in Loops A and B it also recomputes from the rows every number of the summary, every fingerprint of
the examples and the number of samples. Facts that nothing derives stand in the manifest, whose digest must stand in a
log of runs: policy, template, sampling, trained_on, split, settings, seed, change, expect, in Loop C the command, and
the fingerprints of the files that the run does not hold.

Not covered
    Somebody who forges a run and the log. The rewards of a second rubric (``eval --rubric``) and the kind of each
    completion, because a stranger's code is not run again. In Loop C, the fields of a row besides its reward (step,
    training, split, proxy_reward). The digest seals these facts, and nothing derives them.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

import msgspec

from course.artifacts.reading import Broken, Run, batches, read_output
from course.artifacts.records import (
    MANIFEST,
    RESULTS,
    SUMMARY,
    UNANSWERED,
    Manifest,
    Result,
    RubricResult,
    Selection,
    indent_json,
    rubric_of,
)
from course.artifacts.scorer_identity import faults_of_scorer, scorer_identity
from course.artifacts.summary import Choice, choice_of, summary_of
from course.datasets.plain import plain_prompt
from course.datasets.sources import HOLDOUT, shipped_in
from course.score import measure
from course.text import clipped

if TYPE_CHECKING:  # loaded where a run names a rubric
    from course.artifacts.payments import Payment

_ROWS_NAMED = 3  # in a complaint
NOT_LOGGED = (
    "no log of runs has the digest of its manifest, so the run was edited, or made elsewhere. Measure again here, or "
    "give --log FILE, the log that came with the run"
)


class Verification:
    """One pass over a run. ``faults``, ``n``, ``outcomes`` and ``prompts`` are complete when ``rows`` has ended.

    ``logged``: the manifest digests of all runs in the log. ``other_scorer``: whether the run names a scorer with a
    different fingerprint. The installed scorer cannot judge the verdicts of a different scorer, so no row is scored
    again.
    ``instrument_faults``: the faults of the installed scorer itself, whatever the run.
    """

    def __init__(self, run: Run, logged: Collection[str]) -> None:
        self.run = run
        self.scorer_faults = faults_of_named_scorer(run.manifest)
        self.other_scorer = run.manifest.scorer_fingerprint != scorer_identity().scorer_fingerprint
        self.instrument_faults = faults_of_scorer()
        self.faults = [*self.instrument_faults]
        if run.digest not in logged:
            self.faults.append(NOT_LOGGED)
        self.faults += self.scorer_faults
        self.prompts: dict[str, str] = {}  # each distinct plain prompt -> the first id with this prompt
        self.repeated: list[tuple[str, str]] = []  # the first id with a prompt, and a later one
        self.n = 0  # rows
        self.outcomes: Counter[str] = Counter()
        self._ids: set[str] = set()
        self._choices: Counter[Choice] = Counter()
        self.payments: Counter[Payment] = Counter()  # of a run that another rubric was asked in
        self._prompts_in_order = hashlib.sha256()
        self._examples = hashlib.sha256()
        self._wrong: list[Result] = []

    def rows(self) -> Iterator[Result]:
        """Every row, each scored again on the way."""
        results = hashlib.sha256()
        try:
            for batch in batches(self.run, results):
                self._add(batch)
                yield from batch
        except Broken as error:
            self.faults.append(str(error))
            return
        self.faults += self._row_faults()
        if self.run.manifest.loop != "C":
            self.faults += self._total_faults()
        self.faults += self._output_faults(results.hexdigest())

    def _add(self, batch: list[Result]) -> None:
        manifest = self.run.manifest
        self.n += len(batch)
        self.outcomes.update([row.details.outcome for row in batch])
        if not self.other_scorer:
            self._wrong += [row for row in batch if fault_of_row(row, manifest.samples_per_prompt)]
        if manifest.loop == "C":
            return
        ids = [row.id for row in batch]
        prompts = [row.prompt for row in batch]
        answers = [row.expected_answer for row in batch]
        self._ids.update(ids)
        for id_, prompt in zip(ids, map(plain_prompt, prompts), strict=True):
            first = self.prompts.setdefault(prompt, id_)
            if first != id_:
                self.repeated.append((first, id_))
        encode = msgspec.json.Encoder().encode_lines
        self._prompts_in_order.update(encode(zip(ids, prompts, strict=True)))
        self._examples.update(encode(zip(ids, prompts, answers, strict=True)))
        if self._can_be_counted:
            self._choices.update([choice_of(row) for row in batch if isinstance(row, Selection)])
            if rubric_of(manifest) is not None:
                from course.artifacts.payments import count_payments

                self.payments.update(count_payments(batch))

    @property
    def _can_be_counted(self) -> bool:
        """Whether the summary can be compared: a wrong row may lack the counted facts, and it fails the run anyway."""
        return not (self._wrong or self.other_scorer)

    def _row_faults(self) -> list[str]:
        """What is wrong with the first rows that the installed scorer contradicts, and how many more there are."""
        n = self.run.manifest.samples_per_prompt
        faults = [f"{RESULTS}: {clipped(row.id, 60)} {fault_of_row(row, n)}" for row in self._wrong[:_ROWS_NAMED]]
        if len(self._wrong) > _ROWS_NAMED:
            faults.append(f"{RESULTS}: {len(self._wrong) - _ROWS_NAMED:,} more of the rows have such faults")
        return faults

    def _total_faults(self) -> list[str]:
        """Loops A and B: where the rows as a whole are not what the manifest says."""
        manifest = self.run.manifest
        if not self.n:
            return [f"{RESULTS} has no rows"]
        faults = []
        if len(self._ids) < self.n:
            faults.append(f"{RESULTS} has {self.n:,} rows and {len(self._ids):,} different ids")
        if manifest.loop == "A" and manifest.samples_per_prompt != 1:
            faults.append(f"{MANIFEST} says {manifest.samples_per_prompt} samples of each prompt, but Loop A has one")
        if manifest.prompts_fingerprint not in (None, self._prompts_in_order.hexdigest()):
            faults.append(f"the prompts_fingerprint in {MANIFEST} is not that of {RESULTS}")
        if manifest.examples_fingerprint not in (None, self._examples.hexdigest()):
            faults.append(f"the examples_fingerprint in {MANIFEST} is not that of {RESULTS}")
        if manifest.split != HOLDOUT and shipped_in(self.prompts.keys()):
            faults.append(f"{MANIFEST} says split {manifest.split}, but these prompts are from a holdout of the lab")
        return faults

    def _output_faults(self, results_digest: str) -> list[str]:
        """What is wrong with the files that the manifest seals. ``results_digest``: of the results, read already."""
        faults = []
        for name, recorded in self.run.manifest.outputs.items():
            digest = results_digest
            if name != RESULTS:
                try:
                    data = read_output(self.run.path, name)
                except Broken as error:
                    faults.append(str(error))
                    continue
                digest = hashlib.sha256(data).hexdigest()
                if name == SUMMARY:
                    faults += self._summary_faults(data)
            if digest != recorded:
                faults.append(f"{name} is not the file that was written: its digest differs")
        return faults

    def _summary_faults(self, data: bytes) -> list[str]:
        """Loops A and B: where the summary is not the summary of the rows."""
        if self.run.manifest.loop == "C" or not self.n or not self._can_be_counted:
            return []
        summary = summary_of(self.outcomes, self._choices, self.payments)
        if data == indent_json(summary):
            return []
        passed = f"{summary['passes']:,} of {summary['n']:,} pass"
        return [f"{SUMMARY} is not, byte for byte, the summary of {RESULTS}, where {passed}"]


def faults_of_named_scorer(manifest: Manifest) -> list[str]:
    """Where the scorer that a run names is not the installed scorer."""
    faults = []
    for name, installed in scorer_identity()._asdict().items():
        recorded = getattr(manifest, name)
        if recorded != installed:
            values = f"{clipped(str(recorded), 40)}; the scorer installed here has {clipped(str(installed), 40)}"
            faults.append(f"{MANIFEST} has {name} {values}")
    return faults


def fault_of_row(row: Result, n: int | None) -> str | None:
    """Why the installed scorer contradicts a row, or None. ``n``: how many samples the choice was made from."""
    measured = UNANSWERED if row.completion is None else measure(row.expected_answer, row.completion)
    reward = row.strict_reward if isinstance(row, RubricResult) else row.reward
    if (reward, row.details.outcome, row.details.parsed_answer) != measured:
        outcome = clipped(row.details.outcome, 40)
        return f"is recorded as {outcome} with reward {reward}, which is not what the scorer says"
    if isinstance(row, RubricResult):
        from course.artifacts.payments import fault_of_payment

        return fault_of_payment(row)
    return fault_of_choice(row, n) if isinstance(row, Selection) else None


def fault_of_choice(row: Selection, n: int | None) -> str | None:
    if len(row.samples) != n:
        return f"has {len(row.samples):,} samples, but {MANIFEST} says {n}"
    if not 0 <= row.chosen < n or row.samples[row.chosen] != row.completion:
        return "does not hold the sample that is recorded as chosen"
    rewards = [measure(row.expected_answer, sample).reward for sample in row.samples]
    other_rewards = [measure(row.expected_answer, sample).reward for sample in row.others]
    if row.rewards != rewards or row.other_rewards != other_rewards:
        return "has a sample whose reward is not what the scorer says"
    return None
