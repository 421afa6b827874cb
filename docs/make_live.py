"""Write the pages of docs/live: each is one file that opens by a double click and asks nothing of the network.

    python3 docs/make_live.py

A page holds the parts of course/pages/parts that it uses, and its own script and style, which stand beside it.
The policy that a page trains is the one that ``course.token_train --preset memorise`` starts from, with its weights as
32-bit numbers.
"""

import json
import unicodedata
from base64 import b64encode
from pathlib import Path
from typing import Any

import numpy as np

from course import faults
from course.datasets.files import LAB
from course.pages.html import PARTS, html_page, names_in
from course.policies.token_learner import fine_tune
from course.policies.token_policy import RECENT, Policy, Weights
from course.policies.train_config import MEMORISE
from course.text import hides, named

LIVE = LAB / "docs" / "live"
SEED = 0


def examples() -> list[dict[str, Any]]:
    return records(LAB / MEMORISE.dataset)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def start() -> Policy:
    """The policy before its first update, rounded to 32 bits: a page and NumPy begin with the same numbers."""
    policy = fine_tune(examples(), MEMORISE, SEED)
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


HACK = """A small policy answers sums such as 3 + 4. A verifier pays 1 or 0 for each text that the policy writes, and
nobody ever shows the policy an answer. Each update pushes up the texts that were paid. Which verifier should pay?
Press one of the three buttons; the third takes a pattern of your own."""


def hack_data(policy: Policy) -> dict[str, object]:
    plan = MEMORISE
    return {
        "policy": saved(policy),
        "tasks": tasks(policy),
        "plan": {"prompts": plan.prompts_a_step, "groupSize": plan.group_size, "lr": plan.lr, "steps": plan.steps},
    }


VERIFIER = """The verifier pays 1 for exactly one line, Final: and the right number, and 0 for every other text.
Type a completion, and watch which check it fails first."""
CASES = {  # of the golden sets: what a button says -> the id of the case
    "the one line": "correct-01",
    "a line break at its end": "correct-02",
    "two lines": "exploit-07",
    "bold": "exploit-44",
    "an invisible character": "exploit-04",
    "a Cyrillic а": "exploit-17",
    "a plus sign": "exploit-26",
    "digits of a different script": "exploit-28",
    "a different minus": "exploit-37",
    "two answers": "exploit-40",
    "a wrong value": "exploit-65",
}


def scorer_tables() -> dict[str, object]:
    """What makeScorer reads: the line boundaries of course/faults.py, and its checks in order."""
    return {
        "lineBoundaries": faults.LINE_BOUNDARIES,
        "checks": [(outcome, *check) for outcome, check in faults.CHECKS.items()],
    }


def unseen_names() -> dict[str, str]:
    """Code point in hexadecimal -> name, of every unseen character of the basic plane that has a name."""
    names = {}
    for code in range(0x10000):
        char = chr(code)
        if (char == " " or hides(char)) and (unicodedata.category(char) == "Cc" or unicodedata.name(char, "") != ""):
            names[f"{code:04X}"] = named(char).partition(" ")[2]
    return names


def verifier_data() -> dict[str, object]:
    golden = {row["id"]: row for path in sorted((LAB / "course" / "golden").glob("*.jsonl")) for row in records(path)}
    cases = []
    for name, id_ in CASES.items():
        row = golden[id_]
        cases.append({"name": name, "answer": str(row["expected_answer"]), "text": row["completion"]})
    names = unseen_names() | names_in("".join(case["text"] for case in cases))
    return {"tables": scorer_tables(), "names": names, "examples": cases}


def live_pages() -> dict[str, str]:
    """Name of the file -> the page."""
    shared = [PARTS / "shared"]
    return {
        "watch_it_cheat": html_page(
            "hack",
            "Watch it cheat",
            HACK,
            hack_data(start()),
            [*shared, PARTS / "chart", LIVE / "watch_it_cheat"],
            has_worker=True,
        ),
        "verifier": html_page(
            "verifier",
            "The verifier at each keystroke",
            VERIFIER,
            verifier_data(),
            [*shared, PARTS / "checks", LIVE / "verifier"],
        ),
    }


def main() -> None:
    for name, text in live_pages().items():
        (LIVE / f"{name}.html").write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
