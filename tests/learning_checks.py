"""What every log of Loop C must satisfy, by plain Python: no function of the lab computes an expected value."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab

PROMPT = "Compute 17 * 19. Answer with exactly one line: Final: <int>"  # of all small worlds
ARM_REWARDS = [0.0, 1.0, 0.0, 0.0]  # what the spec says of the four arms of the bandit
VOLATILE = {"README.md", "environment.json"}


def softmax_by_hand(theta: list[float]) -> list[float]:
    weights = [math.exp(x) for x in theta]
    return [weight / sum(weights) for weight in weights]


def evidence(run: Path) -> dict[str, bytes]:
    """Every file of a run but the volatile ones."""
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and path.name not in VOLATILE]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in files}


def summary(run: Path) -> Any:
    return json.loads((run / "summary.json").read_text(encoding="utf-8"))


def check_update_rows(log: list[dict[str, Any]], *, with_baseline: bool, offset: float = 0.0) -> None:
    """Each identity of an update, exactly, in every row; and that each row begins where the one before ended.

    ``offset``: what was added to the verifier's reward.
    """
    assert log
    rewards: list[float] = []
    theta = [0.0] * 4
    for step, row in enumerate(log, 1):
        assert row["step"] == step
        assert row["theta"] == theta
        assert row["probs"] == pytest.approx(softmax_by_hand(theta), abs=1e-12)
        assert row["prompt"] == PROMPT
        assert row["verifier_reward"] == ARM_REWARDS[row["action"]]
        assert row["reward"] == row["verifier_reward"] + offset
        mean_before = sum(rewards) / len(rewards) if with_baseline and rewards else 0.0
        assert row["baseline"] == pytest.approx(mean_before, abs=1e-12)  # never with this step's own reward
        assert row["advantage"] == row["reward"] - row["baseline"]
        assert row["grad_log_prob"] == [(arm == row["action"]) - p for arm, p in enumerate(row["probs"])]
        assert row["direction"] == [row["advantage"] * g for g in row["grad_log_prob"]]
        assert row["new_theta"] == [t + row["lr"] * d for t, d in zip(theta, row["direction"], strict=True)]
        assert row["new_probs"] == pytest.approx(softmax_by_hand(row["new_theta"]), abs=1e-12)
        rewards.append(row["reward"])
        theta = row["new_theta"]


def check_episode_rows(log: list[dict[str, Any]], *, credited: list[bool]) -> None:
    """The same of episodes of two steps."""
    assert log
    assert log[0]["expected_return"] == 0.25  # even probabilities: one trajectory of four
    returns: list[float] = []
    tables = {"": [0.0, 0.0], "Answer: ": [0.0, 0.0], "Final: ": [0.0, 0.0]}  # the text so far -> its logits
    for episode, row in enumerate(log, 1):
        assert row["episode"] == episode
        assert row["prompt"] == PROMPT
        assert row["prefixes"] == ["", row["tokens"][0]]
        assert row["rewards"] == [0.0, float("".join(row["tokens"]) == "Final: 323")]
        assert row["return_"] == [row["rewards"][0] + row["rewards"][1], row["rewards"][1]]
        assert row["baseline"] == pytest.approx(sum(returns) / len(returns) if returns else 0.0, abs=1e-12)
        assert row["credited"] == credited
        for step, prefix in enumerate(row["prefixes"]):
            assert row["theta"][step] == tables[prefix]
            assert row["probs"][step] == pytest.approx(softmax_by_hand(tables[prefix]), abs=1e-12)
            assert row["advantage"][step] == credited[step] * (row["return_"][step] - row["baseline"])
            expected = [(token == row["actions"][step]) - p for token, p in enumerate(row["probs"][step])]
            assert row["grad_log_prob"][step] == expected
            assert row["direction"][step] == [row["advantage"][step] * g for g in row["grad_log_prob"][step]]
            changes = zip(row["theta"][step], row["direction"][step], strict=True)
            assert row["new_theta"][step] == [t + row["lr"] * d for t, d in changes]
            tables[prefix] = row["new_theta"][step]
        returns.append(row["return_"][0])


def check_run(lab: Lab, command: str, *arguments: object, log: str) -> None:
    """Same seed, same bytes; another seed, other bytes. The run is whole, and one that was edited is not."""
    for outdir, seed in (("one", 3), ("same", 3), ("other", 4)):
        done = lab(command, *arguments, "--seed", seed, "--outdir", outdir)
        assert (done.status, done.err) == (0, "")
    one, same, other = (evidence(lab.folder / name) for name in ("one", "same", "other"))
    assert one == same
    assert [*one] == [name.replace("seed_4", "seed_3") for name in other]
    assert one.keys() >= {"results.jsonl", "summary.json", "manifest.json", log}
    assert one[log] != other[log]
    assert lab("inspect_run", "--run", "one", "--verify").status == 0
    for name in (log, "results.jsonl"):
        lab.write(f"other/{name}", one[name])
        assert lab("inspect_run", "--run", "other", "--verify").status == 1
