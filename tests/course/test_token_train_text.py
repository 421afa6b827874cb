"""Evaluations of a token policy as text, against lines written by hand.

The worked example. A completion with the reward 1 and the baseline 0.25 has the advantage 0.75; its three tokens "7",
line feed and the end of the text had the log-probabilities −1, −2, −0.5 and have −0.5, −2.25, −0.5 after the update.

An example: a policy is rewarded 0.5, then 1.0 by its rubric, and 0.25, then 0 by the strict scorer. Both lines show it.
"""

from typing import Any

import pytest
from msgspec.structs import replace
from reporting import evaluation, points_of_lines

from course import token_train_text
from course.artifacts.learning_rows import learning_result
from course.artifacts.token_rows import EvaluationRow, TokenUpdateRow
from course.policies.train_config import PRESETS
from course.token_train_text import (
    EVALUATION_TABLE,
    evaluation_text,
    learning_curves,
    slow_text,
    steps_shown,
    texts_table,
    token_train_ending,
)

FIRST = EvaluationRow("anywhere", 0.0, 0, 0, 8, 0.25, 0.125, 0.125, 0.0, 0.0, 5.25)
LAST = EvaluationRow("anywhere", 0.0, 0, 4, 8, 1.0, 0.0, 1.0, 0.0, 12.25, 39.5)
BEFORE, AFTER = [-1.0, -2.0, -0.5], [-0.5, -2.25, -0.5]
UPDATED = TokenUpdateRow(1, "q1", ["7", "\n", ""], 1.0, 0.0, 0.0, 0.25, 0.75, BEFORE, BEFORE, AFTER)


WRITTEN = [learning_result({"id": "q", "prompt": "?", "expected_answer": 1}, "Final: 1", 4)]
CONFIG = PRESETS["memorise"]


def test_evaluations_are_shown_row_by_row_under_one_head() -> None:
    assert [evaluation_text(row).split() for row in (FIRST, LAST)] == [
        ["0", "0.250", "0.125", "0.0", "5.2"],
        ["4", "1.000", "0.000", "12.2", "39.5"],
    ]
    head = EVALUATION_TABLE.head().split("\n")[0]
    for name, cell in (
        ("updates", "4"),
        ("rubric", "1.000"),
        ("tokens", "39.5"),
    ):  # flush right under its name
        assert head.index(name) + len(name) == evaluation_text(LAST).index(f" {cell}") + 1 + len(cell)


def test_the_ending_has_the_strict_rate_and_its_interval() -> None:
    lines = token_train_ending(CONFIG, LAST, WRITTEN).split("\n")
    assert lines[-1] == "strict, training prompts (n = 8): 0.0 % (95 % interval 0.0 to 32.4 %)"  # Wilson: z² / (n + z²)


def test_of_many_evaluations_nine_are_shown_with_the_first_and_the_last() -> None:
    assert sorted(steps_shown(CONFIG._replace(steps=100, eval_every=1))) == [0, 12, 25, 38, 50, 62, 75, 88, 100]
    assert sorted(steps_shown(CONFIG._replace(steps=5, eval_every=2))) == [0, 2, 4, 5]
    assert sorted(steps_shown(CONFIG._replace(steps=1, eval_every=25))) == [0, 1]


def test_the_most_common_kinds_of_text_are_shown_with_both_rewards() -> None:
    pairs = [
        ("Final: 7", 7),
        ("12\n13", 12),
        ("Final: 12", 12),
        ("\x1b", 1),
        ("Final: 9", 3),
    ]
    proxies = [1.0, 1.0, 1.0, 0.0, 0.0]
    written = [
        learning_result({"id": "q", "prompt": "?", "expected_answer": answer}, text, 4, proxy_reward=proxy)
        for (text, answer), proxy in zip(pairs, proxies, strict=True)
    ]
    lines = texts_table(written).split("\n")[2:]
    assert [line.split(maxsplit=5) for line in lines] == [
        ["2", "of", "5", "1", "1", "Final: 7"],
        ["1", "of", "5", "1", "0", "12⏎13"],
        ["1", "of", "5", "0", "0", "<U+001B ESCAPE>"],
        ["1", "of", "5", "0", "0", "Final: 9"],
    ]


def test_an_update_is_shown_token_by_token() -> None:
    lines = slow_text([UPDATED]).split("\n\n", 1)[1].split("\n")
    assert lines[0] == "q1 wrote 7⏎"
    assert lines[1] == "advantage = 1 - 0.250 = +0.750"
    assert [line.split() for line in lines[5:8]] == [
        ["1", "'7'", "-1.000", "-0.500", "+0.5000"],
        ["2", "'⏎'", "-2.000", "-2.250", "-0.2500"],
        ["3", "end", "of", "text", "-0.500", "-0.500", "+0.0000"],
    ]
    penalised = replace(UPDATED, kl_coef=0.5, log_ratio=1.0, advantage=0.25)
    assert "advantage = (1 - 0.5 * 1.000) - 0.250 = +0.250" in slow_text([penalised])


def test_of_an_update_the_best_and_the_worst_are_shown_the_longest_of_equals_first() -> None:
    rows = [replace(UPDATED, id=f"u{place}", step=2) for place in range(3)]
    rows[2] = replace(rows[2], tokens=["7"] * 4, log_probs=[-1.0] * 4, new_log_probs=[-1.0] * 4)
    text = slow_text(rows)
    assert text.startswith("update 2, 3 completions\n")
    assert [line.split()[0] for line in text.split("\n") if " wrote " in line] == ["u2", "u0"]
    rows[1] = replace(rows[1], advantage=-0.25)
    assert [line.split()[0] for line in slow_text(rows).split("\n") if " wrote " in line] == ["u2", "u1"]


def test_the_curves_have_the_points_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(token_train_text, "png", made.append)
    learning_curves([evaluation(0, 0.5, 0.25), evaluation(10, 1.0, 0.0, kl=3.0)], "anywhere")
    rewards, kl = made[0].axes
    points = points_of_lines(rewards)
    assert points["anywhere, trained on"] == [(0, 0.5), (10, 1.0)]
    assert points["strict scorer"] == [(0, 0.25), (10, 0.0)]
    assert points_of_lines(kl)["KL from the reference, nats"] == [(0, 0.0), (10, 3.0)]


def test_the_strict_scorer_alone_has_one_curve(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(token_train_text, "png", made.append)
    learning_curves([evaluation(0, 0.5, 0.5), evaluation(10, 1.0, 1.0)], "score")
    assert list(points_of_lines(made[0].axes[0])) == ["strict scorer"]
