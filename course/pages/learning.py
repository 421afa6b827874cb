"""Machinery: what the page of a run of Loop C shows, from the run's files: its updates one by one, its evaluations, or
its trade-off of reward and KL.

Above ``ROWS`` updates or evaluations some of them are shown, evenly spaced, and all are counted.
"""

import csv
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby, takewhile
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from course.artifacts.inference import compare, fall_since, parting, tally_of
from course.artifacts.learning_rows import EpisodeRow, UpdateRow
from course.artifacts.reading import Broken, Run, open_run, read_output, rows
from course.artifacts.records import SUMMARY, LearningResult
from course.artifacts.token_rows import (
    SLOW_FILE,
    STRICT,
    TOKEN_LOG,
    EvaluationRow,
    TokenUpdateRow,
    is_exploit,
    proxy_of,
)
from course.pages.excerpts import ROWS, Data, cut_text, question_text, subsample, value_text
from course.rubrics.kinds import Kind
from course.score import measure
from course.show.tables import percent
from course.text import clipped, one_line

BANDIT_LOGS: Final = {
    "course.policy_gradient_demo": "policy_gradient_log.jsonl",
    "course.bandit_train": "bandit_train_log.jsonl",
}
EPISODE_LOGS: Final = {"course.toy_mdp": "toy_mdp_log.jsonl"}
TRADEOFF: Final = "course.kl_tradeoff_demo"
TRADEOFF_TABLE: Final = "kl_tradeoff.csv"
EVALUATED: Final = ("course.token_train", "course.experiment")
_WRITTEN = 6  # completions of an evaluation
_MOST_TOKENS = 200  # of a completion: no policy of this lab writes as many
_SLOW_SHOWN = 8  # completions of an update: those with the highest and the lowest advantage

LogRow = TypeVar("LogRow")


def learning_data(path: Path) -> Data:
    """Everything that the view "C" reads. ``kind``: updates, evaluations, tradeoff; or summary, where a run has none.

    Raises UserError or Broken as ``open_run`` does, and verifies nothing.
    """
    run = open_run(path)
    try:
        return data_of_command(run)
    except (ValueError, LookupError, TypeError, ArithmeticError, RecursionError) as error:
        raise Broken(f"its files are not those of a run of {run.manifest.command}: {error}") from None


def data_of_command(run: Run) -> Data:
    command = run.manifest.command
    summary = msgspec.json.decode(read_output(run.path, SUMMARY), type=dict[str, Any])
    if command in BANDIT_LOGS:
        return bandit_data(read_log(run, BANDIT_LOGS[command], UpdateRow), summary["expected_reward_after"])
    if command in EPISODE_LOGS:
        return episodes_data(read_log(run, EPISODE_LOGS[command], EpisodeRow), summary["expected_return_after"])
    if command == TRADEOFF:
        return tradeoff_data(run)
    counts_samples = run.manifest.settings.get("experiment") == "pass_at_k"  # its log has no evaluations
    if command in EVALUATED and not counts_samples:
        return evaluations_data(run)
    numbers = [(name.replace("_", " "), value_text(value)) for name, value in summary.items()]
    return {"kind": "summary", "summary": numbers}


def read_log(run: Run, name: str, row: type[LogRow]) -> list[LogRow]:
    return msgspec.json.Decoder(row).decode_lines(read_output(run.path, name))


def bandit_data(log: list[UpdateRow], after: float) -> Data:
    """A bandit's update has one state. ``after``: the exact expected reward after the last update."""
    from course.policies.bandit import ARMS, EXAMPLE

    for row in log:
        if row.completion != ARMS[row.action]:
            got = clipped(row.completion, 60)
            raise ValueError(f"expected {ARMS[row.action]} of arm {row.action}, got {got}; make the run again")
    rewards = [measure(EXAMPLE["expected_answer"], arm).reward for arm in ARMS]
    steps = []
    for row in subsample(log, ROWS):
        state = {
            "prefix": "",
            "before": row.probs,
            "after": row.new_probs,
            "action": row.action,
            "reward": row.reward,
            "return": row.reward,
            "advantage": row.advantage,
            "credited": True,
        }
        expected = sum(p * reward for p, reward in zip(row.probs, rewards, strict=True))
        steps.append({"step": row.step, "expected": expected, "baseline": row.baseline, "states": [state]})
    return {
        "kind": "updates",
        "unit": "update",
        "actions": [ARMS],
        "prompt": clipped(log[0].prompt, 200),
        "of": len(log),
        "steps": steps,
        "after": after,
    }


