"""Write the pages of docs/live: each is one file that opens by a double click and asks nothing of the network.

    python3 docs/make_live.py

The policy that a page trains is the one that ``course.token_train --preset memorise`` starts from, with its weights as
32-bit numbers.
"""

import json
from base64 import b64encode
from typing import Any

import numpy as np

from course import faults
from course.datasets.files import LAB
from course.policies.presets import MEMORISE
from course.policies.token_learner import fine_tune
from course.policies.token_policy import RECENT, Policy, Weights
from course.reports.pages import page

SEED = 0


def examples() -> list[dict[str, Any]]:
    lines = (LAB / MEMORISE.dataset).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def start() -> Policy:
    """The policy before its first update, rounded to 32 bits: a page and NumPy begin with the same numbers."""
    policy = fine_tune(examples(), MEMORISE.plan, SEED)
    return policy._replace(weights=Weights(*(w.astype(np.float32).astype(np.float64) for w in policy.weights)))


def saved(policy: Policy) -> dict[str, object]:
    weights = np.concatenate([w.astype("<f4").ravel() for w in policy.weights])
    return {
        "vocabulary": list(policy.vocabulary),
        "maxTokens": policy.max_tokens,
        "width": policy.weights.vectors.shape[1],
        "units": len(policy.weights.hidden_bias),
        "reads": len(policy.positions) + RECENT,
        "weights": b64encode(weights.tobytes()).decode("ascii"),
    }


def tasks(policy: Policy) -> list[dict[str, object]]:
    rows = examples()
    tokens = policy.encode_prompts([row["prompt"] for row in rows]).tolist()
    return [
        {"tokens": read, "question": question(row["prompt"]), "answer": str(row["expected_answer"])}
        for read, row in zip(tokens, rows, strict=True)
    ]


def question(prompt: str) -> str:
    return prompt.partition(".")[0].removeprefix("Compute ")


def tables() -> dict[str, object]:
    """What makeScorer reads: the inside of the brackets of course/faults.py, and its checks in order."""
    checks = [(outcome, *check) for outcome, check in faults.CHECKS.items()]
    return {
        "unseen": faults.UNSEEN,
        "digits": faults.DIGITS,
        "lineBoundaries": faults.LINE_BOUNDARIES,
        "checks": checks,
    }


HACK = """A small policy answers sums such as 3 + 4. A verifier pays 1 or 0 for what it writes, and nobody ever shows
it an answer. Each update makes what was paid more likely. Who pays?"""


def hack_data(policy: Policy) -> dict[str, object]:
    plan = MEMORISE.plan
    return {
        "policy": saved(policy),
        "tasks": tasks(policy),
        "tables": tables(),
        "plan": {"prompts": plan.prompts_a_step, "groupSize": plan.group_size, "lr": plan.lr, "steps": plan.steps},
    }


def main() -> None:
    out = LAB / "docs" / "live" / "watch_it_cheat.html"
    out.parent.mkdir(exist_ok=True)
    out.write_text(page("hack", "Watch it cheat", HACK, hack_data(start())), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
