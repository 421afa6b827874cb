"""A policy goes into a file and comes out the same, to the last bit.

The worked example. A policy of nine sums, fine-tuned and trained for three updates, is written and read: every array
has the same bytes, and it samples the same completions. What it was trained on is read with it.
"""

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tiny_policies import same_bits

from course.datasets.records import Training
from course.policies.policy_file import policy_bytes, read_policy
from course.policies.token_learner import fine_tune, learn
from course.policies.token_policy import Policy, initial_policy, sample_completions
from course.policies.train_config import TrainConfig
from course.score import score

SUMS: list[dict[str, Any]] = [
    {"id": f"{a}+{b}", "prompt": f"Add {a} + {b}.", "expected_answer": a + b} for a in range(1, 4) for b in range(1, 4)
]
CONFIG = TrainConfig(
    "",
    None,
    sft_steps=20,
    sft_lr=0.5,
    steps=3,
    prompts_a_step=4,
    group_size=4,
    lr=0.5,
    baseline="group",
    kl_coef=0.1,
    max_tokens=12,
    width=4,
    hidden=8,
)


TRAINING = Training("score", ["00000000000000aa", "0123456789abcdef", "ffffffffffffffff"])


@pytest.fixture(scope="module")
def learned() -> Policy:
    start = fine_tune(SUMS, CONFIG, 0)
    *_, last = learn(start, SUMS, score, CONFIG, 0)
    return last.new_policy


def kept(policy: Policy, folder: Path) -> Policy:
    (folder / "policy.npz").write_bytes(policy_bytes(policy, TRAINING))
    back, _ = read_policy(folder / "policy.npz")
    return back


def fresh(prompts: list[str], seed: int = 0) -> Policy:
    return initial_policy(prompts, 2, 3, 9, np.random.default_rng(seed))


def test_a_policy_comes_back_to_the_last_bit_and_makes_the_same_file_again(learned: Policy, tmp_path: Path) -> None:
    back = kept(learned, tmp_path)
    assert same_bits(back, learned)
    assert type(back.vocabulary) is type(learned.vocabulary)
    assert [type(part) for part in (back.positions, back.max_tokens)] == [tuple, int]
    assert policy_bytes(back, TRAINING) == (tmp_path / "policy.npz").read_bytes()


@pytest.mark.parametrize(
    ("temperature", "top_p"),
    [
        (1.0, 1.0),
        (0.0, 1.0),
        (0.7, 0.9),
    ],
)
def test_it_writes_the_same_texts_from_the_same_draws(
    learned: Policy, tmp_path: Path, temperature: float, top_p: float
) -> None:
    back = kept(learned, tmp_path)
    prompts = [example["prompt"] for example in SUMS * 20]
    u = np.random.default_rng(1).random((180, 12))
    one, other = (
        sample_completions(policy, policy.encode_prompts(prompts), u, temperature, top_p) for policy in (learned, back)
    )
    assert one.tokens.tobytes() == other.tokens.tobytes()
    assert one.lengths.tobytes() == other.lengths.tobytes()
    texts = back.decode_completions(other)
    assert texts == learned.decode_completions(one)
    assert len(set(texts)) > (3 if temperature else 0)


def test_the_same_policy_and_training_give_the_same_bytes_and_others_others(learned: Policy) -> None:
    twin = Policy(
        learned.vocabulary, learned.positions, learned.max_tokens, type(learned.weights)(*map(np.copy, learned.weights))
    )
    content = policy_bytes(learned, TRAINING)
    assert policy_bytes(twin, Training("score", [*TRAINING.prompts])) == content
    assert policy_bytes(learned._replace(max_tokens=13), TRAINING) != content
    assert policy_bytes(learned.apply_gradient(learned.weights, 1e-15), TRAINING) != content
    assert policy_bytes(learned, Training("anywhere", TRAINING.prompts)) != content
    assert policy_bytes(learned, Training("score", TRAINING.prompts[1:])) != content


@pytest.mark.parametrize("rubric", [None, "score", "my_score.py:score"])
@pytest.mark.parametrize("count", [1, 3])
def test_what_it_was_trained_on_comes_back_too(learned: Policy, tmp_path: Path, rubric: str | None, count: int) -> None:
    path, prompts = tmp_path / "policy.npz", TRAINING.prompts[:count]
    path.write_bytes(policy_bytes(learned, Training(rubric, prompts)))
    _, training = read_policy(path)
    assert (training.rubric, training.prompts) == (rubric, prompts)


def test_no_clock_is_in_the_file(learned: Policy) -> None:
    with zipfile.ZipFile(io.BytesIO(policy_bytes(learned, TRAINING))) as file:
        assert {part.date_time for part in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}


def test_the_file_is_an_npz_that_numpy_reads_without_executing_anything(learned: Policy) -> None:
    with np.load(io.BytesIO(policy_bytes(learned, TRAINING)), allow_pickle=False) as arrays:
        assert set(arrays) == {"about", *learned.weights._fields}
        assert arrays["out"].tolist() == learned.weights.out.tolist()


@pytest.mark.parametrize(
    "prompts",
    [["naïve ∑ 😀 \u2028\t\"'\\", "Add"], ["the same everywhere"], ["", "Final: 1\nFinal: 2"]],
    ids=["any character", "no places", "nothing in a prompt"],
)
def test_so_do_policies_with_other_vocabularies_and_places(prompts: list[str], tmp_path: Path) -> None:
    policy = fresh(prompts)
    assert same_bits(kept(policy, tmp_path), policy)


def test_the_largest_numbers_that_are_taken(tmp_path: Path) -> None:
    policy = fresh(["Add 1", "Add 2"])._replace(max_tokens=10_000, positions=(10_000,))
    assert same_bits(kept(policy, tmp_path), policy)
    smallest = fresh(["Add 1", "Add 2"])._replace(max_tokens=1, positions=(0,))
    assert same_bits(kept(smallest, tmp_path), smallest)
