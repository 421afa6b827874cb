"""Machinery: what the page of a run of Loop C shows: its updates one by one, or its evaluations, from the run's files.

Above ``ROWS`` updates or evaluations some of them are shown, evenly spaced, and all are counted.
"""

from collections import defaultdict
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from course.artifacts.learning import EpisodeRow, UpdateRow
from course.artifacts.reading import Broken, Run, open_run, read_output, rows
from course.artifacts.records import SUMMARY, LearningResult
from course.artifacts.token_rows import SLOW_FILE, TOKEN_LOG, EvaluationRow, TokenUpdateRow, is_exploit, proxy_of
from course.reports.page_tables import ROWS, cut, evenly, question_text, value_text
from course.score import measure
from course.text import clipped, one_line

BANDIT_LOGS: Final = {
    "course.policy_gradient_demo": "policy_gradient_log.jsonl",
    "course.bandit_train": "bandit_train_log.jsonl",
}
EPISODE_LOGS: Final = {"course.toy_mdp": "toy_mdp_log.jsonl"}
EVALUATED: Final = ("course.token_train", "course.goodhart_demo", "course.distribution_shift_demo", "course.sweep_demo")
_OF_A_STATE = ("prefix", "before", "after", "action", "reward", "return", "advantage", "credited")
_WRITTEN = 6  # completions of an evaluation
_MOST_TOKENS = 200  # of a completion: no policy of this lab writes as many
_SLOW_SHOWN = 8  # completions of an update: those with the highest and the lowest advantage

_NO_COMMAND_WRITES = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError)  # rows that end in one

LogRow = TypeVar("LogRow")


def loop_c_data(path: Path) -> dict[str, object]:
    """Everything that the view "C" reads. ``kind``: updates, evaluations, or summary, where a run has neither.

    Raises UserError or Broken as ``open_run`` does, and verifies nothing.
    """
    run = open_run(path)
    try:
        return _data_of(run)
    except _NO_COMMAND_WRITES as error:
        raise Broken(f"its files are not those of a run of {run.manifest.command}: {error}") from None


def _data_of(run: Run) -> dict[str, object]:
    command = run.manifest.command
    summary = msgspec.json.decode(read_output(run.path, SUMMARY), type=dict[str, Any])
    if command in BANDIT_LOGS:
        return _bandit_data(_log(run, BANDIT_LOGS[command], UpdateRow), summary["expected_reward_after"])
    if command in EPISODE_LOGS:
        return _episodes_data(_log(run, EPISODE_LOGS[command], EpisodeRow), summary["expected_return_after"])
    if command in EVALUATED:
        return _evaluations_data(run)
    numbers = [(name.replace("_", " "), value_text(value)) for name, value in summary.items()]
    return {"kind": "summary", "summary": numbers}


def _log(run: Run, name: str, row: type[LogRow]) -> list[LogRow]:
    return msgspec.json.Decoder(row).decode_lines(read_output(run.path, name))


def _bandit_data(log: list[UpdateRow], after: float) -> dict[str, object]:
    """A bandit's update has one state."""
    from course.policies.bandit import ARMS, EXAMPLE

    rewards = [measure(EXAMPLE["expected_answer"], arm).reward for arm in ARMS]
    steps = []
    for row in evenly(log, ROWS):
        columns = "", row.probs, row.new_probs, row.action, row.reward, row.reward, row.advantage, True
        expected = sum(p * reward for p, reward in zip(row.probs, rewards, strict=True))
        steps.append(_step(row.step, expected, row.baseline, *([column] for column in columns)))
    return _updates("update", [ARMS], log, steps, after)


def _episodes_data(log: list[EpisodeRow], after: float) -> dict[str, object]:
    from course.policies.two_step import TOKENS

    steps = []
    for row in evenly(log, ROWS):
        columns = row.prefixes, row.probs, row.new_probs, row.actions, row.rewards, row.return_, row.advantage
        steps.append(_step(row.episode, row.expected_return, row.baseline, *columns, row.credited))
    return _updates("episode", TOKENS, log, steps, after)


