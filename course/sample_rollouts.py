"""Draw completions from a policy that exists: rollouts for Loop A, or a pack of samples for Loop B.

    python -m course.sample_rollouts --policy runs/run_001/policy.npz \\
        --dataset data/datasets/two_digit_sums_dev.jsonl --n 8 --temperature 0.7

Nothing is measured and nothing is learned here. How the completions were drawn is written beside them, so the gate can
refuse to compare what was drawn at one temperature with what was drawn at another. The same policy, dataset, settings
and seed draw the same completions; with the training's seed, its own rollouts of the last look.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from course.artifacts.conditions import manifest_of
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.rollout_files import policy_name, write_drawn
from course.artifacts.writing import RunWriter
from course.command import Parser, fraction, non_negative_float, non_negative_int, positive_int, run_command
from course.datasets.records import Provenance, Sampling
from course.datasets.sources import Dataset
from course.reports.progress import with_progress
from course.reports.run_page import run_page
from course.text import clipped, visible, visible_path

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.token_policy import Policy

_AT_ONCE = 2_000  # completions side by side


def draw(policy: Policy, dataset: Dataset, sampling: Sampling) -> Iterator[tuple[str, list[str]]]:
    """Each id in order with its n completions, drawn by the one generator that is there for measuring."""
    import numpy as np

    from course.policies.sampling import drawn
    from course.policies.token_learner import generator
    from course.policies.token_policy import texts_of

    rng, n = generator(sampling.seed, "measuring"), sampling.n
    examples = iter(with_progress(dataset, "drawing"))
    while some := list(islice(examples, max(1, _AT_ONCE // n))):
        view = np.repeat(policy.view([example.prompt for example in some]), n, axis=0)
        u = rng.random((len(view), policy.limit))
        texts = texts_of(policy.pieces, drawn(policy, view, u, sampling.temperature, sampling.top_p))
        yield from ((example.id, texts[row * n : (row + 1) * n]) for row, example in enumerate(some))


def nucleus(text: str) -> float:
    """An argument for top_p: more than 0, at most 1."""
    if not fraction(text):
        raise ArgumentTypeError(f"expected a number above 0, up to 1, got {text}")
    return float(fraction(text))


def main() -> int:
    parser = Parser("course.sample_rollouts", "Draw completions from a trained policy, as rollouts or as samples.")
    parser.add_argument("--policy", type=Path, required=True, help="policy.npz of a run of course.token_train")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL: id, prompt, expected_answer")
    parser.add_argument("--n", type=positive_int, default=1, help="of each prompt (default: 1; more make a pack)")
    parser.add_argument(
        "--temperature", type=non_negative_float, default=1.0, help="below 1 sharper, 0 greedy (default: 1)"
    )
    parser.add_argument("--top-p", type=nucleus, default=1.0, help="keep the most probable tokens only (default: 1)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.policy_file import policy_bytes, read_policy

    policy = read_policy(args.policy)
    dataset = Dataset(args.dataset, None)
    sampling = Sampling(temperature=args.temperature, top_p=args.top_p, seed=args.seed, n=args.n)
    with RunWriter(args.outdir) as writer:
        name = "rollouts" if args.n == 1 else "selection_pack"
        rows = list(draw(policy, dataset, sampling))
        who, note = policy_name(policy_bytes(policy)), f"course.sample_rollouts on {visible(args.dataset.name)}"
        write_drawn(writer, name, rows, policy=who, sampling=sampling, note=note)
        texts = [text for _, samples in rows for text in samples]
        summary = {"prompts": len(rows), "completions": len(texts), "different_texts": len(set(texts)), "policy": who}
        writer.write_json(SUMMARY, summary)
        manifest = manifest_of(
            loop="C",
            command="course.sample_rollouts",
            settings={"policy": visible(args.policy.name), "dataset": visible(args.dataset.name)},
            dataset=dataset,
            source=Provenance(who, None, sampling, note),
            samples_per_prompt=args.n,
            change=args.change,
            outputs=writer.outputs,
            seed=args.seed,
        )
        page = run_page(
            "C", summary, room_conditions(manifest), args.change, [], 0, knob="none: completions were drawn"
        )
        path = writer.publish(manifest, page)

    print(f"Drawn by {who}: nothing was measured, nothing was learned.\n")
    settings = f"temperature {args.temperature:g}, top_p {args.top_p:g}, seed {args.seed}"
    print(f"{len(rows)} prompts, {args.n} of each, {settings}")
    print("\n".join(f"  {clipped(id_, 20)}  {clipped(samples[0], 54)}" for id_, samples in rows[:3]))
    print(f"\nrun: {visible_path(path)}")
    command, option, n = ("eval", "completions", "") if args.n == 1 else ("selection_demo", "samples", f" --n {args.n}")
    print(f"next: python -m course.{command} --dataset {visible_path(args.dataset)} \\")
    print(f"          --{option} {visible_path(path / f'{name}.jsonl')}{n}")
    return 0


if __name__ == "__main__":
    run_command(main)
