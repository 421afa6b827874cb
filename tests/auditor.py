"""Recomputes every number in the logs of Loop C from the files of a run, without the package: NumPy and no more.

    python3 tests/auditor.py runs/run_001 data/datasets

Written from what the course says of itself, not from its code. A training is done again: the reference policy is in
the run, what it learned from is found by its fingerprint, and the seed in the manifest draws what was drawn. Prints a
line for each number that comes out as another, and for each that nothing here recomputes.

Notation
    rows      the lines of a log; ``expected``: what they should hold, as far as it can be known
    policy    a token policy as its file holds it; N completions are N lists of tokens, with their END

Not covered
    A long training that another machine did: last bits differ there, and after some hundred updates so may a token.
    Whether the reference policy is what supervised fine-tuning with this seed gives: it is taken as the run has it.
"""

import csv
import hashlib
import io
import json
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Row = dict[str, Any]
Policy = dict[str, Any]  # vocabulary, positions, max_tokens, and the five arrays of weights

UNAUDITED: dict[str, dict[str, str]] = {
    "tokens.jsonl": {
        "token_ids": "the vocabularies are a package's own; held here: joined, the bytes are the text, one id has the "
        "same bytes everywhere, and there are as many ids as tokens"
    }
}
RELATIVE, ABSOLUTE = 1e-9, 1e-12  # the second for what is 0 but for rounding
MANY, LOOSE = (
    100,
    1e-4,
)  # after so many updates: each builds on the last, and sums are taken in another order here
BESIDE = "!"  # no name of a number: what is wrong beside the row
OTHER_COMPLETIONS = "drawn again, the policy writes other completions than results.jsonl says"

ARMS = ("The answer is 323.", "Final: 323", "Final: 332", "Final: 323\n")  # of the bandit
TOKENS = (("Answer: ", "Final: "), ("332", "323"))  # of the world of two steps


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def read_rows(path: Path) -> list[Row]:
    """The rows of JSONL, or of a spreadsheet: an empty cell is None there."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        return [{k: json.loads(cell or "null") for k, cell in row.items()} for row in csv.DictReader(io.StringIO(text))]
    return [json.loads(line) for line in text.split("\n") if line]


# --- comparing


def audit(run: Path, datasets: Path) -> list[str]:
    """A line for each number of the run's logs that is not what it should be, or that nothing recomputes."""
    return [line for name in logs_of(run) for line in differences(name, *both(run, name, datasets))]


def command_of(run: Path) -> str:
    return str(read_json(run / "manifest.json")["command"]).removeprefix("course.")


def logs_of(run: Path) -> list[str]:
    """The logs that the run holds: that of single updates is written on demand."""
    return [name for name in LOGS[command_of(run)] if name != "slow.jsonl" or (run / name).exists()]


def both(run: Path, name: str, datasets: Path) -> tuple[list[Row], list[Row]]:
    """The rows of a log, and what they should hold."""
    rows = read_rows(run / name)
    return rows, list(LOGS[command_of(run)][name](run, rows, datasets))


def differences(name: str, rows: Sequence[Row], recomputed: Sequence[Row]) -> Iterator[str]:
    if len(rows) != len(recomputed):
        yield f"{name}: expected {len(recomputed)} rows, got {len(rows)}"
    for number, (row, expected) in enumerate(zip(rows, recomputed, strict=False), 1):
        for key, value in row.items():
            if key in expected:
                if not same(value, expected[key], LOOSE if row.get("step", 0) > MANY else RELATIVE):
                    yield f"{name}:{number} {key}: the log says {value}, recomputed: {plain(expected[key])}"
            elif has_number(value) and key not in UNAUDITED.get(name, {}):
                yield f"{name}:{number} {key}: a number that nothing recomputes"
        if BESIDE in expected:
            yield f"{name}:{number} {expected[BESIDE]}"


