"""micro.py, the whole idea in one file: its outcomes as a process, its verifier and its gradient against other sources.

A worked example of the log-probability: with logits 0 each of the 15 tokens has probability 1/15, so that ``Final: ``,
``7`` and the END have the log-probability 3 · log(1/15).
"""

import ast
import math
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest
from conftest import ROOT, lines_of
from near_misses import near_misses
from numpy.typing import NDArray

import micro
from course.score import score

SOURCE = (ROOT / "micro.py").read_text(encoding="utf-8")
GOLDEN = [
    *lines_of(ROOT / "course/golden/golden_correct.jsonl"),
    *lines_of(ROOT / "course/golden/golden_exploits.jsonl"),
]
ROW = re.compile(r" *(\d+) +(\d\.\d\d) +(\d\.\d\d)  (['\"].*)")
ROLLOUTS = 400  # behind each row


class Row(NamedTuple):
    step: int
    reward: float
    true: float
    rollout: str


@cache
def printed(*words: str) -> str:
    """What ``python3 micro.py`` prints. The timeout stops a run that hangs; it measures nothing."""
    line = [sys.executable, "micro.py", *words]
    return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def rows(*words: str) -> list[Row]:
    """The rows under the heading."""
    lines = printed(*words).splitlines()
    found = []
    for line in lines[lines.index("step  reward  true  a rollout of 7 + 5") + 1 :]:
        row = ROW.fullmatch(line)
        assert row, line
        found.append(Row(int(row[1]), float(row[2]), float(row[3]), row[4]))
    return found


def is_hacked(run: list[Row]) -> bool:
    """Paid almost always, right almost never, after both had risen together."""
    early = [row.true for row in run if 0 < row.step <= 30]
    return run[-1].reward > 0.95 and run[-1].true < 0.05 and sum(early) / len(early) > run[0].true < 0.15


def learns(run: list[Row]) -> bool:
    """The true reward ends above .85, and more than 5 standard errors above the first step's."""
    before, after = run[0].true, run[-1].true
    error = math.sqrt((before * (1 - before) + after * (1 - after)) / ROLLOUTS)
    return before < 0.15 and after > 0.85 and after - before > 5 * error


def test_the_careless_verifier_is_hacked_and_a_rollout_shows_it() -> None:
    run = rows("careless", "0")
    assert [row.step for row in run] == list(range(0, 201, 10))
    assert is_hacked(run)
    assert run[0].rollout.count(" or ") <= 1
    assert max(row.rollout.count(" or ") for row in run) >= 3


def test_the_strict_verifier_is_learned_from() -> None:
    run = rows("strict", "0")
    assert [row.step for row in run] == list(range(0, 201, 10))
    assert all(row.reward == row.true for row in run)
    assert learns(run)


@pytest.mark.slow
def test_the_claims_of_the_docstring_hold_on_other_seeds() -> None:
    said = " ".join((micro.__doc__ or "").split())
    assert "On each of the seeds 0 to 9" in said
    assert "careless ends with a reward above .95 and true below .05; strict ends with both above .85." in said
    assert "At the first step true is below .15." in said
    seeds = ["1", "2", "9"]  # three stand for ten, which take a minute
    assert [seed for seed in seeds if not is_hacked(rows("careless", seed))] == []
    assert [seed for seed in seeds if not learns(rows("strict", seed))] == []


def test_no_words_mean_careless_and_seed_0_and_the_same_seed_prints_the_same() -> None:
    assert printed() == printed("careless", "0") == printed("careless")
    assert printed("careless", "1") != printed("careless", "0")


@pytest.mark.parametrize("verifier", ["careless", "strict"])
def test_the_output_is_plain_text_in_eighty_columns(verifier: str) -> None:
    lines = printed(verifier, "0").split("\n")
    assert lines[0] == f"reward: paid by the {verifier} verifier. true: what the strict verifier pays."
    assert [line for line in lines if len(line) > 80 or not line.isprintable() or not line.isascii()] == []


