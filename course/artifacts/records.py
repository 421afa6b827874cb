"""What stands in the files of a run."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from course.datasets.records import Sampling

SCHEMA_VERSION = 1
MISSING = "missing_completion"  # the outcome of an example nobody answered, under --missing zero

RESULTS = "results.jsonl"  # Loops A and B: a row an example
SUMMARY = "summary.json"
MANIFEST = "manifest.json"
README = "README.md"
ENVIRONMENT = "environment.json"


class Result(Struct, frozen=True, forbid_unknown_fields=True):
    """One measured example, Loop A: enough to score it again, and no more."""

    id: str
    prompt: str
    expected_answer: int
    completion: str | None  # None: nobody answered
    reward: float
    outcome: str
    parsed_answer: str | None


class Selection(Result, frozen=True, forbid_unknown_fields=True):
    """One measured choice, Loop B: ``completion`` is ``samples[chosen]``, and each sample has its reward."""

    samples: list[str]
    rewards: list[float]
    chosen: int


MEASURING = ("course.eval", "course.selection_demo")  # the commands whose runs have results
RESULT_TYPES: dict[str, type[Result]] = {"A": Result, "B": Selection}


class Golden(Struct, frozen=True, forbid_unknown_fields=True):
    """What the scorer made of the golden sets, just before the run."""

    passed: bool
    cases: int


class Manifest(Struct, frozen=True, forbid_unknown_fields=True):
    """The conditions of a run. A fingerprint of a file is the SHA-256 of its bytes, as ``sha256sum`` prints it.

    ``prompts_fingerprint``: SHA-256 over ``["id","prompt"]`` and a newline for each example in order: it stays the
    same when only answers change. ``samples_per_prompt``: 1 in Loop A, N in Loop B. What a small learner of Loop C
    has none of (a dataset, a split, recorded completions) is None. ``seed``: of what the run itself drew.
    ``change``: the one thing that was changed since the run before, in the student's words. ``outputs``: name to
    SHA-256 of every other file that is evidence; the README is the student's page and the environment is volatile, so
    neither is sealed.
    """

    schema_version: int
    loop: Literal["A", "B", "C"]
    command: str
    settings: dict[str, Any]
    split: str | None
    dataset_fingerprint: str | None
    prompts_fingerprint: str | None
    completions_fingerprint: str | None
    samples_per_prompt: Annotated[int, Meta(ge=1)] | None
    policy: str | None
    sampling: Sampling | None
    seed: int | None
    scorer_name: str
    scorer_version: str
    scorer_fingerprint: str
    spec: str
    golden: Golden
    change: str | None
    outputs: dict[str, str]
