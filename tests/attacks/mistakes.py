"""Honest mistakes, made with the real commands as a student would make them: none of them is promoted.

An example: half of the baseline's completions are lost, ``--missing zero`` counts them as wrong, and the candidate,
which is the same policy, would look 50 points better. The gate says that the baseline is to be completed.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from attacks import pairs
from attacks.laboratory import (
    STRONG,
    TAKES_FIRST,
    WEAK,
    N,
    Said,
    another_clone,
    answers,
    chosen,
    digests,
    examples,
    gate,
    groups,
    measured,
    sampling,
)
from conftest import ROOT, Done, Lab, edited, lines_of


class Mistake(NamedTuple):
    """What was done, in the function's docstring. ``said``: a part of what the last command says, and its status."""

    make: Callable[[Lab], Said]
    status: int
    said: str


def refused(ended: Done) -> Said:
    """What a command says that measures nothing."""
    return Said(ended.status, ended.err)


def evaluated(lab: Lab, dataset: object, completions: object, *more: object) -> Said:
    return refused(lab("eval", "--dataset", dataset, "--completions", completions, *more))


def better(lab: Lab) -> None:
    """The pair that would be promoted, were it not for the mistake."""
    pairs.better(lab)


def changed(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


# ---- Files that do not belong together.


def completions_of_another_dataset(lab: Lab) -> Said:
    """The completions of another dataset are taken."""
    lab.completions(answers(N), "of-others")
    data = [example | {"id": f"dev-{example['id']}"} for example in examples()]
    return evaluated(lab, lab.write("dataset.jsonl", data), "of-others.jsonl")


def meta_left_behind(lab: Lab) -> Said:
    """New completions are saved over the old ones, and the meta file stays."""
    better(lab)
    lab.write("of-candidate.jsonl", lines_of(lab.folder / "of-baseline.jsonl"))
    return evaluated(lab, "dataset.jsonl", "of-candidate.jsonl")


def meta_copied(lab: Lab) -> Said:
    """The meta file of another file is copied beside the completions."""
    better(lab)
    shutil.copy("of-baseline.meta.json", "of-candidate.meta.json")
    return evaluated(lab, "dataset.jsonl", "of-candidate.jsonl")


def meta_copied_and_mended(lab: Lab) -> Said:
    """The meta file is copied, and only its digest is mended, as the error says."""
    measured(lab, "baseline", answers(WEAK), policy="mine")
    measured(lab, "candidate", answers(STRONG), policy="mine")
    return gate(lab)


def meta_without_digest(lab: Lab) -> Said:
    """The meta files do not say which completions they describe."""
    measured(lab, "baseline", answers(WEAK), completions_sha256=None)
    measured(lab, "candidate", answers(STRONG), completions_sha256=None)
    return gate(lab)


def no_meta(lab: Lab) -> Said:
    """There are no meta files."""
    dataset = lab.dataset(range(N))
    for side, passes in (("baseline", WEAK), ("candidate", STRONG)):
        lab.completions(answers(passes), side, sampling=None)
        lab("eval", "--dataset", dataset, "--completions", f"{side}.jsonl", "--outdir", side)
    return gate(lab)


def meta_of_a_pack(lab: Lab) -> Said:
    """The meta file says four completions a prompt, and the file has one."""
    lab.completions(answers(N), "of-one", sampling=sampling(n=4))
    return evaluated(lab, lab.dataset(range(N)), "of-one.jsonl")


def completions_twice(lab: Lab) -> Said:
    """The sampling script was started twice and appended to its file."""
    path = lab.folder / lab.completions(answers(N), "twice")
    path.write_bytes(path.read_bytes() * 2)
    return evaluated(lab, lab.dataset(range(N)), "twice.jsonl")


# ---- Not everything was answered.


def half_of_the_baseline(lab: Lab) -> Said:
    """Half of the baseline's completions are lost, and both are measured with --missing zero."""
    pairs.half(lab)
    return gate(lab)


def half_of_the_baseline_alone(lab: Lab) -> Said:
    """Half of the baseline's completions are lost, and only it is measured with --missing zero."""
    pairs.half_refused(lab)
    return gate(lab)


def half_of_both(lab: Lab) -> Said:
    """Both runs lack the same half of their completions."""
    measured(lab, "baseline", ["no idea"] * 12, "--missing", "zero", data=examples())
    measured(lab, "candidate", answers(12)[:12], "--missing", "zero")
    return gate(lab)


def half_without_the_option(lab: Lab) -> Said:
    """Half of the completions are lost, and nothing was said of it."""
    lab.completions(answers(N)[:12], "half")
    return evaluated(lab, lab.dataset(range(N)), "half.jsonl")


def a_group_cut_off(lab: Lab) -> Said:
    """The sampling of a pack was interrupted in its last group."""
    lab.picker()
    packed = groups(WEAK)
    packed[-1].pop()
    lab.pack(packed)
    return refused(lab("selection_demo", "--dataset", lab.dataset(range(N)), "--samples", "pack.jsonl", "--n", 2))


# ---- The examples are not the same.


def prompts_reordered(lab: Lab) -> Said:
    """The dataset is sorted another way between the two runs."""
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG)[::-1], data=examples()[::-1])
    return gate(lab)


