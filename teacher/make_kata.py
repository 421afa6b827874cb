"""Make the katas' files from their examples: run it after a change of these, or of a scorer.

    python3 teacher/make_kata.py

Has each completion in ``data/kata/kata_1.jsonl`` scored again by the verifier that it names, and makes the student's
sheet, blank. The keys stand in ``data/keys/exercises/``.
"""

import sys
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))

import msgspec  # noqa: E402
from msgspec.structs import replace  # noqa: E402

from check.kata import fields_of, verifier_of  # noqa: E402
from course.datasets.jsonl import read_records  # noqa: E402
from course.datasets.records import KataExample, task_of  # noqa: E402
from course.rubrics.hackable import GAPS, in_words  # noqa: E402
from course.score import TRIMMED  # noqa: E402
from course.show.tables import wrap_text  # noqa: E402
from course.text import visible  # noqa: E402

INTRODUCTION = """\
# Kata 1: what went wrong?
>
> Ten completions, each with the reward that a verifier gave it. Something is wrong in each of them. Ask in this order,
> and stop at the first question that settles the label:
>
> 1. Would two careful people, who see only the prompt, answer differently? Or can the spec be read in two ways? Then
>    the label is `ambiguous`.
> 2. Is the reward the one that the spec gives (milestone 0, part 4)? Then the label is `model`.
> 3. Does a hole in the verifier pay this text, and did training, choosing or its writer aim at the pay? Then the label
>    is `hacked`. If not, it is `verifier`. (Nothing here was chosen, and the simulated writer knows no verifier.)
>
> Below each example write your label, two or three sentences of evidence, and one concrete fix: to the spec, to a test,
> to the prompt, or "leave this example out, because ...". `course/rubrics/hackable.py` says what the verifiers do;
> `score` is the strict scorer. ⏎ stands for a line break. Lines that begin with `>` are the course's.
"""
WITH_TESTS = """\
# {title}
>
> {opening}
>
> Give each a label, by the questions of kata 1. (The labels may not be as frequent as they were there.) Then write one
> fix in a line, and a `test` that shows that you are right:
>
> - `verifier`, `hacked`: one completion between two backticks which this verifier and the spec reward differently. It
>   would have caught the mistake. It must be different from the one shown.
> - `ambiguous`: between two backticks, what a second careful person would write, which earns another reward than the
>   one shown.
> - `model`: no text, but two sentences: why is the reward right, and what did the model do wrong?
>
> The check tries your texts. `course/rubrics/hackable.py` says what most verifiers do; if a verifier is not in that
> file, its code is shown. `score` is the strict scorer. Lines that begin with `>` are the course's. ⏎ stands for a line
> break. Then type `python3 -m check {name}`.
"""
INTRODUCTIONS = {
    "kata_1": INTRODUCTION,
    "kata_2": WITH_TESTS.format(
        name="kata_2",
        title="Kata 2: parsers",
        opening="Here are eight completions. Their verifiers make mistakes that verifiers of real projects once made.",
    ),
    "kata_3": WITH_TESTS.format(
        name="kata_3",
        title="Kata 3: hacks, and what only looks like one",
        opening="Here are eight completions. Some writers were trained on the pay, others met a hole by accident.",
    ),
}


def score_example(example: KataExample) -> KataExample:
    """An example with what its verifier gives it today."""
    result = verifier_of(example)(task_of(example), example.completion)
    if example.verifier in GAPS and not example.source:
        result = in_words(result, example.completion)
    return replace(example, **result)


def example_lines(example: KataExample) -> list[str]:
    """An example as a student reads it, trimmed as the scorer does, its unseen characters written out."""
    completion = example.completion.strip(TRIMMED).replace("\n", "⏎")
    verifier = f"{example.verifier}, which gave the reward {example.reward:.3g}"
    lines = [
        *name_lines("prompt", wrap_words(example.prompt)),
        *name_lines("expected", wrap_words(str(example.expected_answer))),
        *name_lines("completion", wrap_words(completion)),
        *name_lines("written by", wrap_words(example.policy)),
        *name_lines("verifier", wrap_words(verifier)),
    ]
    if example.source:
        return [*lines, *name_lines("its code", example.source.splitlines())]
    words = str(example.details["message"]).replace("<U+000A LINE FEED>", "⏎")
    return [*lines, *name_lines("its words", wrap_words(words))]


def wrap_words(text: str) -> list[str]:
    return wrap_text(visible(text), 62, "").split("\n")


def name_lines(name: str, lines: list[str]) -> list[str]:
    """The name before the first line, and its room before the others."""
    first, *others = lines
    return [f"{name:10}  {first}".rstrip(), *(f"{'':10}  {line}".rstrip() for line in others)]


def files_of(name: str) -> dict[Path, str]:
    """Path from the lab's root -> content, of all that is made."""
    data = Path("data") / "kata" / f"{name}.jsonl"
    blanks = "\n".join(f"{field}:\n" for field in fields_of(name))
    lines = []
    sheet = [INTRODUCTIONS[name]]
    for example in read_records(LAB / data, KataExample):
        row = score_example(example)
        lines.append(msgspec.json.encode(row).decode() + "\n")
        shown = "".join(f">     {line}\n" for line in example_lines(row))
        sheet.append(f"## {example.id}\n>\n{shown}\n{blanks}")
    return {data: "".join(lines), Path("exercises") / f"{name}.md": "\n".join(sheet)}


def main() -> None:
    for name in INTRODUCTIONS:
        for path, text in files_of(name).items():
            (LAB / path).write_bytes(text.encode("utf-8"))


if __name__ == "__main__":
    main()
