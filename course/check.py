"""Machinery: the student's self-check. What is done, what is not, and the one next thing to do.

    python3 -m course.check
    python3 -m course.check kata_1
    python3 -m course.check kata_1 --hint
    python3 -m course.check submit --run runs/first

It reads the student's files and the log of runs. What it remembers, hints shown and slow results, is runs/check.json.
"""

from collections.abc import Sequence
from pathlib import Path

from course.artifacts.records import printed_json
from course.command import Parser, non_negative_int, run_command
from course.datasets.files import LAB
from course.errors import UserError
from course.exercises import remembered
from course.exercises.milestones import EXERCISES, MILESTONES, Exercise, Given, check
from course.exercises.seal import changed_files
from course.publishing import command_line
from course.reports.check import FINISHED, Checked, exercise_text, overview
from course.reports.tables import wrapped
from course.reports.terminal import show
from course.starting import PYTHON
from course.text import quoted


def main() -> int:
    parser = Parser("course.check", "What is done of each milestone, and what to do next; status 1 until all is done.")
    parser.add_argument("exercise", nargs="?", choices=EXERCISES, help="explain this one (default: all, in short)")
    parser.add_argument("--id", help="one example of a kata; the teacher's words once yours are right")
    parser.add_argument("--hint", action="store_true", help="one more of its three hints")
    parser.add_argument("--json", action="store_true", help="for a program: every check anew, id -> what it found")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of what the checks draw (default: 0)")
    parser.add_argument("--verifiers", type=Path, metavar="FILE", help="more verifiers to judge tests with")
    args = parser.parse_args()
    given = Given(args.seed, args.verifiers)
    if args.json:
        return show_json([EXERCISES[args.exercise]] if args.exercise else [*EXERCISES.values()], given)
    if args.exercise is None:
        if args.id is not None:
            raise UserError(f"--id: expected the name of a kata in front of it, got {quoted(args.id)}")
        return show_all(given)
    exercise = EXERCISES[args.exercise]
    found = check(exercise, given)
    if args.id is not None:
        show(part_of(found, args.id))
    elif args.hint:
        step = remembered.next_hint(exercise.id, len(exercise.hints))
        show("\n".join(wrapped(f"hint {i} of 3: {hint}") for i, hint in enumerate(exercise.hints[:step], 1)))
    else:
        if exercise.slow:
            remembered.keep(exercise.id, exercise.files, found)
        show(exercise_text(exercise.id, found, after(exercise, found)))
        show_next(None if found.state in FINISHED else exercise)
    return int(found.state not in FINISHED)


def show_json(exercises: Sequence[Exercise], given: Given) -> int:
    found = {one.id: check(one, given) for one in exercises}
    kept = ("state", "short", "lines", "numbers")
    show(printed_json({id_: {name: getattr(checked, name) for name in kept} for id_, checked in found.items()}))
    return int(any(checked.state not in FINISHED for checked in found.values()))


def show_all(given: Given) -> int:
    """One screen of all milestones. Slow checks are not run for it."""
    found = {
        number: {
            one.id: remembered.last_result(one.id, one.files) if one.slow else check(one, given)
            for one in EXERCISES.values()
            if one.milestone == number
        }
        for number in MILESTONES
    }
    show(overview(MILESTONES, found))
    if changed := changed_files(LAB):
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        show(wrapped(f"the teacher's file {quoted(changed[0])}{more} changed; this sees accidents, not adversaries"))
    states = {name: checked.state for one in found.values() for name, checked in one.items()}
    todo = [EXERCISES[name] for name, state in states.items() if state not in FINISHED]
    if not todo:
        show("\nAll done; a person reads your words.")
        return 0
    show_next(todo[0])
    return 1


def show_next(exercise: Exercise | None) -> None:
    """The one next thing to do: this exercise, or to look at all of them."""
    if exercise is None:
        print(f"next: {command_line(['course.check'])}")
        return
    words = (exercise.command or f"course.check {exercise.id}").split(" ")
    show(f"\n{wrapped(f'{exercise.id}: {exercise.what} (read {exercise.read}), then type')}")
    print(f"next: {command_line(words)}")


def after(exercise: Exercise, found: Checked) -> list[str]:
    """What stands below the state of an exercise."""
    if found.state in FINISHED:
        return [f"open now: {exercise.further}"]
    return [
        *([f"rule: {exercise.rule}"] if exercise.rule else []),
        *([f"debug: {PYTHON} {exercise.debug}"] if exercise.debug else []),
        f"stuck: {PYTHON} -m course.check {exercise.id} --hint",
    ]


def part_of(found: Checked, id_: str) -> str:
    if found.state == "wrong" and not found.parts:
        raise UserError(found.lines[0])
    if id_ not in found.parts:
        expected = f"one of {', '.join(found.parts)}" if found.parts else "the name of a kata in front of it"
        raise UserError(f"--id: expected {expected}, got {quoted(id_)}")
    return found.parts[id_]


if __name__ == "__main__":
    run_command(main)
