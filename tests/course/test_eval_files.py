"""Loop A on several files: the run is the one of the files joined, byte for byte, whoever scores them.

An example: files a, b and c have three, two and four examples, of which two, one and four are answered rightly. The
run says 7 of 9, and its manifest is the one that the three datasets in one file and the three files of completions in
one file lead to.
"""

import hashlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from clusters import cluster, started, wait_for, wait_for_workers, watching
from conftest import ROOT, SAMPLING, Lab, ended, files, lines_of, prompts_digest

from course import jobs as jobs_module
from course.artifacts.scorer_identity import scorer_identity
from course.errors import UserError
from course.score_files import FilePair, score_on_worker

posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
linux = pytest.mark.skipif(sys.platform != "linux", reason="finds processes in /proc")
slow = pytest.mark.slow
RIGHT = {"a": [True, True, False], "b": [False, True], "c": [True] * 4}
EVIDENCE = ("results.jsonl", "summary.json", "manifest.json")


def write_pair(lab: Lab, name: str, right: list[bool], **said: Any) -> None:
    """A pair of files: example NAME-i is answered as ``right`` says. ``said``: split, prompt, what .meta.json has."""
    split = {"metadata": {"split": said.pop("split")}} if "split" in said else {}
    prompt = said.pop("prompt", f"{name}, {{}}?")
    examples = [
        {"id": f"{name}-{number}", "prompt": prompt.format(number), "expected_answer": number} | split
        for number in range(len(right))
    ]
    rollouts = [
        {"id": f"{name}-{number}", "completion": f"Final: {number if passes else number + 1}"}
        for number, passes in enumerate(right)
    ]
    lab.write(f"d_{name}.jsonl", examples)
    lab.write(f"c_{name}.jsonl", rollouts)
    lab.meta(f"c_{name}", **said)


def joined(lab: Lab, names: list[str], **said: Any) -> None:
    """The pair of files ``all``, made of these."""
    for kind in "dc":
        parts = [(lab.folder / f"{kind}_{name}.jsonl").read_bytes() for name in names]
        lab.write(f"{kind}_all.jsonl", b"".join(parts))
    lab.meta("c_all", **said)


def arguments(names: list[str], run: str) -> list[str]:
    datasets = [f"d_{name}.jsonl" for name in names]
    completions = [f"c_{name}.jsonl" for name in names]
    return ["--dataset", *datasets, "--completions", *completions, "--outdir", run]


def measure(lab: Lab, names: list[str], *more: object, run: str = "run") -> dict[str, bytes]:
    """The evidence that a run holds."""
    done = lab("eval", *arguments(names, run), *more)
    assert (done.status, done.err) == (0, ""), done.err
    return evidence(lab, run)


def evidence(lab: Lab, run: str) -> dict[str, bytes]:
    return {name: (lab.folder / run / name).read_bytes() for name in EVIDENCE}


def refusal(lab: Lab, names: list[str], *more: object) -> str:
    return lab.refused("eval", *arguments(names, "run"), *more)


def manifest_of(run: str = "run") -> Any:
    return json.loads(Path(run, "manifest.json").read_bytes())


@pytest.fixture
def three(lab: Lab) -> Lab:
    for name, right in RIGHT.items():
        write_pair(lab, name, right)
    joined(lab, [*RIGHT])
    return lab


def test_several_files_are_measured_as_if_they_were_joined(three: Lab) -> None:
    whole = measure(three, ["all"], run="whole")
    assert measure(three, [*RIGHT]) == whole
    assert json.loads(whole["summary.json"])["passes"] == 7
    pages = [Path(run, "README.md").read_text(encoding="utf-8") for run in ("run", "whole")]
    reports = [page.split("## Command line")[0] for page in pages]
    assert reports[0] == reports[1]  # with the first completion of each outcome
    examples = [page.partition("## The last completion that passed, and the last that failed")[2] for page in pages]
    assert examples[0].split("## Files")[0] == examples[1].split("## Files")[0]
    assert three("inspect_run", "run", "--verify").status == 0


def test_a_fingerprint_is_the_one_that_cat_and_sha256sum_print(three: Lab) -> None:
    measure(three, ["b", "a"])
    for name, kind in (("dataset_fingerprint", "d"), ("completions_fingerprint", "c")):
        bytes_of = [Path(f"{kind}_{file}.jsonl").read_bytes() for file in ("b", "a")]
        assert manifest_of()[name] == hashlib.sha256(b"".join(bytes_of)).hexdigest()