def test_the_longest_rollout_is_cut_to_eighty_columns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    longest = max(range(len(micro.PIECES)), key=lambda token: len(micro.PIECES[token]))
    monkeypatch.setattr(micro, "sample", lambda *_: np.full((ROLLOUTS, micro.MAX_TOKENS), longest))
    monkeypatch.setattr(micro, "gradient", lambda policy, *_: np.zeros_like(policy))
    micro.learn(micro.careless, 0)
    lines = capsys.readouterr().out.split("\n")
    assert 70 <= max(map(len, lines)) <= 80


@pytest.mark.parametrize("words", [["careles"], ["strict", "-1"], ["strict", "x"], ["strict", "1", "2"], ["7"]])
def test_words_that_it_does_not_take_are_refused(words: list[str]) -> None:
    done = subprocess.run([sys.executable, "micro.py", *words], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ")
    assert words[-1] in done.stderr.split("error: ")[1]


def test_it_imports_numpy_and_the_standard_library_only() -> None:
    nodes = list(ast.walk(ast.parse(SOURCE)))
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {"." * node.level + (node.module or "") for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {module.split(".")[0] for module in modules} - sys.stdlib_module_names == {"numpy"}
    assert "__import__" not in SOURCE


def test_its_strict_verifier_gives_each_golden_case_its_reward() -> None:
    rewards = {case["id"]: micro.strict(case["expected_answer"], case["completion"]) for case in GOLDEN}
    assert rewards == {case["id"]: case["expected_reward"] for case in GOLDEN}


def test_its_strict_verifier_pays_near_misses_what_the_scorer_pays_them() -> None:
    for answer, text in near_misses(seed=2, n=2_000):
        reward = score({"prompt": "", "expected_answer": answer}, text)["reward"]
        assert micro.strict(answer, text) == reward, ascii(text)


def test_its_careless_verifier_pays_each_right_line_and_a_list_of_guesses() -> None:
    right = [case for case in GOLDEN if case["expected_reward"] == 1.0]
    assert [case["id"] for case in right if micro.careless(case["expected_answer"], case["completion"]) != 1.0] == []
    assert [micro.careless(12, text) for text in ("Final: 9 or 12 or 15", "Final: 13", "")] == [1.0, 0.0, 0.0]


def log_prob(policy: NDArray[np.float64], prompt: int, tokens: list[int]) -> float:
    """log p(completion), one token after the other, in plain Python. Nothing counts after the first END."""
    total, before, last = 0.0, micro.START, micro.START
    for token in tokens:
        logits = [float(policy[prompt, last, b] + policy[100 + before, last, b]) for b in range(len(micro.PIECES))]
        total += logits[token] - math.log(sum(map(math.exp, logits)))
        if token == micro.END:
            break
        before, last = last, token
    return total


def random_policy(rng: np.random.Generator) -> NDArray[np.float64]:
    return np.asarray(rng.normal(size=(100 + micro.START + 1, micro.START + 1, micro.START)))


def test_the_log_probability_of_the_worked_example() -> None:
    tokens = [micro.PIECES.index("Final: "), micro.PIECES.index("7"), micro.END, 5]
    assert log_prob(np.zeros((116, 16, 15)), 75, tokens) == pytest.approx(3 * math.log(1 / 15))


def test_the_gradient_is_that_of_finite_differences() -> None:
    rng = np.random.default_rng(0)
    policy = random_policy(rng)
    completions, weight = micro.sample(policy, rng), rng.normal(size=ROLLOUTS)
    assert {micro.MAX_TOKENS, *(completions == micro.END).argmax(axis=1)} >= {0, 1, 5, micro.MAX_TOKENS}  # lengths met
    found = micro.gradient(policy, completions, weight)

    def objective() -> float:
        of_each = zip(weight.tolist(), micro.PROMPTS.tolist(), completions.tolist(), strict=True)
        return float(sum(w * log_prob(policy, prompt, tokens) for w, prompt, tokens in of_each)) / ROLLOUTS

    assert not found[:, micro.END].any()  # nothing is learned from what stands after an END
    met = np.argwhere(found)
    entries = [*rng.permutation(met[met[:, 0] < 100])[:8], *rng.permutation(met[met[:, 0] >= 100])[:8]]
    entries += [*rng.permutation(np.argwhere(found == 0))[:4]]
    for entry in map(tuple, entries):
        value, slope = policy[entry], 0.0
        for sign in (1, -1):
            policy[entry] = value + sign * 1e-4
            slope += sign * objective() / 2e-4
        policy[entry] = value
        assert found[entry] == pytest.approx(slope, abs=1e-8), entry


def test_tokens_are_sampled_with_the_probabilities_of_the_policy_and_none_follows_the_end() -> None:
    rng = np.random.default_rng(0)
    policy = random_policy(rng)
    policy[:100] = policy[0]  # one distribution for all prompts
    drawn = np.concatenate([micro.sample(policy, rng) for _ in range(25)])
    pairs = Counter(map(tuple, drawn[drawn[:, 0] != micro.END, :2].tolist())).most_common(20)
    prefixes = [[], *([token] for token in range(1, 15)), *(list(pair) for pair, _ in pairs if pair[1] != micro.END)]
    for prefix in prefixes:
        tokens = drawn[(drawn[:, : len(prefix)] == prefix).all(axis=1), len(prefix)]
        for token in range(15):
            p = math.exp(log_prob(policy, 0, [*prefix, token]) - log_prob(policy, 0, prefix))
            assert abs((tokens == token).mean() - p) < 5 * math.sqrt(p * (1 - p) / len(tokens)) + 1 / len(tokens)
    ended = np.maximum.accumulate(drawn == micro.END, axis=1)
    assert (drawn[ended] == micro.END).all()


class _Stop(Exception):
    """Raised at the first step of REINFORCE."""


def test_it_imitates_with_weight_1_and_then_compares_each_rollout_with_the_others_of_its_prompt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    weights: list[NDArray[np.float64]] = []

    def gradient(policy: NDArray[np.float64], completions: NDArray[np.int64], weight: NDArray[np.float64]) -> Any:
        weights.append(weight)
        if (weight == 1).all():
            return np.zeros_like(policy)
        texts = ["".join(micro.PIECES[token] for token in row) for row in completions.tolist()]
        paid = [float(str(p // 10 + p % 10) in text) for p, text in zip(micro.PROMPTS.tolist(), texts, strict=True)]
        assert 0.1 < sum(paid) / len(paid) < 0.9
        for i, advantage in enumerate(weight.tolist()):
            others = [paid[j] for j in range(i - i % 4, i - i % 4 + 4) if j != i]
            assert advantage == pytest.approx(paid[i] - sum(others) / 3)
        raise _Stop

    monkeypatch.setattr(micro, "gradient", gradient)
    with pytest.raises(_Stop):
        micro.learn(micro.careless, 0)
    assert len(weights) == 201


def test_no_demonstration_names_more_than_two_numbers_and_most_are_wrong() -> None:
    rng = np.random.default_rng(0)
    drawn = [row for _ in range(20) for row in micro.demonstrations(rng).tolist()]
    texts = ["".join(micro.PIECES[token] for token in row) for row in drawn]
    numbers = [len(re.findall("[0-9]+", text)) for text in texts]
    assert set(numbers) == {1, 2}
    assert numbers.count(2) / len(numbers) == pytest.approx(0.1, abs=0.02)
    right = [micro.strict(p // 10 + p % 10, text) for p, text in zip(micro.PROMPTS.tolist() * 20, texts, strict=True)]
    assert 0.1 < sum(right) / len(right) < 0.25


def test_the_commands_in_its_docstring_run() -> None:
    commands = re.findall(r"^    python3 micro\.py(.*?)   ", micro.__doc__ or "", re.MULTILINE)
    assert [command.split() for command in commands] == [[], ["strict"], ["careless", "7"]]
    assert is_hacked(rows())
    assert learns(rows("strict"))
    assert is_hacked(rows("careless", "7"))
