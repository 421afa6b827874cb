"""Evaluations of a token policy as text, against lines written by hand.

The worked example. A completion with the reward 1 and the baseline 0.25 has the advantage 0.75; its three tokens "7",
line feed and the end of the text had the log-probabilities −1, −2, −0.5 and have −0.5, −2.25, −0.5 after the update.
"""

from msgspec.structs import replace

from course.artifacts.learning import learning_result
from course.artifacts.token_rows import EvaluationRow, TokenUpdateRow
from course.policies.presets import PRESETS
from course.reports.token_train import evaluations_table, slow_text, token_train_text, written_table

FIRST = EvaluationRow("anywhere", 0.0, 0, 0, 8, 0.25, 0.125, 0.125, 0, None, None, None, 0.0, 5.25)
LAST = EvaluationRow("anywhere", 0.0, 0, 4, 8, 1.0, 0.0, 1.0, 0, None, None, None, 12.25, 39.5)
BEFORE, AFTER = [-1.0, -2.0, -0.5], [-0.5, -2.25, -0.5]
UPDATED = TokenUpdateRow(1, "q1", ["7", "\n", ""], 1.0, 0.0, 0.0, 0.25, 0.75, BEFORE, BEFORE, AFTER)


def test_evaluations_are_shown_with_the_strict_rates_and_their_intervals() -> None:
    lines = evaluations_table([FIRST, LAST]).split("\n")
    assert [line.split() for line in lines[2:4]] == [
        ["0", "0.250", "0.125", "-", "-", "0.0", "5.2"],
        ["4", "1.000", "0.000", "-", "-", "12.2", "39.5"],
    ]
    assert lines[-1] == "strict, trained on (n = 8): 0.0 % (95 % 0.0 to 32.4 %)"  # Wilson: z² / (n + z²)
    held = [replace(row, holdout_proxy_reward=0.5, holdout_true_reward=0.25, holdout_n=4) for row in (FIRST, LAST)]
    assert evaluations_table(held).split("\n")[-1].startswith("strict, never seen (n = 4): 25.0 % (")


def test_of_many_evaluations_nine_are_shown_with_the_first_and_the_last() -> None:
    rows = [replace(FIRST, step=step) for step in range(101)]
    shown = [int(line.split()[0]) for line in evaluations_table(rows).split("\n")[2:-2]]
    assert shown == [0, 12, 25, 38, 50, 62, 75, 88, 100]


def test_the_most_common_kinds_of_text_are_shown_with_both_rewards() -> None:
    pairs = [("Final: 7", 7), ("12\n13", 12), ("Final: 12", 12), ("\x1b", 1), ("Final: 9", 3)]
    proxies = [1.0, 1.0, 1.0, 0.0, 0.0]
    written = [
        learning_result({"id": "q", "prompt": "?", "expected_answer": answer}, text, 4, proxy_reward=proxy)
        for (text, answer), proxy in zip(pairs, proxies, strict=True)
    ]
    lines = written_table(written).split("\n")[2:]
    assert [line.split(maxsplit=5) for line in lines] == [
        ["2", "of", "5", "1", "1", "Final: 7"],
        ["1", "of", "5", "1", "0", "12⏎13"],
        ["1", "of", "5", "0", "0", "<U+001B ESCAPE>"],
        ["1", "of", "5", "0", "0", "Final: 9"],
    ]


def test_an_update_is_shown_token_by_token() -> None:
    lines = slow_text([UPDATED]).split("\n\n", 2)[2].split("\n")
    assert lines[0] == "q1 wrote 7⏎"
    assert lines[1] == "advantage = 1 - 0.250 = +0.750"
    assert [line.split() for line in lines[5:8]] == [
        ["1", "'7'", "-1.000", "-0.500", "+0.5000"],
        ["2", "'⏎'", "-2.000", "-2.250", "-0.2500"],
        ["3", "end", "of", "text", "-0.500", "-0.500", "+0.0000"],
    ]
    penalised = replace(UPDATED, kl_coef=0.5, log_ratio=1.0, advantage=0.25)
    assert "advantage = (1 - 0.5 * 1.000) - 0.250 = +0.250" in slow_text([penalised])


def test_of_each_update_the_best_and_the_worst_are_shown_the_longest_of_equals_first() -> None:
    rows = [replace(UPDATED, id=f"u{step}-{place}", step=step) for step in (1, 2) for place in range(3)]
    rows[1] = replace(rows[1], advantage=-0.25)
    rows[5] = replace(rows[5], tokens=["7"] * 4, log_probs=[-1.0] * 4, new_log_probs=[-1.0] * 4)
    text = slow_text(rows)
    assert [line for line in text.split("\n") if line.startswith("update")] == [
        "update 1, 3 completions",
        "update 2, 3 completions",
    ]
    assert [line.split()[0] for line in text.split("\n") if " wrote " in line] == ["u1-2", "u1-1", "u2-2", "u2-0"]


def test_the_report_says_where_it_was_interrupted() -> None:
    row = learning_result({"id": "q", "prompt": "?", "expected_answer": 1}, "Final: 1", 4)
    plan = PRESETS["memorise"].plan
    report = token_train_text(plan, "sums.jsonl", "score", [UPDATED], [FIRST, LAST], [row])
    assert "interrupted after 4 of 600 updates: the policy after update 4 is kept" in report
    assert "interrupted" not in token_train_text(plan._replace(steps=4), "s", "score", [], [FIRST, LAST], [row])
    assert max(map(len, report.split("\n"))) <= 80