@slow
def test_the_bytes_are_the_same_for_any_number_of_processes(three: Lab) -> None:
    """The first file is the largest, so that it is done last."""
    write_pair(three, "a", [True] * 20_000)
    joined(three, [*RIGHT])
    whole = measure(three, ["all"], run="whole")
    for jobs in (1, 2, 3):
        assert measure(three, [*RIGHT], "--jobs", jobs, run=f"run_{jobs}") == whole


def test_every_option_works_on_several_files(three: Lab) -> None:
    case = {"prompt": "3 + 4?", "expected_answer": 7, "completion": "Final: 7", "expected_reward": 1.0}
    three.write("mine.jsonl", [case])
    three.write("c_b.jsonl", Path("c_b.jsonl").read_bytes().splitlines(keepends=True)[0])
    three.meta("c_b")
    options = ["--missing", "zero", "--golden", "mine.jsonl", "--split", "dev", "--fail-under", "0.9", "--json"]
    done = three("eval", *arguments([*RIGHT], "run"), *options)
    assert (done.status, done.err.startswith("below --fail-under 0.9: passed 6 of 9")) == (1, True)
    summary = json.loads(done.out)["summary"]
    assert (summary["n"], summary["passes"], summary["outcomes"]["missing_completion"]) == (9, 6, 1)


def test_prompts_of_a_shipped_holdout_in_one_file_make_a_holdout_of_all(three: Lab) -> None:
    rows = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")
    write_pair(three, "b", [True], prompt=rows[0]["prompt"])
    measure(three, [*RIGHT])
    assert manifest_of()["split"] == "holdout"
    (line,) = lines_of(three.log)
    every = [row["prompt"] for row in rows]
    assert line["holdouts"] == [prompts_digest(every)]
    assert "1 of the prompts are from math_holdout.jsonl" in refusal(
        three, [*RIGHT], "--split", "dev", "--outdir", "other"
    )


def test_a_trained_prompt_in_two_files_counts_once(lab: Lab) -> None:
    digest = hashlib.sha256(b"the same").hexdigest()[:16]
    training = {"rubric": None, "prompts": [digest], "form": 2}
    for name in RIGHT:
        write_pair(lab, name, [True], prompt="the same?", training=training)
    measure(lab, [*RIGHT])
    assert manifest_of()["trained_on"]["measured_here"] == 1


