"""pass@k as a figure.

An example: the curves cross at k = 50. There stands a dotted line, and over the 95 % interval, from 2 on, a shade.
"""

from typing import Any

import pytest
from reporting import points_of_lines

from course.artifacts.counted_samples import Comparison
from course.reports import pass_at_k_demo_figure
from course.reports.pass_at_k_demo_figure import pass_at_k_figure

pytestmark = pytest.mark.medium  # draws

FALLS = Comparison(25, [k / 200 for k in range(1, 129)], [0.25] * 128, 0.8, 0.1, 50, (2, None), -0.39, (-0.5, 0.01))
HOLDS = FALLS._replace(after=[1.0] * 128, crossing=None, crossing_ci95=(None, None))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_each_set_of_prompts_has_a_panel(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    made: list[Any] = []
    monkeypatch.setattr(pass_at_k_demo_figure, "png", made.append)
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