def ids_renumbered(lab: Lab) -> Said:
    """The examples are numbered anew between the two runs."""
    pairs.other_ids(lab)
    return gate(lab)


def dataset_edited(lab: Lab) -> Said:
    """A spelling mistake in one prompt is mended between the two runs."""
    measured(lab, "baseline", answers(WEAK))
    mended = examples()
    mended[20]["prompt"] = "Question twenty-one?"
    measured(lab, "candidate", answers(STRONG), data=mended)
    return gate(lab)


def dataset_edited_in_both(lab: Lab) -> Said:
    """Each of the two was measured after another edit of the dataset."""
    for side, passes, prompt in (("baseline", WEAK, "Question 21 ?"), ("candidate", STRONG, "Question 21??")):
        data = examples()
        data[20]["prompt"] = prompt
        measured(lab, side, answers(passes), data=data)
    return gate(lab)


def answers_corrected_in_one(lab: Lab) -> Said:
    """Wrong expected answers are corrected, and only the candidate is measured again."""
    pairs.other_answers(lab)
    return gate(lab)


def blank_line(lab: Lab) -> Said:
    """A blank line gets into the dataset between the two runs."""
    measured(lab, "baseline", answers(WEAK))
    with Path("dataset.jsonl").open("ab") as file:
        file.write(b"\n")
    measured(lab, "candidate", answers(STRONG))
    return gate(lab)


def fewer_prompts(lab: Lab) -> Said:
    """The candidate is measured on the first half of the dataset, the easy one."""
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(12), dataset="easy.jsonl", data=examples(12))
    return gate(lab)


def one_prompt_under_several_ids(lab: Lab) -> Said:
    """Several completions of each prompt are made examples with ids of their own."""
    pairs.several_ids(lab)
    return gate(lab)


def one_prompt_with_other_spaces(lab: Lab) -> Said:
    """The same, and each of them with another number of spaces."""
    data = [e | {"prompt": f"Question{' ' * (1 + i // 12)}{i % 12}?\n"} for i, e in enumerate(examples())]
    measured(lab, "baseline", answers(WEAK), data=data)
    measured(lab, "candidate", answers(STRONG))
    return gate(lab)


# ---- Holdouts, and what a policy was trained on.


def holdout_as_dev(lab: Lab) -> Said:
    """The lab's holdout is measured under another name, as dev."""
    holdout = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")
    lab.write("mine.jsonl", [{k: v for k, v in e.items() if k != "metadata"} for e in holdout])
    lab.write("of-mine.jsonl", [{"id": e["id"], "completion": "no idea"} for e in holdout])
    return evaluated(lab, "mine.jsonl", "of-mine.jsonl", "--split", "dev")