def plain(value: Any) -> Any:
    """The value without arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def has_number(value: object) -> bool:
    if isinstance(value, list):
        return any(map(has_number, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(value: Any, expected: Any, relative: float = RELATIVE) -> bool:
    """Floats to the tolerance, all else exactly; element by element."""
    expected = plain(expected)
    if isinstance(expected, list):
        if not isinstance(value, list) or len(value) != len(expected):
            return False
        return all(same(*pair, relative) for pair in zip(value, expected, strict=True))
    if isinstance(expected, float) and has_number(value):
        return math.isclose(value, expected, rel_tol=relative, abs_tol=ABSOLUTE)
    return bool(value == expected)


# --- verifiers


def paid(rubric: str, answer: int, text: str) -> float:
    """The reward of a text: the strict scorer's ("score"), or that of one of the careless verifiers."""
    strict = re.fullmatch("Final: (0|-?[1-9][0-9]*)", text.strip(" \t\r\n"))
    integers, trimmed, digits = re.findall("-?[0-9]+", text), text.strip(), re.sub("[^0-9]", "", text)
    said = trimmed.removeprefix("Final: ")
    if rubric == "score":
        return float(strict is not None and strict[1] == str(answer))
    if rubric == "anywhere":
        return float(str(answer) in integers)
    if rubric == "last_number":
        return float(integers[-1:] == [str(answer)])
    if rubric == "suffix":
        return float(trimmed.startswith("Final: ") and trimmed.endswith(str(abs(answer))))
    if rubric == "any_candidate":
        return float(str(answer) in re.split("[ ,;/]+|or", said))
    if rubric == "without_punctuation":
        return float(str(abs(answer)).startswith(digits))
    if rubric == "format_only":
        return float(re.fullmatch(r"Final: -?\d+", trimmed) is not None)
    if rubric == "format_bonus":
        return min(3, text.count("Final")) / 3 if trimmed.startswith(f"Final: {answer}") else 0.0
    if rubric == "cast":
        try:
            return float(int(said) == answer)
        except ValueError:
            return 0.0
    raise ValueError(f"expected a known rubric, got {rubric}")


# --- policies over a few actions


def softmax(theta: Any) -> Floats:
    weights = np.exp(np.array(theta) - np.max(theta))
    return np.asarray(weights / sum(weights))


def drawn(p: Floats, u: float) -> int:
    """The first action whose cumulative probability exceeds u."""
    return min(int(sum(total <= u for total in np.cumsum(p))), len(p) - 1)


def push(p: Floats, action: int) -> Floats:
    """∂ log p(action) / ∂ theta: 1 − p of the action, − p of the others."""
    return np.array([float(other == action) - p[other] for other in range(len(p))])


def product_asked(manifest: Row) -> int:
    """The answer to a prompt that asks for 17 * 19."""
    return math.prod(map(int, re.findall("[0-9]+", manifest["settings"]["prompt"])))


def bandit_rows(run: Path, _: Sequence[Row], __: Path) -> Iterator[Row]:
    manifest = read_json(run / "manifest.json")
    settings, answer = manifest["settings"], product_asked(manifest)
    theta, rewards = np.zeros(len(ARMS)), list[float]()
    for step, u in enumerate(np.random.default_rng(manifest["seed"]).random(settings["steps"]), 1):
        p = softmax(theta)
        action = drawn(p, u)
        verifier = paid("score", answer, ARMS[action])
        reward = verifier + settings.get("reward_offset", 0.0)
        baseline = sum(rewards) / len(rewards) if rewards and settings["baseline"] else 0.0
        direction = (reward - baseline) * push(p, action)
        row = {"step": step, "theta": theta, "probs": p, "action": action, "completion": ARMS[action]}
        row |= {"verifier_reward": verifier, "reward": reward, "baseline": baseline, "advantage": reward - baseline}
        theta = theta + settings["lr"] * direction
        row |= {"grad_log_prob": push(p, action), "direction": direction, "lr": settings["lr"]}
        yield row | {"new_theta": theta, "new_probs": softmax(theta)}
        rewards.append(reward)


