"""Machinery: the records of each kind of file that goes in. An unknown field or a wrong type is refused."""

import re
from collections.abc import Iterable
from datetime import date
from hashlib import sha256
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from course.datasets.plain import FORM, plain_prompt
from course.faults import FAMILIES
from course.text import quote

Id = Annotated[str, Meta(min_length=1)]
Task = dict[str, Any]  # an example as a scorer takes it: id, prompt, expected_answer
PROMPT_ALONE = "{prompt}"  # the template of a policy that was given the prompt and nothing around it


class Record(Struct, frozen=True, forbid_unknown_fields=True, gc=False):
    """What all records have in common: an id, unique in its file."""

    file_kind: ClassVar[str]  # in the plural, for messages

    id: Id


class Example(Record, frozen=True, forbid_unknown_fields=True):
    """One question with its one right answer: an int of at most 1,000 digits."""

    file_kind = "datasets"

    prompt: str
    expected_answer: int
    metadata: dict[str, Any] | UnsetType = UNSET


class Rollout(Record, frozen=True, forbid_unknown_fields=True):
    """One completion of one prompt."""

    file_kind = "rollouts"

    completion: str
    metadata: dict[str, Any] | UnsetType = UNSET


class SampleGroup(Record, frozen=True, forbid_unknown_fields=True):
    """N completions of one prompt, in the order in which they were drawn."""

    file_kind = "selection packs"

    samples: Annotated[list[str], Meta(min_length=1)]


class GoldenCase(Record, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One completion whose reward is known beforehand. Self-contained: it carries its own example.

    ``id``: without one, the case is known by its line. ``expected_outcome``: without one, only the reward counts.
    ``fooled``: the verifier that paid for it though it is worth nothing, such as ``suffix`` or ``my_score 1``.
    """

    file_kind = "golden sets"

    id: Id = ""
    prompt: str
    expected_answer: int
    completion: str
    expected_reward: float
    expected_outcome: str | None = None
    rule: str = ""
    why: str = ""
    fooled: Annotated[str, Meta(max_length=60)] = ""

    def __post_init__(self) -> None:
        if self.expected_outcome is None:
            if self.expected_reward not in (0.0, 1.0):
                raise ValueError(f"$.expected_reward: expected 1.0 or 0.0, got {self.expected_reward}")
            return
        if self.expected_outcome not in FAMILIES:
            got = quote(self.expected_outcome)
            raise ValueError(f"$.expected_outcome: expected one of {', '.join(FAMILIES)}, got {got}")
        if self.expected_reward != float(self.expected_outcome == "ok"):
            raise ValueError(
                f"$.expected_reward: expected 1.0 with the outcome ok and 0.0 with any other, got "
                f"{self.expected_reward} with {self.expected_outcome}"
            )


class KataExample(Record, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A completion to be diagnosed, with what the rubric of the name ``verifier`` gave it.

    ``source``: for a verifier that is not the course's, a Python function of that name that returns the reward.
    """

    file_kind = "katas"

    prompt: str
    expected_answer: int
    completion: str
    policy: str
    verifier: str
    reward: float
    details: dict[str, Any]
    source: str = ""


class Sampling(Struct, frozen=True, forbid_unknown_fields=True):
    """How completions were drawn. ``n``: completions of each prompt.

    ``seed``: null if no seed reproduces the completions; a list for several files that were drawn with different seeds.
    """

    temperature: Annotated[float, Meta(ge=0)]  #: 0 is greedy
    top_p: Annotated[float, Meta(gt=0, le=1)]  #: 1 keeps every token
    seed: int | Annotated[list[int | None], Meta(min_length=2)] | None
    n: Annotated[int, Meta(ge=1)]

    @property
    def reproducible(self) -> bool:
        """Whether the same completions can be drawn again: the seed of every file is known."""
        if isinstance(self.seed, list):
            return None not in self.seed
        return self.seed is not None


class Training(Struct, frozen=True, forbid_unknown_fields=True):
    """What a policy was trained on. ``rubric``: the verifier that paid; null if the policy only imitated.

    ``prompts``: ``prompt_digest`` of each prompt, sorted. ``form``: the number in ``plain`` of the form in which the
    prompts were digested; a file without a number has form 1.
    """

    rubric: Annotated[str, Meta(min_length=1, max_length=60)] | None
    prompts: list[Annotated[str, Meta(pattern=r"\A[0-9a-f]{16}\Z")]]
    form: int = 1

    def __post_init__(self) -> None:
        if self.prompts != sorted(set(self.prompts)):
            raise ValueError(
                "$.training.prompts: expected each digest once and in order, got an unsorted list or a digest twice"
            )

    @property
    def prompts_known(self) -> bool:
        """Whether the prompts can be compared: in today's form, and not empty if a rubric paid for some of them."""
        return self.form == FORM and (self.rubric is None or bool(self.prompts))


def training_on(prompts: Iterable[str], rubric: str | None) -> Training:
    """The record of a training on these prompts, which is kept beside the policy and its completions."""
    return Training(rubric, sorted({prompt_digest(prompt) for prompt in prompts}), FORM)


class Message(Struct, frozen=True, forbid_unknown_fields=True):
    """One turn of a conversation, as it was sent to a model."""

    role: str  #: such as ``system``, ``user`` or ``assistant``
    content: str


Template = str | list[Message]


class Provenance(Struct, frozen=True, forbid_unknown_fields=True):
    """Who generated a file of completions, when, and how: ``NAME.meta.json`` beside ``NAME.jsonl``.

    ``created``: a date, or null if the same policy and seed make the same file on any day. ``template``: what people
    put around each prompt (instructions, a system message, examples): a text or the messages that were sent, with
    ``{prompt}`` once where the prompt stood, or ``sha256:`` and a digest of it. ``{prompt}`` alone says that nothing
    stood around the prompt, null that it is not known. A model's own role markers belong to the policy.
    ``completions_sha256``: of the bytes of ``NAME.jsonl``; without this digest nothing binds the two files, and
    sampling and template count as not known. ``training``: null if nothing is known about it.
    """

    policy: Annotated[str, Meta(min_length=1)]  #: the model and its weights
    created: date | None
    sampling: Sampling  #: how they were drawn
    template: Template | None = None  #: the text around each prompt
    completions_sha256: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")] | None = None
    training: Training | None = None
    note: str = ""

    def __post_init__(self) -> None:
        template = self.template
        if template is None:
            return
        if isinstance(template, str):
            is_digest = re.fullmatch("sha256:[0-9a-f]{64}", template) is not None
            prompts = template.count(PROMPT_ALONE)
        else:
            is_digest = False
            prompts = sum(message.content.count(PROMPT_ALONE) for message in template)
        if prompts != 1 and not is_digest:
            got = quote(msgspec.json.encode(template).decode("utf-8"))
            raise ValueError(
                f'$.template: expected a text or messages with {PROMPT_ALONE} once ("{PROMPT_ALONE}" if nothing stood '
                "around the prompts), or sha256: and 64 digits (0 to 9, a to f), "
                f"got {got}, with {PROMPT_ALONE} {prompts} times"
            )


def task_of(record: Any) -> Task:
    """The example of any record that carries one, as ``score`` takes it."""
    return {"id": record.id, "prompt": record.prompt, "expected_answer": record.expected_answer}


def prompt_digest(prompt: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of ``plain_prompt`` in UTF-8: enough to tell prompts apart."""
    return sha256(plain_prompt(prompt).encode("utf-8")).hexdigest()[:16]
