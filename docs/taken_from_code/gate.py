"""docs/reference/gate.md: verdicts, the order of the questions, and every reason that the gate can give."""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

from course import gate
from course.artifacts import locked_room, reading, verifying
from docs.taken_from_code.markdown import code, fence, page, paragraph, table

VERDICTS = {
    "PROMOTE": "same room, and the improvement is larger than noise",
    "REJECT": "the two cannot be compared, or the candidate is not better",
    "INCONCLUSIVE": "same room, and luck may explain what was seen",
}
# Which conditions of the room there are, and what each is.
CONDITIONS = {
    "dataset_fingerprint": "SHA-256 of the dataset's file",
    "prompts_fingerprint": "ids and prompts in order",
    "examples_fingerprint": "ids, prompts and expected answers in order",
    "split": "dev or holdout",
    "scorer_name": "",
    "scorer_version": "",
    "scorer_fingerprint": "source, spec and golden verdicts",
    "missing_completions": "`refused` or `zero`",
    "loop": "A or B",
    "samples_per_prompt": "1 in Loop A, N in Loop B",
    "sampling": "temperature, top_p, n; not the seed",
}


def messages(*functions: Any) -> list[str]:
    """The sentences in the source of functions, in order; … for what is put into them. Docstrings are left out."""
    found = []
    for function in functions:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found += [text for text in sentences(tree, docstrings) if " " in text.strip()]
    return list(dict.fromkeys(found))


def sentences(node: ast.AST, skipped: set[int]) -> Iterator[str]:
    """Every string in the source that stands in no other string."""
    if id(node) in skipped and isinstance(node, ast.Constant):
        return
    if isinstance(node, ast.JoinedStr):
        parts = [str(one.value) if isinstance(one, ast.Constant) else blank(one) for one in node.values]
        yield re.sub(r"…+", "…", "".join(parts))
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
        return
    for child in ast.iter_child_nodes(node):
        yield from sentences(child, skipped)


NAMED = {name: getattr(module, name) for module in (reading, verifying) for name in ("MANIFEST", "RESULTS", "SUMMARY")}


def blank(value: ast.expr) -> str:
    """What stands for a value that is put in: the name of a file is known, all else is …"""
    inner = value.value if isinstance(value, ast.FormattedValue) else value
    return str(NAMED.get(inner.id, "…")) if isinstance(inner, ast.Name) else "…"


def reasons(meanings: Mapping[str, str], *functions: Any, more: tuple[str, ...] = ()) -> str:
    """Each sentence of the functions with when it is said. Raises KeyError where the two do not fit together."""
    found = [one for one in [*more, *messages(*functions)] if one not in PARTS]
    if {*found} != {*meanings}:
        raise KeyError(f"the gate's reasons: not the same sentences: {sorted({*found} ^ {*meanings})}")
    shown = {one: re.sub("^…, ", DIFFER, one) for one in meanings}
    return table(("reason", "when"), [(code(shown[one]), meanings[one]) for one in meanings])


DIFFER = "… of the completions differ, "
PARTS = {  # of other sentences
    *(
        "a file",
        "nothing there…",
        "one that holds …",
        "…/…: …",
        "…: …",
        "results.jsonl: … …",
        "… of … pass",
        "… run: …",
    ),
    *("… of the completions differ…", "not known", "…: expected the folder of a run, got …"),
    *("did you mean …? …: expected the folder of one run, got …", "which may be luck, and is no reason to promote"),
    *("the same policy wrote both, in other draws: that is luck", "more than luck explains"),
    "on equal samples: pick_best chose otherwise though its files are the same (does it read others?)",
    "…: expected a … of Loop A or B, got a run of Loop C; measure what its policy writes: course.sample_rollouts, then "
    "course.eval",
}
CLAIMS = {
    verifying.NOT_LOGGED: "no log has it",
    "… cannot be read: …": "a file is missing",
    "manifest.json has schema version …, this lab reads …; make the run again": "another version of the lab made it",
    "manifest.json is not a manifest of this lab: …": "a field is missing, unknown or mistyped",
    "manifest.json is not as this lab writes it, byte for byte": "edited",
    "manifest.json says Loop … of …, which leaves no such run": "loop or command was changed",
    "manifest.json has no digest of …": "results or summary would not be sealed",
    "manifest.json names an output that is not a file of its folder: …": "a path that leads elsewhere",
    "…/… is no run of course.eval": "a shard of another kind",
    "… was measured under other conditions than manifest.json says": "a shard does not fit its run",
    "results.jsonl cannot be read: …": "missing, or a folder",
    "results.jsonl is cut off after row …": "its last line has no end",
    "results.jsonl:… is not a result: …": "a row is no row of this loop",
    "results.jsonl:… is not as this lab writes it, byte for byte": "a row was edited",
    "manifest.json has … …, and the scorer installed here …": "name, version, fingerprint, spec or golden",
    "results.jsonl has no rows": "nothing was measured",
    "results.jsonl has … rows and … different ids": "an id stands twice",
    "manifest.json says … samples a prompt, and Loop A has one": "the manifest was changed",
    "the … in manifest.json is not that of results.jsonl": "other prompts or answers than it says",
    "manifest.json says split …, and these are prompts of a holdout of the lab": "a holdout under another name",
    "summary.json is not what its rows come to, byte for byte: …": "a number was changed, left out or added",
    "… is not the file that was written: its digest differs": "any sealed file was changed",
    "results.jsonl: such faults in … more of the rows": "more than three of the next five",
    "has an expected answer of more digits than any example has": "over 1,000 digits",
    "is recorded as … with reward …, which is not what the scorer says": "scored again, another reward or outcome",
    "has … samples, and manifest.json says …": "Loop B: not the N of the manifest",
    "does not hold the sample that it says was chosen": "Loop B: index and completion do not fit",
    "has a sample with a reward that is not what the scorer says": "Loop B: every sample is scored again",
}
ROOM = {
    "locked room: … is not known of the …": "a fact is missing: it fails closed",
    "locked room: … differs (… / …)": "the two values follow",
    "the two do not hold the same id, prompt and expected answer in … of the rows": "rows are paired by place",
    "the scorer installed here fails the golden sets (course.validate_scorer says which)": "the instrument is broken",
}
MEANING = {
    "more than one knob was turned: … (rule 3: one at a time)": "policy and choice, say",
    "…, though both runs say that they read one file": "one fingerprint, two contents",
    "…, though policy, sampling and seed are said to be the same: one of the two is not what it claims (another policy "
    'or prompt template has another "policy")': "equal settings and seed give equal completions",
    "…, and the choice changed too: let both choose from the same samples": "Loop B: `pick_best` is another, so are "
    "the samples",
    "nothing was turned, and … of the examples flipped; …": "the same policy in other draws; or `pick_best` reads "
    "something that is not in its files",
    "the … has no completion for … of its prompts: complete it": "counted as 0 by `--missing zero`",
    "… ids have only … distinct prompts, so the same luck counts twice: several completions of a prompt belong in a "
    "selection pack": "a prompt stands under several ids",
    "the candidate was trained on … of these … prompts: measure both on prompts that it has not seen": "its "
    "`.meta.json` says so",
}
DECISION = {
    "the holdout got worse, by … of … prompts (exact McNemar p = …): …": "REJECT, luck or not",
    "the improvement is below --min-delta: … < …": "REJECT",
    "the pass rate did not rise": "INCONCLUSIVE",
    "noise rule: with n = …, below …, up to 5 points are taken for luck": "INCONCLUSIVE",
    "the flips may be luck: exact McNemar p = …, not below 0.05": "INCONCLUSIVE",
    "same room, and the improvement is larger than noise": "PROMOTE",
}