def episodes_data(log: list[EpisodeRow], after: float) -> Data:
    """An episode has a state for each token. ``after``: the exact expected return after the last episode."""
    from course.policies.two_step import TOKENS

    steps = []
    for row in subsample(log, ROWS):
        columns = {
            "prefix": row.prefixes,
            "before": row.probs,
            "after": row.new_probs,
            "action": row.actions,
            "reward": row.rewards,
            "return": row.return_,
            "advantage": row.advantage,
            "credited": row.credited,
        }
        states = [dict(zip(columns, state, strict=True)) for state in zip(*columns.values(), strict=True)]
        steps.append({"step": row.episode, "expected": row.expected_return, "baseline": row.baseline, "states": states})
    return {
        "kind": "updates",
        "unit": "episode",
        "actions": TOKENS,
        "prompt": clipped(log[0].prompt, 200),
        "of": len(log),
        "steps": steps,
        "after": after,
    }


def evaluations_data(run: Run) -> Data:
    """The trainings, each with its evaluations and some of what was written in each, exploits first."""
    log = read_log(run, TOKEN_LOG, EvaluationRow)
    trainings: dict[str | None, list[EvaluationRow]] = defaultdict(list)
    for row in log:
        trainings[row.training].append(row)
    most_points = max(2, ROWS // len(trainings))
    points = {name: subsample(rows_of_one, most_points) for name, rows_of_one in trainings.items()}
    shown = sum(map(len, points.values()))
    most_written = max(1, min(_WRITTEN, ROWS // shown))

    written: dict[tuple[str | None, int], list[LearningResult]] = defaultdict(list)
    prompts: dict[str, str] = {}
    for result in rows(run):
        assert isinstance(result, LearningResult)
        prompts[result.id] = clipped(result.prompt, 200)
        if result.split != "holdout":
            written[result.training, result.step].append(result)

    shown_trainings = []
    for name, evaluations in points.items():
        title = name or f"rubric {evaluations[0].rubric}, seed {evaluations[0].seed}"
        shown_trainings.append(
            {
                "name": clipped(title, 80),
                "points": [point_data(row) for row in evaluations],
                "written": [texts_data(written[name, row.step], most_written) for row in evaluations],
                "parting": parting_data(
                    trainings[name], [written[name, row.step] for row in trainings[name]], evaluations
                ),
            }
        )
    return {
        "kind": "evaluations",
        "of": len(log),
        "shown": shown,
        "trainings": shown_trainings,
        "updates": slow_data(run, prompts),
    }


def parting_data(
    evaluations: Sequence[EvaluationRow], written: Sequence[list[LearningResult]], shown: Sequence[EvaluationRow]
) -> Data:
    """Where the rubric's reward and the strict one part, if they do, and what the evaluations show.

    ``written``: the completions of each evaluation, those of the holdout left out. ``shown``: the evaluations that the
    page has; the place is that of the last one up to the parting.
    """
    tallies = [tally_of(results) for results in written]
    first, last = evaluations[0], evaluations[-1]
    top = None
    sentences = []
    if first.rubric != STRICT:
        top = parting(evaluations)
        sentences.append(parting_text(top, evaluations))
    if top is not None and top is not first:
        fall = fall_since(evaluations.index(top), tallies)
        sentences.append(f"By the strict verifier, update {top.step} against the last: {fall.text}.")
    if len(evaluations) > 1:
        change = compare(tallies[0], tallies[-1], "true_reward")
        sentences.append(f"By the strict verifier, first evaluation against last: {change.text}.")
    without = list(takewhile(lambda row: row.true_reward == 0, reversed(evaluations)))
    if len(without) > 1:
        since = without[-1].step
        sentences.append(f"0 of {last.n} were right in each of the {len(without)} evaluations since update {since}.")
    place = None if top is None else sum(row.step <= top.step for row in shown) - 1
    return {"place": place, "sentences": sentences}


def parting_text(top: EvaluationRow | None, evaluations: Sequence[EvaluationRow]) -> str:
    """``top``: the evaluation after which the two rewards part, or None."""
    last = evaluations[-1]
    if top is None:
        if last.true_reward == max(row.true_reward for row in evaluations):
            return "The curves do not part: the strict rate is highest at the end."
        return "The curves do not part: the rubric pays no more at the end than where the strict rate was highest."
    begins = f"The curves part after update {top.step}: there,"
    if top.step == 0:
        begins = "The curves part from the start: before the first update,"
    return (
        f"{begins} {percent(top.true_reward, 0)} were right and {percent(top.proxy_reward, 0)} paid; after update "
        f"{last.step}, {percent(last.true_reward, 0)} are right and {percent(last.proxy_reward, 0)} paid."
    )


def point_data(row: EvaluationRow) -> Data:
    row = msgspec.structs.replace(row, rubric=clipped(row.rubric, 80), training=None)
    point: Data = msgspec.to_builtins(row)
    return point


def texts_data(results: list[LearningResult], most: int) -> list[Data]:
    """Some of what was written at an evaluation, exploits first."""
    return [
        {
            "question": question_text(row),
            "proxy": proxy_of(row),
            "true": row.reward,
            "exploit": is_exploit(row),
            "otherForm": row.kind == Kind.OTHER_FORM,
            "text": cut_text(row.completion),
        }
        for row in sorted(results, key=lambda row: not is_exploit(row))[:most]
    ]


def tradeoff_data(run: Run) -> Data:
    """The optimum for each beta, the reference first, and best-of-N. ``best``: where the strict reward is highest."""
    text = read_output(run.path, TRADEOFF_TABLE).decode("utf-8")
    table = list(csv.DictReader(text.splitlines()))
    actions = run.manifest.settings["actions"]
    points: list[Data] = []
    for row in table:
        if not row["n"]:
            beta = number_in(row["beta"]) if row["beta"] else None
            points.append({"beta": beta} | optimum_data(row, len(actions)))
    choices = [optimum_data(row, len(actions)) | {"n": int(row["n"])} for row in table if row["n"]]
    return {
        "kind": "tradeoff",
        "graded": run.manifest.settings["rewards"] == "graded",
        "best": max(range(len(points)), key=lambda place: points[place]["strict"]),
        "completions": [
            {"text": text[:200], "reward": float(reward), "strict": float(strict)}
            for text, _, reward, strict in actions
        ],
        "points": points,
        "choices": choices,
    }


def optimum_data(row: Mapping[str, str], actions: int) -> Data:
    return {
        "reward": number_in(row["mean_reward"]),
        "strict": number_in(row["verifier_reward"]),
        "kl": number_in(row["kl"]),
        "probs": [number_in(row[f"p{action}"]) for action in range(actions)],
    }


def number_in(cell: str) -> float:
    """The number in a cell of the table. Raises ValueError for what is none, or is not finite."""
    number = float(cell)
    if not isfinite(number):
        raise ValueError(f"expected a finite number, got {clipped(cell, 40)}")
    return number


def slow_data(run: Run, prompts: Mapping[str, str]) -> list[Data]:
    """The updates that were shown token by token, of each the completions with the highest and lowest advantages."""
    if SLOW_FILE not in run.manifest.outputs:
        return []
    slow = read_log(run, SLOW_FILE, TokenUpdateRow)
    updates = [list(update) for _, update in groupby(slow, key=lambda row: row.step)]
    completions = []
    for update in subsample(updates, max(2, ROWS // _SLOW_SHOWN)):
        kept = sorted(update, key=lambda row: -row.advantage)
        if len(kept) > _SLOW_SHOWN:
            half = _SLOW_SHOWN // 2
            kept = kept[:half] + kept[-half:]
        completions += [completion_data(row, len(update), prompts) for row in kept]
    return completions


def completion_data(row: TokenUpdateRow, of: int, prompts: Mapping[str, str]) -> Data:
    """A completion of an update, one of so many, token by token; ``sum`` is what its advantage is the end of."""
    text = one_line("".join(row.tokens), 40)
    penalty = f" − {row.kl_coef:g} · {row.log_ratio:.3f}" if row.kl_coef else ""
    return {
        "label": f"update {row.step}, advantage {row.advantage:+.3f}: {text}",
        "question": f"{prompts.get(row.id) or clipped(row.id, 200)} One of {of} completions.",
        "sum": f"reward {row.reward:g}{penalty} − baseline {row.baseline:.3f} = ",
        "advantage": row.advantage,
        "tokens": [token[:80] for token in row.tokens[:_MOST_TOKENS]],
        "before": row.log_probs[:_MOST_TOKENS],
        "after": row.new_log_probs[:_MOST_TOKENS],
    }