def episode_rows(run: Path, _: Sequence[Row], __: Path) -> Iterator[Row]:
    manifest = read_json(run / "manifest.json")
    settings, answer = manifest["settings"], product_asked(manifest)
    lr, credited = settings["lr"], [settings["credit_step1"], True]
    theta, returns = np.zeros((3, 2)), list[float]()
    for episode, u in enumerate(np.random.default_rng(manifest["seed"]).random((settings["episodes"], 2)), 1):
        before = theta.copy()
        policy = [softmax(row) for row in theta]
        first = drawn(policy[0], u[0])
        second = drawn(policy[1 + first], u[1])
        visited, actions = [0, 1 + first], [first, second]
        tokens = [TOKENS[0][first], TOKENS[1][second]]
        reward = paid("score", answer, "".join(tokens))
        baseline = sum(returns) / len(returns) if returns else 0.0
        advantage = [float(credit) * (reward - baseline) for credit in credited]
        p = [policy[state] for state in visited]
        pushes = [push(p[t], actions[t]) for t in range(2)]
        for t, state in enumerate(visited):
            theta[state] += lr * advantage[t] * pushes[t]
        trajectories = [(a, b, paid("score", answer, TOKENS[0][a] + TOKENS[1][b])) for a in range(2) for b in range(2)]
        yield {
            "episode": episode,
            "expected_return": float(sum(policy[0][a] * policy[1 + a][b] * paid_ for a, b, paid_ in trajectories)),
            "prefixes": ["", tokens[0]],
            "tokens": tokens,
            "actions": actions,
            "probs": p,
            "rewards": [0.0, reward],
            "return_": [reward, reward],
            "baseline": baseline,
            "credited": credited,
            "advantage": advantage,
            "grad_log_prob": pushes,
            "direction": [advantage[t] * pushes[t] for t in range(2)],
            "lr": lr,
            "theta": before[visited],
            "new_theta": theta[visited],
            "new_probs": [softmax(row) for row in theta[visited]],
        }
        returns.append(reward)


def round_rows(run: Path, _: Sequence[Row], __: Path) -> Iterator[Row]:
    manifest = read_json(run / "manifest.json")
    settings, answer = manifest["settings"], product_asked(manifest)
    texts, theta = settings["completions"], np.array(settings["start"])
    arms = [paid("score", answer, text) for text in texts]
    draws = np.random.default_rng(manifest["seed"]).random((settings["rounds"], settings["n"]))
    for number, u in enumerate(draws, 1):
        p = softmax(theta)
        actions = [drawn(p, one) for one in u]
        rewards = [arms[action] for action in actions]
        if settings["mode"] == "learning":
            average = sum(rewards) / len(rewards)
            pushes = [(arms[action] - average) * push(p, action) for action in actions]
            theta = theta + settings["lr"] * sum(pushes) / len(pushes)
        yield {
            "round": number,
            "pass_at_1": float(p @ np.array(arms)),
            "probs": p,
            "actions": actions,
            "completions": [texts[action] for action in actions],
            "rewards": rewards,
            "delivered": max(rewards) if settings["mode"] == "selection" else rewards[0],
            "new_probs": softmax(theta),
            "new_pass_at_1": float(softmax(theta) @ np.array(arms)),
        }


def tradeoff_rows(run: Path, _: Sequence[Row], __: Path) -> Iterator[Row]:
    """A column for each number: those of a list have names of their own."""
    settings = read_json(run / "manifest.json")["settings"]
    answers = [one["expected_answer"] for one in read_rows(run / "results.jsonl")]
    texts, reference, rewards, _said = (list(column) for column in zip(*settings["actions"], strict=True))
    verifier = [paid("score", answer, text) for answer, text in zip(answers, texts, strict=True)]
    jobs = [(None, None), *((beta, None) for beta in settings["betas"]), *((None, n) for n in settings["best_of"])]
    for beta, n in jobs:
        p = np.array(reference)
        if beta:
            p = p * np.exp((np.array(rewards) - max(rewards)) / beta)
            p /= p.sum()
        elif n:
            at_most = np.array([sum(q for q, r in zip(reference, rewards, strict=True) if r <= one) for one in rewards])
            less = np.array([sum(q for q, r in zip(reference, rewards, strict=True) if r < one) for one in rewards])
            p = p * (at_most**n - less**n) / (at_most - less)
        yield {
            "beta": beta,
            "n": n,
            "mean_reward": float(p @ np.array(rewards)),
            "verifier_reward": float(p @ np.array(verifier)),
            "kl": sum(a * math.log(a / b) for a, b in zip(p.tolist(), reference, strict=True) if a > 0),
            "kl_bound": n and math.log(n) - (n - 1) / n,
            **{f"top{place}": a for place, a in enumerate(sorted(range(len(p)), key=lambda a: -p[a])[:3], 1)},
            **{f"p{action}": float(one) for action, one in enumerate(p)},
        }


