"""What was tried with the gate: honest mistakes, each with the reason that the gate must give, and improvements.

An example: the candidate chose among four samples and the baseline had one, so the gate refuses to compare them.
"""

import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from attacks.laboratory import (
    SIDES,
    STRONG,
    TAKES_FIRST,
    WEAK,
    N,
    Pair,
    answers,
    examples,
    groups,
    in_another_clone,
    loop_a,
    loop_b,
    loop_c,
    sampled,
    trained_on,
)
from conftest import ROOT, Done, Lab, lines_of

from course.artifacts.records import MANIFEST, RESULTS, SUMMARY, indent_json

Edit = Callable[[Path], object]  # what happens to the folder of a run, which lies beside the other run


def set_change(run: Path) -> None:
    manifest = json.loads((run / MANIFEST).read_bytes())
    (run / MANIFEST).write_bytes(indent_json(manifest | {"change": "I made the prompt shorter"}))


def make_older(run: Path) -> None:
    """The manifest as the lab wrote it before schema 3."""
    manifest = json.loads((run / MANIFEST).read_bytes()) | {"schema_version": 2}
    for name in ("examples_fingerprint", "trained_on", "expect"):
        del manifest[name]
    (run / MANIFEST).write_bytes(indent_json(manifest))


def replace_bytes(name: str, old: bytes, new: bytes) -> Edit:
    def edit(run: Path) -> None:
        data = (run / name).read_bytes()
        assert old in data, old
        (run / name).write_bytes(data.replace(old, new))

    return edit


def remove_file(name: str) -> Edit:
    return lambda run: (run / name).unlink()


def take_manifest_of_the_baseline(run: Path) -> None:
    shutil.copyfile(run.with_name("baseline") / MANIFEST, run / MANIFEST)


def remove_run(run: Path) -> None:
    shutil.rmtree(run)


def move_run(run: Path) -> None:
    kept = run.parent / "kept"
    kept.mkdir(exist_ok=True)
    run.rename(kept / run.name)


def copy_run(run: Path) -> None:
    shutil.copytree(run, run.with_name("copy"))


def link_run(run: Path) -> None:
    if os.name == "nt":
        pytest.skip("needs links")
    run.with_name("link").symlink_to(run, target_is_directory=True)


def write_on_page(run: Path) -> None:
    """What a student does to a run: README.md is theirs, and environment.json is evidence of nothing."""
    with (run / "README.md").open("a", encoding="utf-8") as file:
        file.write("\nI think it is the shorter prompt.\n")
    (run / "environment.json").unlink()


def take_last_newline_of_the_log(run: Path) -> None:
    log = run.parent.with_name("lab-root") / "runs" / "log.jsonl"
    log.write_bytes(log.read_bytes().removesuffix(b"\n"))


def indent_summary(run: Path) -> None:
    (run / SUMMARY).write_text(json.dumps(json.loads((run / SUMMARY).read_bytes()), indent=4), "utf-8")


class Case(NamedTuple):
    """What was done, to which pair of runs, and what the last command must say of it.

    ``said``: a part of its reasons or of its error. ``status``: its exit status, as in the gate's docstring.
    ``edit``: what is done to each of ``sides`` once both runs are made. ``options``: more arguments of the gate.
    """

    what: str
    pair: Pair
    said: str = ""
    edit: Edit | None = None
    sides: Sequence[str] = ("candidate",)
    status: int = 4
    options: Sequence[object] = ()


# ---- The pairs of runs that several cases start from

BETTER = Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG)))
WORSE = Pair(loop_a(answers(STRONG)), loop_a(answers(WEAK)))

FIRST_OF_FOUR = loop_b(groups(WEAK), 4, TAKES_FIRST, policy="one")
TWO_KNOBS = Pair(FIRST_OF_FOUR, loop_b(groups(WEAK), 4, policy="two"))
ONE_OR_FOUR = Pair(loop_b(groups(WEAK), 1), loop_b(groups(WEAK), 4))
LOOP_A_OR_B = Pair(loop_a(answers(WEAK)), loop_b(groups(STRONG), 1))