def holdout_with_other_spaces(lab: Lab) -> Said:
    """The same, pasted from a document that doubled the spaces and indented the lines."""
    holdout = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")
    pasted = [{"id": e["id"], "prompt": f"\t{e['prompt'].replace(' ', '  ')} ", "expected_answer": 0} for e in holdout]
    lab.write("mine.jsonl", pasted)
    lab.write("of-mine.jsonl", [{"id": e["id"], "completion": "no idea"} for e in holdout])
    return evaluated(lab, "mine.jsonl", "of-mine.jsonl", "--split", "dev")


def dev_and_holdout(lab: Lab) -> Said:
    """The baseline was measured on dev, the candidate on the holdout."""
    measured(lab, "baseline", answers(WEAK), data=examples(metadata={"split": "dev"}))
    held = [e | {"prompt": f"Held out: {e['prompt']}"} for e in examples(metadata={"split": "holdout"})]
    measured(lab, "candidate", answers(STRONG), data=held, dataset="holdout.jsonl")
    return gate(lab)


def holdout_worse(lab: Lab) -> Said:
    """What was better on dev is worse on the holdout."""
    measured(lab, "baseline", answers(WEAK), "--split", "holdout")
    measured(lab, "candidate", answers(WEAK - 1), "--split", "holdout")
    return gate(lab)


def measured_on_its_training(lab: Lab) -> Said:
    """The candidate is measured on the prompts that it was trained on."""
    pairs.trained_here(lab)
    return gate(lab)


def trained_on_some_of_them(lab: Lab) -> Said:
    """One prompt of the training is among those measured, under another id and in another file."""
    seen = {"rubric": "last_number", "prompts": digests("Elsewhere?", "Question 3?")}
    data = [e | {"id": f"new-{e['id']}"} for e in examples()]
    measured(lab, "baseline", answers(WEAK), data=data, dataset="new.jsonl")
    measured(lab, "candidate", answers(STRONG), dataset="new.jsonl", training=seen)
    return gate(lab)


def trained_on_some_with_other_spaces(lab: Lab) -> Said:
    """The same, and a line feed was added to each prompt that is measured."""
    seen = {"rubric": "last_number", "prompts": digests("Elsewhere?", "Question 3?")}
    data = [e | {"prompt": f"{e['prompt']}\n"} for e in examples()]
    measured(lab, "baseline", answers(WEAK), data=data)
    measured(lab, "candidate", answers(STRONG), training=seen)
    return gate(lab)


# ---- More was turned than the one thing studied, or nothing.


def another_temperature(lab: Lab) -> Said:
    """The candidate was sampled at another temperature."""
    pairs.temperatures(lab)
    return gate(lab)


def another_seed(lab: Lab) -> Said:
    """The same policy was sampled again with another seed, until the numbers were good."""
    pairs.seeds(lab)
    return gate(lab)


def a_seed_forgotten(lab: Lab) -> Said:
    """The same policy was sampled again, and this time nobody wrote the seed down."""
    measured(lab, "baseline", answers(WEAK), policy="one")
    measured(lab, "candidate", answers(STRONG), policy="one", sampling=sampling(seed=None))
    return gate(lab)


def no_seed(lab: Lab) -> Said:
    """The same policy was sampled again, by a service that has no seed."""
    pairs.no_seeds(lab)
    return gate(lab)


def template_not_said(lab: Lab) -> Said:
    """The prompt template was changed, and the policy's name was not."""
    pairs.one_policy(lab)
    return gate(lab)


def choice_and_policy(lab: Lab) -> Said:
    """pick_best was changed, and the samples came from another policy."""
    pairs.two_knobs(lab)
    return gate(lab)


def choice_and_draws(lab: Lab) -> Said:
    """pick_best was changed, and the same policy was sampled again without a seed."""
    no_seed_of_four = sampling(n=4, seed=None)
    chosen(lab, "baseline", 4, groups(WEAK), TAKES_FIRST, sampling=no_seed_of_four)
    packed = [group[::-1] for group in groups(WEAK)]
    chosen(lab, "candidate", 4, packed, sampling=no_seed_of_four)
    return gate(lab)


def another_n(lab: Lab) -> Said:
    """The best of four is compared with a single sample."""
    pairs.numbers_of_samples(lab)
    return gate(lab)


