"""Honest improvements, each PROMOTED: a gate that says no to everything would be safe, and of no use.

An example: of 1,000 prompts the candidate gains 20 and loses 5, one point and a half. It is promoted.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

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
from conftest import Lab

Improvement = Callable[[Lab], Said]


def of(n: int, before: int, after: int) -> Callable[[Lab], Said]:
    def improve(lab: Lab) -> Said:
        measured(lab, "baseline", answers(before, of=n))
        measured(lab, "candidate", answers(after, of=n))
        return gate(lab)

    improve.__doc__ = f"Loop A, n = {n:,}: {before:,} passes, then {after:,}."
    return improve


def some_lost(lab: Lab) -> Said:
    """Loop A, n = 1,000: 20 gained and 5 lost."""
    texts = answers(500, of=1_000)
    measured(lab, "baseline", texts)
    measured(lab, "candidate", ["no idea"] * 5 + texts[5:500] + [f"Final: {i}" for i in range(500, 520)] + texts[520:])
    return gate(lab)


def exactly_min_delta(lab: Lab) -> Said:
    """Loop A, n = 150: 6 more are right and --min-delta is 0.04, exactly that."""
    measured(lab, "baseline", answers(70, of=150))
    measured(lab, "candidate", answers(76, of=150))
    return gate(lab, "--min-delta", "0.04")


def greedy(lab: Lab) -> Said:
    """Loop A, both sampled at temperature 0."""
    for side, passes in (("baseline", WEAK), ("candidate", STRONG)):
        measured(lab, side, answers(passes), sampling=sampling(temperature=0.0))
    return gate(lab)


def another_policy_without_seeds(lab: Lab) -> Said:
    """Loop A, another policy of a service that has no seed."""
    for side, passes in (("baseline", WEAK), ("candidate", STRONG)):
        measured(lab, side, answers(passes), sampling=sampling(seed=None))
    return gate(lab)


def another_policy_with_another_seed(lab: Lab) -> Said:
    """Loop A, another policy, and another seed of its draws."""
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG), sampling=sampling(seed=8))
    return gate(lab)


def another_policy_whose_seed_is_known(lab: Lab) -> Said:
    """Loop A, a policy of a service that has no seed, and one of one's own that has."""
    measured(lab, "baseline", answers(WEAK), sampling=sampling(seed=None))
    measured(lab, "candidate", answers(STRONG))
    return gate(lab)


def all_answered_with_the_option(lab: Lab) -> Said:
    """Loop A, both with --missing zero, and nothing was missing."""
    for side, passes in (("baseline", WEAK), ("candidate", STRONG)):
        measured(lab, side, answers(passes), "--missing", "zero")
    return gate(lab)


def another_choice(lab: Lab) -> Said:
    """Loop B, pick_best was made better and the samples stayed."""
    pairs.better_choice(lab)
    return gate(lab)


def another_choice_without_seeds(lab: Lab) -> Said:
    """Loop B, the same, of samples that have no seed."""
    no_seed = sampling(n=4, seed=None)
    chosen(lab, "baseline", 4, groups(WEAK), TAKES_FIRST, sampling=no_seed)
    chosen(lab, "candidate", 4, groups(WEAK), sampling=no_seed)
    return gate(lab)


def another_policy_to_choose_from(lab: Lab) -> Said:
    """Loop B, another policy and the same pick_best."""
    chosen(lab, "baseline", 2, groups(WEAK), policy="one")
    chosen(lab, "candidate", 2, groups(STRONG), policy="two")
    return gate(lab)


def large_choice(lab: Lab) -> Said:
    """Loop B, n = 1,000."""
    chosen(lab, "baseline", 4, groups(500, of=1_000), TAKES_FIRST)
    chosen(lab, "candidate", 4, groups(500, of=1_000))
    return gate(lab)


def own_holdout(lab: Lab) -> Said:
    """A holdout of one's own."""
    measured(lab, "baseline", answers(WEAK), "--split", "holdout")
    measured(lab, "candidate", answers(STRONG), "--split", "holdout")
    return gate(lab)


def shipped_holdout(lab: Lab) -> Said:
    """The lab's holdout, under another name."""
    pairs.shipped_holdout(lab)
    return gate(lab)


def trained_on_other_prompts(lab: Lab) -> Said:
    """The candidate was trained, on prompts that are not measured."""
    measured(lab, "baseline", answers(WEAK))
    measured(lab, "candidate", answers(STRONG), training={"rubric": "last_number", "prompts": digests("Elsewhere?")})
    return gate(lab)