def tokenized_rows(run: Path, rows: Sequence[Row], _: Path) -> Iterator[Row]:
    texts = {one["id"]: one["completion"] for one in read_rows(run / "results.jsonl")}
    known: dict[tuple[str, int], str] = {}
    for row in rows:
        ids, tokens = row["token_ids"], row["token_bytes"]
        whole = len(ids) == len(tokens) and "".join(tokens) == texts[row["id"]].encode().hex()
        whole &= row["token_texts"] == [bytes.fromhex(token).decode("utf-8", "backslashreplace") for token in tokens]
        pairs = zip(ids, tokens, strict=False)
        consistent = all(known.setdefault((row["vocabulary"], id_), token) == token for id_, token in pairs)
        yield {} if whole and consistent else {BESIDE: f"{row['id']}: its tokens are not its text"}


# --- token policies


def read_policy(path: Path) -> Policy:
    with np.load(path, allow_pickle=False) as arrays:
        about: Policy = json.loads(arrays["about"].tobytes())
        return about | {name: arrays[name] for name in arrays if name != "about"}


def encoded(policy: Policy, prompts: Sequence[str]) -> list[list[int]]:
    """The tokens that the policy reads of each prompt; the longest token that fits comes first."""
    vocabulary, rows = policy["vocabulary"], []
    longest_first = sorted(
        (token for token in range(len(vocabulary)) if vocabulary[token]), key=lambda t: -len(vocabulary[t])
    )
    for prompt in prompts:
        tokens, at = list[int](), 0
        while at < len(prompt):
            fits = (token for token in longest_first if prompt.startswith(vocabulary[token], at))
            tokens.append(next(fits, len(vocabulary)))
            at += len(vocabulary[tokens[-1]]) if tokens[-1] < len(vocabulary) else 1
        rows.append([tokens[at] if at < len(tokens) else len(vocabulary) for at in policy["positions"]])
    return rows


def reads(policy: Policy, prompt: list[int], written: list[int]) -> list[int]:
    """What stands before the next token: of the prompt, and the last few tokens, padded in front."""
    recent = len(policy["hidden"]) // policy["vectors"].shape[1] - len(prompt)
    return [*prompt, *([len(policy["vocabulary"])] * recent + written)[-recent:]]


def network(policy: Policy, contexts: Sequence[list[int]]) -> tuple[Floats, Floats, Floats]:
    """Of each context: the vectors that are read, the hidden layer, and log p of each next token."""
    x = np.concatenate([policy["vectors"][list(column)] for column in zip(*contexts, strict=True)], axis=1)
    hidden = np.tanh(x @ policy["hidden"] + policy["hidden_bias"])
    theta = hidden @ policy["out"] + policy["out_bias"]
    top = theta.max(axis=1)[:, None]
    return x, hidden, theta - top - np.log(np.exp(theta - top).sum(axis=1))[:, None]


def write(policy: Policy, prompts: Sequence[list[int]], u: Floats) -> list[list[int]]:
    """A completion of each prompt, a draw a token, to its END or to the limit."""
    rows: list[list[int]] = [[] for _ in prompts]
    for t in range(u.shape[1]):
        if open_ := [i for i, row in enumerate(rows) if 0 not in row]:
            log_p = network(policy, [reads(policy, prompts[i], rows[i]) for i in open_])[2]
            for i, cumulative in zip(open_, np.cumsum(np.exp(log_p), axis=1), strict=True):
                rows[i].append(min(int(np.searchsorted(cumulative, u[i, t], side="right")), len(cumulative) - 1))
    return rows


def text_of(policy: Policy, row: Sequence[int]) -> str:
    return "".join(policy["vocabulary"][token] for token in row)


def prefixes(policy: Policy, prompts: Sequence[list[int]], rows: Sequence[list[int]]) -> list[list[int]]:
    """The context of each token, the first completion's, then the next one's."""
    return [reads(policy, seen, row[:t]) for seen, row in zip(prompts, rows, strict=True) for t in range(len(row))]


def split(values: Floats, rows: Sequence[list[int]]) -> list[Floats]:
    """One value a token, as one array a completion."""
    return np.split(values, list(accumulate(map(len, rows)))[:-1])


def log_probs(policy: Policy, prompts: Sequence[list[int]], rows: Sequence[list[int]]) -> list[Floats]:
    log_p, tokens = network(policy, prefixes(policy, prompts, rows))[2], [token for row in rows for token in row]
    return split(log_p[range(len(tokens)), tokens], rows)


def sequence_kl(policy: Policy, reference: Policy, prompts: Sequence[list[int]], rows: Sequence[list[int]]) -> float:
    """The mean over completions of Σ_t KL(policy ‖ reference) of the next token, in nats."""
    ours, theirs = (network(one, prefixes(one, prompts, rows))[2] for one in (policy, reference))
    return float((np.exp(ours) * (ours - theirs)).sum() / len(rows))