def another_pack_size(lab: Lab) -> Said:
    """Two of a pack of four are compared with a pack of two."""
    chosen(lab, "baseline", 2, groups(WEAK), policy="one")
    chosen(lab, "candidate", 2, groups(N, size=2), policy="two")
    return gate(lab)


def choice_and_measurement(lab: Lab) -> Said:
    """A run of course.selection_demo is compared with one of course.eval."""
    pairs.loops(lab)
    return gate(lab)


def bandits(lab: Lab) -> Said:
    """Two runs of Loop C are given to the gate."""
    for side, seed in (("baseline", 0), ("candidate", 1)):
        mode = ["--mode", "learning", "--rounds", 2, "--n", 2, "--seed", seed]
        lab("policy_improvement_demo", *mode, "--outdir", side)
    return gate(lab)


def a_demonstration_of_choosing(lab: Lab) -> Said:
    """The demonstration of Loop B on the shipped pack is run with one sample and with four."""
    for side, n in (("baseline", 1), ("candidate", 4)):
        lab("policy_improvement_demo", "--mode", "selection", "--rounds", 20, "--n", n, "--outdir", side)
    return gate(lab)


def measured_twice(lab: Lab) -> Said:
    """The same completions are measured twice."""
    better(lab)
    files = ["--dataset", "dataset.jsonl", "--completions", "of-baseline.jsonl"]
    lab("eval", *files, "--outdir", "again")
    return gate(lab, candidate="again")


def one_run_twice(lab: Lab) -> Said:
    """One run is given for both."""
    better(lab)
    return gate(lab, candidate="baseline")


def the_wrong_way_round(lab: Lab) -> Said:
    """Baseline and candidate are exchanged."""
    better(lab)
    return gate(lab, baseline="candidate", candidate="baseline")


def three_of_sixty(lab: Lab) -> Said:
    """Three more of sixty are right, and that is taken for an improvement."""
    measured(lab, "baseline", answers(30, of=60))
    measured(lab, "candidate", answers(33, of=60))
    return gate(lab)


def five_of_forty(lab: Lab) -> Said:
    """Five more of forty are right, which luck brings about once in sixteen times."""
    measured(lab, "baseline", answers(20, of=40))
    measured(lab, "candidate", answers(25, of=40))
    return gate(lab)


def five_points_for_five(lab: Lab) -> Said:
    """--min-delta is given in points."""
    better(lab)
    return gate(lab, "--min-delta", 5)


# ---- What happened to a run afterwards.


def another_clones_run(lab: Lab) -> Said:
    """The candidate was measured in another clone, and came without its log."""
    measured(lab, "baseline", answers(WEAK))
    with another_clone(lab):
        measured(lab, "candidate", answers(STRONG))
    return gate(lab)


def the_wrong_log(lab: Lab) -> Said:
    """It came with the log of a third student."""
    measured(lab, "baseline", answers(WEAK))
    with another_clone(lab):
        measured(lab, "candidate", answers(STRONG))
    return gate(lab, "--log", lab.log)


def a_run_for_a_log(lab: Lab) -> Said:
    """--log is given the run's rows."""
    better(lab)
    return gate(lab, "--log", "candidate/results.jsonl")


def results_converted(lab: Lab) -> Said:
    """Git converted the line ends of a run that was committed."""
    better(lab)
    changed(Path("candidate/results.jsonl"), b"\n", b"\r\n")
    return gate(lab)


def manifest_converted(lab: Lab) -> Said:
    """Git converted the line ends of a manifest."""
    better(lab)
    changed(Path("candidate/manifest.json"), b"\n", b"\r\n")
    return gate(lab)


def dataset_converted(lab: Lab) -> Said:
    """Git converted the line ends of the dataset between the two runs."""
    measured(lab, "baseline", answers(WEAK))
    changed(Path("dataset.jsonl"), b"\n", b"\r\n")
    measured(lab, "candidate", answers(STRONG))
    return gate(lab)


def completions_converted(lab: Lab) -> Said:
    """Git converted the line ends of the completions."""
    better(lab)
    changed(Path("of-candidate.jsonl"), b"\n", b"\r\n")
    return evaluated(lab, "dataset.jsonl", "of-candidate.jsonl")