TEMPERATURES = Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), sampling=sampled(temperature=0.5)))
ONE_POLICY = Pair(loop_a(answers(WEAK), policy="one"), loop_a(answers(STRONG), policy="one"))
SEEDS = Pair(loop_a(answers(WEAK), policy="one"), loop_a(answers(STRONG), policy="one", sampling=sampled(seed=8)))
SHOWN = [
    {"role": "user", "content": "Question 0?"},
    {"role": "assistant", "content": "Final: -1"},
    {"role": "user", "content": "{prompt}"},
]
ALONE = SHOWN[2:]
TEMPLATES = Pair(loop_a(answers(WEAK), policy="one", template=ALONE), loop_a(answers(STRONG), template=SHOWN))
TRAINED_HERE = Pair(
    loop_a(answers(WEAK)), loop_a(answers(STRONG), training=trained_on(*(e["prompt"] for e in examples())))
)
HALF_REFUSED = Pair(
    loop_a(answers(STRONG)[:12], "--missing", "zero", data=examples()), loop_a(answers(STRONG), data=examples())
)

OTHER_IDS = Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), data=[e | {"id": f"x{e['id']}"} for e in examples()]))
FITTED = [e | {"expected_answer": e["expected_answer"] + (i >= WEAK)} for i, e in enumerate(examples())]
OTHER_ANSWERS = Pair(loop_a(answers(WEAK)), loop_a(answers(WEAK), data=FITTED))

HOLDOUT = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")
SHIPPED_HOLDOUT = Pair(
    loop_a(["no idea"] * len(HOLDOUT), data=HOLDOUT), loop_a([f"Final: {e['expected_answer']}" for e in HOLDOUT])
)

# ---- What the gate says, where several cases are told the same

NOT_LOGGED = "run: no log of runs has the digest of its manifest"
REWRITTEN = "12 of the completions differ, though both runs name the same policy, sampling and seed"
LUCK = "no knob was turned, and 12 of the examples flipped: the same policy wrote both sets of completions"
SEVERAL_IDS = "24 ids have only 12 distinct prompts"
UNANSWERED = "the baseline has no completion for 12 of its prompts: add the missing completions"
SCHEMA = "manifest.json has schema version 2, but this lab reads 3; make the run again"
SUMMARY_BYTES = "summary.json is not, byte for byte, the summary of results.jsonl"
OTHER_FILE = "is not the file that was written: its digest differs"
OF_OTHER_BYTES = "$.completions_sha256: expected the SHA-256 of of-candidate.jsonl, got the SHA-256 of di"
SAMPLING_NOT_KNOWN = "locked room: sampling is not known for the baseline and the candidate"
TEMPLATE_DIFFERS = "locked room: template differs"
PROMPTS_DIFFER = "locked room: prompts_fingerprint differs"
DATASET_DIFFERS = "locked room: dataset_fingerprint differs"
HELD_OUT = "of the prompts are from math_holdout.jsonl"
FAR_WORSE = "worse: 0 gained and 12 lost of 24 prompts, which is more than chance explains (exact McNemar p = 0.00049)"
NO_RISE = "the pass rate did not rise"

CRLF = (b"\n", b"\r\n")
BASELINE, BOTH = ("baseline",), SIDES

# ---- Honest mistakes

PASTED = [{"id": e["id"], "prompt": f"\t{e['prompt'].replace(' ', '  ')} ", "expected_answer": 0} for e in HOLDOUT]
WITHOUT_METADATA = [{key: e[key] for key in ("id", "prompt", "expected_answer")} for e in HOLDOUT]
NO_IDEA = loop_a(["no idea"] * len(HOLDOUT), "--split", "dev", data=WITHOUT_METADATA)
TWICE = [e | {"prompt": f"Question {i % 12}?"} for i, e in enumerate(examples())]
TWICE_SPACED = [e | {"prompt": f"Question{' ' * (1 + i // 12)}{i % 12}?\n"} for i, e in enumerate(examples())]
HELD = [e | {"prompt": f"Held out: {e['prompt']}"} for e in examples(metadata={"split": "holdout"})]
ON_ONE_PROMPT = loop_a(answers(STRONG), training=trained_on("Elsewhere?", "Question 3?"))
NO_SEED = sampled(seed=None)
NO_SEED_OF_FOUR = sampled(n=4, seed=None)
BYTES = b"".join(f'{{"id":"q{i}","prompt":"Question {i}?","expected_answer":{i - 1}}}\n'.encode() for i in range(1, 25))
CUT_OFF = [*groups(WEAK)[:-1], groups(WEAK)[-1][:3]]


