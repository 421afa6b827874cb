"""The tables of pass@k, against numbers written by hand.

An example: a policy whose curves cross at k = 3, somewhere from 2 on, has the row "3" and "2 to none".

As a figure: the curves cross at k = 50. There stands a dotted line, and over the 95 % interval, from 2 on, a shade.
"""

from typing import Any

import pytest
from reporting import points_of_lines

from course.artifacts.inference import Comparison
from course.reports import pass_at_k_demo
from course.reports.pass_at_k_demo import pass_at_k_figure, pass_at_k_text

FALLS = Comparison(
    25, [k / 200 for k in range(1, 129)], [0.25] * 128, 0.875, 0.0625, 50, (2, None), -0.39, (-0.5, 0.01)
)
HOLDS = FALLS._replace(prompts=75, after=[1.0] * 128, crossing=None, crossing_ci95=(None, None), last_gain=0.36)


def test_two_rows_for_each_set_of_prompts_and_one_for_its_crossing() -> None:
    lines = pass_at_k_text({"memorise, holdout": FALLS, "generalise, train": HOLDS}, 600, 256, 5).split("\n")
    assert max(map(len, lines)) <= 80
    assert "strict scorer, 600 updates, 256 completions a prompt, seeds: 5" in lines
    before, after, crossing = (line.split()[2:] for line in lines if line.startswith("memorise, holdout"))
    assert before == ["before", "0.5", "%", "4.0", "%", "16.0", "%", "64.0", "%", "0.88"]
    assert after == ["after", "25.0", "%", "25.0", "%", "25.0", "%", "25.0", "%", "0.06"]
    assert crossing == ["25", "50", "2", "to", "none", "-39.0", "points", "-50.0", "to", "+1.0"]
    *_, none = (line.split()[2:] for line in lines if line.startswith("generalise, train"))
    assert none[:4] == ["75", "none", "none", "+36.0"]


@pytest.mark.medium
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_each_set_of_prompts_has_a_panel(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    made: list[Any] = []
    monkeypatch.setattr(pass_at_k_demo, "png", made.append)
    pass_at_k_figure({f"prompts {i}": FALLS if i == 0 else HOLDS for i in range(count)})
    falls, *others = made[0].axes[:count]
    found = points_of_lines(falls)
    assert found["before learning"] == [(k, k / 200) for k in range(1, 129)]
    assert found["after"] == [(k, 0.25) for k in range(1, 129)]
    assert [x for x, _ in found["lower from here on, and its 95 % interval"]] == [50, 50]
    (shade,) = falls.patches
    assert (shade.get_x(), shade.get_x() + shade.get_width()) == (2, 128)
    for holds in others:
        assert [*points_of_lines(holds)] == ["before learning", "after"]
        assert not holds.patches