def summary_formatted(lab: Lab) -> Said:
    """An editor formatted the summary when it was looked at."""
    better(lab)
    path = Path("candidate/summary.json")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")), indent=4), "utf-8")
    return gate(lab)


def a_row_mended(lab: Lab) -> Said:
    """A row that the student finds unfair is made right by hand."""
    better(lab)
    changed(Path("candidate/results.jsonl"), b"Final: 21", b"Final: 20")
    return gate(lab)


def a_title_added(lab: Lab) -> Said:
    """A note for the teacher is put into the manifest's ``change``, after the run."""
    better(lab)
    edited(Path("candidate/manifest.json"), lambda fields: fields.update(change="I made the prompt shorter"))
    return gate(lab)


def copied_in_part(lab: Lab) -> Said:
    """A run is copied without its summary."""
    better(lab)
    Path("candidate/summary.json").unlink()
    return gate(lab)


def deleted(lab: Lab) -> Said:
    """The baseline was deleted and not made again."""
    better(lab)
    shutil.rmtree("baseline")
    return gate(lab)


def a_file_for_a_run(lab: Lab) -> Said:
    """The gate is given the results and not the run."""
    better(lab)
    return gate(lab, candidate="candidate/results.jsonl")


def an_old_run(lab: Lab) -> Said:
    """The baseline was measured before the lab was brought up to date."""
    better(lab)
    edited(Path("baseline/manifest.json"), lambda fields: (fields.update(schema_version=2), fields.pop("expect")))
    return gate(lab)


OF_OTHER_BYTES = "$.completions_sha256: expected the SHA-256 of of-candidate.jsonl, got that of other bytes"
REWRITTEN = "12 of the completions differ, though policy, sampling and seed are said to be the same"
NO_RISE = "the pass rate did not rise"
NOT_LOGGED = "candidate run: the digest of its manifest is in no log of runs: it was edited, or made elsewhere"
LUCK = "nothing was turned, and 12 of the examples flipped; the same policy wrote both, in other draws: that is luck"
OTHER_PROMPTS = "locked room: prompts_fingerprint differs"
OTHER_BYTES = "locked room: dataset_fingerprint differs"