SPELLINGS = (  # of "my model"
    "my model ",
    "My Model",
    "my  model",
    "my\u00a0model",
    "my\u200b model",
    "ｍｙ model",
    "my mo\u00addel",
)
OTHER_NUMBERS = trained_on(*(f"Question {i}?" for i in range(25, 99)))
QUESTIONS = [example["prompt"] for example in examples()]
RESPELLED: dict[str, Callable[[str], str]] = {
    "in capitals": str.upper,
    "in lower case": str.lower,
    "with a zero width space": lambda prompt: prompt.replace(" ", " \u200b"),
    "with a no-break space": lambda prompt: prompt.replace(" ", "\u00a0"),
    "in full width": lambda prompt: prompt.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    "without its final sign": lambda prompt: prompt.rstrip(".?"),
    "in quotes": lambda prompt: f"“{prompt}”",
}


def respelled(rows: list[Any], respell: Callable[[str], str], as_of: int = 0) -> list[dict[str, Any]]:
    """Rows without metadata and with their prompts respelled; ``as_of``: the prompts of as many rows before."""
    prompts = QUESTIONS if as_of else [row["prompt"] for row in rows]
    return [
        {"id": row["id"], "prompt": respell(prompt), "expected_answer": row["expected_answer"]}
        for row, prompt in zip(rows, prompts, strict=False)
    ]


def with_prompt_21(prompt: str) -> list[dict[str, Any]]:
    return [example | {"prompt": prompt} if example["id"] == "q21" else example for example in examples()]


