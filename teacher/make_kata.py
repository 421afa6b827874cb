"""Make the katas' files from their keys and their examples: run it after a change of either, or of a scorer.

    python3 teacher/make_kata.py

Reads ``teacher/kata/kata_1.md`` (label, hint, evidence and fix of each example; in katas 2 and 3 also a test, where
code is at fault) and the examples in ``data/kata/kata_1.jsonl``; has each completion scored again by the verifier that
it names; encodes label and reasoning; and makes the student's sheet, blank. ``--out FOLDER`` writes there.
"""

import argparse
import sys
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))

import msgspec  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from check.encoding import encode  # noqa: E402
from check.kata import ASKED, FAULTS_OF_CODE, LABELS, WITH_TEST, verifier_of  # noqa: E402
from check.sheets import read_fields, read_sheet  # noqa: E402
from course.datasets.jsonl import read_records  # noqa: E402
from course.datasets.records import KataExample, task_of  # noqa: E402
from course.rubrics.hackable import GAPS, in_words  # noqa: E402
from course.score import TRIMMED  # noqa: E402
from course.show.tables import wrap_text  # noqa: E402
from course.text import visible  # noqa: E402

INTRODUCTION = """\
# Kata 1: what went wrong?
>
> Ten completions with the reward that a verifier gave them. In each something is wrong, but not the same thing. Three
> questions, in this order, settle which:
>
> 1. Would two careful people who see only the prompt write the same completion, and does the spec have only one
>    reading? If not, the label is `ambiguous`.
> 2. Is the reward what the spec at the top of `course/score.py` gives? If so: `model`.
> 3. Was this text made for the verifier, by a writer that was rewarded by it? If so: `hacked`. If not: `verifier`.
>
> Write below each example, after the words that stand there: your label, two or three sentences of evidence, and one
> concrete fix (to the spec, a test, the prompt, or "leave this example out, because ..."). What the verifiers do is
> written in `course/rubrics/hackable.py`; `score` is the strict scorer. Lines that begin with `>` are the course's.
> ⏎ stands for a line break; those at the two ends, which the spec takes away, are not shown. Then type
> `python3 -m check kata_1`.
"""
WITH_TESTS = """\
# {title}
>
> {opening}
>
> Label, evidence and fix as in kata 1, by the same three questions. How many there are of each kind is another matter
> this time.
>
> New is `test`. Where you blame code (`verifier` or `hacked`) write one completion between two backticks, another than
> the one shown, that this verifier and the spec reward differently: the test that would have caught it. The check tries
> it on both. Where no code is to blame leave it empty.
>
> What most verifiers do is written in `course/rubrics/hackable.py`; one that is not there shows its code. `score` is
> the strict scorer. Lines that begin with `>` are the course's. ⏎ stands for a line break. Then type
> `python3 -m check {name}`.
"""
INTRODUCTIONS = {
    "kata_1": INTRODUCTION,
    "kata_2": WITH_TESTS.format(
        name="kata_2",
        title="Kata 2: parsers",
        opening="Eight completions, and verifiers that read them as those of real projects once did.",
    ),
    "kata_3": WITH_TESTS.format(
        name="kata_3",
        title="Kata 3: hacks, and what only looks like one",
        opening="Eight completions. A policy may have sought a reward that it did not earn, or met it by accident.",
    ),
}


def score_example(example: KataExample, said: dict[str, str]) -> KataExample:
    """An example with what its verifier gives it today, and with the key's hint and reasoning."""
    task = task_of(example)
    result = verifier_of(example)(task, example.completion)
    if example.verifier in GAPS and not example.source:
        result = in_words(result, example.completion)
    test = f" Test: {said['test']}" if said["test"] else ""
    key = encode(f"{said['label']}\n{said['evidence']} Fix: {said['fix']}{test}")
    return replace(example, **result, hint=said["hint"], key=key)


def example_lines(example: KataExample) -> list[str]:
    """An example as a student reads it, trimmed as the scorer does, its unseen characters written out."""
    rows = {
        "prompt": example.prompt,
        "expected": str(example.expected_answer),
        "completion": example.completion.strip(TRIMMED).replace("\n", "⏎"),
        "written by": example.policy,
        "verifier": f"{example.verifier}, which gave the reward {example.reward:.3g}",
    }
    cells = {name: wrap_text(visible(value), 62, "").split("\n") for name, value in rows.items()}
    if example.source:
        cells["its code"] = example.source.splitlines()
    else:
        words = str(example.details["message"]).replace("<U+000A LINE FEED>", "⏎")
        cells["its words"] = wrap_text(visible(words), 62, "").split("\n")
    return [
        f"{'' if at else name:10}  {line}".rstrip() for name, lines in cells.items() for at, line in enumerate(lines)
    ]


def files_of(name: str) -> dict[Path, str]:
    """Path from the lab's root -> content, of all that is made."""
    data = Path("data") / "kata" / f"{name}.jsonl"
    examples = list(read_records(LAB / data, KataExample))
    key = read_sheet(LAB / "teacher" / "kata" / f"{name}.md", [example.id for example in examples])
    rows, sheet = [], [INTRODUCTIONS[name]]
    asked = [*ASKED, "test"] if name in WITH_TEST else [*ASKED]
    for example in examples:
        said = read_fields(key[example.id], [*ASKED, "hint", "test"])
        tested = name in WITH_TEST and said["label"] in FAULTS_OF_CODE
        if said["label"] not in LABELS or not all(said[field] for field in ASKED) or bool(said["test"]) != tested:
            expected = "expected label, hint, evidence and fix, and a test where code of kata 2 or 3 is at fault"
            raise SystemExit(f"teacher/kata/{name}.md:{key[example.id].line} {expected}")
        rows.append(score_example(example, said))
        shown = "".join(f">     {line}\n" for line in example_lines(rows[-1]))
        sheet.append(f"## {example.id}\n>\n{shown}\n" + "\n".join(f"{field}:\n" for field in asked))
    lines = (msgspec.json.encode(row).decode() + "\n" for row in rows)
    return {data: "".join(lines), Path("exercises") / f"{name}.md": "\n".join(sheet)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the katas' files from their keys and their examples.")
    parser.add_argument("--out", type=Path, default=LAB, help="another folder to write to (default: the lab)")
    args = parser.parse_args()
    for name in INTRODUCTIONS:
        for path, text in files_of(name).items():
            (args.out / path).parent.mkdir(parents=True, exist_ok=True)
            (args.out / path).write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main()