MISTAKES = {
    "Files that do not belong together": [
        Mistake(completions_of_another_dataset, 2, "got none for 24 ids (dev-q1, dev-q2, "),
        Mistake(meta_left_behind, 2, OF_OTHER_BYTES),
        Mistake(meta_copied, 2, OF_OTHER_BYTES),
        Mistake(meta_copied_and_mended, 1, REWRITTEN),
        Mistake(meta_without_digest, 1, "locked room: sampling is not known of the baseline and the candidate"),
        Mistake(no_meta, 1, "locked room: sampling is not known of the baseline and the candidate"),
        Mistake(meta_of_a_pack, 2, "$.sampling.n: expected 1, the completions a prompt in of-one.jsonl, got 4"),
        Mistake(completions_twice, 2, "twice.jsonl:25 $.id: "),
    ],
    "Not everything was answered": [
        Mistake(half_of_the_baseline, 1, "the baseline has no completion for 12 of its prompts: complete it"),
        Mistake(half_of_the_baseline_alone, 1, "locked room: missing_completions differs (zero / refused)"),
        Mistake(half_of_both, 1, "the baseline has no completion for 12 of its prompts: complete it"),
        Mistake(half_without_the_option, 2, "got none for 12 ids (q13, q14, "),
        Mistake(a_group_cut_off, 2, "expected groups of one size, got 4 samples first and 3 in q24"),
    ],
    "The examples are not the same": [
        Mistake(prompts_reordered, 1, OTHER_PROMPTS),
        Mistake(ids_renumbered, 1, OTHER_PROMPTS),
        Mistake(dataset_edited, 1, OTHER_PROMPTS),
        Mistake(dataset_edited_in_both, 1, OTHER_PROMPTS),
        Mistake(answers_corrected_in_one, 1, "locked room: examples_fingerprint differs"),
        Mistake(blank_line, 1, OTHER_BYTES),
        Mistake(fewer_prompts, 1, OTHER_PROMPTS),
        Mistake(one_prompt_under_several_ids, 1, "24 ids have only 12 distinct prompts"),
        Mistake(one_prompt_with_other_spaces, 1, "24 ids have only 12 distinct prompts"),
    ],
    "Holdouts, and what a policy was trained on": [
        Mistake(holdout_as_dev, 2, "expected a dataset without prompts of math_holdout.jsonl"),
        Mistake(holdout_with_other_spaces, 2, "expected a dataset without prompts of math_holdout.jsonl"),
        Mistake(dev_and_holdout, 1, "locked room: split differs (dev / holdout)"),
        Mistake(holdout_worse, 1, "the holdout got worse"),
        Mistake(measured_on_its_training, 1, "the candidate was trained on 24 of these 24 prompts"),
        Mistake(trained_on_some_of_them, 1, "the candidate was trained on 1 of these 24 prompts"),
        Mistake(trained_on_some_with_other_spaces, 1, "the candidate was trained on 1 of these 24 prompts"),
    ],
    "More was turned than the one thing studied, or nothing": [
        Mistake(
            another_temperature, 1, "locked room: sampling differs (temperature 1.0, top_p 1.0, n 1 / temperature 0.5"
        ),
        Mistake(another_seed, 1, LUCK),
        Mistake(a_seed_forgotten, 1, LUCK),
        Mistake(no_seed, 1, LUCK),
        Mistake(template_not_said, 1, REWRITTEN),
        Mistake(choice_and_policy, 1, "more than one knob was turned: policy and selection compute"),
        Mistake(
            choice_and_draws,
            1,
            "16 of the completions differ, and the choice changed too: let both choose from the same samples",
        ),
        Mistake(another_n, 1, "locked room: samples_per_prompt differs (1 / 4)"),
        Mistake(another_pack_size, 1, "locked room: sampling differs"),
        Mistake(choice_and_measurement, 1, "locked room: loop differs (A / B)"),
        Mistake(bandits, 2, "expected a baseline of Loop A or B, got a run of Loop C"),
        Mistake(a_demonstration_of_choosing, 1, "samples_per_prompt differs (1 / 4)"),
        Mistake(measured_twice, 3, NO_RISE),
        Mistake(one_run_twice, 3, NO_RISE),
        Mistake(the_wrong_way_round, 1, "the improvement is below --min-delta: -0.5000 < 0.0000"),
        Mistake(three_of_sixty, 3, "noise rule: with n = 60, below 100, up to 5 points are taken for luck"),
        Mistake(five_of_forty, 3, "the flips may be luck: exact McNemar p = 0.0625, not below 0.05"),
        Mistake(five_points_for_five, 2, "--min-delta: expected a number from 0 to 1 such as 0.02, got 5"),
    ],
    "What happened to a run afterwards": [
        Mistake(another_clones_run, 1, NOT_LOGGED),
        Mistake(the_wrong_log, 1, NOT_LOGGED),
        Mistake(a_run_for_a_log, 2, "results.jsonl:1 expected a line of the lab's log"),
        Mistake(results_converted, 1, "candidate run: results.jsonl:1 is not as this lab writes it"),
        Mistake(manifest_converted, 1, "candidate run: manifest.json is not as this lab writes it, byte for byte"),
        Mistake(dataset_converted, 1, OTHER_BYTES),
        Mistake(completions_converted, 2, OF_OTHER_BYTES),
        Mistake(summary_formatted, 1, "candidate run: summary.json is not what its rows come to, byte for byte"),
        Mistake(a_row_mended, 1, "results.jsonl is not the file that was written: its digest differs"),
        Mistake(a_title_added, 1, NOT_LOGGED),
        Mistake(copied_in_part, 1, "candidate run: summary.json cannot be read"),
        Mistake(deleted, 2, "baseline: expected the folder of a run, got nothing there"),
        Mistake(a_file_for_a_run, 2, "results.jsonl: expected the folder of a run, got a file"),
        Mistake(
            an_old_run, 1, "baseline run: manifest.json has schema version 2, this lab reads 3; make the run again"
        ),
    ],
}