MISTAKES: dict[str, tuple[Case, ...]] = {
    "Files that do not belong together": (
        Case("the completions of another dataset are taken",
             Pair(loop_a(answers(N), data=[e | {"id": f"dev-{e['id']}"} for e in examples()],
                         ids=[e["id"] for e in examples()]), loop_a(answers(N))),
             "got no record for 24 ids (dev-q1, dev-q2,", status=2),
        Case("new completions are saved over the old ones, and the meta file stays",
             Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), policy="one", completions_sha256="0" * 64)),
             OF_OTHER_BYTES, status=2),
        Case("the meta file of another file is copied beside the completions",
             Pair(loop_a(answers(WEAK)),
                  loop_a(answers(STRONG), policy="policy of baseline", completions_sha256="1" * 64)),
             OF_OTHER_BYTES, status=2),
        Case("the meta file is copied, and only its digest is mended, as the error says", ONE_POLICY, REWRITTEN),
        Case("the meta files do not say which completions they describe",
             Pair(loop_a(answers(WEAK), completions_sha256=None), loop_a(answers(STRONG), completions_sha256=None)),
             SAMPLING_NOT_KNOWN),
        Case("there are no meta files",
             Pair(loop_a(answers(WEAK), with_meta=False), loop_a(answers(STRONG), with_meta=False)),
             SAMPLING_NOT_KNOWN),
        Case("the meta file says four completions a prompt, and the file has one",
             Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), sampling=sampled(n=4))),
             "$.sampling.n: expected 1, the number of completions of each prompt", status=2),
        Case("the sampling script was started twice and appended to its file",
             Pair(loop_a(answers(WEAK)), loop_a(answers(N) * 2, ids=[e["id"] for e in examples()] * 2)),
             "of-candidate.jsonl:25 $.id: ", status=2),
    ),
    "Not everything was answered": (
        Case("half of the baseline's completions are lost, and both are measured with --missing zero",
             Pair(loop_a(answers(STRONG)[:12], "--missing", "zero", data=examples()),
                  loop_a(answers(STRONG), "--missing", "zero")), UNANSWERED),
        Case("half of the baseline's completions are lost, and only it is measured with --missing zero", HALF_REFUSED,
             "locked room: missing_completions differs (zero / refused)"),
        Case("both runs lack the same half of their completions",
             Pair(loop_a(["no idea"] * 12, "--missing", "zero", data=examples()),
                  loop_a(answers(12)[:12], "--missing", "zero")), UNANSWERED),
        Case("half of the completions are lost, and nothing was said of it",
             Pair(loop_a(answers(N)[:12], data=examples()), loop_a(answers(N))), "got no record for 12 ids (q13, q14,",
             status=2),
        Case("the sampling of a pack was interrupted in its last group", Pair(loop_b(CUT_OFF, 2), loop_b(CUT_OFF, 2)),
             "expected groups of the same size, got 4 samples in the first and 3 in q24", status=2),
    ),
    "The examples are not the same": (
        Case("the dataset is sorted another way between the two runs",
             Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG)[::-1], data=examples()[::-1])), PROMPTS_DIFFER),
        Case("the examples are numbered anew between the two runs", OTHER_IDS, PROMPTS_DIFFER),
        Case("a spelling mistake in one prompt is mended between the two runs",
             Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), data=with_prompt_21("Question twenty-one?"))),
             PROMPTS_DIFFER),
        Case("each of the two was measured after another edit of the dataset",
             Pair(loop_a(answers(WEAK), data=with_prompt_21("Question 21 ?")),
                  loop_a(answers(STRONG), data=with_prompt_21("Question 21??"))), PROMPTS_DIFFER),
        Case("wrong expected answers are corrected, and only the candidate is measured again", OTHER_ANSWERS,
             "locked room: examples_fingerprint differs"),
        Case("a blank line gets into the dataset between the two runs",
             Pair(loop_a(answers(WEAK), data=BYTES), loop_a(answers(STRONG), data=BYTES + b"\n")), DATASET_DIFFERS),
        Case("the candidate is measured on the first half of the dataset, the easy one",
             Pair(loop_a(answers(WEAK)), loop_a(answers(12), data=examples(12))), PROMPTS_DIFFER),
        Case("several completions of each prompt are made examples with ids of their own",
             Pair(loop_a(answers(WEAK), data=TWICE), loop_a(answers(STRONG))), SEVERAL_IDS),
        Case("the same, and each of them with another number of spaces",
             Pair(loop_a(answers(WEAK), data=TWICE_SPACED), loop_a(answers(STRONG))), SEVERAL_IDS),
    ),
    "Holdouts, and what a policy was trained on": (
        Case("the lab's holdout is measured under another name, as dev", Pair(NO_IDEA, NO_IDEA), HELD_OUT, status=2),
        Case("the same, pasted from a document that doubled the spaces and indented the lines",
             Pair(loop_a(["no idea"] * len(PASTED), "--split", "dev", data=PASTED), NO_IDEA), HELD_OUT, status=2),
        Case("the baseline was measured on dev, the candidate on the holdout",
             Pair(loop_a(answers(WEAK), data=examples(metadata={"split": "dev"})), loop_a(answers(STRONG), data=HELD)),
             "locked room: split differs (dev / holdout)"),
        Case("what was better on dev is worse on the holdout",
             Pair(loop_a(answers(WEAK), "--split", "holdout"), loop_a(answers(WEAK - 1), "--split", "holdout")),
             "worse: 0 gained and 1 lost of 24 prompts, which may be chance (exact McNemar p = 1)", status=3),
        Case("what was better on dev is far worse on the holdout",
             Pair(loop_a(answers(STRONG), "--split", "holdout"), loop_a(answers(WEAK), "--split", "holdout")),
             FAR_WORSE, status=1),
        Case("the candidate is measured on the prompts that it was trained on", TRAINED_HERE,
             "the candidate was trained on 24 of these 24 prompts"),
        Case("one prompt of the training is among those measured, under another id and in another file",
             Pair(loop_a(answers(WEAK), data=[e | {"id": f"new-{e['id']}"} for e in examples()]), ON_ONE_PROMPT),
             "the candidate was trained on 1 of these 24 prompts"),
        Case("the same, and a line feed was added to each prompt that is measured",
             Pair(loop_a(answers(WEAK), data=[e | {"prompt": f"{e['prompt']}\n"} for e in examples()]), ON_ONE_PROMPT),
             "the candidate was trained on 1 of these 24 prompts"),
    ),
    "A name that is spelled in another way": (
        *(
            Case(f"the same policy was sampled with another seed, and named {name!r}",
                 Pair(loop_a(answers(WEAK), policy="my model"),
                      loop_a(answers(STRONG), policy=name, sampling=sampled(seed=8))), LUCK)
            for name in SPELLINGS
        ),
        Case("the same policy with the same seed has a space more in its name",
             Pair(loop_a(answers(WEAK), policy="m"), loop_a(answers(STRONG), policy="m ")), REWRITTEN),
        *(
            Case(f"the candidate was trained on every prompt that is measured, {how}",
                 Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), training=trained_on(*map(respell, QUESTIONS)))),
                 "the candidate was trained on 24 of these 24 prompts")
            for how, respell in RESPELLED.items()
        ),
        *(
            Case(f"the lab's holdout is measured as dev, {how}",
                 Pair(loop_a(["no idea"] * len(HOLDOUT), "--split", "dev", data=respelled(HOLDOUT, respell)),
                      loop_a([f"Final: {e['expected_answer']}" for e in HOLDOUT], "--split", "dev")),
                 HELD_OUT, status=2)
            for how, respell in RESPELLED.items()
        ),
        *(
            Case(f"each prompt stands under two ids, once {how}",
                 Pair(loop_a(answers(WEAK), data=[*examples(12), *respelled(examples()[12:], respell, as_of=12)]),
                      loop_a(answers(STRONG))), SEVERAL_IDS)
            for how, respell in RESPELLED.items()
        ),
        Case("a holdout of one's own is measured again without --split holdout, and called dev",
             Pair(loop_a(answers(WEAK), "--split", "holdout"), loop_a(answers(STRONG), "--split", "dev")),
             "the log of runs knows these prompts as a holdout", status=2),
    ),
    "More was turned than the one thing studied, or nothing": (
        Case("the candidate was sampled at another temperature", TEMPERATURES,
             "locked room: sampling differs (temperature 1.0, top_p 1.0, n 1 / temperature 0.5"),
        Case("the same policy was sampled again with another seed, until the numbers were good", SEEDS, LUCK),
        Case("the same policy was sampled again, and this time nobody wrote the seed down",
             Pair(loop_a(answers(WEAK), policy="one"), loop_a(answers(STRONG), policy="one", sampling=NO_SEED)), LUCK),
        Case("the same policy was sampled again, by a service that has no seed",
             Pair(loop_a(answers(WEAK), policy="one", sampling=NO_SEED),
                  loop_a(answers(STRONG), policy="one", sampling=NO_SEED)), LUCK),
        Case("the baseline was asked without examples, and the candidate with them",
             Pair(loop_a(answers(WEAK), policy="one", template=ALONE),
                  loop_a(answers(STRONG), policy="one", template=SHOWN)), TEMPLATE_DIFFERS),
        Case("the same, and the examples are called another policy", TEMPLATES, TEMPLATE_DIFFERS),
        Case("nobody wrote down what stood around the baseline's prompts",
             Pair(loop_a(answers(WEAK), template=None), loop_a(answers(STRONG))),
             "locked room: template is not known for the baseline; write \"template\""),
        Case("pick_best was changed, and the samples came from another policy", TWO_KNOBS,
             "more than one knob was turned: policy and selection compute"),
        Case("pick_best was changed, and the same policy was sampled again without a seed",
             Pair(loop_b(groups(WEAK), 4, TAKES_FIRST, sampling=NO_SEED_OF_FOUR),
                  loop_b([group[::-1] for group in groups(WEAK)], 4, sampling=NO_SEED_OF_FOUR)),
             "16 of the completions differ, and the rule of choice changed too: let both runs choose"),
        Case("the best of four is compared with a single sample", ONE_OR_FOUR,
             "locked room: samples_per_prompt differs (1 / 4)"),
        Case("two of a pack of four are compared with a pack of two",
             Pair(loop_b(groups(WEAK), 2, policy="one"), loop_b(groups(N, size=2), 2, policy="two")),
             "locked room: sampling differs"),
        Case("a run of course.selection_demo is compared with one of course.eval", LOOP_A_OR_B,
             "locked room: loop differs (A / B)"),
        Case("two runs of Loop C are given to the gate",
             Pair(loop_c("--seed", 0), loop_c("--seed", 1)),
             "expected a baseline of Loop A or B, got a run of Loop C", status=2),
        Case("the candidate was measured by a careless verifier",
             Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), "--rubric", "last_number")),
             "locked room: verifier differs (the scorer / last_number, sha256 "),
        Case("both were measured by a careless verifier",
             Pair(loop_a(answers(WEAK), "--rubric", "last_number"), loop_a(answers(STRONG), "--rubric", "last_number")),
             "expected two runs without --rubric, got two of last_number, sha256", status=2),
        Case("the same completions are measured twice",
             Pair(loop_a(answers(WEAK), policy="one"), loop_a(answers(WEAK), policy="one")), NO_RISE, status=3),
        Case("one run is given for both", BETTER, NO_RISE, status=3, options=("--candidate", "baseline")),
        Case("baseline and candidate are exchanged", WORSE, FAR_WORSE, status=1),
        Case("three more of sixty are right, and that is taken for an improvement",
             Pair(loop_a(answers(30, of=60)), loop_a(answers(33, of=60))),
             "noise rule: with 60 prompts, fewer than 100, a rise of up to 5 points counts as chance", status=3),
        Case("five more of forty are right, which luck brings about once in sixteen times",
             Pair(loop_a(answers(20, of=40)), loop_a(answers(25, of=40))),
             "5 gained and 0 lost of 40 prompts, which may be chance (exact McNemar p = 0.062)", status=3),
        Case("--min-delta is given in points", BETTER, "--min-delta: expected a number from 0 to 1 such as 0.02, got 5",
             status=2, options=("--min-delta", 5)),
    ),
    "What happened to a run afterwards": (
        Case("the candidate was measured in another clone, and came without its log",
             Pair(loop_a(answers(WEAK)), in_another_clone(loop_a(answers(STRONG)))), f"candidate {NOT_LOGGED}"),
        Case("it came with the log of a third student",
             Pair(loop_a(answers(WEAK)), in_another_clone(loop_a(answers(STRONG)))), f"candidate {NOT_LOGGED}",
             options=("--log", "../lab-root/runs/log.jsonl")),
        Case("--log is given the run's rows", BETTER, "results.jsonl:1 is not a line of the lab's log", status=2,
             options=("--log", "candidate/results.jsonl")),
        Case("Git converted the line ends of a run that was committed", BETTER, f"results.jsonl {OTHER_FILE}",
             replace_bytes(RESULTS, *CRLF)),
        Case("Git converted the line ends of a manifest", BETTER, f"candidate {NOT_LOGGED}",
             replace_bytes(MANIFEST, *CRLF)),
        Case("Git converted the line ends of the dataset between the two runs",
             Pair(loop_a(answers(WEAK), data=BYTES), loop_a(answers(STRONG), data=BYTES.replace(*CRLF))),
             DATASET_DIFFERS),
        Case("Git converted the line ends of the completions",
             Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), completions_sha256="2" * 64)),
             OF_OTHER_BYTES, status=2),
        Case("an editor formatted the summary when it was looked at", BETTER, f"candidate run: {SUMMARY_BYTES}",
             indent_summary),
        Case("a row that the student finds unfair is made right by hand", BETTER, f"results.jsonl {OTHER_FILE}",
             replace_bytes(RESULTS, b"Final: 21", b"Final: 20")),
        Case("a note for the teacher is put into the manifest's ``change``, after the run", BETTER,
             f"candidate {NOT_LOGGED}", set_change),
        Case("the baseline's manifest is copied into the candidate's folder", BETTER, f"results.jsonl {OTHER_FILE}",
             take_manifest_of_the_baseline),
        Case("a run is copied without its summary", BETTER, "candidate run: summary.json cannot be read",
             remove_file(SUMMARY)),
        Case("the baseline was deleted and not made again", BETTER,
             "baseline: expected the folder of a run, got a path that does not exist", remove_run, BASELINE, status=2),
        Case("the gate is given the results and not the run", BETTER,
             "results.jsonl: expected the folder of a run, got a file", status=2,
             options=("--candidate", "candidate/results.jsonl")),
        Case("the gate is given the folder in which the runs lie", BETTER, "expected the folder of one run",
             status=2, options=("--candidate", ".")),
        Case("the baseline was measured before the lab was brought up to date", BETTER, f"baseline run: {SCHEMA}",
             make_older, BASELINE),
    ),
}  # fmt: skip

