"""Machinery: the student's self-check. What is done, what is not, and the one next thing to do.

    python3 -m course.check
    python3 -m course.check kata_1
    python3 -m course.check kata_1 --id 3

It reads the student's sheets and the log of runs, and writes nothing.
"""

from course.command import Parser, run_command
from course.errors import UserError
from course.exercises.milestones import EXERCISES, MILESTONES
from course.publishing import command_line
from course.reports.check import FINISHED, exercise_line, exercise_text
from course.reports.tables import wrapped
from course.reports.terminal import show
from course.text import quoted


def main() -> int:
    parser = Parser("course.check", "What is done of each milestone, and what to do next; status 1 until all is done.")
    parser.add_argument("exercise", nargs="?", choices=EXERCISES, help="explain this one (default: all, in short)")
    parser.add_argument(
        "--id",
        help="one example of a kata; the teacher's words once yours are right",
    )
    args = parser.parse_args()
    names = [args.exercise] if args.exercise else list(EXERCISES)
    found = {name: EXERCISES[name].checked() for name in names}
    if args.id is not None:
        state, _, lines, parts, _ = found[names[0]]
        if state == "wrong" and not parts:
            raise UserError(lines[0])
        if args.id not in parts:
            expected = f"one of {', '.join(parts)}" if parts else "the name of a kata in front of it"
            raise UserError(f"--id: expected {expected}, got {quoted(args.id)}")
        show(parts[args.id])
        return int(found[names[0]].state not in FINISHED)
    if args.exercise:
        show(exercise_text(args.exercise, found[args.exercise]))
    else:
        for title, exercises in MILESTONES.items():
            show("\n".join([title, "", *(exercise_line(one.id, found[one.id]) for one in exercises)]))
    for name in names:
        if found[name].state not in FINISHED:
            _, what, read, _, command = EXERCISES[name]
            words = (command or f"course.check {name}").split(" ")
            show(f"\n{wrapped(f'{name}: {what} (read {read}), then type')}")
            print(f"next: {command_line(words)}")
            return 1
    if args.exercise:
        print(f"next: {command_line(['course.check'])}")
    else:
        show("\nAll done; a person reads your words. Then Loop B: see Next in docs/milestones/0.md")
    return 0


if __name__ == "__main__":
    run_command(main)
