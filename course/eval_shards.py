"""Machinery: Loop A in shards, for what is too large for one file or one machine. The result is one run.

    python3 -m course.eval_shards FOLDER --outdir runs/large --jobs 2

FOLDER holds pairs, datasets/NAME.jsonl and rollouts/NAME.jsonl, with rollouts/NAME.meta.json where it is known who
wrote them. Each pair becomes a run of its own in RUN/shards/NAME; counts are added up. Until all are done the run grows
in RUN.partial/, and the same command goes on with it after a kill. Every id stands in one shard.

With --cluster the workers of a Dask cluster measure; FOLDER and RUN then lie in a folder that all machines share under
one path. docs/more_machines.md says how to start a cluster.
"""

from collections import Counter
from pathlib import Path

import msgspec

from course.artifacts.records import BEGUN, MANIFEST, RESULTS, SHARDS, Begun, Result, indented
from course.artifacts.sharded import COMMAND, merged_fingerprint, merged_fingerprints
from course.artifacts.summary import summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.datasets.records import Provenance
from course.datasets.sources import HOLDOUT
from course.jobs import in_order, workers
from course.publishing import INSPECT, Conditions, log_look, publish
from course.reports.eval import eval_text
from course.reports.measurement import conditions_text
from course.reports.progress import with_progress
from course.shards import Shard, ShardedDataset, growing, measure_shard, remove_hidden, shard_names
from course.text import visible


def conditions_of_shards(folder: Path, begun: Begun, split: str, shards: list[Shard]) -> Conditions:
    """Those of the whole; without ``shards``, what is known of them before they are measured."""
    manifests = {shard.name: shard.manifest for shard in shards}
    dataset = ShardedDataset(folder, split, begun.shards, manifests)
    conditions = Conditions("A", COMMAND, {"missing": begun.missing}, begun.change, begun.expect, dataset)
    if not shards:
        return conditions
    completions = merged_fingerprint(manifest.completions_fingerprint for manifest in manifests.values())
    source = merged_source([shard.source for shard in shards])
    return conditions._replace(completions_fingerprint=completions, samples_per_prompt=1, source=source)


def merged_source(sources: list[Provenance | None]) -> Provenance | None:
    """Who wrote all of them; the shards agree but for the seed, which stays known only where it is one."""
    first = sources[0]
    if first is None or len({source and source.sampling.seed for source in sources}) == 1:
        return first
    return msgspec.structs.replace(first, sampling=msgspec.structs.replace(first.sampling, seed=None))


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
    looked: list[str] = []
    with RunWriter(args.outdir, grown=partial) as run:
        with growing(partial, begun) as (grown, begun), workers(args.jobs, args.cluster) as executor:
            found = in_order(executor, measure_shard, [(partial, folder, name, begun) for name in begun.shards])
            try:
                for shard in with_progress(found, "measuring shards", len(begun.shards)):
                    if not shards and shard.manifest.split == HOLDOUT:  # before the first can be seen
                        looked = log_look(partial, conditions_of_shards(folder, begun, HOLDOUT, []))
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
            run.examples |= shard.examples
            run.outputs[f"{SHARDS}/{shard.name}/{MANIFEST}"] = shard.digest
        run.outputs[RESULTS] = str(merged_fingerprints([shard.manifest for shard in shards])[RESULTS])
        run.write_bytes(BEGUN, indented(begun))
        first, summary = shards[0], summary_of(outcomes)
        split = str(first.manifest.split)
        conditions = conditions_of_shards(folder, begun, split, shards)._replace(looked=looked)
        how = conditions_text(split, conditions.source, first.completions)
        publish(run, conditions, summary, eval_text(summary, how, firsts), next_command=INSPECT)


if __name__ == "__main__":
    run_command(main)
