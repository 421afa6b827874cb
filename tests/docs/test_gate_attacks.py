"""The page that counts the attacks on the gate has the counts of tests/attacks.

An example: an attack on the rows is added. The page still says 38 of them, and the test says 39.
"""

import re

from attacks.forgeries import FORGERIES
from attacks.improvements import IMPROVEMENTS
from attacks.mistakes import MISTAKES
from conftest import ROOT

PAGE = " ".join((ROOT / "docs" / "reference" / "gate_attacks.md").read_text(encoding="utf-8").split())


def test_every_kind_of_attack_is_counted() -> None:
    counted = {title.strip(): int(count) for title, count in re.findall(r"\| ([^|]+?) \| (\d+) \|", PAGE)}
    kinds = {
        title: len(attacks) for attacks_by_kind in (FORGERIES, MISTAKES) for title, attacks in attacks_by_kind.items()
    }
    assert counted == kinds


def test_what_is_found_without_the_log_is_counted() -> None:
    forgeries = [forgery for kind in FORGERIES.values() for forgery in kind]
    believed = sum(bool(forgery.believed) for forgery in forgeries)
    assert f"Of the {len(forgeries)} forgeries the gate still finds {len(forgeries) - believed}" in PAGE
    assert f"The other {believed} change" in PAGE


def test_the_improvements_are_counted() -> None:
    assert f"{len(IMPROVEMENTS)} honest improvements" in PAGE
