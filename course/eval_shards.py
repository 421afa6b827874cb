"""Machinery: Loop A in shards, for what is too large for one file or one machine. The result is one run.

    python3 -m course.eval_shards pairs --outdir runs/large --jobs 2

The folder holds pairs, datasets/NAME.jsonl and rollouts/NAME.jsonl, with rollouts/NAME.meta.json where it is known who
wrote them. Each pair becomes a run of its own in RUN/shards/NAME; counts are added up. Until all are done the run grows
in RUN.partial/, and the same command goes on with it after a kill. Every id stands in one shard.

With --cluster the workers of a Dask cluster measure; both folders then lie in a folder that all machines share under
one path. docs/more_machines.md says how to start a cluster.
"""

import hashlib
from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from course.artifacts.locked_room import merged_fingerprints
from course.artifacts.records import BEGUN, MANIFEST, RESULTS, SHARDED, SHARDS, Begun, Result, indented
from course.artifacts.summary import summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.datasets.sources import HOLDOUT, CompletionsFile, ShardedDataset, prompts_in
from course.jobs import in_order, workers
from course.publishing import INSPECT, Conditions, log_opened_holdouts, publish
from course.reports.eval import eval_text
from course.reports.measurement import conditions_text
from course.reports.terminal import with_progress
from course.shards import DATASETS, ROLLOUTS, Shard, growing_run, measure_shard, remove_hidden, shard_names
from course.text import visible


def conditions_of_shards(folder: Path, begun: Begun, shards: list[Shard]) -> Conditions:
    """Those of the whole. ``shards``: all of them, or the first where only the holdouts matter."""
    first, manifests = shards[0], [shard.manifest for shard in shards]
    split, source = str(first.manifest.split), first.source
    prompts: set[str] = set()
    if split == HOLDOUT or (source and source.training):
        known = {shard.name: shard.manifest.dataset_fingerprint for shard in shards}
        files = ((folder / DATASETS / f"{name}.jsonl", known.get(name)) for name in begun.shards)
        prompts = prompts.union(*(prompts_in(*file) for file in files))
    if source and len({shard.source and shard.source.sampling.seed for shard in shards}) > 1:  # none is that of all
        source = replace(source, sampling=replace(source.sampling, seed=None))
    found = merged_fingerprints(manifests)
    fingerprints = found["prompts_fingerprint"], found["examples_fingerprint"]
    dataset = ShardedDataset(split, prompts, found["dataset_fingerprint"], *fingerprints)
    said = {"missing": begun.missing}, begun.change, begun.expect
    return Conditions("A", SHARDED, *said, dataset, (), found["completions_fingerprint"], 1, source)


def main() -> None:
    parser = Parser("course.eval_shards", "Loop A: measure a dataset and its completions in shards, as one run.")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="holds datasets/NAME.jsonl and rollouts/NAME.jsonl")
    parser.add_run_options(outdir_help="a new folder for the run, which grows in RUN.partial; called again, it goes on")
    parser.add_split_option()
    parser.add_argument("--missing", choices=("zero",), help="count an id without a completion as reward 0")
    parser.add_jobs_options()
    args = parser.parse_args()

    folder, partial = args.folder.absolute(), args.outdir.absolute().with_name(f"{args.outdir.name}.partial")
    said = [None if text is None else visible(text) for text in (args.change, args.expect)]
    begun = Begun(shard_names(folder), args.split, args.missing, *said)
    shards: list[Shard] = []
    logged: list[str] = []
    with RunWriter(args.outdir, grown=partial) as run:
        with growing_run(partial, begun) as (grown, begun), workers(args.jobs, args.cluster) as executor:
            found = in_order(executor, measure_shard, [(partial, folder, name, begun) for name in begun.shards])
            try:
                for shard in with_progress(found, "measuring shards", len(begun.shards)):
                    if not shards and shard.manifest.split == HOLDOUT:  # before the first has a name
                        logged = log_opened_holdouts(partial, conditions_of_shards(folder, begun, [shard]))
                    grown.add(shard)
                    shards.append(shard)
            except BaseException:
                remove_hidden(partial)  # what is still at work notices
                raise
        outcomes: Counter[str] = Counter()
        firsts: dict[str, Result] = {}
        for shard in shards:
            outcomes.update(shard.outcomes)
            firsts = shard.firsts | firsts
            run.outputs[f"{SHARDS}/{shard.name}/{MANIFEST}"] = hashlib.sha256(indented(shard.manifest)).hexdigest()
        run.outputs[RESULTS] = merged_fingerprints([shard.manifest for shard in shards])[RESULTS]
        run.write_bytes(BEGUN, indented(begun))
        run.examples = {row.reward == 1.0: row for row in firsts.values()}
        conditions = conditions_of_shards(folder, begun, shards)._replace(logged=logged, typed=args.typed)
        summary = summary_of(outcomes)
        first = shards[0].manifest
        completions = CompletionsFile(
            folder / ROLLOUTS / f"{shards[0].name}.jsonl", str(first.completions_fingerprint), 1
        )
        how = conditions_text(str(first.split), conditions.source, completions)
        publish(run, conditions, summary, eval_text(summary, how, firsts), next_command=INSPECT)


if __name__ == "__main__":
    run_command(main)
