"""Machinery: Loop C, what learning takes away. pass@k for k from 1 to 128, before and after the same training.

    python3 -m course.pass_at_k_demo
    python3 -m course.pass_at_k_demo --presets memorise --seeds 5

Each policy is trained on the strict scorer; before the first update and after the last it writes 256 completions of
each prompt, of those it was trained on and of a holdout. Is the chance that k of them hold a right one higher after
learning whatever k is? (Of large models: Yue et al., arXiv 2504.13837.) ``results.jsonl`` has each different completion
of a prompt once, with how often it was sampled; ``log.jsonl`` has the counts from which every pass@k follows.
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.artifacts.inference import comparisons
from course.artifacts.learning import learning_result
from course.artifacts.records import RESULTS, LearningResult
from course.artifacts.rollout_files import write_reference
from course.artifacts.token_rows import TOKEN_LOG, CountedSamples
from course.artifacts.writing import RunWriter
from course.command import Parser, positive_int, run_command
from course.datasets.records import Task, task_of
from course.datasets.sources import Dataset
from course.jobs import in_order, processes
from course.policies.presets import PRESETS, Plan
from course.publishing import conditions_of, publish
from course.reports.pass_at_k_demo import pass_at_k_figure, pass_at_k_text
from course.reports.terminal import with_progress
from course.score import score

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from numpy.random import Generator

    from course.policies.token_policy import Policy

PASS_AT_K_FIGURE = "pass_at_k.png"
LAST_K = 128
SAMPLES = 256  # completions of each prompt, before and after


def sample_and_count(policy: "Policy", example: Task, rng: "Generator") -> tuple[Counter[str], float]:
    """SAMPLES completions with how often each came, and the mean entropy of the next token along them, in nats."""
    from course.policies.sampling import sample_completions
    from course.policies.token_policy import forward_completions

    prompts = policy.encode_prompts([example["prompt"]] * SAMPLES)
    completions = sample_completions(policy, prompts, rng.random((SAMPLES, policy.max_tokens)))
    network = forward_completions(policy, prompts, completions)
    entropy = -(network.p * network.log_p).sum(axis=1).mean()
    return Counter(policy.decode_completions(completions)), float(entropy)


def train_and_count(
    preset: str, examples: Sequence[Task], plan: Plan, seed: int, splits: Mapping[str, Sequence[Task]]
) -> "tuple[Policy, list[tuple[list[LearningResult], CountedSamples]]]":
    """The policy before learning; and of each policy and prompt what was scored, and its row of the log."""
    from course.policies.token_learner import fine_tune, generator, learn

    counted, reference = [], fine_tune(examples, plan, seed)
    (last,) = deque(learn(reference, examples, score, plan, seed), maxlen=1)
    policies = (0, reference), (plan.steps, last.new_policy)
    for (step, policy), (split, tasks) in product(policies, splits.items()):
        rng = generator(seed, "evaluation")
        for example in tasks:
            found, entropy = sample_and_count(policy, example, rng)
            results = [
                learning_result(example, text, step, training=f"{preset}, seed {seed}", split=split, count=count)
                for text, count in found.items()
            ]
            correct = sum(result.count for result in results if result.reward == 1)
            counted.append(
                (results, CountedSamples(preset, seed, step, split, example["id"], SAMPLES, correct, entropy))
            )
    return reference, counted


def main() -> None:
    parser = Parser("course.pass_at_k_demo", "Loop C: pass@k before and after learning, and where the curves cross.")
    parser.add_argument("--presets", nargs="+", choices=PRESETS, default=[*PRESETS], metavar="NAME",
                        help=f"what to train (default: {' '.join(PRESETS)})")  # fmt: skip
    parser.add_argument("--prompts", type=positive_int, default=75, metavar="N",
                        help="measure the first N of each split, if it has as many (default: 75)")  # fmt: skip
    parser.add_argument("--steps", type=positive_int, default=600, help="updates of each (default: 600)")
    parser.add_seed_options()
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.token_learner import generator

    log: list[CountedSamples] = []
    opened: list[Dataset] = []
    settings: dict[str, Any] = {"prompts": args.prompts, "samples": SAMPLES, "seeds": args.seeds}
    with RunWriter(args.outdir) as run, processes(args.jobs) as executor:
        trainings = []
        for name in dict.fromkeys(args.presets):
            dataset, unseen = (Dataset(Path(path), None) for path in PRESETS[name][:2])
            examples, holdout = ([task_of(example) for example in file] for file in (dataset, unseen))
            splits = {"train": examples[: args.prompts], "holdout": holdout[: args.prompts]}
            plan = PRESETS[name].plan._replace(steps=args.steps)
            seeds = range(args.seed, args.seed + args.seeds)
            trainings += [(name, examples, plan, seed, splits) for seed in seeds]
            fingerprints = {"dataset": dataset.fingerprint, "holdout": unseen.fingerprint}
            settings[name] = plan._asdict() | {"fingerprints": fingerprints}
            opened.append(unseen)
        done = with_progress(in_order(executor, train_and_count, trainings), "training", len(trainings))
        for (name, examples, _, seed, _), (reference, counted) in zip(trainings, done, strict=True):
            write_reference(run, f"references/{name}_seed_{seed}.npz", reference, examples)
            for results, row in counted:
                run.append(RESULTS, *results)
                run.append(TOKEN_LOG, row)
                log.append(row)

        compared = comparisons(log, LAST_K, generator(args.seed, "bootstrap"))
        run.write_bytes(PASS_AT_K_FIGURE, pass_at_k_figure(compared))
        summary = {name: one._asdict() for name, one in compared.items()}
        report = pass_at_k_text(compared, args.steps, SAMPLES, args.seeds)
        publish(run, conditions_of(args, settings, holdouts=opened), summary, report, read=[PASS_AT_K_FIGURE])


if __name__ == "__main__":
    run_command(main)
