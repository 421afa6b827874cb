"""``python3 -m check``: the student's self-check. What is done, what is not, and the one next thing to do.

It reads the student's files and the log of runs. The last results of slow checks are kept in runs/check.json.
"""

from argparse import Namespace
from pathlib import Path
from typing import cast

from check import slow_results
from check.encoding import solutions_of
from check.milestones import EXERCISES, MILESTONES, Exercise, Given, check
from check.report import FINISHED, Checked, exercise_text, overview, submission_text
from check.submission import changed_files, submit
from course.artifacts import run_log
from course.artifacts.records import json_for_terminal
from course.command import Parser, fraction, non_negative_int, positive_int, run_command
from course.datasets.files import LAB
from course.errors import UserError
from course.show.tables import wrap_sentence
from course.show.terminal import command_line, show
from course.starting import PYTHON
from course.text import quote, visible_path

SUBMIT = "submit"  # in place of an exercise
TESTS_PAGE = "tests.html"


def main() -> int:
    parser = Parser("check", "What is done of each milestone, and what to do next; status 1 until all is done.")
    help_ = f"an exercise, or {SUBMIT} (default: all of them, in short): {', '.join(EXERCISES)}"
    parser.add_argument("exercise", nargs="?", metavar="NAME", choices=[*EXERCISES, SUBMIT], help=help_)
    one = parser.add_mutually_exclusive_group()
    one.add_argument("--id", help="an example of a kata, or a step of a level: what there is to say of it")
    help_ = "its first hint, or with a number the first N of its three"
    one.add_argument("--hint", type=positive_int, nargs="?", const=1, metavar="N", help=help_)
    one.add_argument("--solution", action="store_true", help="the teacher's version, once its check passes")
    one.add_argument("--predict", type=fraction, metavar="P", help="how likely you hold the event of a level, 0 to 1")
    parser.add_argument("--run", type=Path, action="append", default=[], help="with submit: one more run to hand in")
    parser.add_argument("--report", action="store_true", help="of tests: write their matrix as a page, too")
    parser.add_argument("--json", action="store_true", help="for a program: every check anew, id -> what it found")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of what the checks draw (default: 0)")
    parser.add_argument(
        "--verifiers",
        type=Path,
        metavar="FILE",
        help="more wrong verifiers to judge tests with: the file is code, and it is run",
    )
    args = parser.parse_args()
    given = Given(args.seed)
    if args.verifiers is not None:
        from check.judging import read_extra

        given = given._replace(verifiers=read_extra(args.verifiers))
    if args.exercise in EXERCISES and not args.json:
        return show_one(EXERCISES[args.exercise], args, given)
    for option in ("id", "hint", "solution", "predict", "report"):
        if getattr(args, option) not in (None, False):
            raise UserError(f"--{option}: expected the name of an exercise in front of it, and no --json")
    asked = [one for one in EXERCISES.values() if args.exercise in (one.id, SUBMIT, None)]
    if args.json:
        found = {one.id: check(one, given) for one in asked}
        shown = ("state", "short", "lines", "numbers")
        show(
            json_for_terminal({id_: {name: getattr(checked, name) for name in shown} for id_, checked in found.items()})
        )
        return int(any(checked.state not in FINISHED for checked in found.values()))
    found = {one.id: slow_results.last_result(one.id, one.files) if one.slow else check(one, given) for one in asked}
    todo = [name for name, checked in found.items() if checked.state not in FINISHED]
    if args.exercise == SUBMIT:
        counted = [LAB / run for checked in found.values() for run in cast(list[str], checked.numbers.get("runs", []))]
        show(submission_text(*submit(args.run, counted), todo))
        return 0
    show(overview(MILESTONES, {one.id: one.milestone for one in asked}, found))
    if changed := changed_files(LAB):
        named = f"{quote(changed[0])}{f' and {len(changed) - 1} more' if len(changed) > 1 else ''}"
        show(wrap_sentence(f"changed, though not yours to change: {named} (this sees accidents, not adversaries)"))
    if todo:
        show_next(EXERCISES[todo[0]], found[todo[0]])
    else:
        show("\nAll done; a person reads your words. Hand it in:")
        print(f"next: {command_line(['check', SUBMIT])}")
    return int(bool(todo))


def show_one(exercise: Exercise, args: Namespace, given: Given) -> int:
    """Explain one exercise, or the one thing of it that was asked for."""
    if args.run:
        raise UserError("--run: expected submit in front of it, got an exercise")
    if args.predict is not None:
        if not exercise.is_level():
            raise UserError(f"--predict: expected a level in front of it, got {exercise.id}")

        from check.levels import record_prediction

        show(record_prediction(exercise.id, float(args.predict)))
        return 0
    if args.hint is not None:
        show_hints(exercise, args.hint)
        return 0
    checked, me = check(exercise, given), f"{PYTHON} -m check {exercise.id}"
    finished = checked.state in FINISHED
    if exercise.slow and given == Given():
        slow_results.keep_result(exercise.id, exercise.files, checked)
    if args.report:
        if exercise.id != "tests":
            raise UserError(f"--report: expected the exercise tests in front of it, got {exercise.id}")
        if not checked.matrix:
            raise UserError(f"--report: your tests cannot be judged yet: {me} says what is missing")

        from check.report_tests import page_of_tests
        from course.artifacts.writing import write_page
        from course.pages.html import HEAD

        page = write_page(run_log.LOG.with_name(TESTS_PAGE), page_of_tests(checked.matrix), HEAD)
        print(f"report: {visible_path(page)}")
    if args.id is not None:
        print(part_of(checked, args.id))  # not folded: it may be a command, to be pasted
    elif args.solution and finished:
        texts = solutions_of(exercise.files) or checked.parts or {"This one has": "no one solution."}
        print("\n\n".join(f"{name}\n{text}" for name, text in texts.items()))  # not folded: files
    elif finished:
        show(exercise_text(exercise.id, checked, [f"solution: {me} --solution"]))
        print(f"next: {command_line(['check'])}")
    else:
        closed = "solution: it opens when this check passes" if args.solution else ""
        show(exercise_text(exercise.id, checked, [closed, f"stuck: {me} --hint"]))
        show_next(exercise, checked)
    return int(not finished and args.id is None)


def show_hints(exercise: Exercise, count: int) -> None:
    """Its first hints, and what to type for one more."""
    hints = exercise.hints
    if count > len(hints):
        raise UserError(f"--hint: expected a number from 1 to {len(hints)}, got {count}")
    lines = [wrap_sentence(f"hint {number} of {len(hints)}: {hints[number - 1]}") for number in range(1, count + 1)]
    if count < len(hints):
        lines.append(f"one more: {PYTHON} -m check {exercise.id} --hint {count + 1}")
    show("\n".join(lines))


def show_next(exercise: Exercise, found: Checked) -> None:
    step = f" --id {found.numbers['step']}" if "step" in found.numbers else ""  # of a level
    words = (exercise.command or f"check {exercise.id}{step}").split(" ")
    show(f"\n{wrap_sentence(f'{exercise.id}: {exercise.what} (read {exercise.read}), then type')}")
    print(f"next: {command_line(words)}")


def part_of(found: Checked, id_: str) -> str:
    if found.state == "wrong" and not found.parts:
        raise UserError(found.lines[0])
    if id_ not in found.parts:
        expected = f"one of {', '.join(found.parts)}" if found.parts else "the name of a kata in front of it"
        raise UserError(f"--id: expected {expected}, got {quote(id_)}")
    return found.parts[id_]


if __name__ == "__main__":
    run_command(main)