REFUSED: dict[str, tuple[dict[str, Any], str]] = {  # what the pair b says otherwise than a -> what is complained of
    "another policy": ({"policy": "x"}, 'c_b.meta.json $.policy: expected "a hand" as in c_a.meta.json, got "x"'),
    "temperature": ({"sampling": SAMPLING | {"temperature": 0.5}}, "$.sampling.temperature: expected 1.0 as in"),
    "top_p": ({"sampling": SAMPLING | {"top_p": 0.5}}, "c_b.meta.json $.sampling.top_p: expected 1.0 as in c_a.meta"),
    "template": ({"template": "Q: {prompt}"}, 'c_b.meta.json $.template: expected "{prompt}" as in c_a.meta.json, got'),
    "no template": ({"template": None}, 'c_b.meta.json $.template: expected "{prompt}" as in c_a.meta.json, got null'),
    "training": ({"training": {"rubric": "score", "prompts": []}}, "$.training.rubric: expected null as in c_a.meta"),
    "prompts": ({"training": {"rubric": None, "prompts": []}}, "$.training.prompts: expected null as in c_a.meta.json"),
    "unbound": ({"completions_sha256": None}, "c_b.meta.json $.completions_sha256: expected the SHA-256 of c_b.jsonl"),
    "split": ({"split": "holdout"}, "d_b.jsonl: $.metadata.split of b-0: expected no split, as in the examples"),
    "no split": ({"split": "test"}, "d_b.jsonl: $.metadata.split of b-0: expected dev or holdout, got test"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_a_file_of_other_conditions_is_one_line_that_names_it(three: Lab, kind: str) -> None:
    said, complaint = REFUSED[kind]
    write_pair(three, "b", RIGHT["b"], **said)
    assert complaint in refusal(three, ["a", "b"])


@pytest.mark.parametrize("names", [["a", "b"], ["b", "a"]])
def test_a_file_that_nobody_describes_beside_one_that_is_described_is_refused(three: Lab, names: list[str]) -> None:
    Path("c_b.meta.json").unlink()
    message = "c_b.meta.json: this file is missing; write one for c_b.jsonl, like c_a.meta.json"
    assert message in refusal(three, names)


def test_files_that_nobody_describes_are_measured_and_what_the_first_lacks_is_named(three: Lab) -> None:
    for name in RIGHT:
        Path(f"c_{name}.meta.json").unlink()
    done = three("eval", *arguments([*RIGHT], "run"))
    assert (done.status, manifest_of()["policy"]) == (0, None)
    assert "there is no c_a.meta.json" in done.out


def test_an_id_of_two_files_is_refused_with_the_names_of_both(three: Lab) -> None:
    for kind in "dc":
        three.write(f"{kind}_c.jsonl", Path(f"{kind}_c.jsonl").read_bytes().replace(b"c-2", b"a-1"))
    three.meta("c_c")
    message = 'd_c.jsonl: expected ids that are unique over all files, got "a-1", which is also in d_a.jsonl'
    assert message in refusal(three, [*RIGHT])


def test_as_many_files_of_completions_as_datasets(three: Lab) -> None:
    line = three.refused("eval", "--dataset", "d_a.jsonl", "d_b.jsonl", "--completions", "c_a.jsonl")
    assert "--completions: expected 2, one file for each file of --dataset, got 1" in line


def test_the_first_fault_in_the_order_of_the_files_is_the_one_that_is_told(three: Lab) -> None:
    write_pair(three, "a", [True] * 5_000)
    three.write("c_a.jsonl", Path("c_a.jsonl").read_bytes()[:-20])
    three.write("c_b.jsonl", "no JSON")
    for jobs in ("1", "2"):
        assert "error: c_a.jsonl:5000 " in refusal(three, [*RIGHT], "--jobs", jobs)


def seed_of(lab: Lab, seeds: list[Any], run: str) -> Any:
    for name, seed in zip(RIGHT, seeds, strict=False):
        write_pair(lab, name, RIGHT[name], sampling=SAMPLING | {"seed": seed}, policy=f"the hand of {run[0]}")
    measure(lab, [*RIGHT][: len(seeds)], run=run)
    return manifest_of(run)["sampling"]["seed"]


@pytest.mark.parametrize(
    ("seeds", "recorded"),
    [
        ([7, 7, 7], 7),
        ([7, 8, 7], [7, 8, 7]),
        ([None, None], None),
        ([7, None], [7, None]),
        ([[1, 2], 3], [1, 2, 3]),
        ([[1, 2], [1, 2]], [1, 2]),
    ],
)
def test_seeds_are_kept_as_a_list_and_equal_ones_as_one(lab: Lab, seeds: list[Any], recorded: Any) -> None:
    assert seed_of(lab, seeds, "run") == recorded
    joined(lab, [*RIGHT][: len(seeds)], sampling=SAMPLING | {"seed": recorded}, policy="the hand of r")
    assert measure(lab, ["all"], run="whole") == evidence(lab, "run")
    assert lab("inspect_run", "run", "--verify").status == 0


def gate_says(lab: Lab, *runs: str) -> str:
    done = lab("gate", "--baseline", runs[0], "--candidate", runs[1], "--min-delta", "0", "--details")
    return " ".join(done.out.split())


def test_what_the_gate_makes_of_seeds_that_are_a_list(lab: Lab) -> None:
    """Known seeds draw the same again, so other completions are no evidence; with one unknown nobody can draw again."""
    for run, seeds in (
        ("a_1", [7, 8]),
        ("a_2", [7, 8]),
        ("b_1", [7, None]),
        ("b_2", [7, None]),
    ):
        seed_of(lab, seeds, run)
        changed = RIGHT["b"] if run.endswith("1") else [True, True]
        sampling = SAMPLING | {"seed": seeds[1]}
        write_pair(lab, "b", changed, sampling=sampling, policy=f"the hand of {run[0]}")
        measure(lab, ["a", "b"], run=f"{run}_changed")
    known = gate_says(lab, "a_1_changed", "a_2_changed")
    assert "though both runs name the same policy, sampling and seed" in known
    assert "cannot be drawn again" not in known
    unknown = gate_says(lab, "b_1_changed", "b_2_changed")
    assert "no knob was turned, and 1 of the examples flipped" in unknown
    assert "cannot be drawn again" in unknown


def score_here(files: FilePair) -> Any:
    return score_on_worker(scorer_identity().scorer_fingerprint, files, None, frozenset())


def test_a_worker_hands_back_bytes_counts_and_digests(three: Lab) -> None:
    scored = score_here(FilePair(Path("d_a.jsonl"), Path("c_a.jsonl")))
    (rows,) = scored.batches
    measure(three, ["a"])
    assert rows.lines == Path("run/results.jsonl").read_bytes()
    assert rows.outcomes == {"ok": 2, "wrong_answer": 1}
    assert rows.examples.prompts.splitlines()[1] == b'["a-1","a, 1?"]'
    assert rows.examples.examples.splitlines()[1] == b'["a-1","a, 1?",1]'
    digests = [hashlib.sha256(Path(f"{kind}_a.jsonl").read_bytes()).hexdigest() for kind in "dc"]
    assert [scored.dataset_sha256, scored.completions_sha256] == digests


def test_a_worker_with_another_scorer_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    worker = SimpleNamespace(name="the \x1b other", address="tcp://127.0.0.1:7")
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(get_worker=lambda: worker))
    with pytest.raises(UserError) as refused:
        score_on_worker("0123456789ab" + "0" * 52, FilePair(Path("d_a.jsonl"), Path("c_a.jsonl")), None, frozenset())
    message = str(refused.value)
    assert message.startswith("worker the <U+001B ESCAPE> other at tcp://127.0.0.1:7: expected the scorer")
    assert f"0123456789ab, got {scorer_identity().scorer_fingerprint[:12]}" in message


@pytest.mark.parametrize("kind", ["d", "c"])
def test_a_file_that_is_another_for_the_worker_is_refused(
    three: Lab, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """As on a machine with other bytes at the same path."""

    def score_elsewhere(_: object, __: object, tasks: Any, **___: object) -> Iterator[Any]:
        for _, pair, *_ in tasks:
            scored = score_here(pair)
            path = pair.dataset if kind == "d" else pair.completions
            path.write_bytes(path.read_bytes() + b"\n")
            yield scored

    monkeypatch.setattr(jobs_module, "map_in_order", score_elsewhere)
    for name in RIGHT:
        Path(f"c_{name}.meta.json").unlink()  # it would be seen there, too
    done = three("eval", *arguments([*RIGHT], "run"), "--jobs", 2)
    assert done.status == 2
    assert f"{kind}_a.jsonl: this file changed while it was measured; measure again" in done.err
    assert not Path("run").exists()


def write_large(lab: Lab, rows: int) -> list[str]:
    names = [f"part{number}" for number in range(6)]
    for name in names:
        write_pair(lab, name, [True] * rows)
    return names


@linux
@slow
def test_a_local_worker_that_is_killed_is_one_line_and_no_run(lab: Lab) -> None:
    names = write_large(lab, 40_000)
    process = lab.start("eval", *arguments(names, "run"), "--jobs", "2")
    wait_for(lambda: process.poll() is not None or workers_of(process.pid))
    os.kill(workers_of(process.pid)[0], signal.SIGKILL)
    done = ended(process)
    message = "error: a worker process was killed before it finished; use fewer --jobs\n"
    assert (done.status, done.out, done.err) == (2, "", message)
    assert [name for name in files(lab.folder) if not name.endswith((".jsonl", ".json"))] == []


def workers_of(pid: int) -> list[int]:
    """The processes that a command has started to score, without the one that multiprocessing keeps for itself."""
    found = []
    for task in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((task / "stat").read_text().rpartition(")")[2].split()[1])
            line = (task / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == pid and b"spawn_main" in line:
            found.append(int(task.name))
    return found


@linux
@slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda one: one.name)
def test_a_command_that_is_ended_leaves_no_run_and_no_process(lab: Lab, number: signal.Signals) -> None:
    names = write_large(lab, 40_000)
    process = lab.start("eval", *arguments(names, "run"), "--jobs", "2")
    wait_for(lambda: process.poll() is not None or len(workers_of(process.pid)) == 2)
    workers = workers_of(process.pid)
    process.send_signal(number)
    done = ended(process)
    assert done.status == (130 if number == signal.SIGINT else -number)
    if number == signal.SIGINT:
        assert done.err.count("\n") == 1, done.err
        assert [name for name in files(lab.folder) if not name.endswith((".jsonl", ".json"))] == []
    assert not (lab.folder / "run").exists()
    wait_for(lambda: not any(Path("/proc", str(worker)).exists() for worker in workers))


@slow
def test_an_environment_variable_does_not_decide_what_a_worker_can_read(lab: Lab) -> None:
    number = 10**900
    write_pair(lab, "b", [True])
    lab.write("d_a.jsonl", [{"id": "q", "prompt": "?", "expected_answer": number}])
    lab.write("c_a.jsonl", [{"id": "q", "completion": f"Final: {number}"}])
    lab.meta("c_a")
    env = {"PYTHONINTMAXSTRDIGITS": "640"}
    done = lab.process("eval", *arguments(["a", "b"], "run"), "--jobs", "2", env=env)
    assert (done.status, done.err) == (0, "")
    assert "passed 2 of 2" in done.out


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with cluster(tmp_path_factory.mktemp("dask"), {"PYTHONPATH": str(ROOT)}) as found:
        yield found


@pytest.fixture
def address(shared: str) -> str:
    """Of a cluster of two workers."""
    wait_for_workers(shared, 2)
    return shared


@slow
def test_a_cluster_makes_the_bytes_of_one_process(three: Lab, address: str) -> None:
    whole = measure(three, ["all"], run="whole")
    assert measure(three, [*RIGHT], "--cluster", address) == whole
    assert measure(three, ["all"], "--cluster", address, run="one_file") == whole


@slow
def test_a_fault_in_the_data_is_told_by_a_cluster_too(three: Lab, address: str) -> None:
    three.write("c_b.jsonl", "no JSON")
    message = refusal(three, [*RIGHT], "--cluster", address)
    assert "c_b.jsonl:1 expected one JSON object" in message


@posix
@slow
def test_workers_of_a_cluster_are_killed_and_the_digest_is_the_same(lab: Lab, address: str) -> None:
    names = write_large(lab, 40_000)
    command = lab.start("eval", *arguments(names, "run"), "--cluster", address)
    kills = 0
    with watching(address) as client:
        while kills < 3 and command.poll() is None:  # a busy machine may be done before the third
            kills += kill_one_at_work(client)
    done = ended(command)
    assert kills > 0
    assert (done.status, done.err) == (0, "")
    assert measure(lab, names, run="alone") == evidence(lab, "run")


def kill_one_at_work(client: Any) -> bool:
    """Kill a worker in the midst of a task, and wait for the next. It is stopped first, so that it cannot finish."""
    for worker, keys in client.processing().items():
        if keys:
            pid = client.run(os.getpid, workers=[worker])[worker]
            os.kill(pid, signal.SIGSTOP)
            time.sleep(0.05)  # what it has said until now arrives
            if client.processing().get(worker, ()):
                os.kill(pid, signal.SIGKILL)
                wait_for(partial(has_two_without, client, worker))
                return True
            os.kill(pid, signal.SIGCONT)
    return False


def has_two_without(client: Any, worker: str) -> bool:
    workers = {*client.scheduler_info(n_workers=-1)["workers"]}
    return len(workers - {worker}) == 2


@slow
def test_a_worker_with_another_scorer_or_without_this_lab_is_refused(
    three: Lab, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("dask")
    shutil.copytree(ROOT / "course", folder / "other" / "course")
    with (folder / "other" / "course" / "score.py").open("a", encoding="utf-8") as file:
        file.write("# a comment more\n")
    (folder / "none" / "course").mkdir(parents=True)
    (folder / "none" / "course" / "__init__.py").touch()
    with cluster(folder, {}, workers=0) as address:
        assert "no workers yet" in refusal(three, [*RIGHT], "--cluster", address)
        for lab, said in (("other", "worker the other at tcp://127.0.0.1:"), ("none", "got ModuleNotFoundError")):
            words = ("dask_worker", address, "--name", f"the {lab}", "--no-dashboard")
            worker = started(*words, folder=folder, env={"PYTHONPATH": str(folder / lab)})
            try:
                wait_for_workers(address, 1)
                assert said in refusal(three, [*RIGHT], "--cluster", address)
            finally:
                worker.terminate()
                worker.wait()
            wait_for_workers(address, 0)


@slow
def test_a_scheduler_that_goes_is_one_line(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> None:
    names = write_large(lab, 40_000)
    with cluster(tmp_path_factory.mktemp("dask"), lab.path(), workers=1) as address:
        command = lab.start("eval", *arguments(names, "run"), "--cluster", address)
        with watching(address) as client:
            wait_for(lambda: any(client.processing().values()))
    done = ended(command)
    assert (done.status, done.err.count("\n")) == (2, 1), done.err
    assert "lost" in done.err
