"""Make a kata's files from its key and its examples: run it after a change of either, or of a scorer.

    python3 teacher/make_kata.py

Reads ``teacher/kata/kata_1.md`` (label, hint, evidence and fix of each example) and the examples in
``data/kata/kata_1.jsonl``; has each completion scored again by the verifier that it names; locks the reasoning; and
makes the student's sheet, blank. ``--out FOLDER`` writes there.
"""

import argparse
import sys
from pathlib import Path
from textwrap import wrap

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))

import msgspec  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from course.datasets.jsonl import read_records  # noqa: E402
from course.datasets.records import KataExample  # noqa: E402
from course.exercises.kata import ASKED, LABELS, lock  # noqa: E402
from course.exercises.sheets import fields, read_sheet  # noqa: E402
from course.rubrics.hackable import RUBRICS  # noqa: E402
from course.score import TRIMMED  # noqa: E402
from course.text import visible  # noqa: E402

INTRODUCTION = """\
# Kata 1: what went wrong?
>
> Ten completions with the reward that a verifier gave them. In each something is wrong, but not the same thing. Three
> questions, in this order, settle which:
>
> 1. Would two careful people who see only the prompt write the same completion? If not, the label is `ambiguous`.
> 2. Is the reward what the spec at the top of `course/score.py` gives? If so: `model`.
> 3. Was this text made for the verifier, by a writer that was rewarded by it? If so: `hacked`. If not: `verifier`.
>
> Write below each example, after the words that stand there: your label, two or three sentences of evidence, and one
> concrete fix (to the spec, a test, the prompt, or "leave this example out, because ..."). What the verifiers do is
> written in `course/rubrics/hackable.py`; `score` is the strict scorer. Lines that begin with `>` are the course's.
> ⏎ stands for a line break; those at the two ends, which the spec takes away, are not shown. Then type
> `python3 -m course.check kata_1`.
"""


def made(example: KataExample, said: dict[str, str], name: str) -> KataExample:
    """An example with what its verifier gives it today, and with the key's hint and reasoning."""
    task = {"prompt": example.prompt, "expected_answer": example.expected_answer}
    result = RUBRICS[example.verifier](task, example.completion)
    locked = lock(f"{said['evidence']} Fix: {said['fix']}", said["label"], f"{name}/{example.id}")
    return replace(example, **result, hint=said["hint"], locked=locked)


def example_lines(example: KataExample) -> list[str]:
    """An example as a student reads it, trimmed as the scorer does, its unseen characters written out."""
    rows = {
        "prompt": example.prompt,
        "expected": str(example.expected_answer),
        "completion": example.completion.strip(TRIMMED).replace("\n", "⏎"),
        "written by": example.policy,
        "verifier": f"{example.verifier}, which gave the reward {example.reward:.3g}",
        "its words": str(example.details["message"]).replace("<U+000A LINE FEED>", "⏎"),
    }
    cells = {name: wrap(visible(value), 62) for name, value in rows.items()}
    return [f"{'' if at else name:10}  {line}" for name, lines in cells.items() for at, line in enumerate(lines)]


def files_of(name: str) -> dict[Path, str]:
    """Path from the lab's root -> content, of all that is made."""
    data = Path("data") / "kata" / f"{name}.jsonl"
    examples = list(read_records(LAB / data, KataExample))
    key = read_sheet(LAB / "teacher" / "kata" / f"{name}.md", [example.id for example in examples])
    rows, sheet = [], [INTRODUCTION]
    for example in examples:
        said = fields(key[example.id], ["label", "hint", "evidence", "fix"])
        if said["label"] not in LABELS or not all(said.values()):
            raise SystemExit(f"teacher/kata/{name}.md:{key[example.id].line} expected label, hint, evidence and fix")
        rows.append(made(example, said, name))
        shown = "".join(f">     {line}\n" for line in example_lines(rows[-1]))
        sheet.append(f"## {example.id}\n>\n{shown}\n" + "\n".join(f"{field}:\n" for field in ASKED))
    lines = (msgspec.json.encode(row).decode() + "\n" for row in rows)
    return {data: "".join(lines), Path("exercises") / f"{name}.md": "\n".join(sheet)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a kata's files from its key and its examples.")
    parser.add_argument("--out", type=Path, default=LAB, help="another folder to write to (default: the lab)")
    args = parser.parse_args()
    for path, text in files_of("kata_1").items():
        (args.out / path).parent.mkdir(parents=True, exist_ok=True)
        (args.out / path).write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main()
