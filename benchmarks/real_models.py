"""The published answers of four systems, under this lab's verifiers: the table of docs/reference/real_models.md.

    .venv/bin/python benchmarks/real_models.py example_model_solutions.jsonl

The file is ``grade_school_math/data/example_model_solutions.jsonl`` of github.com/openai/grade-school-math: a problem a
line, each with one solution by each system and a label that says whether it is right. No text of it stands in the lab.

A solution reasons, line by line, and ends in a line such as ``A: 18``. Two texts are made of it, and each column says
which of them it scored. In both, the calculator's marks (``<<9*2=18>>``) are taken out. *Whole text*: all the lines as
they are. *Last line*: that line alone, its ``A:`` read as ``Final:``.
"""

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

LAB = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(LAB)]

from course.command import run_command  # noqa: E402
from course.datasets.files import open_regular  # noqa: E402
from course.datasets.jsonl import unreadable  # noqa: E402
from course.errors import UserError  # noqa: E402
from course.rubrics.hackable import RUBRICS  # noqa: E402

SOURCE = "grade_school_math/data/example_model_solutions.jsonl of openai/grade-school-math"
MARKS = re.compile("<<[^>]*>>")


class Solution(msgspec.Struct, frozen=True):
    solution: str
    is_correct: bool


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """What is read of one line of the file."""

    ground_truth: str  # ends in a line such as "A: 1,800"
    small_sampled: Solution = msgspec.field(name="6b_finetuning")
    small_chosen: Solution = msgspec.field(name="6b_verification")
    large_sampled: Solution = msgspec.field(name="175b_finetuning")
    large_chosen: Solution = msgspec.field(name="175b_verification")

    @property
    def expected_answer(self) -> int:
        return int(self.ground_truth.rpartition("A:")[2].replace(",", ""))


SYSTEMS: dict[str, Callable[[Problem], Solution]] = {
    "6B, one sample": lambda problem: problem.small_sampled,
    "6B, chosen by a verifier": lambda problem: problem.small_chosen,
    "175B, one sample": lambda problem: problem.large_sampled,
    "175B, chosen by a verifier": lambda problem: problem.large_chosen,
}


def read_problems(path: Path) -> list[Problem]:
    """Raises UserError where a line is no problem with four solutions."""
    try:
        with open_regular(path) as file:
            lines = file.read().removesuffix(b"\n").split(b"\n")
    except OSError as error:
        raise unreadable(path, error) from None
    problems = []
    for number, line in enumerate(lines, 1):
        try:
            problem = msgspec.json.decode(line, type=Problem)
            _ = problem.expected_answer
        except ValueError as error:  # msgspec's errors are of this type, too
            raise UserError(f"{path}:{number}: expected a line of {SOURCE}, got another ({error})") from None
        problems.append(problem)
    return problems


def whole_text(solution: str) -> str:
    return MARKS.sub("", solution)


def last_line(solution: str) -> str:
    line = whole_text(solution).rpartition("\n")[2]
    if line.startswith("A:"):
        return f"Final:{line.removeprefix('A:')}"
    return line


def is_paid(rubric: str, problem: Problem, text: str) -> bool:
    example = {"prompt": "", "expected_answer": problem.expected_answer}
    return bool(RUBRICS[rubric](example, text)["reward"] == 1)


def judge(problem: Problem, solution: Solution) -> dict[str, bool]:
    """What each column of the table says of one solution."""
    whole = whole_text(solution.solution)
    last = last_line(solution.solution)
    paid_anywhere = is_paid("anywhere", problem, whole)
    return {
        "labelled right": solution.is_correct,
        "strict, last line": is_paid("score", problem, last),
        "`anywhere`, whole text": paid_anywhere,
        "of these labelled wrong": paid_anywhere and not solution.is_correct,
        "`any_candidate`, whole text": is_paid("any_candidate", problem, whole),
        "`last_number`, whole text": is_paid("last_number", problem, whole),
        "strict, whole text": is_paid("score", problem, whole),
    }


def table(problems: list[Problem]) -> Iterator[str]:
    """In Markdown: the columns, and for each system its row, in percent of all problems."""
    for index, (system, solution_by) in enumerate(SYSTEMS.items()):
        judged = [judge(problem, solution_by(problem)) for problem in problems]
        columns = list(judged[0])
        if index == 0:
            yield f"| system | {' | '.join(columns)} |"
            rules = ["---" for _ in ("", *columns)]
            yield f"|{'|'.join(rules)}|"
        shares = [sum(row[column] for row in judged) / len(problems) for column in columns]
        yield f"| {system} | {' | '.join(f'{share:.1%}' for share in shares)} |"


def main() -> None:
    if len(sys.argv) != 2:
        raise UserError(f"expected the path of {SOURCE}, got {len(sys.argv) - 1} arguments")
    problems = read_problems(Path(sys.argv[1]))
    print(f"{len(problems):,} problems, one solution by each system\n")
    print("\n".join(table(problems)))


if __name__ == "__main__":
    run_command(main)
