"""The two presets: their files are there, and hold what their names promise.

An example: MEMORISE trains on 75 of the 100 one-digit sums and measures on the other 25; together they are all 100.
"""

import pytest
from conftest import ROOT, lines_of

from course.policies.presets import GENERALISE, MEMORISE, PRESETS, Preset


@pytest.mark.parametrize(("preset", "train", "holdout"), [(MEMORISE, 75, 25), (GENERALISE, 1_000, 300)])
def test_no_prompt_is_trained_on_and_held_out(preset: Preset, train: int, holdout: int) -> None:
    prompts, unseen = ({row["prompt"] for row in lines_of(ROOT / path)} for path in (preset.dataset, preset.holdout))
    assert (len(prompts), len(unseen)) == (train, holdout)
    assert not prompts & unseen


def test_what_can_be_asked_for_on_the_command_line_is_the_same_in_both() -> None:
    asked = ("sft_steps", "steps", "group_size", "lr", "baseline", "kl_coef")
    assert [getattr(MEMORISE.plan, name) for name in asked] == [getattr(GENERALISE.plan, name) for name in asked]
    assert set(PRESETS) == {"memorise", "generalise"}
