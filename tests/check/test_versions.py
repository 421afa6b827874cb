"""The wrong verifiers: no two say the same."""

from check.own_tests import VERIFIERS
from check.versions import read_versions

SHOWN, HELD_OUT = (read_versions(VERIFIERS / f"{name}.py") for name in ("shown", "held_out"))


def test_what_is_held_out_was_hinted_at_by_a_shown_class_and_no_two_say_the_same() -> None:
    wrong = [*SHOWN, *HELD_OUT]
    assert {version.kind for version in wrong} <= {version.kind for version in SHOWN}
    assert len({version.id for version in wrong}) == len({version.believes for version in wrong} - {""}) == len(wrong)
