"""Goodhart's curve as a picture: drawn from a log, with its words, and only where there is such a curve.

The worked example. Three evaluations at updates 0, 50 and 100: proxy .1, .5, .9 and true reward .1, .5, 0. The true
reward is highest at update 50 and falls while the proxy rises, so the two part there: in the middle of the plot, which
lies between x = 84 and x = 664, at 374. A reward of 1 is at y = 96, one of 0 at y = 376.
"""

import xml.etree.ElementTree as ET
from pathlib import Path

import msgspec
import pytest

from course.artifacts.token_rows import EvaluationRow
from docs.make_goodhart import FIGURE, drawn, line, trainings_of

SVG = "{http://www.w3.org/2000/svg}"


def training(seed: int, true: tuple[float, float, float]) -> list[EvaluationRow]:
    name = f"format_bonus, kl_coef 0, seed {seed}"
    return [
        EvaluationRow(
            "format_bonus",
            0.0,
            seed,
            step,
            225,
            proxy,
            reward,
            0.0,
            0.0,
            1.0,
            5.0,
            training=name,
        )
        for step, proxy, reward in zip((0, 50, 100), (0.1, 0.5, 0.9), true, strict=True)
    ]


def test_the_log_of_a_run_is_read_training_by_training(tmp_path: Path) -> None:
    trainings = [training(0, (0.1, 0.5, 0.0)), training(1, (0.1, 0.4, 0.0))]
    rows = [row for one in trainings for row in one]
    (tmp_path / "log.jsonl").write_bytes(msgspec.json.Encoder().encode_lines(rows))
    assert trainings_of(tmp_path) == trainings


def test_a_reward_has_its_place() -> None:
    assert line([0, 50, 100], [0.0, 0.5, 1.0]) == "M84.0 376.0 L374.0 236.0 L664.0 96.0"


def test_the_picture_marks_where_the_rewards_part_and_says_so() -> None:
    svg = "\n".join(drawn([training(0, (0.1, 0.5, 0.0))], [50]))
    assert '<path d="M374.0 70 V376"' in svg
    assert svg.count(' l-6 11 h12 z" fill="#1b2733"/>') == 2  # the seed's mark, and the one of the legend
    assert "reward hacking</text>" in svg
    assert "from 0.10 to 0.50, then bends and falls to 0.00" in svg


def test_without_a_divergence_there_is_no_such_picture() -> None:
    with pytest.raises(ValueError, match="expected a training in which proxy and true reward diverge, got none"):
        list(drawn([training(0, (0.1, 0.5, 0.9))], [None]))


def test_the_shipped_picture_has_its_text_alternative_and_asks_nothing_of_the_network() -> None:
    root = ET.parse(FIGURE).getroot()
    assert root.get("aria-labelledby") == "title desc"
    desc = root.find(f"{SVG}desc")
    assert desc is not None
    assert len((desc.text or "").split()) > 30
    assert {element.tag for element in root.iter()} & {f"{SVG}script", f"{SVG}image", f"{SVG}foreignObject"} == set()
    assert sum(element.get("stroke-width") == "4" for element in root.iter()) == 2  # the two medians
