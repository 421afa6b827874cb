"""The pairs of runs that a forger starts from, each made with the real commands, and what the gate says of each.

An example: ``temperatures`` has a candidate that is better, measured at another temperature. The gate refuses it; a
forger makes the manifest say the baseline's temperature.
"""

from collections.abc import Callable

from attacks.laboratory import (
    STRONG,
    TAKES_FIRST,
    WEAK,
    N,
    answers,
    chosen,
    digests,
    examples,
    groups,
    measured,
    sampling,
)
from conftest import ROOT, Lab, lines_of

Make = Callable[[Lab], object]


def better(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG))


def better_choice(lab: Lab) -> None:
    chosen(lab, "baseline", 4, groups(WEAK), TAKES_FIRST)
    chosen(lab, "candidate", 4, groups(WEAK))


def equal(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", [*answers(WEAK)[:WEAK], *["no idea"] * (N - WEAK)])


def equal_choice(lab: Lab) -> None:
    chosen(lab, "baseline", 4, groups(WEAK), TAKES_FIRST, policy="one")
    chosen(lab, "candidate", 4, groups(WEAK), TAKES_FIRST, policy="two")


def worse(lab: Lab) -> None:
    measured(lab, "baseline", answers(STRONG))
    measured(lab, "candidate", answers(WEAK))


def numbers_of_samples(lab: Lab) -> None:
    """The README's own: one sample a prompt, and the best of four."""
    chosen(lab, "baseline", 1, groups(WEAK))
    chosen(lab, "candidate", 4, groups(WEAK))


def loops(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    chosen(lab, "candidate", 1, groups(STRONG))


def temperatures(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG), sampling=sampling(temperature=0.5))


def seeds(lab: Lab) -> None:
    """One policy, two draws."""
    measured(lab, "baseline", answers(WEAK), policy="one")
    measured(lab, "candidate", answers(STRONG), policy="one", sampling=sampling(seed=8))


def one_policy(lab: Lab) -> None:
    """One policy and one seed, and yet other completions."""
    measured(lab, "baseline", answers(WEAK), policy="one")
    measured(lab, "candidate", answers(STRONG), policy="one")


def no_seeds(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK), policy="one", sampling=sampling(seed=None))
    measured(lab, "candidate", answers(STRONG), policy="one", sampling=sampling(seed=None))


def sampling_not_known(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG), completions_sha256=None)


def trained_here(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    training = {"rubric": "last_number", "prompts": digests(*(e["prompt"] for e in examples()))}
    measured(lab, "candidate", answers(STRONG), training=training)


def half(lab: Lab) -> None:
    """Half of the baseline's completions are lost, and count as wrong."""
    measured(lab, "baseline", answers(STRONG)[: N // 2], "--missing", "zero", data=examples())
    measured(lab, "candidate", answers(STRONG), "--missing", "zero")


def half_refused(lab: Lab) -> None:
    measured(lab, "baseline", answers(STRONG)[: N // 2], "--missing", "zero", data=examples())
    measured(lab, "candidate", answers(STRONG))


def other_answers(lab: Lab) -> None:
    """The candidate was measured against answers that were made to fit it."""
    measured(lab, "baseline", answers(WEAK))
    fitted = [e | {"expected_answer": e["expected_answer"] + (i >= WEAK)} for i, e in enumerate(examples())]
    measured(lab, "candidate", answers(WEAK), dataset="fitted.jsonl", data=fitted)


def other_prompts(lab: Lab) -> None:
    """The candidate was measured on easier prompts."""
    measured(lab, "baseline", answers(WEAK))
    easier = [e | {"prompt": f"Easier: {e['prompt']}"} for e in examples()]
    measured(lab, "candidate", answers(STRONG), dataset="easier.jsonl", data=easier)


def other_ids(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG), dataset="x.jsonl", data=[e | {"id": f"x{e['id']}"} for e in examples()])


def other_bytes(lab: Lab) -> None:
    """The same examples in two files: one has a remark in its metadata."""
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG), dataset="remark.jsonl", data=examples(metadata={"remark": "mine"}))


def splits(lab: Lab) -> None:
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG), "--split", "holdout")


def shipped_holdout(lab: Lab) -> None:
    holdout = lines_of(ROOT / "data" / "datasets" / "math_holdout.jsonl")
    right = [f"Final: {example['expected_answer']}" for example in holdout]
    lab.write("holdout.jsonl", holdout)
    measured(lab, "baseline", ["no idea"] * len(holdout), dataset="holdout.jsonl")
    measured(lab, "candidate", right, dataset="holdout.jsonl")


def two_knobs(lab: Lab) -> None:
    chosen(lab, "baseline", 4, groups(WEAK), TAKES_FIRST, policy="one")
    chosen(lab, "candidate", 4, groups(WEAK), policy="two")


def several_ids(lab: Lab) -> None:
    """Twelve prompts, each twice."""
    twice = [e | {"prompt": f"Question {i % 12}?"} for i, e in enumerate(examples())]
    measured(lab, "baseline", answers(WEAK), data=twice)
    measured(lab, "candidate", answers(STRONG))


PAIRS: dict[Make, tuple[int, str]] = {
    better: (0, "same room"),
    better_choice: (0, "same room"),
    equal: (3, "the pass rate did not rise"),
    equal_choice: (3, "the pass rate did not rise"),
    worse: (1, "the improvement is below --min-delta"),
    numbers_of_samples: (1, "locked room: samples_per_prompt differs (1 / 4)"),
    loops: (1, "locked room: loop differs (A / B)"),
    temperatures: (1, "locked room: sampling differs"),
    seeds: (
        1,
        "nothing was turned, and 12 of the examples flipped; the same policy wrote both, in other draws: that is luck",
    ),
    one_policy: (1, "12 of the completions differ, though policy, sampling and seed are said to be the same"),
    no_seeds: (1, "nothing was turned, and 12 of the examples flipped"),
    sampling_not_known: (1, "locked room: sampling is not known of the candidate"),
    trained_here: (1, "the candidate was trained on 24 of these 24 prompts"),
    half: (1, "the baseline has no completion for 12 of its prompts"),
    half_refused: (1, "locked room: missing_completions differs (zero / refused)"),
    other_answers: (1, "locked room: examples_fingerprint differs"),
    other_prompts: (1, "locked room: prompts_fingerprint differs"),
    other_ids: (1, "locked room: prompts_fingerprint differs"),
    other_bytes: (1, "locked room: dataset_fingerprint differs"),
    splits: (1, "locked room: split differs (dev / holdout)"),
    shipped_holdout: (0, "same room"),
    two_knobs: (1, "more than one knob was turned: policy and selection compute"),
    several_ids: (1, "24 ids have only 12 distinct prompts"),
}
