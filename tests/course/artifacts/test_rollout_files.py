"""Completions of a policy as files for Loops A and B.

An example: one completion of q1 and q2 each makes a rollouts file; two of each make a selection pack. Beside either
stands NAME.meta.json, which says who wrote them, how they were sampled, and the SHA-256 of the file it describes.
"""

import json
from hashlib import sha256
from typing import Any

import msgspec
import pytest
from conftest import Lab, lines_of
from tiny_policies import same_bits, tiny

from course.artifacts.rollout_files import policy_name, write_reference, write_rollouts
from course.artifacts.writing import RunWriter
from course.datasets.records import Provenance, Sampling, Training
from course.policies.policy_file import read_policy
from course.policies.token_policy import Vocabulary


def source(n: int) -> Provenance:
    return Provenance("token_policy 0123", None, Sampling(1.0, 1.0, 7, n))


@pytest.mark.parametrize("n", [1, 2])
def test_one_of_each_is_rollouts_and_more_are_a_pack(lab: Lab, n: int) -> None:
    samples = [("q1", ["a", "b"][:n]), ("q2", ["c", "d"][:n])]
    with RunWriter(lab.folder / "run") as run:
        write_rollouts(run, "fresh", samples, source(n))
        folder = next(path for path in lab.folder.iterdir() if path.name.endswith(".partial"))
        rows = lines_of(folder / "fresh.jsonl")
        meta = json.loads((folder / "fresh.meta.json").read_bytes())
        assert set(run.outputs) == {"fresh.jsonl", "fresh.meta.json"}
    one = [{"id": "q1", "completion": "a"}, {"id": "q2", "completion": "c"}]
    assert rows == (one if n == 1 else [{"id": "q1", "samples": ["a", "b"]}, {"id": "q2", "samples": ["c", "d"]}])
    assert (meta["policy"], meta["created"], meta["sampling"]["n"]) == ("token_policy 0123", None, n)


@pytest.mark.parametrize("training", [None, Training(None, ["00"]), Training("score", ["00", "ff"])])
@pytest.mark.parametrize("n", [1, 2])
def test_each_meta_file_holds_the_digest_of_its_completions_and_the_training_it_was_given(
    lab: Lab, n: int, training: Training | None
) -> None:
    given = Provenance("p", None, Sampling(1.0, 1.0, None, n), "{prompt}", "of another file", training, "why")
    with RunWriter(lab.folder / "run") as run:
        for name, text in (("one", "é\u2028"), ("other", "")):
            write_rollouts(run, f"rollouts/{name}", [("q1", [text] * n)], given)
        (folder,) = lab.folder.glob(".*.partial/rollouts")
        for name in ("one", "other"):
            meta = json.loads((folder / f"{name}.meta.json").read_bytes())
            assert meta["completions_sha256"] == sha256((folder / f"{name}.jsonl").read_bytes()).hexdigest()
            said = None if training is None else msgspec.structs.asdict(training)
            assert (meta["training"], meta["note"], meta["sampling"]["seed"]) == (said, "why", None)


def test_a_policy_is_named_by_its_bytes() -> None:
    assert policy_name(b"abc") == "token_policy ba7816bf8f01"  # SHA-256 of abc, FIPS 180-2
    assert policy_name(b"abd") != policy_name(b"abc")


def test_a_reference_policy_is_read_back_with_the_digests_of_its_prompts_and_no_rubric(lab: Lab) -> None:
    policy = tiny(vocabulary=Vocabulary.of("ab"))
    examples: list[Any] = [{"id": name, "prompt": name[0], "expected_answer": 1} for name in ("b", "a", "a again")]
    with RunWriter(lab.folder / "run") as run:
        write_reference(run, "references/seed_3.npz", policy, examples)
        (path,) = lab.folder.rglob("*.npz")
        found, training = read_policy(path)
        assert same_bits(found, policy)
        assert set(run.outputs) == {"references/seed_3.npz"}
    assert training == Training(None, sorted(sha256(prompt.encode()).hexdigest()[:16] for prompt in "ab"), 2)
