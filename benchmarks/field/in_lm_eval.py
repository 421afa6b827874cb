"""lm-eval's two filters of GSM8K and its exact_match, with the settings of the task file that it ships.

Installed without most of its dependencies: filters and metrics need NumPy, sacrebleu and PyYAML only. The task itself
would load its dataset from a hub.
"""

from importlib import import_module
from pathlib import Path
from typing import Any

from field.asking import Verifier, answer_cases


def verifiers() -> dict[str, Verifier]:
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

    return {row["name"]: verifier(row["name"], row["filter"]) for row in settings["filter_list"]}


if __name__ == "__main__":
    named = verifiers()
    answer_cases({"strict": named["strict-match"], "flex": named["flexible-extract"]})