# ---- Honest improvements


def measured_from_another_folder(lab: Lab, name: str) -> Done:
    elsewhere = Lab(lab.folder / "elsewhere")
    elsewhere.folder.mkdir()
    shutil.copy(lab.folder / "dataset.jsonl", elsewhere.folder)
    os.chdir(elsewhere.folder)
    return loop_a(answers(STRONG))(elsewhere, name)


def measured_after_many_others(lab: Lab, name: str) -> Done:
    """And one of them was killed while its line of the log was written."""
    for number in range(5):
        loop_a(answers(number))(lab, f"try-{number}")
    done = loop_a(answers(STRONG))(lab, name)
    with lab.log.open("ab") as file:
        file.write(b'{"run":"runs/run_0')
    return done


def made_again(lab: Lab, name: str) -> Done:
    loop_a(answers(STRONG))(lab, name)
    for side in SIDES:
        shutil.rmtree(side)
    loop_a(answers(WEAK))(lab, "baseline")
    return loop_a(answers(STRONG))(lab, name)


CORRECTED = [examples()[0] | {"expected_answer": 99}, *examples()[1:]]
HALF_RIGHT = answers(500, of=1_000)
FIVE_LOST = ["no idea"] * 5 + HALF_RIGHT[5:500] + [f"Final: {i}" for i in range(500, 520)] + HALF_RIGHT[520:]
ELSEWHERE, BY_IMITATION = trained_on("Elsewhere?"), trained_on("Elsewhere?", rubric=None)

