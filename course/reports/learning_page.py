"""Machinery: what the page of a run of Loop C shows: its updates one by one, or its evaluations, from the run's files.

Covered
    A run of any length: above ``ROWS`` updates or evaluations some of them are shown, evenly spaced, and counted.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from course.artifacts.learning import EpisodeRow, UpdateRow
from course.artifacts.reading import Broken, Run, open_run, read_output, rows
from course.artifacts.records import SUMMARY, LearningResult
from course.artifacts.token_rows import TOKEN_LOG, EvaluationRow, TokenUpdateRow, is_exploit, proxy_of
from course.reports.page_tables import ROWS, evenly, text_data
from course.score import measure

BANDIT_LOGS: Final = {
    "course.policy_gradient_demo": "policy_gradient_log.jsonl",
    "course.bandit_train": "bandit_train_log.jsonl",
}
EPISODE_LOGS: Final = {"course.toy_mdp": "toy_mdp_log.jsonl"}
EVALUATED: Final = ("course.token_train", "course.goodhart_demo", "course.distribution_shift_demo", "course.sweep_demo")
SLOW_FILE: Final = "slow.jsonl"
_WRITTEN = 6  # completions of an evaluation
_SLOW = 8  # completions of an update: those with the highest and the lowest advantage

Row = TypeVar("Row")


def loop_c_data(path: Path) -> dict[str, object]:
    """Everything that the view "C" reads. ``kind``: updates, evaluations, or summary, where a run has neither."""
    run = open_run(path)
    command = run.manifest.command
    summary = msgspec.json.decode(read_output(path, SUMMARY))
    data: dict[str, object] = {"kind": "summary", "command": command, "summary": summary}
    if command in BANDIT_LOGS:
        data |= _bandit_data(_log(run, BANDIT_LOGS[command], UpdateRow), summary["expected_reward_after"])
    elif command in EPISODE_LOGS:
        data |= _episodes_data(_log(run, EPISODE_LOGS[command], EpisodeRow), summary["expected_return_after"])
    elif command in EVALUATED:
        data |= _evaluations_data(run)
    return data


def _log(run: Run, name: str, row: type[Row]) -> list[Row]:
    try:
        return msgspec.json.Decoder(row).decode_lines(read_output(run.path, name))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Broken(f"{name} is not a log of {run.manifest.command}: {error}") from None


def _updates(unit: str, steps: list[dict[str, Any]], actions: Iterable[Iterable[str]], after: float, lr: float) -> Any:
    """``actions``: their texts, for each state of an update."""
    texts = [list(each) for each in actions]
    of = len(steps)
    return {"kind": "updates", "unit": unit, "actions": texts, "lr": lr, "of": of, "after": after} | {
        "steps": evenly(steps, ROWS)
    }


def _bandit_data(log: list[UpdateRow], after: float) -> Any:
    from course.policies.bandit import ARMS, EXAMPLE

    rewards = [measure(EXAMPLE["expected_answer"], arm).reward for arm in ARMS]
    steps = []
    for row in log:
        state = _state("", row.probs, row.new_probs, row.action, row.reward, row.reward, row.advantage, True)
        expected = sum(p * reward for p, reward in zip(row.probs, rewards, strict=True))
        steps.append({"step": row.step, "expected": expected, "baseline": row.baseline, "states": [state]})
    return _updates("update", steps, [ARMS], after, log[0].lr) | {"prompt": log[0].prompt}


def _episodes_data(log: list[EpisodeRow], after: float) -> Any:
    from course.policies.two_step import TOKENS

    steps = []
    for row in log:
        columns = (row.prefixes, row.probs, row.new_probs, row.actions, row.rewards, row.return_, row.advantage)
        states = [_state(*each) for each in zip(*columns, row.credited, strict=True)]
        expected = row.expected_return
        steps.append({"step": row.episode, "expected": expected, "baseline": row.baseline, "states": states})
    return _updates("episode", steps, TOKENS, after, log[0].lr) | {"prompt": log[0].prompt}


def _state(
    prefix: str,
    before: list[float],
    after: list[float],
    action: int,
    reward: float,
    return_: float,
    advantage: float,
    credited: bool,
) -> dict[str, object]:
    numbers = {"before": _short(before), "after": _short(after), "action": action, "reward": reward, "return": return_}
    return numbers | {"prefix": prefix, "advantage": advantage, "credited": credited}


def _short(numbers: list[float]) -> list[float]:
    return [round(number, 6) for number in numbers]


def _evaluations_data(run: Run) -> Any:
    """The trainings, each with its evaluations and some of what was written in each, exploits first."""
    log = _log(run, TOKEN_LOG, EvaluationRow)
    trainings: dict[str | None, list[EvaluationRow]] = defaultdict(list)
    for row in log:
        trainings[row.training].append(row)
    points = {name: evenly(each, max(2, ROWS // len(trainings))) for name, each in trainings.items()}
    most = max(1, min(_WRITTEN, ROWS // sum(map(len, points.values()))))
    wanted = {(name, row.step) for name, each in points.items() for row in each}
    written: dict[tuple[str | None, int], list[LearningResult]] = defaultdict(list)
    prompts: dict[str, str] = {}
    for result in rows(run):
        assert isinstance(result, LearningResult)
        prompts[result.id] = result.prompt
        if result.split != "holdout" and (result.training, result.step) in wanted:
            written[result.training, result.step].append(result)
    slow = _log(run, SLOW_FILE, TokenUpdateRow) if SLOW_FILE in run.manifest.outputs else []
    found = [
        {
            "name": name or f"rubric {each[0].rubric}, seed {each[0].seed}",
            "points": each,
            "written": [_texts(written[name, row.step], most) for row in each],
        }
        for name, each in points.items()
    ]
    shown = sum(map(len, points.values()))
    return {"kind": "evaluations", "of": len(log), "shown": shown, "trainings": msgspec.to_builtins(found)} | {
        "updates": [_slow_data(list(each), prompts) for _, each in groupby(slow, key=lambda row: row.step)]
    }


def _texts(found: list[LearningResult], most: int) -> list[dict[str, object]]:
    first = sorted(found, key=lambda row: not is_exploit(row))[:most]
    return [
        {"prompt": row.prompt, "expected": str(row.expected_answer), "proxy": proxy_of(row), "true": row.reward}
        | {"exploit": is_exploit(row), **text_data(row.completion)}
        for row in first
    ]


def _slow_data(update: list[TokenUpdateRow], prompts: dict[str, str]) -> dict[str, object]:
    ranked = sorted(update, key=lambda row: -row.advantage)
    kept = ranked if len(ranked) <= _SLOW else [*ranked[: _SLOW // 2], *ranked[-_SLOW // 2 :]]
    completions = [
        {name: getattr(row, name) for name in ("tokens", "reward", "kl_coef", "log_ratio", "baseline", "advantage")}
        | {"prompt": prompts.get(row.id, row.id)}
        | {"before": _short(row.log_probs), "after": _short(row.new_log_probs)}
        for row in kept
    ]
    return {"step": update[0].step, "of": len(update), "completions": completions}
