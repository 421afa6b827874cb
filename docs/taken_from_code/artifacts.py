"""docs/reference/artifacts*.md: the files that runs leave, and every field of every row."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatch

from course.artifacts import learning, records, run_log, token_rows
from course.artifacts.records import ENVIRONMENT_FILE, README, RESULTS, SCHEMA_VERSION
from course.datasets import records as inputs
from course.reports.run_page import FILES
from docs.taken_from_code.markdown import code, page, paragraph, table
from docs.taken_from_code.meanings import FIELDS, OTHERS
from docs.taken_from_code.runs import Left, decodes, left, names_in
from docs.taken_from_code.structs import about, all_records, fields_table

# The type of a log's rows, its file, and the runs that have one.
LOGS: Sequence[tuple[type, str, Sequence[str]]] = (
    (learning.UpdateRow, "policy_gradient_log.jsonl, bandit_train_log.jsonl", ["policy_gradient_demo", "bandit_train"]),
    (learning.EpisodeRow, "toy_mdp_log.jsonl", ["toy_mdp"]),
    (learning.RoundRow, "policy_improvement.jsonl", ["improvement_selection", "improvement_learning"]),
    (learning.TokenizedRow, "tokens.jsonl", ["token_inspect"]),
    (token_rows.EvaluationRow, "log.jsonl",
     ["token_train", "goodhart_demo", "distribution_shift_demo", "cold_start", "coverage"]),
    (token_rows.CountedSamples, "log.jsonl", ["pass_at_k_demo"]),
    (token_rows.TokenUpdateRow, "slow.jsonl", ["token_train"]),
)  # fmt: skip
IDENTITIES = {
    "UpdateRow": "Three identities hold exactly in every row: advantage = reward − baseline; direction = advantage · "
    "grad_log_prob; new_theta = theta + lr · direction.",
    "EpisodeRow": "Lists have an entry for each of the two steps.",
    "TokenUpdateRow": "Lists have an entry for each token.",
}
HERE = {
    *(records.Result, records.Details, records.Selection, records.LearningResult, records.Begun, run_log.LogLine),
    *(records.Manifest, records.TrainedOn, records.Golden, learning.TradeoffRow, *(log[0] for log in LOGS)),
}
NOT_WRITTEN = {records.RowId}  # only read


OTHER_PAGES = {
    "artifacts": "files and results",
    "artifacts_manifest": "manifest and provenance",
    "artifacts_summary": "names in summary.json",
    "artifacts_rows": "logs of Loop C",
    "artifacts_token_rows": "logs of token policies",
}


def head(name: str, title: str, more: str) -> list[str]:
    """The title of a page, who writes it, and the other four."""
    links = ", ".join(f"[{what}]({other}.md)" for other, what in OTHER_PAGES.items() if other != name)
    written = "`docs/make_reference.py` writes this page from the code, and from runs that it makes."
    return [f"# Artifacts: {title}", paragraph(f"{more} {written} Of artifacts there are also: {links}.")]


def artifacts_page() -> str:
    known = {one for module in (records, learning, token_rows, run_log) for one in all_records(module.__name__)}
    assert known == HERE | NOT_WRITTEN, known ^ (HERE | NOT_WRITTEN)
    return page(
        [
            *head("artifacts", "what a run leaves", "A run is a folder."),
            paragraph(
                "`null` stands where something does not apply or is not known, never a number that looks like one. "
                "`list[float]` is a list of numbers. On one machine equal inputs give equal bytes of results, "
                "summary and manifest. What goes into a run is in [Your own data](../own_data.md)."
            ),
            "## Files",
            *files_tables(left()),
            "## Rows of results.jsonl",
            paragraph("Loop A: a row for each example. All that is needed to score it again, and no more."),
            fields_table(records.Result, FIELDS),
            paragraph("`details` keeps two of the scorer's keys; `course.inspect_run --id` makes the rest again:"),
            fields_table(records.Details, FIELDS),
            paragraph("Loop B has these fields too. `completion` is the sample that was chosen."),
            fields_table(records.Selection, FIELDS),
            paragraph("Loop C has the fields of Loop A and these. One that is at its default is left out."),
            fields_table(records.LearningResult, FIELDS),
            "## runs/log.jsonl",
            paragraph(
                "In no run: the log of all of them, a line for each that was published. A sharded run that opens a "
                "holdout adds one at once, with an empty `manifest`, so that the look is counted."
            ),
            fields_table(run_log.LogLine, FIELDS),
        ]
    )


def manifest_page() -> str:
    return page(
        [
            *head("artifacts_manifest", "manifest and provenance", "Under which conditions a run measured, and who "
                  "wrote what it measured."),
            "## manifest.json",
            paragraph(
                f"The conditions of the run, and the digest of every other file that is evidence. Schema version "
                f"{SCHEMA_VERSION}. A fingerprint of a file is the SHA-256 of its bytes; of a sharded run, the "
                "SHA-256 over those of its shards. The manifest's own SHA-256 is the digest that a command prints."
            ),
            fields_table(records.Manifest, FIELDS),
            "`trained_on`:",
            fields_table(records.TrainedOn, FIELDS),
            "`golden`:",
            fields_table(records.Golden, FIELDS),
            "## NAME.meta.json",
            paragraph("Beside `NAME.jsonl`, completions that a policy wrote: who, when and how. A run of Loop A or B "
                      "takes `policy`, `sampling` and `trained_on` from it."),
            fields_table(inputs.Provenance, FIELDS),
            "`sampling`:",
            fields_table(inputs.Sampling, FIELDS),
            "`training`:",
            fields_table(inputs.Training, FIELDS),
            "## environment.json",
            paragraph("All that may differ between two equal runs stands here and is sealed by nothing."),
            names_table("environment.json", left()["eval"].json["environment.json"]),
            "## begun.json",
            paragraph("Of a sharded run: what the first call was given. A later one goes on with it."),
            fields_table(records.Begun, FIELDS),
        ]
    )  # fmt: skip


def files_tables(runs: Mapping[str, Left]) -> Iterator[str]:
    """Who leaves which files, under the name that all of a kind have; and what each kind is, as a run's page says."""
    of: dict[str, list[str]] = {}
    for run in runs.values():
        of.setdefault(run.command, []).extend(kind_of(name) for name in run.files)
    with_results = {command: [*names, RESULTS] for command, names in of.items()}  # a sharded run's are in its shards
    everyone = set.intersection(*(set(names) for names in with_results.values()))
    rows = [("every run", ", ".join(map(code, sorted(everyone))))]
    for command, names in of.items():
        if own := sorted({*names} - everyone):
            rows.append((code(command), ", ".join(map(code, own))))
    yield table(("left by", "files"), rows)
    yield paragraph("A sharded run has `results.jsonl` in the folders of its shards. What the files are, by the first "
                    "name that fits:")  # fmt: skip
    kinds = [(code(pattern), what_is(pattern, what)) for pattern, what in FILES.items() if pattern != "*"]
    yield table(("name", "what it is"), [*kinds, (code(README), what_is(README, ""))])
    nameless = [kind for names in of.values() for kind in names if fits(kind) == "*" and kind != README]
    assert not nameless, f"the page of a run does not say what these are: {nameless}"