def gate_page() -> str:
    statuses = [(code(verdict), str(status), VERDICTS[verdict]) for verdict, status in gate.EXIT_STATUS.items()]
    refused = ("", "2", "refused: something cannot be read, is typed wrong, or is a run of Loop C; one line says what")
    claims: list[Any] = [reading.open_run, reading.shards_of, reading.read_output, reading.batches]
    claims += [reading._first_broken_row, verifying.Verification, verifying.fault_of_row, verifying.fault_of_choice]
    return page(
        [
            "# The gate: verdicts and reasons",
            paragraph(
                "May this candidate take the baseline's place? `docs/make_reference.py` writes this page from "
                "[course/gate.py](../../course/gate.py) and what it calls; … stands for what the gate puts in. Its "
                "numbers: [metrics](metrics.md#the-gate). What was tried to deceive it: [attacks](../gate_attacks.md)."
            ),
            "## Verdicts",
            table(("verdict", "exit status", "when"), [*statuses, refused]),
            paragraph(
                "The questions in order; reasons of the first two are given together. After a reason to "
                "reject no further question is asked; only the fourth reports a difference, on the page of `--report` "
                "too."
            ),
            "One sample and four, from one pack: REJECT, status 1.",
            fence("bash exit=1", EXAMPLE),
            fence("text", ["…", "REJECT: locked room: samples_per_prompt differs (1 / 4)", "…"]),
            "## 1. Are both runs what they claim?",
            paragraph(
                "Nothing that can be derived is believed. REJECT with `baseline run:` or `candidate run:` in front; "
                "the last five name the row. `course.inspect_run --verify` asks the same of one run."
            ),
            reasons(CLAIMS, *claims, more=(verifying.NOT_LOGGED,)),
            "## 2. Was the room locked?",
            paragraph("Each of these has to be known of both runs, and equal. Else REJECT."),
            table(("condition", "what it is", "knob"), list(condition_rows())),
            reasons(ROOM, locked_room.Condition, gate.faults_of_runs),
            paragraph(
                "Two more facts name the knob and may differ: the policy, and in Loop B the files of `pick_best`."
            ),
            "## 3. Does the difference mean anything?",
            paragraph("REJECT for each of these. A knob is what was turned: policy, selection compute, instrument or "
                      "environment."),
            reasons(MEANING, gate.faults_of_comparison),
            "## 4. Is it better, and by more than luck?",
            paragraph(
                f"On counts of passes, never on rounded rates. In this order; n below {gate.SMALL_N} is small, and "
                f"the test is the exact McNemar test on the flips, at {gate.SIGNIFICANT}."
            ),
            reasons(DECISION, gate.decide),
            "## Not covered",
            paragraph(
                "A run invented from the start, with a line added to the log for it. A `.meta.json` that does not tell "
                "the truth about the policy, its sampling or its training. Many candidates: each try may be promoted "
                "by luck, and the gate says how many runs the log has from this room."
            ),
        ]
    )  # fmt: skip


SELECT = "python3 -m course.selection_demo --dataset data/datasets/math_dev.jsonl --samples "
EXAMPLE = [
    f"{SELECT}data/rollouts/selection_pack_dev.jsonl --n 1 --outdir runs/gate_n1",
    f"{SELECT}data/rollouts/selection_pack_dev.jsonl --n 4 --outdir runs/gate_n4",
    "python3 -m course.gate --baseline runs/gate_n1 --candidate runs/gate_n4 --min-delta 0.02",
]


def condition_rows() -> Iterator[tuple[str, str, str]]:
    knobs = locked_room._KNOB_OF
    if {*knobs} != {*CONDITIONS}:
        raise KeyError(f"conditions of the room: {sorted({*knobs} ^ {*CONDITIONS})}")
    for name, knob in knobs.items():
        yield code(name), CONDITIONS[name], knob
