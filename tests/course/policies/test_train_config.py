"""The presets: their files are there, and hold what their names promise.

An example: MEMORISE trains on 75 of the 100 one-digit sums and measures on the other 25; together they are all 100.
"""

import pytest
from conftest import ROOT, lines_of

from course.policies.train_config import GENERALISE, MEMORISE, TrainConfig


@pytest.mark.parametrize(("preset", "train", "holdout"), [(MEMORISE, 75, 25), (GENERALISE, 1_000, 300)])
def test_no_prompt_is_trained_on_and_held_out(preset: TrainConfig, train: int, holdout: int) -> None:
    prompts = {row["prompt"] for row in lines_of(ROOT / str(preset.dataset))}
    unseen = {row["prompt"] for row in lines_of(ROOT / str(preset.holdout))}
    assert (len(prompts), len(unseen)) == (train, holdout)
    assert not prompts & unseen


def test_what_can_be_asked_for_on_the_command_line_is_the_same_in_both() -> None:
    asked = ("sft_steps", "steps", "group_size", "lr", "baseline", "kl_coef")
    assert [getattr(MEMORISE, name) for name in asked] == [getattr(GENERALISE, name) for name in asked]


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [
        (1, 50, 2),
        (49, 50, 2),
        (50, 50, 2),
        (51, 50, 3),
    ],
)
def test_there_is_an_evaluation_before_the_first_update_after_each_so_many_and_after_the_last(
    steps: int, every: int, expected: int
) -> None:
    assert MEMORISE._replace(steps=steps, eval_every=every).evaluations() == expected


def test_what_a_manifest_keeps_names_no_file() -> None:
    settings = MEMORISE._replace(kl_coef=0.5).settings()
    assert settings["kl_coef"] == 0.5
    assert settings.keys() == set(MEMORISE._fields) - {"dataset", "holdout"}
