"""Loop C leaves its data behind: what completions that were frozen at step 0 say of the policy of step t.

    python -m course.distribution_shift_demo
    python -m course.distribution_shift_demo --rubric score

Before the first update some completions of each prompt are drawn and kept. Then the policy learns, from the reward of
one rubric. On the way the strict scorer measures it twice: on the frozen completions, which is one number for ever, and
on fresh ones of the policy as it is. Paid by a rubric with a gap, the policy may go where no frozen completion is; paid
by the scorer itself, it gets better, and the frozen ones do not notice.

Covered
    Both rates carry a Wilson interval over single completions. The prompts are given and the draws independent of each
    other, so it holds; it is a little too wide, for prompts differ: Σ p(1 − p) is at most n · mean p · (1 − mean p).
Not covered
    Other prompts than these: for them the prompts would have to be drawn too. What happens between two looks. A repair
    of the frozen estimate by importance weights, which needs frozen completions where the policy is now.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.summary import summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.records import Provenance, SampleGroup, Sampling
from course.datasets.sources import Dataset
from course.reports.distribution_shift_demo import Look, Scored, Sight, looks_text, reading_text, sights_text
from course.reports.distribution_shift_demo_figure import shift_curves
from course.reports.progress import with_progress
from course.reports.run_page import run_page
from course.reports.tables import percent, shape
from course.rubrics.hackable import RUBRICS
from course.score import SCORER_NAME, SCORER_VERSION
from course.text import visible_path

if TYPE_CHECKING:
    from course.policies.evaluation import Moment
    from course.policies.token_learner import Example
    from course.policies.token_policy import Policy

LOG, FROZEN, FRESH, CURVES = "log.jsonl", "frozen_rollouts", "fresh_rollouts.jsonl", "distribution_shift.png"
EVERY = 5  # updates from one look to the next


class Fresh(Struct, frozen=True, forbid_unknown_fields=True):
    """What the policy of one step wrote: a completion of each prompt, in the order of the dataset."""

    step: int
    completions: list[str]


def unseen_share(fresh: Sequence[str], seen: Sequence[Collection[str]]) -> float:
    """Share of the fresh, of which each is looked for among the seen at its own place."""
    return sum(one not in among for one, among in zip(fresh, seen, strict=True)) / len(fresh)


def total_variation(one: Scored, other: Scored) -> float:
    """½ Σ |p − q| over the outcomes: the smallest share of either that needs another outcome to match the other."""
    p, q = one["outcomes"], other["outcomes"]
    return float(sum(abs(p.get(name, 0) / one["n"] - q.get(name, 0) / other["n"]) for name in {**p, **q})) / 2


def freeze(reference: Policy, examples: Sequence[Example], count: int, seed: int) -> list[SampleGroup]:
    """``count`` completions of each prompt, of the policy that training begins with."""
    import numpy as np

    from course.policies.sampling import drawn
    from course.policies.token_learner import generator
    from course.policies.token_policy import texts_of

    view = np.repeat(reference.view([example["prompt"] for example in examples]), count, axis=0)
    (write,) = generator(seed, "measuring").spawn(1)  # not its own draws: at step 0 the fresh must not be the frozen
    texts = texts_of(reference.pieces, drawn(reference, view, write.random((len(view), reference.limit))))
    return [
        SampleGroup(id=example["id"], samples=texts[count * place : count * (place + 1)])
        for place, example in enumerate(examples)
    ]


def scored(examples: Sequence[Example], texts: Sequence[Sequence[str]]) -> dict[str, Any]:
    """The strict scorer on some completions of each example."""
    pairs = zip(examples, texts, strict=True)
    return summary_of(Counter(verdict(example["expected_answer"], text)[0] for example, own in pairs for text in own))


def look_at(moment: Moment, examples: Sequence[Example], groups: Sequence[SampleGroup], frozen: Scored) -> Look:
    """One policy, measured on what it writes now, beside what was frozen."""
    texts = moment.train.texts
    fresh = scored(examples, [[text] for text in texts])
    shapes = shapes_of(groups)
    return Look(
        step=moment.step,
        frozen_pass_rate=frozen["pass_rate"],
        fresh=fresh,
        error=frozen["pass_rate"] - fresh["pass_rate"],
        moved=total_variation(frozen, fresh),
        unseen_shape=unseen_share([shape(text) for text in texts], [shapes] * len(texts)),
        unseen_text=unseen_share(texts, [group.samples for group in groups]),
    )


def shapes_of(groups: Sequence[SampleGroup]) -> set[str]:
    return {shape(text) for group in groups for text in group.samples}


def sights_of(moments: Sequence[Moment], examples: Sequence[Example], shapes: Collection[str]) -> list[Sight]:
    """Three looks at where no frozen completion is; from each the first completion in its most common unseen shape.

    Of the looks that have any: the first, the first at which half or more are unseen (else the middle one), the last.
    """
    found: list[Sight] = []
    half = None
    for moment in moments:
        fresh = [shape(text) for text in moment.train.texts]
        unseen = Counter(one for one in fresh if one not in shapes)
        if half is None and 2 * unseen.total() >= len(fresh):
            half = len(found)
        for common, _ in unseen.most_common(1):
            place = fresh.index(common)
            answer, reward = examples[place]["expected_answer"], float(moment.train.proxy[place])
            found.append(Sight(moment.step, answer, reward, moment.train.texts[place]))
    places = {0, len(found) // 2 if half is None else half, len(found) - 1}
    return [found[place] for place in sorted(places)] if found else []


def main() -> int:
    parser = Parser(
        "course.distribution_shift_demo", "Loop C: frozen completions beside fresh ones, as a policy learns."
    )
    parser.add_argument(
        "--rubric",
        choices=RUBRICS,
        default="anywhere",
        metavar="NAME",
        help=f"what the policy is trained on (default: anywhere): {', '.join(RUBRICS)}",
    )
    parser.add_argument(
        "--frozen", type=positive_int, default=8, help="completions of each prompt kept at step 0 (default: 8)"
    )
    parser.add_argument("--steps", type=positive_int, default=150, help="updates (default: 150)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of all that is drawn (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()
    from course.policies.evaluation import moments
    from course.policies.presets import MEMORISE
    from course.policies.token_learner import imitate

    with RunWriter(args.outdir) as writer:
        dataset = Dataset(Path(MEMORISE.dataset), None)
        examples = [example.asked() for example in dataset]
        plan = MEMORISE.plan._replace(steps=args.steps)

        started = with_progress(imitate(examples, plan, args.seed), "imitating", plan.sft_steps + 1)
        reference = deque(started, maxlen=1).pop()
        groups = freeze(reference, examples, args.frozen, args.seed)
        frozen = scored(examples, [group.samples for group in groups])

        learning = moments(reference, examples, [], RUBRICS[args.rubric], plan, args.seed, EVERY)
        seen = list(with_progress(learning, "learning", 1 - -plan.steps // EVERY, tell=passing))
        looks = [look_at(moment, examples, groups, frozen) for moment in seen]

        policy = f"a small token policy after {plan.sft_steps} steps of imitating careless demonstrations"
        sampling = Sampling(temperature=1.0, top_p=1.0, seed=args.seed, n=args.frozen)
        writer.write_rows(f"{FROZEN}.jsonl", groups)
        writer.write_json(f"{FROZEN}.meta.json", Provenance(policy=policy, created=None, sampling=sampling))
        writer.write_rows(FRESH, (Fresh(moment.step, moment.train.texts) for moment in seen))
        writer.write_rows(LOG, looks)
        writer.write_bytes(CURVES, shift_curves(looks, frozen, args.rubric))
        summary = {
            "rubric": args.rubric,
            **{f"frozen_{name}": value for name, value in frozen.items()},
            "at_the_start": told(looks[0]),
            "at_the_end": told(looks[-1]),
            "most_wrong": told(max(looks, key=lambda look: abs(look.error))),
        }
        writer.write_json(SUMMARY, summary)
        manifest = manifest_of(
            loop="C",
            command="course.distribution_shift_demo",
            settings={"rubric": args.rubric, "frozen": args.frozen, "every": EVERY, "plan": plan._asdict()},
            change=args.change,
            outputs=writer.outputs,
            dataset=dataset,
            seed=args.seed,
        )
        path = writer.publish(manifest, run_page("C", summary, room_conditions(manifest), args.change, [], 0))

    print("Loop C, learn: the policy changes, and with it what there is to measure.\n")
    print(f"paid by: {args.rubric}\nmeasured by: {SCORER_NAME} {SCORER_VERSION}")
    print(f"frozen at step 0: {args.frozen} completions of each of {len(examples)} prompts\n")
    some = [look for place, look in enumerate(looks) if not place & (place - 1) or look is looks[-1]]  # 0, 1, 2, 4, 8 …
    print(looks_text(some, frozen))
    if sights := sights_of(seen, examples, shapes_of(groups)):
        print("\nfresh completions in a shape that no frozen one has, and what was paid for them\n")
        print(sights_text(sights, args.rubric))
    print(f"\n{reading_text(looks, frozen)}")
    print(f"\nrun: {visible_path(path)}\nlook at: {visible_path(path / CURVES)}")
    return 0


def passing(moment: Moment) -> str:
    """What is told beside the bar."""
    return f"fresh ones pass {percent(float(moment.train.true.mean()))}"


def told(look: Look) -> dict[str, Any]:
    """A look in the summary."""
    return {
        "step": look.step,
        "fresh_pass_rate": look.fresh["pass_rate"],
        "error": look.error,
        "moved": look.moved,
        "unseen_shape": look.unseen_shape,
        "unseen_text": look.unseen_text,
    }


if __name__ == "__main__":
    run_command(main)
