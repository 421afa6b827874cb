"""The verifiers that are asked, each called as its library's documentation calls it.

    python adapters.py NAME CASES.json ANSWERS.json

``make.py`` runs this in an environment that has one library: its adapter imports it, the rest is the standard library.
Each case is put before each verifier of that library.
"""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

Verifier = Callable[[str, str], float]  # (expected answer, completion) -> reward

# One answer: from the marker to the end of its line, or to the next marker. White space after it stays outside, and so
# does bold or a code span that was opened before the marker.
_ANSWER = re.compile(r"(\*\*|`|)Final: ((?:(?!Final: ).)*?)(?=[ \t\r]*\1[ \t\r]*(?:\n|\Z|Final: ))")


def in_form(completion: str, form: str) -> str:
    r"""The completion as a model would have written it for this verifier.

    >>> in_form("11 * 2 = 22\nFinal: 22\n", r"\boxed{…}")
    '11 * 2 = 22\n\\boxed{22}\n'
    """
    before, after = form.split("…")
    return _ANSWER.sub(lambda found: f"{found[1]}{before}{found[2]}{after}", completion)


def ask_course() -> dict[str, Verifier]:
    """The scorer of this course, by its contract."""
    score: Any = import_module("course.score").score

    def final_int(expected: str, completion: str) -> float:
        reward: float = score({"prompt": "", "expected_answer": int(expected)}, completion)["reward"]
        return reward

    return {"lab": final_int}


def call_inspect(scorer: Any) -> Verifier:
    """The scorer, called on a TaskState as an evaluation calls it."""
    model: Any = import_module("inspect_ai.model")
    task: Any = import_module("inspect_ai.solver")
    scoring: Any = import_module("inspect_ai.scorer")
    values = {scoring.CORRECT: 1.0, scoring.INCORRECT: 0.0}

    def ask(expected: str, completion: str) -> float:
        output = model.ModelOutput.from_content("mockllm/model", completion)
        state = task.TaskState(
            model=model.ModelName("mockllm/model"), sample_id=1, epoch=1, input="", messages=[], output=output
        )
        return values[asyncio.run(scorer(state, scoring.Target(expected))).value]

    return ask


def ask_inspect() -> dict[str, Verifier]:
    of: Any = import_module("inspect_ai.scorer")
    return {
        "num": call_inspect(of.match(numeric=True)),
        "match": call_inspect(of.match()),
        "incl": call_inspect(of.includes()),
        "line": call_inspect(of.answer("line")),
        "exact": call_inspect(of.exact()),
        "math": call_inspect(of.math()),
    }


def ask_lm_eval() -> dict[str, Verifier]:
    """lm-eval's two filters of GSM8K and its exact_match, with the settings of the task file that it ships.

    Installed without most of its dependencies: filters and metrics need NumPy, sacrebleu and PyYAML only. The task
    itself would load its dataset from a hub.
    """
    filters: Any = import_module("lm_eval.filters")
    import_module("lm_eval.api.metrics")  # registers them
    instance: Any = import_module("lm_eval.api.instance").Instance
    exact_match: Any = import_module("lm_eval.api.registry").get_metric("exact_match")
    yaml: Any = import_module("yaml")
    task = Path(str(filters.__file__)).parents[1] / "tasks" / "gsm8k" / "gsm8k.yaml"
    settings = yaml.safe_load(task.read_text(encoding="utf-8"))
    ignored = {
        key: value
        for key, value in settings["metric_list"][0].items()
        if key not in ("metric", "aggregation", "higher_is_better")
    }

    def verifier(name: str, steps: list[dict[str, Any]]) -> Verifier:
        components = [(s["function"], {key: value for key, value in s.items() if key != "function"}) for s in steps]
        pipeline = filters.build_filter_ensemble(name, components)

        def ask(expected: str, completion: str) -> float:
            one = instance(request_type="generate_until", doc={}, arguments=("", {}), idx=0)
            one.resps = [completion]
            pipeline.apply([one])
            found = exact_match(predictions=[one.filtered_resps[name]], references=[f"#### {expected}"], **ignored)
            return float(found["exact_match"])

        return ask

    named = {row["name"]: verifier(row["name"], row["filter"]) for row in settings["filter_list"]}
    return {"strict": named["strict-match"], "flex": named["flexible-extract"]}


def ask_math_verify() -> dict[str, Verifier]:
    """Math-Verify as its README calls it: parse both, then verify, gold first."""
    of: Any = import_module("math_verify")

    def verify(expected: str, completion: str) -> float:
        return float(of.verify(of.parse(expected), of.parse(completion)))

    return {"boxed": verify, "plain": verify}


def ask_reasoning_gym() -> dict[str, Verifier]:
    """extract_answer, then the score_answer that its datasets inherit, and that of a sum of integers."""
    extract: Any = import_module("reasoning_gym.utils").extract_answer
    create: Any = import_module("reasoning_gym").create_dataset

    def verifier(dataset: str) -> Verifier:
        data: Any = create(dataset, size=1, seed=1)

        def ask(expected: str, completion: str) -> float:
            return float(data.score_answer(extract(completion), {"answer": expected}))

        return ask

    # The answers of number_sequence are integers too, and it inherits its score_answer.
    return {"gym": verifier("number_sequence"), "sum": verifier("chain_sum")}


ADAPTERS = {
    "course": ask_course,
    "inspect": ask_inspect,
    "lm_eval": ask_lm_eval,
    "math_verify": ask_math_verify,
    "reasoning_gym": ask_reasoning_gym,
}


def main(name: str, cases: Path, answers: Path) -> None:
    """Read the cases, and write what each verifier gave: a reward, or the name of what it raised."""
    asked = json.loads(cases.read_text(encoding="utf-8"))
    rewards: dict[str, list[float | str]] = {}
    for key, verifier in ADAPTERS[name]().items():
        rewards[key] = []
        for case in asked["cases"]:
            text = in_form(case["completion"], asked["forms"][key])
            try:
                rewards[key].append(round(float(verifier(str(case["expected_answer"]), text)), 4))
            except Exception as error:  # that it raises is what is reported
                rewards[key].append(type(error).__name__)
    scorer_is_ours = name == "course"  # it is no installed distribution
    version = import_module("course.score").SCORER_VERSION if scorer_is_ours else version_of(asked["distribution"])
    answers.write_text(json.dumps({"version": version, "rewards": rewards}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
