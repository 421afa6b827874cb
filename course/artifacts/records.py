"""Machinery: what stands in the files of a run, Loops A and B; ``learning`` and ``token_rows`` add those of Loop C."""

import json
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from course.datasets.records import Sampling, Template
from course.score import Measurement

SCHEMA_VERSION = 3
MISSING = "missing_completion"  # the outcome of an example nobody answered, under --missing zero

RESULTS = "results.jsonl"  # in every run: whatever the verifier measured
SUMMARY = "summary.json"
MANIFEST = "manifest.json"
README = "README.md"
BLANKS = ("Observed", "Conclusion")  # headings of the README, below which the student writes
ENVIRONMENT_FILE = "environment.json"
# The file that was named with --rubric, --pick or --update, as it ran; what it imported is in NAME_imports/.
RUBRIC_SOURCE, PICK_SOURCE, UPDATE_SOURCE = "rubric.py", "pick.py", "update.py"

UNANSWERED = Measurement(0.0, MISSING, None)


class Details(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """Of the scorer's ``details``, what a row keeps. The rest is made again from the row (course.inspect_run --id)."""

    outcome: str  #: ``ok``, or the first check that failed; ``missing_completion`` where nobody answered
    parsed_answer: str | None  #: the integer as text; None where the text is not in format


class Result(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """One scored completion: enough to score it again, and no more. Loop A has a row for each example."""

    id: str
    prompt: str
    expected_answer: int
    completion: str | None  #: the raw text, nothing trimmed; None: nobody answered
    reward: float  #: 1.0 or 0.0, by the strict scorer; in a ``RubricResult`` what the rubric paid
    details: Details  #: ``outcome`` and ``parsed_answer``


class Selection(Result, frozen=True, forbid_unknown_fields=True):
    """One choice, Loop B: ``completion`` is ``samples[chosen]``, and each sample has its reward.

    ``others``: what else the policy wrote for this prompt, which nobody chose from; it tells how often the policy is
    right.
    """

    samples: list[str]  #: the N samples that one was chosen from
    rewards: list[float]  #: of each sample
    chosen: int  #: the index of the sample that was taken, from 0
    others: list[str]
    other_rewards: list[float]  #: of each of the others


class LearningResult(Result, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One completion that the verifier scored on the way of Loop C.

    ``training``: which one, where a run holds several. ``split``: of the prompt. ``proxy_reward``: what the rubric
    paid that the policy is trained on, where that is not the verifier itself. ``kind``: what the completion says, where
    the rubric paid at least half and the verifier nothing. ``count``: how often the completion was
    sampled, where equal ones share a row.
    """

    step: int  #: updates before the completion was sampled
    training: str | None = None
    split: str | None = None
    proxy_reward: float | None = None
    kind: str | None = None
    count: int = 1


class RubricResult(Result, frozen=True, forbid_unknown_fields=True):
    """One completion of Loop A that another rubric was asked about, too: ``reward`` is what that rubric paid."""

    strict_reward: float  #: by the strict scorer, whose ``outcome`` is in ``details``
    kind: str  #: what the completion says, whoever pays: ``right``, ``other_form``, ``several`` or ``wrong``


RESULT_TYPES: dict[str, type[Result]] = {"A": Result, "B": Selection, "C": LearningResult}


def result_type(manifest: "Manifest") -> type[Result]:
    """What the rows of a run are. A run of Loop A whose settings name a rubric was measured with that one, too."""
    if manifest.loop == "A" and rubric_of(manifest) is not None:
        return RubricResult
    return RESULT_TYPES[manifest.loop]


def rubric_of(manifest: "Manifest") -> str | None:
    """The rubric that ``eval --rubric`` asked beside the scorer, by its name; None where none was asked."""
    rubric = manifest.settings.get("rubric") if manifest.loop == "A" else None
    return None if rubric is None else str(rubric)


class Golden(Struct, frozen=True, forbid_unknown_fields=True):
    """What the installed scorer made of the golden sets, in the process that made the run."""

    passed: bool  #: whether each case got the reward and the outcome expected
    cases: int  #: how many there are


class TrainedOn(Struct, frozen=True, forbid_unknown_fields=True):
    """What a run's policy was trained on: the rubric that paid, how many prompts, how many of those are in the run."""

    rubric: str | None  #: what paid; None: nothing paid, the policy only imitated
    prompts: int  #: how many prompts it was trained on
    measured_here: int | None  #: how many of these prompts are in this run; None: not known
    form: int  #: by which form prompts were compared: the number in ``course.datasets.plain``


class Manifest(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The conditions of a run. A fingerprint of a file is the SHA-256 of its bytes, as ``sha256sum`` prints it; of
    several files it is that of the files joined in their order, as ``cat FILES | sha256sum`` prints it.

    ``prompts_fingerprint``: SHA-256 over ``["id","prompt"]`` and a newline for each example in order: it stays the
    same when only answers change. ``examples_fingerprint``: the same over ``["id","prompt",expected_answer]``.
    ``samples_per_prompt``: 1 in Loop A, N in Loop B, in Loop C that of the file it sampled. ``settings``: what can
    change a number, and nothing else. None where a field does not apply: the small runs of Loop C have no dataset,
    split or recorded completions. ``seed``: of the run's own draws. ``trained_on``: None where nothing is known of the
    policy's training. ``change``: the one thing changed since the run before, in the student's words; ``expect``: what
    they expected of it, written down before anything was scored. ``outputs``: name -> SHA-256 of every other file that
    is evidence. Two are not sealed: README.md, on which the student writes, and environment.json, which differs
    between equal runs.
    """

    schema_version: int  #: of this list of fields; any other version is refused
    loop: Literal["A", "B", "C"]  #: which loop it is a run of
    command: str  #: the module that was called
    settings: dict[str, Any]
    split: str | None  #: ``dev`` or ``holdout``
    dataset_fingerprint: str | None  #: SHA-256 of the dataset's file
    prompts_fingerprint: str | None
    examples_fingerprint: str | None
    completions_fingerprint: str | None  #: SHA-256 of the file of completions or samples
    samples_per_prompt: Annotated[int, Meta(ge=1)] | None
    policy: str | None  #: who wrote the completions, as their ``.meta.json`` says
    template: Template | UnsetType | None = UNSET  #: the text around each prompt; not in older runs
    sampling: Sampling | None  #: how they were drawn; None where no digest binds the ``.meta.json`` to them
    trained_on: TrainedOn | None
    seed: int | None
    scorer_name: str  #: of the scorer that measured
    scorer_version: str  #: of the scorer that measured
    scorer_fingerprint: str  #: SHA-256 over its name, version, spec, source and golden verdicts
    spec: str  #: its spec, in words
    golden: Golden  #: its verdict on the golden sets
    change: str | None
    expect: str | None
    outputs: dict[str, str]


def json_for_terminal(value: Any) -> str:
    """What a command prints under --json, for a program. ASCII only: a terminal has nothing to obey."""
    return json.dumps(msgspec.to_builtins(value), indent=2)


def indent_json(value: Any) -> bytes:
    """A small JSON file of a run, for a person. There is one way to write it, so other bytes are another file."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"