def fits(name: str) -> str:
    return next(
        pattern for pattern in FILES if fnmatch(name, pattern) or (pattern.endswith("/") and name.startswith(pattern))
    )


def what_is(name: str, said: str) -> str:
    if name == README:
        return "the run for a person, with blanks to fill in; nothing seals it"
    return said.replace("each file above", f"each other file, but for {README} and {ENVIRONMENT_FILE}")


def kind_of(name: str) -> str:
    """A file's name without what is its own: the name of a shard, of a split, of a training, of an experiment."""
    name = re.sub(r"^shards/[^/]+/.*", "shards/NAME/", name)
    name = re.sub(r"^rollouts/\w+_\d{4}", "rollouts/SPLIT_STEP", name)
    name = re.sub(r"^references/.*", "references/*.npz", name)
    return re.sub(r"^(coverage|cold_start)\.png$", "EXPERIMENT.png", name)


def names_table(file: str, value: Mapping[str, object], *, columns: Sequence[str] = ()) -> str:
    return meanings_table(OTHERS[file], [*columns] or names_in(value), file)


def meanings_table(meanings: Mapping[str, str], found: Sequence[str], where: str) -> str:
    if {*found} != {*meanings}:
        raise KeyError(f"{where}: not the same names: {', '.join(sorted({*found} ^ {*meanings}))}")
    return table(("name", "meaning"), [(code(name), meanings[name]) for name in meanings])


def rows_page() -> str:
    """The logs of Loop C without tokens."""
    return page(
        [
            *head("artifacts_rows", "logs of Loop C", "A log has every number of an update, so that each can be "
                  "checked."),
            *(part for log in LOGS[:4] for part in log_section(*log)),
            "## kl_tradeoff.csv",
            about(learning.TradeoffRow),
            paragraph(tradeoff_columns()),
            fields_table(learning.TradeoffRow, FIELDS),
            "## ablation.json",
            paragraph("Of `course.bandit_train --ablation N`, step by step; `summary.json` has where it ends."),
            names_table("ablation.json", left()["bandit_train"].json["ablation.json"]),
        ]
    )  # fmt: skip


def token_rows_page() -> str:
    """The logs of token policies, and the policies themselves."""
    return page(
        [
            *head("artifacts_token_rows", "logs of token policies", "Evaluations and updates of the commands that "
                  "train a policy made of tokens."),
            *(part for log in LOGS[4:] for part in log_section(*log)),
            "## policy.npz, reference.npz",
            paragraph("NumPy arrays; nothing in the file is executed when it is read. V tokens, D numbers a token, C "
                      "tokens seen, H hidden units."),
            names_table("policy.npz", {}, columns=left()["token_train"].arrays),
        ]
    )  # fmt: skip


def log_section(record: type, files: str, runs: Sequence[str]) -> Iterator[str]:
    commands = dict.fromkeys(left()[name].command for name in runs)
    yield f"## {files}" + (" of pass_at_k_demo" if record is token_rows.CountedSamples else "")
    yield about(record)
    yield paragraph(f"Left by {', '.join(map(code, commands))}. {IDENTITIES.get(record.__name__, '')}")
    for name in runs:
        row = next(row for file, row in left()[name].rows.items() if file in files)
        assert decodes(row, record), f"{name}: its log is not of {record.__name__}"
    yield fields_table(record, FIELDS)


def tradeoff_columns() -> str:
    columns = left()["kl_tradeoff_demo"].columns
    *fields, _, _ = learning.TradeoffRow.__struct_fields__
    others = [column for column in columns if column not in fields]
    assert [re.sub(r"\d", "", one) for one in others] == ["top"] * 3 + ["p"] * 6
    return (
        f"A row for each policy. The columns {code(others[0])} to {code(others[2])} are `top3`, "
        f"{code(others[3])} to {code(others[-1])} are `probs`. An empty cell is null."
    )