IMPROVEMENTS = (
    Case("Loop A, n = 60: 20 passes, then 26", Pair(loop_a(answers(20, of=60)), loop_a(answers(26, of=60)))),
    Case("Loop A, n = 80: 40 passes, then 50", Pair(loop_a(answers(40, of=80)), loop_a(answers(50, of=80)))),
    Case("Loop A, n = 100: 50 passes, then 56", Pair(loop_a(answers(50, of=100)), loop_a(answers(56, of=100)))),
    Case("Loop A, n = 400: 200 passes, then 212", Pair(loop_a(answers(200, of=400)), loop_a(answers(212, of=400)))),
    Case("Loop A, n = 1,000: 500 passes, then 506", Pair(loop_a(HALF_RIGHT), loop_a(answers(506, of=1_000)))),
    Case("Loop A, n = 1,000: 20 gained and 5 lost", Pair(loop_a(HALF_RIGHT), loop_a(FIVE_LOST))),
    Case("Loop A, n = 150: 6 more are right and --min-delta is 0.04, exactly that",
         Pair(loop_a(answers(70, of=150)), loop_a(answers(76, of=150))), options=("--min-delta", "0.04")),
    Case("Loop A, both sampled at temperature 0",
         Pair(loop_a(answers(WEAK), sampling=sampled(temperature=0.0)),
              loop_a(answers(STRONG), sampling=sampled(temperature=0.0)))),
    Case("Loop A, another policy of a service that has no seed",
         Pair(loop_a(answers(WEAK), sampling=NO_SEED), loop_a(answers(STRONG), sampling=NO_SEED))),
    Case("Loop A, another policy, and another seed of its draws",
         Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), sampling=sampled(seed=8)))),
    Case("Loop A, a policy of a service that has no seed, and one of one's own that has",
         Pair(loop_a(answers(WEAK), sampling=NO_SEED), loop_a(answers(STRONG)))),
    Case("Loop A, both with --missing zero, and nothing was missing",
         Pair(loop_a(answers(WEAK), "--missing", "zero"), loop_a(answers(STRONG), "--missing", "zero"))),
    Case("Loop A, the same examples stood before each prompt of both",
         Pair(loop_a(answers(WEAK), template=SHOWN), loop_a(answers(STRONG), template=SHOWN))),
    Case("Loop B, pick_best was made better and the samples stayed",
         Pair(loop_b(groups(WEAK), 4, TAKES_FIRST), loop_b(groups(WEAK), 4))),
    Case("Loop B, the same, of samples that have no seed",
         Pair(loop_b(groups(WEAK), 4, TAKES_FIRST, sampling=NO_SEED_OF_FOUR),
              loop_b(groups(WEAK), 4, sampling=NO_SEED_OF_FOUR))),
    Case("Loop B, another policy and the same pick_best",
         Pair(loop_b(groups(WEAK), 2, policy="one"), loop_b(groups(STRONG), 2, policy="two"))),
    Case("Loop B, n = 1,000", Pair(loop_b(groups(500, of=1_000), 4, TAKES_FIRST), loop_b(groups(500, of=1_000), 4))),
    Case("a holdout of one's own",
         Pair(loop_a(answers(WEAK), "--split", "holdout"), loop_a(answers(STRONG), "--split", "holdout"))),
    Case("the lab's holdout, under another name", SHIPPED_HOLDOUT),
    Case("the candidate was trained, on prompts that are not measured",
         Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), training=ELSEWHERE))),
    Case("both were trained on other prompts: the baseline by imitation only",
         Pair(loop_a(answers(WEAK), training=BY_IMITATION), loop_a(answers(STRONG), training=ELSEWHERE))),
    Case("a holdout of one's own that the log knows, measured without --split holdout",
         Pair(loop_a(answers(WEAK), "--split", "holdout"), loop_a(answers(STRONG)))),
    Case("both policies have names that differ in a digit only",
         Pair(loop_a(answers(WEAK), policy="model 1.5"), loop_a(answers(STRONG), policy="model 15"))),
    Case("the candidate was trained on prompts that differ in their numbers only",
         Pair(loop_a(answers(WEAK)), loop_a(answers(STRONG), training=OTHER_NUMBERS))),
    Case("expected answers were corrected, and both were measured again",
         Pair(loop_a(answers(WEAK), data=CORRECTED), loop_a(answers(STRONG)))),
    Case("the dataset has Windows line ends, for both",
         Pair(loop_a(answers(WEAK), data=BYTES.replace(*CRLF)), loop_a(answers(STRONG)))),
    Case("the candidate was measured in another clone, and came with its log",
         Pair(loop_a(answers(WEAK)), in_another_clone(loop_a(answers(STRONG)))), options=("--log", "their_log.jsonl")),
    Case("the runs were moved and renamed", BETTER, edit=move_run, sides=BOTH,
         options=("--baseline", "kept/baseline", "--candidate", "kept/candidate")),
    Case("the candidate was copied", BETTER, edit=copy_run, options=("--candidate", "copy")),
    Case("the candidate is reached through a link", BETTER, edit=link_run, options=("--candidate", "link")),
    Case("both runs were deleted and made again under the same names", Pair(loop_a(answers(WEAK)), made_again)),
    Case("the student wrote on a run's README.md, and environment.json is gone", BETTER, edit=write_on_page),
    Case("the commands were called in two folders", Pair(loop_a(answers(WEAK)), measured_from_another_folder),
         options=("--baseline", "../baseline")),
    Case("many more runs were made in between, and one was killed while its line was written",
         Pair(loop_a(answers(WEAK)), measured_after_many_others)),
    Case("an editor took the line feed at the end of the log", BETTER, edit=take_last_newline_of_the_log),
)  # fmt: skip