def ascended(
    policy: Policy, prompts: Sequence[list[int]], rows: Sequence[list[int]], weights: Floats, lr: float
) -> Policy:
    """The policy after a step up Σ_i weight_i · log p(completion_i): the chain rule from theta back to the vectors."""
    contexts, tokens = prefixes(policy, prompts, rows), [token for row in rows for token in row]
    x, hidden, log_p = network(policy, contexts)
    weight = np.repeat(weights, [len(row) for row in rows])[:, None]
    at_theta = weight * (np.eye(log_p.shape[1])[tokens] - np.exp(log_p))
    at_hidden = at_theta @ policy["out"].T * (1 - hidden * hidden)
    at_vectors = np.zeros_like(policy["vectors"])
    width = at_vectors.shape[1]
    np.add.at(at_vectors, np.array(contexts), (at_hidden @ policy["hidden"].T).reshape(len(tokens), -1, width))
    gradient = {"vectors": at_vectors, "hidden": x.T @ at_hidden, "hidden_bias": at_hidden.sum(axis=0)}
    gradient |= {"out": hidden.T @ at_theta, "out_bias": at_theta.sum(axis=0)}
    return policy | {name: policy[name] + lr * change for name, change in gradient.items()}


def erring(reward: float, coin: float, plan: Row) -> float:
    """The reward of a verifier that pays a wrong completion, or misses a right one, by the fall of a coin."""
    pays_wrong, misses = plan["false_positives"], plan["false_negatives"]
    if coin < (misses if reward else pays_wrong):
        reward = 1 - reward
    return reward


