"""Machinery: sample completions from a trained policy: rollouts for Loop A, or a pack of samples for Loop B.

    python3 -m course.sample_rollouts --policy runs/run_001/policy.npz \\
        --dataset data/datasets/two_digit_sums_dev.jsonl --n 8 --temperature 0.7

Nothing is scored and nothing is learned here: ``results.jsonl`` has no rows. The sampling settings are written beside
the completions, so that the gate can refuse to compare samples of two temperatures. The same policy, dataset, settings
and seed give the same completions; the seed of the training gives the completions of its last evaluation.
"""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from course.artifacts.conditions import conditions_of
from course.artifacts.records import RESULTS
from course.artifacts.rollout_files import policy_name, write_rollouts
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_float, non_negative_int, positive_fraction, positive_int, run_command
from course.datasets.records import PROMPT_ALONE, Provenance, Sampling
from course.datasets.sources import Dataset
from course.show.ending import RUN, end_run
from course.show.terminal import with_progress
from course.text import clipped, visible

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    import numpy as np

    from course.policies.token_policy import Policy

_COMPLETIONS_AT_ONCE = 2_000  # completions side by side


def sample_dataset(
    policy: "Policy", dataset: Dataset, sampling: Sampling, rng: "np.random.Generator"
) -> Iterator[tuple[str, list[str]]]:
    """Each id in order with its n completions. ``rng``: of the seed that ``sampling`` names."""
    from course.policies.token_policy import sample_texts

    n = sampling.n
    examples = iter(with_progress(dataset, "sampling"))
    while batch := list(islice(examples, max(1, _COMPLETIONS_AT_ONCE // n))):
        prompts = [example.prompt for example in batch for _ in range(n)]
        texts = sample_texts(policy, prompts, rng, sampling.temperature, sampling.top_p)
        yield from ((example.id, texts[i * n : (i + 1) * n]) for i, example in enumerate(batch))


def main() -> None:
    parser = Parser("course.sample_rollouts", "Sample completions from a trained policy, as rollouts or as a pack.")
    parser.add_argument("--policy", type=Path, required=True, help="the file policy.npz of a run of course.token_train")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL with id, prompt, expected_answer")
    help_ = "completions of each prompt; more than 1 make a selection pack (default: 1)"
    parser.add_argument("--n", type=positive_int, default=1, help=help_)
    help_ = "sampling temperature; 0 takes the most probable token each time (default: 1)"
    parser.add_argument("--temperature", type=non_negative_float, default=1.0, help=help_)
    help_ = "sample only from the most probable tokens with this total probability (default: 1)"
    parser.add_argument("--top-p", type=positive_fraction, default=1.0, help=help_)
    parser.add_argument("--seed", type=non_negative_int, default=0, help="seed of the random draws (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.policy_file import policy_bytes, read_policy
    from course.policies.token_learner import generator

    policy, training = read_policy(args.policy)
    dataset = Dataset(args.dataset)
    source = Provenance(
        policy=policy_name(policy_bytes(policy, training)),
        created=None,  # the same policy and settings write the same completions on any day
        sampling=Sampling(temperature=args.temperature, top_p=args.top_p, seed=args.seed, n=args.n),
        template=PROMPT_ALONE,
        training=training,
        note=f"course.sample_rollouts on {visible(args.dataset.name)}",
    )
    name = "rollouts" if args.n == 1 else "selection_pack"
    with RunWriter(args.outdir) as run:
        rng = generator(args.seed, "evaluation")  # so that an evaluation's seed gives that evaluation's texts
        rows = list(sample_dataset(policy, dataset, source.sampling, rng))
        source = write_rollouts(run, name, rows, source)
        run.write_rows(RESULTS, [])
        different = len({text for _, samples in rows for text in samples})
        report = [f"Sampled from {source.policy}. Nothing was scored, nothing learned."]
        report += [f"  {clipped(id_, 20)}  {clipped(samples[0], 54)}" for id_, samples in rows[:3]]
        conditions = conditions_of(
            args,
            {},  # all settings stand in the source
            dataset,
            completions_fingerprint=source.completions_sha256,
            samples_per_prompt=args.n,
            source=source,
            knob="none: completions were sampled",
        )
        summary = {"prompts": len(rows), "different_texts": different}
        next_command = ["course.eval", "--dataset", args.dataset, "--completions", RUN / f"{name}.jsonl"]
        if args.n > 1:
            next_command = ["course.selection_demo", "--dataset", args.dataset, "--samples", RUN / f"{name}.jsonl"]
            next_command += ["--n", str(args.n)]
        end_run(run, conditions, summary, "\n".join(report), next_command=next_command)


if __name__ == "__main__":
    run_command(main)
