"""Looks at a token policy as text, against lines written by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from msgspec.structs import replace

from course.artifacts.token_rows import Measured, Pushed
from course.reports.token_train import looks_text, pushed_text, slow_text, written_text

FIRST = Measured(0, 0.25, 0.125, None, None, 0.0, 5.25)
LAST = Measured(4, 1.0, 0.0, None, None, 12.25, 39.5)
PUSHED = Pushed(1, "q1", "7\n", ["7", "\n", ""], 1.0, 0.0, 0.0, 0.25, 0.75, [-1.0, -2.0, -0.5], [-0.5, -2.25, -0.5])


def test_looks_are_told_with_the_strict_rates_and_their_intervals() -> None:
    lines = looks_text([FIRST, LAST], 8, 0).split("\n")
    assert [line.split() for line in lines[2:4]] == [
        ["0", "0.250", "0.125", "-", "-", "0.0", "5.2"],
        ["4", "1.000", "0.000", "-", "-", "12.2", "39.5"],
    ]
    assert lines[-1] == "strict, learned on (n = 8): 12.5 % -> 0.0 % (95 % 0.0 to 32.4 %)"  # Wilson: z² / (n + z²)
    held = [replace(row, holdout_proxy_reward=0.5, holdout_true_reward=0.25) for row in (FIRST, LAST)]
    assert looks_text(held, 8, 4).split("\n")[-1].startswith("strict, never seen (n = 4): 25.0 % -> 25.0 % (95 % ")


def test_of_many_looks_nine_are_shown_with_the_first_and_the_last() -> None:
    rows = [replace(FIRST, step=step) for step in range(101)]
    shown = [int(line.split()[0]) for line in looks_text(rows, 8, 0).split("\n")[2:-2]]
    assert shown == [0, 12, 25, 38, 50, 62, 75, 88, 100]


def test_the_most_common_kinds_of_text_are_shown_with_both_rewards() -> None:
    texts = ["Final: 7", "12\n13", "Final: 12", "\x1b", "Final: 9"]
    rewards: dict[str, Any] = {"proxy": np.array([1.0, 1, 1, 0, 0]), "true": np.array([1.0, 0, 1, 0, 0])}
    lines = written_text(SimpleNamespace(texts=texts, **rewards)).split("\n")[2:]  # type: ignore[arg-type]
    assert [line.split(maxsplit=5) for line in lines] == [
        ["2", "of", "5", "1", "1", "Final: 7"],
        ["1", "of", "5", "1", "0", "12⏎13"],
        ["1", "of", "5", "0", "0", "<U+001B ESCAPE>"],
        ["1", "of", "5", "0", "0", "Final: 9"],
    ]


def test_an_update_is_told_token_by_token() -> None:
    lines = pushed_text(PUSHED).split("\n")
    assert lines[0] == "q1 wrote 7⏎"
    assert lines[1] == "advantage = 1 - 0.250 = +0.750"
    assert [line.split() for line in lines[5:]] == [
        ["1", "'7'", "-1.000", "-0.500", "+0.5000"],
        ["2", "'⏎'", "-2.000", "-2.250", "-0.2500"],
        ["3", "end", "of", "text", "-0.500", "-0.500", "+0.0000"],
    ]
    leashed = replace(PUSHED, kl_coef=0.5, drift=1.0, advantage=0.25)
    assert "advantage = (1 - 0.5 * 1.000) - 0.250 = +0.250" in pushed_text(leashed)


def test_of_each_update_the_best_and_the_worst_are_shown_the_longest_of_equals_first() -> None:
    rows = [replace(PUSHED, id=f"u{step}-{place}", step=step) for step in (1, 2) for place in range(3)]
    rows[1] = replace(rows[1], advantage=-0.25)
    rows[5] = replace(rows[5], pieces=["7"] * 4, log_probs=[-1.0] * 4, new_log_probs=[-1.0] * 4)
    told = slow_text(rows)
    assert [line for line in told.split("\n") if line.startswith("update")] == [
        "update 1, 3 completions",
        "update 2, 3 completions",
    ]
    assert [line.split()[0] for line in told.split("\n") if " wrote " in line] == ["u1-2", "u1-1", "u2-2", "u2-0"]
