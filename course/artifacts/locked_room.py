"""Machinery: the locked room. Two runs can be compared only where everything but the one thing studied was the same."""

from hashlib import sha256
from typing import NamedTuple

import msgspec

from course.artifacts.records import Manifest
from course.datasets.records import Sampling
from course.text import visible

POLICY = "policy"
SELECTION = "selection compute"
INSTRUMENT = "instrument"
ENVIRONMENT = "environment"

PICK_BEST_FINGERPRINT = "pick_best_fingerprint"  # the setting of Loop B that says how a sample was chosen

_CONDITIONS_OF = {  # a knob -> the conditions of the room of which one differs where it was turned
    ENVIRONMENT: ("dataset_fingerprint", "prompts_fingerprint", "examples_fingerprint", "split"),
    INSTRUMENT: ("scorer_name", "scorer_version", "scorer_fingerprint", "missing_completions"),
    SELECTION: ("loop", "samples_per_prompt", "sampling"),
}
_KNOB_OF = {name: knob for knob, names in _CONDITIONS_OF.items() for name in names}


class Condition(NamedTuple):
    """One condition of the room with both its values; None where it is not known of a run."""

    name: str
    baseline: str | None
    candidate: str | None
    knob: str

    @property
    def known(self) -> bool:
        return self.baseline is not None and self.candidate is not None

    @property
    def fault(self) -> str | None:
        """Why this condition does not hold, or None. A fact that is missing on either side fails closed."""
        sides = {"baseline": self.baseline, "candidate": self.candidate}
        missing = [side for side, value in sides.items() if value is None]
        if missing:
            return f"locked room: {self.name} is not known of the {' and the '.join(missing)}"
        if self.baseline == self.candidate:
            return None
        return f"locked room: {self.name} differs ({short_value(self.baseline)} / {short_value(self.candidate)})"


def room_conditions(manifest: Manifest) -> dict[str, str | None]:
    """What has to be the same in another run for the two to be compared; None where it is not known."""
    missing = manifest.settings.get("missing") or "refused"  # the setting --missing of Loop A
    return {name: _text(missing if name == "missing_completions" else getattr(manifest, name)) for name in _KNOB_OF}


def room_digest(manifest: Manifest) -> str:
    """SHA-256 of the conditions: equal for two runs that can be compared."""
    return sha256(msgspec.json.encode(room_conditions(manifest))).hexdigest()


def locked_room(baseline: Manifest, candidate: Manifest) -> list[Condition]:
    """Every condition with both values: the environment's, the instrument's, then how much was sampled and how."""
    before, after = room_conditions(baseline), room_conditions(candidate)
    return [Condition(name, before[name], after[name], knob) for name, knob in _KNOB_OF.items()]


def knobs_turned(conditions: list[Condition], baseline: Manifest, candidate: Manifest) -> list[str]:
    """Every knob that stands differently in the two runs, each once. Rule 3: one at a time."""
    turned = [one.knob for one in conditions if one.known and one.baseline != one.candidate]
    if baseline.policy != candidate.policy:
        turned.append(POLICY)
    if baseline.settings.get(PICK_BEST_FINGERPRINT) != candidate.settings.get(PICK_BEST_FINGERPRINT):
        turned.append(SELECTION)
    return list(dict.fromkeys(turned))


def short_value(value: str | None) -> str:
    """A condition's value for a person: the beginning of a fingerprint is enough to tell two apart."""
    if value is None:
        return "not known"
    if len(value) < 60:
        return visible(value)
    return f"{visible(value[:12])}…"


def _text(value: object) -> str | None:
    """A value to compare. Of the sampling all but the seed: two policies draw differently from the same one."""
    if isinstance(value, Sampling):
        return f"temperature {value.temperature}, top_p {value.top_p}, n {value.n}"
    return None if value is None else str(value)