def learn(reference: Policy, examples: Sequence[Row], rubric: str, plan: Row, seed: int) -> Iterator[Row]:
    """REINFORCE, update by update: the policy before and after it, and what went into it."""
    policy, prompts, means = reference, encoded(reference, [one["prompt"] for one in examples]), list[float]()
    prompt_rng, token_rng, error_rng = (np.random.default_rng([seed, purpose]) for purpose in (2, 3, 5))
    size, beta = plan["group_size"], plan["kl_coef"]
    for step in range(1, plan["steps"] + 1):
        picked = prompt_rng.choice(len(examples), min(plan["prompts_a_step"], len(examples)), replace=False)
        chosen = [int(i) for i in picked for _ in range(size)]
        asked = [prompts[i] for i in chosen]
        rows = write(policy, asked, token_rng.random((len(chosen), plan["max_tokens"])))
        answers = [examples[i]["expected_answer"] for i in chosen]
        reward = [paid(rubric, answer, text_of(policy, row)) for answer, row in zip(answers, rows, strict=True)]
        reward = [erring(one, coin, plan) for one, coin in zip(reward, error_rng.random(len(rows)), strict=True)]
        ratio = [0.0] * len(rows)
        if beta:
            pairs = zip(*(log_probs(one, asked, rows) for one in (policy, reference)), strict=True)
            ratio = [float(ours.sum() - theirs.sum()) for ours, theirs in pairs]
        returns = [own - beta * log_ratio for own, log_ratio in zip(reward, ratio, strict=True)]
        if plan["baseline"] == "group":
            groups = [returns[i // size * size :][:size] for i in range(len(returns))]
            baseline = [(sum(group) - own) / (size - 1) for group, own in zip(groups, returns, strict=True)]
        else:
            running = sum(means) / len(means) if means and plan["baseline"] == "running" else 0.0
            baseline = [running] * len(returns)
        means.append(sum(returns) / len(returns))
        advantage = [own - other for own, other in zip(returns, baseline, strict=True)]
        new_policy = ascended(policy, asked, rows, np.array(advantage) / len(rows), plan["lr"])
        update = {"step": step, "policy": policy, "new_policy": new_policy, "asked": asked, "rows": rows}
        update |= {"id": [examples[i]["id"] for i in chosen], "reward": reward, "log_ratio": ratio}
        yield update | {"baseline": baseline, "advantage": advantage}
        policy = new_policy


class Training:
    """One training of a run: from which file it started, on what, for which rubric, and how it is measured."""

    def __init__(
        self, run: Path, file: str, examples: Sequence[Row], holdout: Sequence[Row], plan: Row, seed: int
    ) -> None:
        self.reference = read_policy(run / file)
        self.examples, self.holdout, self.plan, self.seed = examples, holdout, plan, seed
        self.rubric = plan["rubric"]

    def updates(self) -> Iterator[Row]:
        return learn(self.reference, self.examples, self.rubric, self.plan, self.seed)

    def checkpoints(self, results: Iterator[Row]) -> Iterator[Row]:
        """The row of each evaluation. ``results``: what the run says was written, in order."""
        yield self.evaluated(0, self.reference, results)
        equal: list[bool] = []  # of the groups since the last evaluation: whether all their rewards are equal
        for update in self.updates():
            step, reward, size = update["step"], update["reward"], self.plan["group_size"]
            equal += [len({*reward[at : at + size]}) == 1 for at in range(0, len(reward), size)]
            if step % self.plan["eval_every"] == 0 or step == self.plan["steps"]:
                row = self.evaluated(step, update["new_policy"], results)
                yield row | {"equal_groups": sum(equal) / len(equal)}
                equal = []

    def evaluated(self, step: int, policy: Policy, results: Iterator[Row]) -> Row:
        found = {"rubric": self.rubric, "kl_coef": self.plan["kl_coef"], "seed": self.seed, "step": step}
        found |= {"holdout_n": 0, "holdout_proxy_reward": None, "holdout_true_reward": None, "holdout_gap": None}
        for prefix, examples in (("", self.examples), ("holdout_", self.holdout)):
            if not examples:
                continue
            asked = [*examples] * self.plan["samples"]
            prompts, own = encoded(policy, [one["prompt"] for one in asked]), list(islice(results, len(asked)))
            u = np.random.default_rng([self.seed, 4]).random((len(asked), policy["max_tokens"]))
            rows = write(policy, prompts, u)
            pairs = [(example["expected_answer"], one["completion"]) for example, one in zip(asked, own, strict=True)]
            if [text_of(policy, row) for row in rows] != [text for _, text in pairs]:
                found[BESIDE] = OTHER_COMPLETIONS
            proxy, true = ([paid(name, *pair) for pair in pairs] for name in (self.rubric, "score"))
            found[f"{prefix}n"] = len(asked)
            found[f"{prefix}proxy_reward"], found[f"{prefix}true_reward"] = (
                sum(proxy) / len(asked),
                sum(true) / len(asked),
            )
            hacked = sum(ours >= 0.5 and strict == 0 for ours, strict in zip(proxy, true, strict=True))
            found[f"{prefix}gap"] = hacked / len(asked)
            if not prefix:
                found["kl"] = sequence_kl(policy, self.reference, prompts, rows)
                found["mean_length"] = sum(map(len, rows)) / len(rows)
        return found


def by_fingerprint(datasets: Path) -> dict[str, list[Row]]:
    """The rows of each dataset under the digest of its bytes."""
    return {hashlib.sha256(path.read_bytes()).hexdigest(): read_rows(path) for path in datasets.rglob("*.jsonl")}


def settings_of(run: Path) -> list[Row]:
    """The settings of each training, one after the other: what differs between them is a list in the manifest."""
    settings = read_json(run / "manifest.json")["settings"]
    lists = {name: value for name, value in settings.items() if isinstance(value, list)}
    if not lists:
        return [settings]
    return [settings | dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=True)]


def trainings(run: Path, datasets: Path) -> list[Training]:
    """The trainings of a run in the order of its log."""
    manifest, files = read_json(run / "manifest.json"), by_fingerprint(datasets)
    found = []
    for settings in settings_of(run):
        examples = files[settings.get("dataset_fingerprint", manifest["dataset_fingerprint"])][: settings["prompts"]]
        holdout = files[settings["holdout_fingerprint"]] if settings["holdout_fingerprint"] else []
        start = f"{len(examples)}_prompts_{settings['sft_steps']}_steps"
        for seed in range(manifest["seed"], manifest["seed"] + settings.get("seeds", 1)):
            file = "reference.npz" if command_of(run) == "token_train" else f"references/{start}_seed_{seed}.npz"
            found.append(Training(run, file, examples, holdout, settings, seed))
    return found


def evaluation_rows(run: Path, rows: Sequence[Row], datasets: Path) -> Iterator[Row]:
    if read_json(run / "manifest.json")["settings"].get("experiment") == "pass_at_k":
        yield from counted_rows(run, rows, datasets)
        return
    results = (one for one in read_rows(run / "results.jsonl") if one.get("training") != "frozen")
    for training in trainings(run, datasets):
        whole = training.checkpoints(results)
        interrupted = read_json(run / "summary.json").get("interrupted") is True
        yield from islice(whole, len(rows)) if interrupted else whole


def counted_rows(run: Path, rows: Sequence[Row], datasets: Path) -> Iterator[Row]:
    """A row for each prompt before and after learning: its completions are drawn again, and each is paid."""
    said = dict[tuple[Any, ...], Row]()
    for one in read_rows(run / "results.jsonl"):
        key = (one["training"], one["step"], one["split"], one["id"])
        said.setdefault(key, {})[one["completion"]] = one.get("count", 1)
    presets = list(dict.fromkeys((row["preset"], row["seed"]) for row in rows))
    for (preset, _), training in zip(presets, trainings(run, datasets), strict=True):
        plan, seed = training.plan, training.seed
        *_, last = training.updates()
        policies = {0: training.reference, plan["steps"]: last["new_policy"]}
        splits = {"train": training.examples, "holdout": training.holdout}
        for (step, policy), (part, examples) in product(policies.items(), splits.items()):
            rng, shape = np.random.default_rng([seed, 4]), (plan["samples"], plan["max_tokens"])
            counted = {row["id"] for row in rows if (row["preset"], row["split"]) == (preset, part)}
            for example in examples[: len(counted)]:
                texts, entropy = sampled(policy, example["prompt"], rng.random(shape))
                row = {"preset": preset, "seed": seed, "step": step, "split": part, "id": example["id"]}
                row |= {"n": len(texts), "entropy": entropy}
                row["correct"] = sum(int(paid("score", example["expected_answer"], text)) for text in texts)
                written = said[f"{preset}, seed {seed}", step, part, example["id"]]
                yield row | ({} if Counter(texts) == written else {BESIDE: OTHER_COMPLETIONS})


def sampled(policy: Policy, prompt: str, u: Floats) -> tuple[list[str], float]:
    """A completion for each row of draws, and the mean entropy of the next token along them, in nats."""
    prompts = encoded(policy, [prompt] * len(u))
    rows = write(policy, prompts, u)
    log_p = network(policy, prefixes(policy, prompts, rows))[2]
    return [text_of(policy, row) for row in rows], float(-(np.exp(log_p) * log_p).sum(axis=1).mean())


def token_rows(run: Path, rows: Sequence[Row], datasets: Path) -> Iterator[Row]:
    """A row for each completion of as many updates as the log shows."""
    (training,) = trainings(run, datasets)
    for update in islice(training.updates(), rows[-1]["step"]):
        policies = {"log_probs": update["policy"], "reference_log_probs": training.reference}
        policies |= {"new_log_probs": update["new_policy"]}
        found: dict[str, Sequence[Any]] = {
            name: update[name] for name in ("id", "reward", "log_ratio", "baseline", "advantage")
        }
        found |= {name: log_probs(one, update["asked"], update["rows"]) for name, one in policies.items()}
        found["tokens"] = [[text_of(training.reference, [token]) for token in row] for row in update["rows"]]
        for values in zip(*found.values(), strict=True):
            yield {"step": update["step"], "kl_coef": training.plan["kl_coef"]} | dict(zip(found, values, strict=True))


Recompute = Callable[[Path, Sequence[Row], Path], Iterator[Row]]
LOGS: dict[str, dict[str, Recompute]] = {  # command -> its logs
    "policy_gradient_demo": {"policy_gradient_log.jsonl": bandit_rows},
    "bandit_train": {"bandit_train_log.jsonl": bandit_rows},
    "toy_mdp": {"toy_mdp_log.jsonl": episode_rows},
    "policy_improvement_demo": {"policy_improvement.jsonl": round_rows},
    "kl_tradeoff_demo": {"kl_tradeoff.csv": tradeoff_rows},
    "token_inspect": {"tokens.jsonl": tokenized_rows},
    "token_train": {"log.jsonl": evaluation_rows, "slow.jsonl": token_rows},
    "experiment": {"log.jsonl": evaluation_rows},
}

if __name__ == "__main__":
    lines = audit(Path(sys.argv[1]), Path(sys.argv[2]))
    print(*(lines or ["every number comes out as the logs say"]), sep="\n")
    sys.exit(bool(lines))
