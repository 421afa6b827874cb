"""Completions sampled from a trained policy: files that Loops A and B take, and settings that the gate holds them to.

The worked example. A policy was trained with seed 5, and its run keeps the rollouts of its last evaluation. Sampling
one completion of each prompt with seed 5 gives that file again, byte for byte; seed 0 gives another.
"""

import json
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from conftest import Lab, lines_of, prompts_digest

from course import sample_rollouts

PROMPTS = [f"Compute {a} + {b}." for a in range(3) for b in range(3)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small dataset and a policy that was trained on it a little."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        lab = Lab(folder)
        rows = [
            {"id": f"q{i}", "prompt": prompt, "expected_answer": i // 3 + i % 3} for i, prompt in enumerate(PROMPTS)
        ]
        lab.write("dev.jsonl", rows)
        lab.write("holdout.jsonl", [row | {"metadata": {"split": "holdout"}} for row in rows])
        options = ("--sft-steps", 150, "--steps", 2, "--eval-every", 2, "--seed", 5, "--outdir", "learned")
        assert lab("token_train", "--preset", "memorise", "--dataset", "dev.jsonl", *options).status == 0
    return folder


@pytest.fixture
def there(lab: Lab, trained: Path) -> Lab:
    shutil.copytree(trained, lab.folder, dirs_exist_ok=True)
    return lab


def sampled(there: Lab, outdir: str, *more: object, dataset: str = "dev.jsonl") -> Path:
    done = there("sample_rollouts", "--policy", "learned/policy.npz", "--dataset", dataset, *more, "--outdir", outdir)
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    return Path(outdir)


def test_one_of_each_is_a_rollouts_file_and_the_trainings_own_seed_samples_its_last_evaluation(there: Lab) -> None:
    run = sampled(there, "one", "--seed", 5)
    assert (run / "rollouts.jsonl").read_bytes() == Path("learned/rollouts/train_0002.jsonl").read_bytes()
    assert (run / "rollouts.jsonl").read_bytes() != (sampled(there, "other") / "rollouts.jsonl").read_bytes()
    done = there("eval", "--dataset", "dev.jsonl", "--completions", run / "rollouts.jsonl", "--outdir", "measured")
    assert done.status == 0
    manifest = json.loads(Path("measured/manifest.json").read_text(encoding="utf-8"))
    assert manifest["sampling"] == {"temperature": 1.0, "top_p": 1.0, "seed": 5, "n": 1}
    summary = json.loads(Path("learned/summary.json").read_text(encoding="utf-8"))
    assert manifest["policy"] == summary["policy"]


def test_several_of_each_are_a_pack_that_loop_b_chooses_from(there: Lab) -> None:
    run = sampled(there, "pack", "--n", 4, "--temperature", "0.7", "--top-p", "0.9", "--seed", 3)
    groups = lines_of(run / "selection_pack.jsonl")
    assert [group["id"] for group in groups] == [f"q{i}" for i in range(9)]
    assert {len(group["samples"]) for group in groups} == {4}
    assert any(len(set(group["samples"])) > 1 for group in groups)
    meta = json.loads((run / "selection_pack.meta.json").read_text(encoding="utf-8"))
    assert meta["sampling"] == {"temperature": 0.7, "top_p": 0.9, "seed": 3, "n": 4}
    assert meta["template"] == "{prompt}"
    assert meta["created"] is None
    done = there("selection_demo", "--dataset", "dev.jsonl", "--samples", run / "selection_pack.jsonl", "--n", 4)
    assert done.status == 0


@pytest.mark.parametrize(("n", "name"), [(1, "rollouts"), (2, "selection_pack")])
@pytest.mark.parametrize(("policy", "rubric"), [("policy", "score"), ("reference", None)])
def test_the_meta_file_says_what_the_policy_was_trained_on_and_is_bound_to_the_completions(
    there: Lab, n: int, name: str, policy: str, rubric: str | None
) -> None:
    there.write("unseen.jsonl", [{"id": "q1", "prompt": "Compute 2 + 0.?", "expected_answer": 2}])
    run = sampled(there, "run", "--n", n, "--policy", f"learned/{policy}.npz", dataset="unseen.jsonl")
    meta = json.loads((run / f"{name}.meta.json").read_text(encoding="utf-8"))
    digests = {sha256(prompt.lower().rstrip(".").encode()).hexdigest()[:16] for prompt in PROMPTS}
    assert meta["training"] == {"rubric": rubric, "prompts": sorted(digests), "form": 2}
    assert meta["completions_sha256"] == sha256((run / f"{name}.jsonl").read_bytes()).hexdigest()


def test_the_policy_has_the_name_that_its_training_gave_it(there: Lab) -> None:
    for policy, rollouts in (("policy", "train_0002"), ("reference", "train_0000")):
        run = sampled(there, policy, "--seed", 5, "--policy", f"learned/{policy}.npz")
        said = json.loads(Path(f"learned/rollouts/{rollouts}.meta.json").read_text(encoding="utf-8"))
        meta = json.loads((run / "rollouts.meta.json").read_text(encoding="utf-8"))
        assert meta | {"note": said["note"]} == said  # the bytes are the same, so the digest is too


def test_the_same_settings_give_the_same_bytes_also_in_small_batches(
    there: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("selection_pack.jsonl", "selection_pack.meta.json", "summary.json", "manifest.json")
    one = sampled(there, "one", "--n", 3)
    monkeypatch.setattr(sample_rollouts, "_COMPLETIONS_AT_ONCE", 7)
    small = sampled(there, "small", "--n", 3)
    assert [(one / name).read_bytes() for name in names] == [(small / name).read_bytes() for name in names]


def test_at_temperature_0_all_samples_of_a_prompt_are_one_text(there: Lab) -> None:
    groups = lines_of(sampled(there, "greedy", "--n", 5, "--temperature", 0) / "selection_pack.jsonl")
    assert all(len(set(group["samples"])) == 1 for group in groups)
    assert groups == lines_of(sampled(there, "cut", "--n", 5, "--top-p", "0.000001") / "selection_pack.jsonl")
    assert groups == lines_of(
        sampled(there, "again", "--n", 5, "--temperature", 0, "--seed", 9) / "selection_pack.jsonl"
    )


def test_the_gate_refuses_what_was_sampled_at_another_temperature(there: Lab) -> None:
    for name, more in (
        ("warm", ()),
        ("cold", ("--temperature", "0.5")),
        ("cut", ("--top-p", "0.5")),
    ):
        run = sampled(there, name, *more)
        there("eval", "--dataset", "dev.jsonl", "--completions", run / "rollouts.jsonl", "--outdir", f"of-{name}")
    for name, said in (("cold", "temperature 0.5, top_p 1.0"), ("cut", "temperature 1.0, top_p 0.5")):
        done = there("gate", "--baseline", "of-warm", "--candidate", f"of-{name}", "--min-delta", "0")
        assert done.status == 4
        reason = f"REJECT: locked room: sampling differs (temperature 1.0, top_p 1.0, n 1 / {said}, n 1)"
        assert reason in " ".join(done.out.split())
    there("eval", "--dataset", "dev.jsonl", "--completions", "learned/rollouts/train_0000.jsonl", "--outdir", "before")
    done = there("gate", "--baseline", "before", "--candidate", "of-warm", "--min-delta", "0")
    room, _, after = done.out.partition("\nknob turned: policy\n")  # the seeds were 5 and 0: that is no condition
    assert "NO" not in room
    assert after


def test_to_sample_is_no_look_at_the_holdout_and_to_measure_is_one(there: Lab) -> None:
    run = sampled(there, "drawn", dataset="holdout.jsonl")
    there("eval", "--dataset", "holdout.jsonl", "--completions", run / "rollouts.jsonl")
    assert [line["holdouts"] for line in lines_of(there.log)] == [[], [prompts_digest(PROMPTS)]]


def test_a_run_of_sampled_completions_scores_nothing_and_is_verified_like_any_other(there: Lab) -> None:
    run = sampled(there, "run")
    assert (run / "results.jsonl").read_bytes() == b""
    manifest = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["sampling"] == {"temperature": 1.0, "top_p": 1.0, "seed": 0, "n": 1}
    assert manifest["completions_fingerprint"] == sha256((run / "rollouts.jsonl").read_bytes()).hexdigest()
    assert there("inspect_run", "--run", run, "--verify").status == 0
    (run / "rollouts.jsonl").write_bytes(b"{}\n")
    assert there("inspect_run", "--run", run, "--verify").status == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--policy", "nowhere.npz"], "nowhere.npz: expected a policy that course.token_train wrote"),
        (["--policy", "dev.jsonl"], "dev.jsonl: expected a policy that course.token_train wrote"),
        (["--dataset", "nowhere.jsonl"], "nowhere.jsonl: cannot read this file"),
        (["--seed", "-1"], "--seed: expected a whole number from 0 to 999999999, got -1"),
        (["--seed", "null"], "--seed: expected a whole number"),
        (["--n", "0"], "--n: expected a whole number from 1 to 999999999"),
        (["--temperature", "-1"], "--temperature: expected a number of at least 0, got -1"),
        (["--temperature", "hot"], "--temperature: expected a number of at least 0, got hot"),
        (["--top-p", "0"], "--top-p: expected a number above 0 and at most 1, got 0"),
        (["--top-p", "1.5"], "--top-p: expected a number above 0 and at most 1, got 1.5"),
        (["--top_p", "1"], "did you mean --top-p?"),
    ],
)
def test_what_cannot_be_sampled_is_refused_in_one_line(there: Lab, options: list[str], said: str) -> None:
    files = ("--policy", "learned/policy.npz", "--dataset", "dev.jsonl")
    assert said in there.refused("sample_rollouts", *files, *options, "--outdir", "run")
