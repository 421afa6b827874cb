"""The locked room: two runs can be compared only where everything but the one thing studied was the same."""

from typing import NamedTuple

import msgspec

from course.artifacts.records import Manifest
from course.text import visible


def brief(value: str | None) -> str:
    """A condition's value for a person: of a fingerprint, its beginning."""
    return "not known" if value is None else visible(value) if len(value) < 60 else f"{visible(value[:12])}…"


class Condition(NamedTuple):
    """One wall of the room. ``knob``: what was really turned where the two differ."""

    name: str
    baseline: str | None
    candidate: str | None
    knob: str

    @property
    def fault(self) -> str | None:
        """Why this wall does not hold; None where it does. A fact that is missing on either side fails closed."""
        missing = [
            side for side, value in (("baseline", self.baseline), ("candidate", self.candidate)) if value is None
        ]
        if missing:
            return f"locked room: {self.name} is not known of the {' and the '.join(missing)}"
        if self.baseline == self.candidate:
            return None
        return f"locked room: {self.name} differs ({brief(self.baseline)} / {brief(self.candidate)})"


POLICY = "policy"
SELECTION = "selection compute"
INSTRUMENT = "instrument"
ENVIRONMENT = "environment"
NOTHING = "nothing"

PICK_BEST = "pick_best_fingerprint"  # the setting of Loop B that says how was chosen


_WALLS = {
    "dataset_fingerprint": ENVIRONMENT,
    "prompts_fingerprint": ENVIRONMENT,
    "split": ENVIRONMENT,
    "scorer_name": INSTRUMENT,
    "scorer_version": INSTRUMENT,
    "scorer_fingerprint": INSTRUMENT,
    "loop": SELECTION,
    "samples_per_prompt": SELECTION,
    "sampling": SELECTION,
}


def room_conditions(manifest: Manifest) -> dict[str, str | None]:
    """What has to be the same in another run for the two to be compared; None where it is not known."""
    return {name: _text(getattr(manifest, name)) for name in _WALLS}


def locked_room(baseline: Manifest, candidate: Manifest) -> list[Condition]:
    """Every condition with both its values: the environment's, the instrument's, then how much was sampled and how."""
    one, other = room_conditions(baseline), room_conditions(candidate)
    return [Condition(name, one[name], other[name], knob) for name, knob in _WALLS.items()]


def knob_turned(conditions: list[Condition], baseline: Manifest, candidate: Manifest) -> str:
    """Which knob accounts for a difference between the two runs; several, joined, if several were turned."""
    turned = list(
        dict.fromkeys(condition.knob for condition in conditions if condition.baseline != condition.candidate)
    )
    if baseline.completions_fingerprint != candidate.completions_fingerprint and not turned:
        turned = [POLICY]
    if baseline.settings.get(PICK_BEST) != candidate.settings.get(PICK_BEST) and SELECTION not in turned:
        turned.append(SELECTION)
    return " and ".join(turned) or NOTHING


def _text(value: object) -> str | None:
    if isinstance(value, msgspec.Struct):
        return ", ".join(f"{name} {setting}" for name, setting in msgspec.structs.asdict(value).items())
    return None if value is None else str(value)
