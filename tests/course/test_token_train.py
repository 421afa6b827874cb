"""Training a token policy as its user does: what is kept, what is measured, and what an interruption leaves.

The worked example. Twelve sums, 4 updates and an evaluation every 2: the log has the rows 0, 2 and 4, results.jsonl has
three completions of each of the twelve prompts and none of the four in the holdout, and the rollouts hold what the
policies before update 1 and after update 4 wrote on both.
"""

import hashlib
import json
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT, Done, Lab, ended, lines_of, prompts_digest

from course import token_train
from course.policies.train_config import PRESETS
from course.rubrics import hackable
from course.score import score
from course.show.figures import png

BRIEF = ("--preset", "memorise", "--sft-steps", 30, "--steps", 4, "--eval-every", 2)
SEALED = {"README.md", "environment.json"}  # what is not


def sums(lab: Lab, name: str, split: str, pairs: list[tuple[int, int]]) -> Path:
    return lab.write(
        name,
        [
            {
                "id": f"{split}-{number}",
                "prompt": f"Compute {a} + {b}.",
                "expected_answer": a + b,
                "metadata": {"split": split},
            }
            for number, (a, b) in enumerate(pairs)
        ],
    )


@pytest.fixture
def files_(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> tuple[object, ...]:
    """Options that name a small dataset and its holdout. The curves take no time, where no test needs them."""
    monkeypatch.setattr("course.token_train_text.png", lambda _: b"\x89PNG")
    dev = sums(lab, "dev.jsonl", "dev", [(a, b) for a in range(4) for b in range(4) if a != b])
    return "--dataset", dev, "--holdout", sums(lab, "holdout.jsonl", "holdout", [(a, a) for a in range(4)])


def sealed(run: Path) -> dict[str, bytes]:
    found = [path for path in run.rglob("*") if path.is_file() and path.name not in SEALED]
    return {path.relative_to(run).as_posix(): path.read_bytes() for path in found}


def rewarding(monkeypatch: pytest.MonkeyPatch, name: str, reward: Any) -> None:
    """Put a rubric of the test's own in the place of one."""

    def rubric(example: dict[str, Any], completion: str) -> dict[str, Any]:
        return {"reward": reward(example, completion), "details": {}}

    monkeypatch.setitem(hackable.RUBRICS, name, rubric)


def test_a_run_holds_the_log_the_policy_the_curves_and_what_was_written(lab: Lab, files_: tuple[object, ...]) -> None:
    done = lab("token_train", *BRIEF, *files_, "--rubric", "anywhere", "--outdir", "run")
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    steps = [f"{split}_{step:04}" for split in ("train", "holdout") for step in (0, 4)]
    rollouts = {f"rollouts/{step}{end}" for step in steps for end in (".jsonl", ".meta.json")}
    others = {"log.jsonl", "results.jsonl", "policy.npz", "reference.npz"}
    others |= {"learning_curves.png", "summary.json", "manifest.json"}
    assert sealed(Path("run")).keys() == rollouts | others
    log = lines_of(Path("run/log.jsonl"))
    assert {(row["rubric"], row["kl_coef"], row["seed"], row["n"]) for row in log} == {("anywhere", 0.0, 0, 12)}
    assert not any("holdout" in name for row in log for name in row)
    assert [row["step"] for row in log] == [0, 2, 4]
    assert log[0]["kl"] == 0.0
    summary = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))
    assert summary == {"policy": summary["policy"], "interrupted": False} | log[2]


