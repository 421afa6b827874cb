"""What is drawn is what the numbers are: the lengths of bars, the ends of intervals, the points of lines.

An example: 2 of 5 pass, so the dot of the interval line stands at 0.4 of it and the bar ``ok`` fills 40 % of its row.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsing import tab
from conftest import Lab, lines_of

pytestmark = pytest.mark.slow

# Of an interval line: where its span begins and ends and where its dot stands, as shares of the whole line.
SPAN = """() => {
  const [grid, span, dot] = [".grid", ".span", "circle"].map((name) => document.querySelector(`.interval ${name}`));
  const [left, right, ...ends] = [grid.x1, grid.x2, span.x1, span.x2, dot.cx].map((at) => at.baseVal.value);
  return ends.map((at) => (at - left) / (right - left));
}"""
TALLIES = """() => [...document.querySelectorAll("summary.tally")].map((one) =>
  [one.dataset.outcome, parseFloat(one.querySelector("rect").getAttribute("width"))])"""
BARS = """() => [...document.querySelectorAll(".actions li")].map((one) =>
  [...one.querySelectorAll("rect")].map((bar) => bar.width.baseVal.value / 100))"""
# Of a chart: the shares at the points of each line, and where these stand between its first and its last number.
LINES = """() => {
  const grid = document.querySelectorAll(".chart line.grid");
  const [zero, one] = [grid[0], grid[4]].map((line) => line.y1.baseVal.value);
  const [left, right] = [grid[0].x1, grid[0].x2].map((at) => at.baseVal.value);
  return Object.fromEntries([...document.querySelectorAll("polyline")].map((line) => [line.classList[1],
    [...line.points].map(({ x, y }) => [(x - left) / (right - left), (zero - y) / (zero - one)])]));
}"""


def near(expected: Any) -> Any:
    return pytest.approx(expected, abs=5e-4)


def numbers(run: str) -> dict[str, Any]:
    return dict(json.loads(Path(run, "summary.json").read_text(encoding="utf-8")))


def test_the_bars_and_the_interval_of_loop_a(lab: Lab, browser: Any) -> None:
    texts = ["Final: 1", "2", "Final: 4", "Final: 4", "6"]
    assert lab.evaluate([1, 2, 3, 4, 5], texts, "--outdir", "a").status == 0
    assert lab("report", "a").status == 0
    with tab(browser) as one:
        page = one.open(Path("a/report.html").resolve())
        assert page.evaluate(SPAN) == near([*numbers("a")["pass_rate_ci95"], 0.4])
        assert dict(page.evaluate(TALLIES)) == near({"ok": 40, "missing_prefix": 40, "wrong_answer": 20})


def test_the_lines_of_loop_b(lab: Lab, browser: Any) -> None:
    lab.picker("def pick_best(samples):\n    return samples[-1]\n")
    groups = [["Final: 1", "x", "y"], ["a", "b", "Final: 2"], ["a", "b", "c"], ["Final: 4", "Final: 4", "d"]]
    assert lab.select([1, 2, 3, 4], groups, 3, "--outdir", "b").status == 0
    assert lab("report", "b").status == 0
    with tab(browser) as one:
        lines = one.open(Path("b/report.html").resolve()).evaluate(LINES)
    curve = [(1 / 3 + 1 / 3 + 2 / 3) / 4, (2 / 3 + 2 / 3 + 1) / 4, 3 / 4]
    for kind, values in (("true", curve), ("dotted", [0.75] * 3), ("paid", [0.25] * 3), ("dashed", [curve[0]] * 3)):
        assert [y for _, y in lines[kind]] == near(values), kind
        assert [x for x, _ in lines[kind]] == near([1 / 3, 2 / 3, 1]), kind


def test_the_bars_and_the_line_of_loop_c(lab: Lab, browser: Any) -> None:
    assert lab("bandit_train", "--steps", "9", "--outdir", "c").status == 0
    assert lab("report", "c").status == 0
    log = lines_of(Path("c/bandit_train_log.jsonl"))
    with tab(browser) as one:
        page = one.open(Path("c/report.html").resolve(), "#step=5")
        bars, line = page.evaluate(BARS), page.evaluate(LINES)["true"]
        signs = []
        for step in range(9):
            page.evaluate(f"location.hash = 'step={step}'")
            page.locator("output", has_text=f"update {step + 1} of 9").wait_for()
            signs.append(page.locator("p > strong[class]").first.get_attribute("class"))
    assert signs == [{1: "better", -1: "worse", 0: "even"}[int(np.sign(row["advantage"]))] for row in log]
    assert {*signs} == {"better", "worse", "even"}
    assert bars == [near(list(pair)) for pair in zip(log[5]["probs"], log[5]["new_probs"], strict=True)]
    expected = [row["probs"][1] for row in log] + [numbers("c")["expected_reward_after"]]
    assert [y for _, y in line] == near(expected)
    assert [x for x, _ in line] == near([step / 9 for step in range(10)])


def test_the_difference_of_two_runs(lab: Lab, browser: Any) -> None:
    lab.measured("base", [True] * 6 + [False] * 6)
    lab.measured("next", [False] + [True] * 9 + [False] * 2)
    words = ("--baseline", "base", "--candidate", "next", "--min-delta", 0.01)
    low, high = json.loads(lab("gate", *words, "--json").out)["numbers"]["delta_ci95"]
    assert lab("gate", *words, "--report").status == 3
    reach = 0.6  # the line goes as far as the next tenth
    assert 0.5 < high < reach
    with tab(browser) as one:
        page = one.open(Path("next/gate.html").resolve())
        found, said = page.evaluate(SPAN), page.locator(".interval").get_attribute("aria-label")
    assert said.startswith("Difference of the pass rates: +25.0 points, 95 % interval −")
    assert [2 * reach * at - reach for at in found] == near([low, high, 3 / 12])