def _step(step: int, expected: float, baseline: float, *columns: Any) -> dict[str, object]:
    """``columns``: an entry each for every state. ``expected``: the exact expected reward before the update."""
    states = [dict(zip(_OF_A_STATE, state, strict=True)) for state in zip(*columns, strict=True)]
    return {"step": step, "expected": expected, "baseline": baseline, "states": states}


def _updates(unit: str, actions: Any, log: Any, steps: Any, after: float) -> dict[str, object]:
    data = {"kind": "updates", "unit": unit, "actions": actions, "prompt": clipped(log[0].prompt, 200)}
    return data | {"of": len(log), "steps": steps, "after": after}


def _evaluations_data(run: Run) -> dict[str, object]:
    """The trainings, each with its evaluations and some of what was written in each, exploits first."""
    log = _log(run, TOKEN_LOG, EvaluationRow)
    trainings: dict[str | None, list[EvaluationRow]] = defaultdict(list)
    for row in log:
        trainings[row.training].append(row)
    points = {name: evenly(each, max(2, ROWS // len(trainings))) for name, each in trainings.items()}
    shown = sum(map(len, points.values()))
    most = max(1, min(_WRITTEN, ROWS // shown))
    written: dict[tuple[str | None, int], list[LearningResult]] = defaultdict(list)
    prompts: dict[str, str] = {}
    for result in rows(run):
        assert isinstance(result, LearningResult)
        prompts[result.id] = clipped(result.prompt, 200)
        if result.split != "holdout":
            written[result.training, result.step].append(result)
    found = [
        {
            "name": clipped(name or f"rubric {each[0].rubric}, seed {each[0].seed}", 80),
            "points": [
                msgspec.to_builtins(row) | {"rubric": clipped(row.rubric, 80), "training": None} for row in each
            ],
            "written": [_written(written[name, row.step], most) for row in each],
        }
        for name, each in points.items()
    ]
    slow = _log(run, SLOW_FILE, TokenUpdateRow) if SLOW_FILE in run.manifest.outputs else []
    by_step = evenly([list(each) for _, each in groupby(slow, key=lambda row: row.step)], max(2, ROWS // _SLOW_SHOWN))
    updates = [row for update in by_step for row in _slow_data(update, prompts)]
    return {"kind": "evaluations", "of": len(log), "shown": shown, "trainings": found, "updates": updates}


def _written(found: list[LearningResult], most: int) -> list[dict[str, object]]:
    return [
        {"question": question_text(row), "proxy": proxy_of(row), "true": row.reward, "exploit": is_exploit(row)}
        | {"text": cut(row.completion)}
        for row in sorted(found, key=lambda row: not is_exploit(row))[:most]
    ]


def _slow_data(update: list[TokenUpdateRow], prompts: dict[str, str]) -> list[dict[str, object]]:
    ranked = sorted(update, key=lambda row: -row.advantage)
    kept = ranked if len(ranked) <= _SLOW_SHOWN else [*ranked[: _SLOW_SHOWN // 2], *ranked[-_SLOW_SHOWN // 2 :]]
    return [
        {
            "label": _label(row),
            "question": f"{prompts.get(row.id) or clipped(row.id, 200)} One of {len(update)} completions.",
        }
        | {"sum": _sum(row), "advantage": row.advantage, "tokens": [one[:80] for one in row.tokens[:_MOST_TOKENS]]}
        | {"before": row.log_probs[:_MOST_TOKENS], "after": row.new_log_probs[:_MOST_TOKENS]}
        for row in kept
    ]


def _label(row: TokenUpdateRow) -> str:
    return f"update {row.step}, advantage {row.advantage:+.3f}: {one_line(''.join(row.tokens), 40)}"


def _sum(row: TokenUpdateRow) -> str:
    """What the advantage is the end of."""
    penalty = f" − {row.kl_coef:g} · {row.log_ratio:.3f}" if row.kl_coef else ""
    return f"reward {row.reward:g}{penalty} − baseline {row.baseline:.3f} = "