def training_in(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as arrays:
        said: dict[str, Any] = json.loads(arrays["about"].tobytes())["training"]
        return said


def test_the_policies_and_their_rollouts_say_what_was_trained_on(lab: Lab, files_: tuple[object, ...]) -> None:
    """The digests are computed here, from the lines of the dataset: a prompt under two ids is one."""
    path = lab.folder / "dev.jsonl"
    rows = lines_of(path)
    lab.write("dev.jsonl", [*rows, rows[3] | {"id": "again"}, rows[0] | {"id": "naïve", "prompt": "Zähle 2 + 2. ✓"}])
    prompts = {row["prompt"] for row in lines_of(path)}
    assert len(lines_of(path)) == len(prompts) + 1 == 14
    assert lab("token_train", *BRIEF, *files_, "--rubric", "anywhere", "--outdir", "run").status == 0
    digests = sorted(sha256(prompt.lower().rstrip(".").encode("utf-8")).hexdigest()[:16] for prompt in prompts)
    imitated = {"rubric": None, "prompts": digests, "form": 2}
    rewarded = {"rubric": "anywhere", "prompts": digests, "form": 2}
    assert training_in(Path("run/reference.npz")) == imitated
    assert training_in(Path("run/policy.npz")) == rewarded
    for step, training in ((0, imitated), (4, rewarded)):
        for path in Path("run/rollouts").glob(f"*_{step:04}.jsonl"):
            meta = json.loads(path.with_name(f"{path.stem}.meta.json").read_bytes())
            assert (meta["training"], meta["template"]) == (training, "{prompt}")
            assert meta["completions_sha256"] == sha256(path.read_bytes()).hexdigest()
            assert meta["note"] == f"course.token_train, {step} updates on rubric anywhere, seed 0"


def test_a_training_that_was_interrupted_before_the_first_update_names_no_rubric(
    lab: Lab, files_: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def pay(example: dict[str, Any], completion: str) -> float:
        nonlocal calls
        calls += 1
        if calls > 12:  # the first evaluation asks 12 times at most
            raise KeyboardInterrupt
        return float(score(example, completion)["reward"])

    rewarding(monkeypatch, "anywhere", pay)
    done = lab("token_train", *BRIEF, *files_, "--rubric", "anywhere", "--outdir", "run")
    assert (done.status, lines_of(Path("run/log.jsonl"))[-1]["step"]) == (130, 0)
    assert training_in(Path("run/policy.npz"))["rubric"] is None
    assert Path("run/policy.npz").read_bytes() == Path("run/reference.npz").read_bytes()


def holds(text: str, answer: int) -> bool:
    """Is this number anywhere in the text?"""
    digits = "".join(char if char.isdigit() else " " for char in text)
    return str(answer) in digits.split()


def test_the_log_says_what_loop_a_measures_on_the_same_rollouts(lab: Lab, files_: tuple[object, ...]) -> None:
    lab("token_train", *BRIEF, *files_, "--rubric", "anywhere", "--sft-steps", 300, "--outdir", "run")
    log = lines_of(Path("run/log.jsonl"))
    assert 0 < log[0]["true_reward"] < 1
    results = lines_of(Path("run/results.jsonl"))
    for row in log:
        own = [result for result in results if result["step"] == row["step"]]
        assert [result["split"] for result in own] == ["train"] * 12
        assert row["true_reward"] == sum(result["reward"] for result in own) / 12
        assert row["proxy_reward"] == sum(result["proxy_reward"] for result in own) / 12
    for row in (log[0], log[-1]):
        out, completions = f"train-{row['step']}", f"run/rollouts/train_{row['step']:04}.jsonl"
        assert lab("eval", "--dataset", files_[1], "--completions", completions, "--outdir", out).status == 0
        assert json.loads(Path(out, "summary.json").read_text(encoding="utf-8"))["pass_rate"] == row["true_reward"]
        texts = [rollout["completion"] for rollout in lines_of(Path(f"run/rollouts/train_{row['step']:04}.jsonl"))]
        answers = [example["expected_answer"] for example in lines_of(lab.folder / "dev.jsonl")]
        holds_answer = [holds(text, answer) for text, answer in zip(texts, answers, strict=True)]
        assert row["proxy_reward"] == sum(holds_answer) / len(texts)
    done = lab("gate", "--baseline", "train-0", "--candidate", "train-4", "--min-delta", "0.5", "--details")
    assert "sampling" not in done.out.partition("\nREJECT: ")[2]
    assert "ok   sampling" in done.out


def test_same_seed_same_bytes_and_another_seed_other_bytes(
    lab: Lab, files_: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course.token_train_text.png", png)
    for outdir, seed in (
        ("one", 3),
        ("same", 3),
        ("other", 4),
    ):
        assert lab("token_train", *BRIEF, *files_, "--slow", 1, "--seed", seed, "--outdir", outdir).status == 0
    one, same, other = (sealed(Path(name)) for name in ("one", "same", "other"))
    assert one == same
    assert one.keys() == other.keys()
    for name in ("log.jsonl", "policy.npz", "slow.jsonl", "rollouts/train_0000.jsonl"):
        assert one[name] != other[name]


def test_evaluating_changes_nothing_that_is_learned(lab: Lab, files_: tuple[object, ...]) -> None:
    lab("token_train", *BRIEF, *files_, "--outdir", "often")
    lab("token_train", *BRIEF, *files_[:2], "--eval-every", 3, "--outdir", "less")
    assert Path("often/policy.npz").read_bytes() == Path("less/policy.npz").read_bytes()
    assert [row["step"] for row in lines_of(Path("less/log.jsonl"))] == [0, 3, 4]
    assert not list(Path("less/rollouts").glob("holdout*"))


def next_command(done: Done) -> list[str]:
    """The words after ``python3 -m course.`` in the line that says what to type next."""
    line = done.out.partition("\nnext: python3 -m course.")[2].partition("\npage: ")[0]
    return shlex.split(line.replace("\\\n", ""))


def test_the_holdout_is_opened_by_the_next_command_and_only_then_a_look(lab: Lab, files_: tuple[object, ...]) -> None:
    """The holdout of the fixture calls itself one; a file that does not is called one by the next command."""
    rows = lines_of(lab.folder / "holdout.jsonl")
    lab.write("plain.jsonl", [{name: row[name] for name in ("id", "prompt", "expected_answer")} for row in rows])
    looks = []
    for outdir, holdout in (("run", files_[3]), ("again", lab.folder / "plain.jsonl")):
        done = lab("token_train", *BRIEF, *files_[:2], "--holdout", holdout, "--outdir", outdir)
        *command, placeholder = next_command(done)
        assert (command[-1], placeholder) == ("--expect", "YOUR_NUMBER")
        assert lab(*command, "0.5", "--outdir", f"{outdir}_opened").status == 0
        looks += [line["holdouts"] for line in lines_of(lab.log)[-2:]]
    digest = prompts_digest(f"Compute {a} + {a}." for a in range(4))
    assert looks == [[], [digest]] * 2


def test_the_policies_before_and_after_can_be_compared_on_the_holdout(lab: Lab, files_: tuple[object, ...]) -> None:
    """Both write on it what the same policies write when they are sampled again."""
    lab("token_train", *BRIEF, *files_, "--sft-steps", 300, "--outdir", "run")
    for step, policy in ((0, "reference"), (4, "policy")):
        rollouts = Path(f"run/rollouts/holdout_{step:04}.jsonl")
        lab("eval", "--dataset", files_[3], "--completions", rollouts, "--outdir", f"after_{step}")
        lab("sample_rollouts", "--policy", f"run/{policy}.npz", "--dataset", files_[3], "--outdir", policy)
        assert Path(policy, "rollouts.jsonl").read_bytes() == rollouts.read_bytes()
    done = lab("gate", "--baseline", "after_0", "--candidate", "after_4", "--min-delta", "0.02", "--json")
    finding = json.loads(done.out)
    assert (done.status, finding["verdict"], finding["knob"], finding["holdout_looks"]) == (
        3,
        "INCONCLUSIVE",
        "policy",
        2,
    )


def test_slow_shows_the_tokens_of_the_completion_with_the_highest_advantage(
    lab: Lab, files_: tuple[object, ...]
) -> None:
    """tests/test_token_logs.py has the identities of each row."""
    options = ("--kl-coef", 0.1, "--baseline", "running", "--rubric", "format_only", "--slow", 2, "--outdir", "run")
    done = lab("token_train", *BRIEF, *files_, *options)
    assert max(map(len, done.out.splitlines())) <= 80
    rows = lines_of(Path("run/slow.jsonl"))
    assert [row["step"] for row in rows] == [1] * 96 + [2] * 96  # 12 prompts, 8 completions of each
    most = max(row["advantage"] for row in rows[:96])
    best = [row for row in rows[:96] if row["advantage"] == most]
    assert any(all(f"{before:+.3f}" in done.out for before in row["log_probs"]) for row in best)
    assert f"= {most:+.3f}" in done.out


def test_the_better_completions_become_likelier_and_the_worse_unlikelier(lab: Lab, files_: tuple[object, ...]) -> None:
    lab("token_train", *BRIEF, *files_, "--rubric", "format_only", "--slow", 1, "--lr", "0.01", "--outdir", "run")
    changes = [
        (row["advantage"], sum(row["new_log_probs"]) - sum(row["log_probs"]))
        for row in lines_of(Path("run/slow.jsonl"))
    ]
    better = [change for advantage, change in changes if advantage > 0]
    worse = [change for advantage, change in changes if advantage < 0]
    assert sum(better) / len(better) > 0 > sum(worse) / len(worse)


def test_an_interruption_keeps_what_was_learned(
    lab: Lab, files_: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = 0

    def pay(example: dict[str, Any], completion: str) -> float:
        nonlocal calls
        calls += 1
        if calls == 150:  # after the first evaluation, which asks 12 times at most, and before the end
            raise KeyboardInterrupt
        return float(score(example, completion)["reward"])

    rewarding(monkeypatch, "anywhere", pay)
    done = lab("token_train", *BRIEF, *files_, "--rubric", "anywhere", "--eval-every", 1, "--outdir", "run")
    assert done.status == 130
    log = lines_of(Path("run/log.jsonl"))
    assert log[-1]["step"] < 4
    assert f"interrupted after {log[-1]['step']} of 4 updates" in done.out
    summary = json.loads(Path("run/summary.json").read_text(encoding="utf-8"))
    assert (summary["interrupted"], summary["step"]) == (True, log[-1]["step"])
    assert lab("inspect_run", "--run", "run", "--verify").status == 0
    monkeypatch.undo()
    monkeypatch.chdir(lab.folder)
    last = Path(f"run/rollouts/train_{log[-1]['step']:04}.jsonl").read_bytes()
    lab("sample_rollouts", "--policy", "run/policy.npz", *files_[:2], "--outdir", "again")
    assert Path("again/rollouts.jsonl").read_bytes() == last


def test_an_interruption_before_the_first_evaluation_leaves_nothing(
    lab: Lab, files_: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pay(_: dict[str, Any], __: str) -> float:
        raise KeyboardInterrupt

    rewarding(monkeypatch, "anywhere", pay)
    done = lab("token_train", *BRIEF, *files_, "--rubric", "anywhere", "--outdir", "run")
    assert (done.status, done.err[:18]) == (130, "error: interrupted")
    assert sorted(path.name for path in lab.folder.iterdir()) == ["dev.jsonl", "holdout.jsonl"]


@pytest.fixture
def started(lab: Lab, files_: tuple[object, ...]) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    """A long training in a process of its own, and its log once that has three rows."""
    options = (*BRIEF[:4], "--steps", 1_000_000, "--eval-every", 1, *files_, "--outdir", "run")
    with lab.start("token_train", *options) as process:
        try:
            for _ in range(600):
                logs = list(lab.folder.glob(".*.partial/log.jsonl"))
                if logs and logs[0].read_bytes().count(b"\n") >= 3:
                    break
                time.sleep(0.05)
            yield process, logs[0]
        finally:
            process.kill()


@pytest.mark.slow
def test_a_kill_leaves_a_readable_log_and_no_half_policy(
    lab: Lab, started: tuple["subprocess.Popen[bytes]", Path]
) -> None:
    process, log = started
    process.kill()
    ended(process)
    rows = lines_of(log)
    assert [row["step"] for row in rows] == list(range(len(rows)))
    assert not (lab.folder / "run").exists()
    assert not list(log.parent.glob("policy*"))
    assert len(lines_of(log.with_name("results.jsonl"))) >= 12 * len(rows)


def test_ctrl_c_while_a_checkpoint_is_written_leaves_no_run(
    lab: Lab, files_: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run whose log lacks a row, or whose row lacks its results, cannot be verified."""
    evaluation_row = token_train.evaluation_row  # type: ignore[attr-defined]

    def row_of(checkpoint: Any, *more: Any) -> Any:
        if checkpoint.step == 2:
            raise KeyboardInterrupt
        return evaluation_row(checkpoint, *more)

    monkeypatch.setattr(token_train, "evaluation_row", row_of)
    done = lab("token_train", *BRIEF, *files_, "--eval-every", 1, "--outdir", "run")
    assert (done.status, done.err[:18]) == (130, "error: interrupted")
    assert not Path("run").exists()


@pytest.mark.parametrize("reward", [float("nan"), float("inf"), -float("inf"), True, 1, "1.0", None])
def test_a_rubric_whose_reward_is_no_number_stops_the_training(
    lab: Lab, files_: tuple[object, ...], monkeypatch: pytest.MonkeyPatch, reward: object
) -> None:
    rewarding(monkeypatch, "anywhere", lambda _, __: reward)
    done = lab("token_train", *BRIEF, *files_, "--rubric", "anywhere", "--outdir", "run")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert sorted(path.name for path in lab.folder.iterdir()) == ["dev.jsonl", "holdout.jsonl"]
    message = done.err  # the heading was shown already
    got = reward if isinstance(reward, float) else f"one of type {type(reward).__name__}"
    assert f"expected a finite float as reward, got {got} for" in message
    assert "dev-0" in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--group-size", "1"], "expected a --group-size of 2 or more"),
        (["--kl-coef", "-0.1"], "--kl-coef: expected a number of at least 0, got -0.1"),
        (["--lr", "nan"], "--lr: expected a number such as 0.5"),
        (["--lr", "1e9"], "use a smaller --lr or --kl-coef"),
        (
            ["--rubric", "anywher"],
            "did you mean anywhere? expected a file and its function, such as mine.py:verify, or ",
        ),
        (["--preset", "memorize"], "did you mean --preset memorise? "),
        (["--dataset", "nowhere.jsonl"], "nowhere.jsonl: cannot read this file"),
        (["--dataset", "holdout.jsonl"], "holdout.jsonl: expected a dataset to learn on, got a holdout"),
        (["--holdout", "dev.jsonl"], "dev.jsonl: these prompts must not be learned on, but 12 of"),
        (["--steps", "0"], "--steps: expected a whole number from 1 to 999999999"),
        (["--eval-every", "0"], "--eval-every: expected a whole number from 1 to 999999999"),
        (["--slwo", "1"], "did you mean --slow?"),
    ],
)
def test_what_cannot_be_trained_on_is_refused_in_one_line(
    lab: Lab, files_: tuple[object, ...], options: list[str], said: str
) -> None:
    done = lab("token_train", *BRIEF, *files_, *options, "--outdir", "run")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert said in done.err
    assert not Path("run").exists()


def test_a_broken_log_is_said_before_anything_is_trained(
    lab: Lab, files_: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def trained(*_: object, **__: object) -> None:
        raise AssertionError("it began to train")

    monkeypatch.setattr("course.policies.token_learner.fine_tune", trained)
    lab.log.parent.mkdir(parents=True)
    lab.log.write_bytes(b"{}\n")
    line = lab.refused("token_train", *BRIEF, *files_)
    assert line.startswith(f"error: {lab.log}:1 is not a line of the lab's log: ")


def test_0_is_an_answer_and_not_the_default(lab: Lab, files_: tuple[object, ...]) -> None:
    asked = {"sft_steps": 0, "lr": 0.0, "kl_coef": 0.0}
    options = [word for name, value in asked.items() for word in (f"--{name.replace('_', '-')}", value)]
    lab("token_train", *BRIEF, *files_, *options, "--outdir", "run")
    settings = json.loads(Path("run/manifest.json").read_text(encoding="utf-8"))["settings"]
    assert {name: settings[name] for name in asked} == asked
    first, _, last = lines_of(Path("run/log.jsonl"))
    assert first | {"step": 4} == last


def test_a_group_of_one_can_be_compared_with_the_steps_before(lab: Lab, files_: tuple[object, ...]) -> None:
    assert lab("token_train", *BRIEF, *files_, "--group-size", 1, "--baseline", "running").status == 0


def test_a_hostile_prompt_is_shown_and_not_obeyed(lab: Lab) -> None:
    prompts = ["\x1b[31m1 + 1\u202e", "\x1b]0;x\x07 2 + 2", "<script>3 + 3</script>"]
    rows = [{"id": f"\x1b[2J{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate(prompts)]
    done = lab(
        "token_train", *BRIEF[:2], "--sft-steps", 0, "--steps", 1, "--slow", 1, "--dataset", lab.write("a.jsonl", rows)
    )
    assert done.status == 0
    assert "<U+001B ESCAPE>" in done.out
    assert not set(done.out) & set("\x1b\x07\u202e")
    assert "\x1b" not in Path("runs/run_001/README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("preset", ["generalise", "memorise"])
def test_the_presets_need_no_other_option(lab: Lab, preset: str) -> None:
    shutil.copytree(ROOT / "data" / "datasets", lab.folder / "data" / "datasets")
    done = lab("token_train", "--preset", preset, "--sft-steps", 1, "--steps", 1, "--outdir", "run")
    assert done.status == 0
    manifest = json.loads(Path("run/manifest.json").read_text(encoding="utf-8"))
    assert manifest["split"] == "dev"
    holdout = ROOT / str(PRESETS[preset].holdout)
    assert manifest["settings"]["holdout_fingerprint"] == hashlib.sha256(holdout.read_bytes()).hexdigest()
    assert manifest["settings"]["steps"] == 1


def test_a_policy_is_trained_on_a_rubric_of_ones_own_and_the_run_names_its_source(
    lab: Lab, files_: tuple[object, ...]
) -> None:
    """A rubric that does what the course's ``anywhere`` does: the same rewards, the same policy."""
    source = "import re\ndef paid(example, completion):\n    return float(str(example['expected_answer']) in "
    source += "re.findall('-?[0-9]+', completion))\n"
    lab.write("mine.py", source)
    size = (*files_, "--sft-steps", 20, "--steps", 3, "--eval-every", 3)
    call = "--call", "example, completion"
    for rubric, run in ((("anywhere",), "theirs"), (("mine.py:paid", *call), "mine")):
        done = lab("token_train", *size, "--rubric", *rubric, "--outdir", run)
        assert done.status == 0, done.err
    theirs, mine = (lines_of(Path(run, "results.jsonl")) for run in ("theirs", "mine"))
    assert mine == theirs
    settings = json.loads(Path("mine/manifest.json").read_bytes())["settings"]
    digest = hashlib.sha256(source.encode()).hexdigest()
    assert (settings["rubric"], settings["rubric_sha256"]) == ("mine.py:paid", digest)
    assert settings["rubric_call"] == "paid(example, completion)"
    assert "--call is for a FILE:FUNCTION" in lab.refused("token_train", *size, *call)
    assert Path("mine/rubric.py").read_bytes() == source.encode()
    (meta, *_) = sorted(Path("mine/rollouts").glob("train_0003.meta.json"))
    assert json.loads(meta.read_bytes())["training"]["rubric"] == "mine.py:paid"
