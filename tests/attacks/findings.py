"""What the gate says of each attack, found once in a process and kept: for the tests."""

from functools import cache
from typing import NamedTuple

from attacks.forgeries import Forgery
from attacks.improvements import Improvement
from attacks.laboratory import Said, gate, laboratory, lay, log_forged, pair_of
from attacks.mistakes import Mistake


class Found(NamedTuple):
    """``verified``: exit status of ``inspect_run --verify`` on each forged run. ``log_forged``: what the gate says
    where both manifests as they are now stand in a log.
    """

    gate: Said
    verified: tuple[int, ...]
    log_forged: Said


@cache
def of_forgery(forgery: Forgery) -> Found:
    with laboratory() as lab:
        lay(lab, pair_of(forgery.pair))
        for side in forgery.sides:
            forgery.forge(lab.folder / side)
        verified = tuple(lab("inspect_run", "--run", side, "--verify").status for side in forgery.sides)
        return Found(gate(lab), verified, gate(lab, "--log", log_forged(lab)))


@cache
def of_mistake(mistake: Mistake) -> Said:
    with laboratory() as lab:
        return mistake.make(lab)


@cache
def of_improvement(improvement: Improvement) -> Said:
    with laboratory() as lab:
        return improvement(lab)