def imitation_then_training(lab: Lab) -> Said:
    """Both were trained on other prompts: the baseline by imitation only."""
    for side, passes, rubric in (("baseline", WEAK, None), ("candidate", STRONG, "last_number")):
        measured(lab, side, answers(passes), training={"rubric": rubric, "prompts": digests("Elsewhere?")})
    return gate(lab)


def answers_corrected_for_both(lab: Lab) -> Said:
    """Expected answers were corrected, and both were measured again."""
    corrected = [e | {"expected_answer": e["expected_answer"] if i else 99} for i, e in enumerate(examples())]
    measured(lab, "baseline", answers(WEAK), data=corrected)
    measured(lab, "candidate", answers(STRONG))
    return gate(lab)


def windows_line_ends(lab: Lab) -> Said:
    """The dataset has Windows line ends, for both."""
    lab.write("dataset.jsonl", examples())
    path = lab.folder / "dataset.jsonl"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    pairs.better(lab)
    return gate(lab)


def with_its_log(lab: Lab) -> Said:
    """The candidate was measured in another clone, and came with its log."""
    measured(lab, "baseline", answers(WEAK))
    with another_clone(lab) as theirs:
        measured(lab, "candidate", answers(STRONG))
    return gate(lab, "--log", theirs)


def moved(lab: Lab) -> Said:
    """The runs were moved and renamed."""
    pairs.better(lab)
    Path("kept").mkdir()
    return gate(lab, baseline=Path("baseline").rename("kept/a"), candidate=Path("candidate").rename("kept/b"))


def copied(lab: Lab) -> Said:
    """The candidate was copied."""
    pairs.better(lab)
    return gate(lab, candidate=shutil.copytree("candidate", "copy"))


def linked(lab: Lab) -> Said:
    """The candidate is reached through a link."""
    pairs.better(lab)
    Path("link").symlink_to(Path("candidate").resolve(), target_is_directory=True)
    return gate(lab, candidate="link")


def made_again(lab: Lab) -> Said:
    """Both runs were deleted and made again under the same names."""
    pairs.better(lab)
    for side in ("baseline", "candidate"):
        shutil.rmtree(side)
    pairs.better(lab)
    return gate(lab)


def page_written_on(lab: Lab) -> Said:
    """The student wrote on a run's README.md, and environment.json is gone."""
    pairs.better(lab)
    with Path("candidate/README.md").open("a", encoding="utf-8") as file:
        file.write("\nI think it is the shorter prompt.\n")
    Path("candidate/environment.json").unlink()
    return gate(lab)


def from_another_folder(lab: Lab) -> Said:
    """The commands were called in two folders."""
    measured(lab, "baseline", answers(WEAK))
    Path("elsewhere").mkdir()
    os.chdir("elsewhere")
    shutil.copy("../dataset.jsonl", ".")
    elsewhere = Lab(Path.cwd())
    measured(elsewhere, "candidate", answers(STRONG))
    return gate(elsewhere, baseline="../baseline")


def much_else_in_the_log(lab: Lab) -> Said:
    """Many more runs were made in between, and one was killed while its line was written."""
    measured(lab, "baseline", answers(WEAK))
    for number in range(5):
        measured(lab, f"try-{number}", answers(number, of=N))
    measured(lab, "candidate", answers(STRONG))
    with lab.log.open("ab") as file:
        file.write(b'{"run":"runs/run_0')
    return gate(lab)


def log_without_its_last_newline(lab: Lab) -> Said:
    """An editor took the line feed at the end of the log."""
    pairs.better(lab)
    lab.log.write_bytes(lab.log.read_bytes().removesuffix(b"\n"))
    return gate(lab)


IMPROVEMENTS: list[Improvement] = [
    of(60, 20, 26),
    of(80, 40, 50),
    of(100, 50, 56),
    of(400, 200, 212),
    of(1_000, 500, 506),
    some_lost,
    exactly_min_delta,
    greedy,
    another_policy_without_seeds,
    another_policy_with_another_seed,
    another_policy_whose_seed_is_known,
    all_answered_with_the_option,
    another_choice,
    another_choice_without_seeds,
    another_policy_to_choose_from,
    large_choice,
    own_holdout,
    shipped_holdout,
    trained_on_other_prompts,
    imitation_then_training,
    answers_corrected_for_both,
    windows_line_ends,
    with_its_log,
    moved,
    copied,
    linked,
    made_again,
    page_written_on,
    from_another_folder,
    much_else_in_the_log,
    log_without_its_last_newline,
]
