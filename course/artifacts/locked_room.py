"""Machinery: the locked room. Two runs can be compared only if everything except the one thing studied was the same."""

import os.path
import re
from hashlib import sha256
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from course.artifacts.records import Manifest, rubric_of
from course.datasets.plain import plain_name
from course.datasets.records import PROMPT_ALONE, Sampling
from course.text import clipped, visible

POLICY = "policy"
SELECTION = "selection compute"
INSTRUMENT = "instrument"
ENVIRONMENT = "environment"
SCORER = "the scorer"  # the verifier of a run without --rubric

PICK_SHA256 = "pick_sha256"  # of the files of Loop B's own rule; the course's rule has none

_CONDITIONS_OF = {  # a knob -> conditions of the room that differ if it was turned
    ENVIRONMENT: ("dataset_fingerprint", "prompts_fingerprint", "examples_fingerprint", "split", "template"),
    INSTRUMENT: ("scorer_name", "scorer_version", "scorer_fingerprint", "missing_completions"),
    SELECTION: ("loop", "samples_per_prompt", "sampling"),
}
_KNOB_OF = {name: knob for knob, names in _CONDITIONS_OF.items() for name in names}
_LONGEST = 60  # characters of a value that are shown


class Condition(NamedTuple):
    """One condition of the room with its value in both runs; None if the value is not known."""

    name: str
    baseline: str | None
    candidate: str | None
    knob: str
    fault: str | None  # why the condition does not hold

    @property
    def known(self) -> bool:
        return self.baseline is not None and self.candidate is not None


def room_conditions(manifest: Manifest) -> dict[str, str | None]:
    """The conditions that two runs must share, but for a verifier of one's own; None for a value that is not known."""
    conditions: dict[str, str | None] = {}
    for name in _KNOB_OF:
        if name == "missing_completions":
            conditions[name] = str(manifest.settings.get("missing") or "refused")  # the setting --missing of Loop A
        elif name == "sampling":
            conditions[name] = sampling_text(manifest.sampling)
        elif name == "template":  # as JSON, so that no text looks like a list of messages
            known = manifest.template not in (None, UNSET)
            conditions[name] = msgspec.json.encode(manifest.template).decode("utf-8") if known else None
        else:
            value = getattr(manifest, name)
            conditions[name] = None if value is None else str(value)
    return conditions


def sampling_text(sampling: Sampling | None) -> str | None:
    """All settings but the seed, because two policies draw differently with the same seed."""
    if sampling is None:
        return None
    return f"temperature {sampling.temperature}, top_p {sampling.top_p}, n {sampling.n}"


def room_digest(manifest: Manifest) -> str:
    """SHA-256 of these conditions. A run with a verifier of one's own has none in the log."""
    return sha256(msgspec.json.encode(room_conditions(manifest))).hexdigest()


def locked_room(baseline: Manifest, candidate: Manifest) -> list[Condition]:
    """Every condition with both values: the environment's, the scorer's, how samples were drawn; last the verifier."""
    before, after = room_conditions(baseline), room_conditions(candidate)
    rows = [(name, before[name], after[name], knob) for name, knob in _KNOB_OF.items()]
    rows.append(("verifier", verifier_text(baseline), verifier_text(candidate), INSTRUMENT))
    return [Condition(name, one, other, knob, fault_of_condition(name, one, other)) for name, one, other, knob in rows]


def verifier_text(manifest: Manifest) -> str:
    """Whose rewards a run reports: the scorer, or what ``--rubric`` named, its version, digest and unusual call."""
    rubric = rubric_of(manifest)
    if rubric is None:
        return SCORER
    settings = manifest.settings
    text = f"{rubric} {settings.get('rubric_version', '')}".strip()
    text += f", sha256 {str(settings.get('rubric_sha256'))[:12]}"
    call = settings.get("rubric_call")
    if call != f"{rubric.rpartition(':')[2]}(example, completion)":
        text += f", called as {call}"
    return text


def fault_of_condition(name: str, baseline: str | None, candidate: str | None) -> str | None:
    """Why a condition does not hold, or None. A condition fails if its value is missing on either side."""
    missing = [side for side, value in (("baseline", baseline), ("candidate", candidate)) if value is None]
    if missing:
        fault = f"locked room: {name} is not known for the {' and the '.join(missing)}"
        if name == "template":
            fault += (
                '; write "template", the text around each prompt, into the .meta.json beside the completions '
                f'("{PROMPT_ALONE}" if there was none), and measure again'
            )
        return fault
    if baseline == candidate:
        return None
    return f"locked room: {name} differs ({' / '.join(short_values(baseline, candidate))})"


def knobs_turned(conditions: list[Condition], baseline: Manifest, candidate: Manifest) -> list[str]:
    """Every knob that was turned between the two runs, each once. Rule 3: turn one at a time."""
    turned = [condition.knob for condition in conditions if condition.known and condition.fault]
    if plain_policy(baseline) != plain_policy(candidate):
        turned.append(POLICY)
    if baseline.settings.get(PICK_SHA256) != candidate.settings.get(PICK_SHA256):
        turned.append(SELECTION)
    return list(dict.fromkeys(turned))


def plain_policy(manifest: Manifest) -> str | None:
    return None if manifest.policy is None else plain_name(manifest.policy)


def short_values(baseline: str | None, candidate: str | None) -> tuple[str, str]:
    """Both values of a condition for a person. Of two long ones, the part in which they begin to differ."""
    same = len(os.path.commonprefix([baseline or "", candidate or ""]))  # noqa: RUF071  (characters, and no paths)
    start = 0 if baseline == candidate else max(0, same - _LONGEST // 2)
    return short_value(baseline, start), short_value(candidate, start)


def short_value(value: str | None, start: int = 0) -> str:
    """A condition's value for a person; of a long one the part from ``start`` on.

    The beginning of a fingerprint is enough to tell two apart.
    """
    if value is None:
        return "not known"
    if re.fullmatch("[0-9a-f]{64}", value):
        return f"{value[:12]}…"
    if len(value) <= _LONGEST:
        return visible(value)
    shown = clipped(value[start:], _LONGEST)
    return f"…{shown}" if start else shown
