"""Verifiers that others use, each called as its library's documentation calls it, in a shape that the attack takes.

    attack-verifier benchmarks/field/adapters.py:inspect_number --form 'ANSWER: …'

Each function imports its own library, so that an environment needs no other (``libraries.toml``).
"""

import asyncio
import runpy
from functools import cache
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

# --- inspect_ai


def inspect_number(completion: str, answer: str) -> float:
    return _ask_inspect("match", completion, answer, numeric=True)


def inspect_match(completion: str, answer: str) -> float:
    return _ask_inspect("match", completion, answer)


def inspect_includes(completion: str, answer: str) -> float:
    return _ask_inspect("includes", completion, answer)


def inspect_line(completion: str, answer: str) -> float:
    return _ask_inspect("answer", completion, answer, pattern="line")


def inspect_exact(completion: str, answer: str) -> float:
    return _ask_inspect("exact", completion, answer)


def inspect_math(completion: str, answer: str) -> float:
    return _ask_inspect("math", completion, answer)


def _ask_inspect(name: str, completion: str, answer: str, **options: Any) -> float:
    """The scorer, called on a TaskState as an evaluation calls it."""
    model: Any = import_module("inspect_ai.model")
    solver: Any = import_module("inspect_ai.solver")
    scoring: Any = import_module("inspect_ai.scorer")
    state = solver.TaskState(
        model=model.ModelName("mockllm/model"),
        sample_id=1,
        epoch=1,
        input="",
        messages=[],
        output=model.ModelOutput.from_content("mockllm/model", completion),
    )
    scorer = getattr(scoring, name)(**options)
    score = asyncio.run(scorer(state, scoring.Target(answer)))
    return {scoring.CORRECT: 1.0, scoring.INCORRECT: 0.0}[score.value]


# --- lm-eval


def gsm8k_strict(completion: str, answer: str) -> float:
    return _ask_lm_eval("strict-match", completion, answer)


def gsm8k_flexible(completion: str, answer: str) -> float:
    return _ask_lm_eval("flexible-extract", completion, answer)


def _ask_lm_eval(name: str, completion: str, answer: str) -> float:
    """A filter of the task gsm8k, then exact_match, with the settings of the task's own file."""
    exact_match: Any = import_module("lm_eval.api.registry").get_metric("exact_match")
    instance: Any = import_module("lm_eval.api.instance").Instance
    settings, filters = _gsm8k()
    request = instance(request_type="generate_until", doc={}, arguments=("", {}), idx=0)
    request.resps = [completion]
    filters[name].apply([request])
    found = exact_match(predictions=[request.filtered_resps[name]], references=[f"#### {answer}"], **settings)
    return float(found["exact_match"])


@cache
def _gsm8k() -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of its metric, and its filters. The task itself would load its dataset from a hub."""
    filters: Any = import_module("lm_eval.filters")
    import_module("lm_eval.api.metrics")  # registers them
    yaml: Any = import_module("yaml")
    path = Path(str(filters.__file__)).parents[1] / "tasks" / "gsm8k" / "gsm8k.yaml"
    task = yaml.safe_load(path.read_text(encoding="utf-8"))
    metric = task["metric_list"][0]
    options = {key: metric[key] for key in metric if key not in ("metric", "aggregation", "higher_is_better")}
    ensembles = {}
    for row in task["filter_list"]:
        steps = [(step.pop("function"), step) for step in row["filter"]]
        ensembles[row["name"]] = filters.build_filter_ensemble(row["name"], steps)
    return options, ensembles


# --- Math-Verify


def math_verify(completion: str, answer: str) -> float:
    """As its README has it: parse both, then verify, gold first."""
    library: Any = import_module("math_verify")
    return float(library.verify(library.parse(answer), library.parse(completion)))


# --- TRL


def trl_accuracy(completions: list[list[dict[str, str]]], solution: list[str]) -> list[float | None]:
    rewards: list[float | None] = import_module("trl.rewards").accuracy_reward(completions, solution)
    return rewards


# --- verl


def verl_gsm8k(completion: str, answer: str) -> float:
    return float(_load_verl_gsm8k()(completion, answer))


@cache
def _load_verl_gsm8k() -> Any:
    """compute_score, out of its file: to import the package would import torch and ray."""
    path = distribution("verl").locate_file("verl/utils/reward_score/gsm8k.py")
    return runpy.run_path(str(path))["compute_score"]


# --- reasoning-gym


def gym_default(completion: str, answer: str) -> float:
    """What its datasets inherit. The answers of number_sequence are integers, and it inherits its score_answer."""
    return _ask_gym("number_sequence", completion, answer)


def gym_sum(completion: str, answer: str) -> float:
    return _ask_gym("chain_sum", completion, answer)


def _ask_gym(name: str, completion: str, answer: str) -> float:
    extract: Any = import_module("reasoning_gym.utils").extract_answer
    return float(_dataset(name).score_answer(extract(completion), {"answer": answer}))


@cache
def _dataset(name: str) -> Any:
    return import_module("reasoning_gym").create_dataset(name, size=1, seed=1)
