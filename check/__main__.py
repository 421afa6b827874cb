"""``python3 -m check``: the student's self-check. What is done, what is not, and the one next thing to do.

It reads the student's files and the log of runs. The last verdicts of slow checks are kept in runs/check.json.
"""

import subprocess
import sys
import time
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from check import slow_results
from check.milestones import EXERCISES, Exercise, check
from check.report import end_text, exercise_text, machine_text, overview, step_text, submission_text
from check.result import FINISHED, CheckResult
from check.sheets import KEYS
from course.artifacts import run_log
from course.command import Parser, positive_int, run_command
from course.datasets.files import LAB
from course.errors import UserError
from course.show.tables import wrap_sentence
from course.show.terminal import command_line, show, stop_for_breakpoint, with_progress
from course.starting import program_name
from course.text import quote, shell_word

SUBMIT = "submit"  # in place of an exercise
_EVERY = 0.3  # seconds, between two looks at the files that are watched


def main() -> int:
    args = parse_arguments()
    sys.breakpointhook = stop_for_breakpoint  # in a person's test, where pytest would put a debugger of its own
    exercise = EXERCISES.get(args.exercise)
    if args.json:
        named = [exercise] if exercise else EXERCISES.values()
        return print_json({one.id: check_now(one) for one in named})
    if args.mine:
        return show_machine()
    if exercise:
        return show_one(exercise, args)
    if not Path("exercises").is_dir():
        raise UserError(f"expected your folder exercises/ here, got none; first: cd {shell_word(LAB)}")
    results = {}
    for one in EXERCISES.values():
        results[one.id] = slow_results.read_last_result(one.id, one.files) if one.slow else check_now(one)
    if args.exercise == SUBMIT:
        return hand_in(results)
    return show_overview(results)


def parse_arguments() -> Namespace:
    parser = Parser("check", "What is done of each milestone, and what to do next; status 1 until all is done.")
    help_ = f"an exercise, or {SUBMIT} (default: all of them, in short): {', '.join(EXERCISES)}"
    parser.add_argument("exercise", nargs="?", metavar="NAME", choices=[*EXERCISES, SUBMIT], help=help_)
    wanted = parser.add_mutually_exclusive_group()
    wanted.add_argument("--id", help="a heading of a note, an example of a kata, a step of a level: what to say of it")
    help_ = "its first hint, or with a number the first N of its three"
    wanted.add_argument("--hint", type=positive_int, nargs="?", const=1, metavar="N", help=help_)
    wanted.add_argument("--solution", action="store_true", help="the course's version, once its check passes")
    wanted.add_argument("--all", action="store_true", help="everything that the check found, not the first three")
    wanted.add_argument("--watch", action="store_true", help="check again at each save, until Ctrl-C")
    help_ = "of experiment: note its design in the log of runs, before the candidate is measured"
    wanted.add_argument("--register", action="store_true", help=help_)
    wanted.add_argument("--mine", action="store_true", help="what each of your files measured, chose and learned")
    wanted.add_argument("--json", action="store_true", help="for a program: every check anew, id -> what it found")
    args = parser.parse_args()
    for option in ("id", "hint", "solution", "all", "watch"):
        if getattr(args, option) not in (None, False) and args.exercise not in EXERCISES:
            raise UserError(f"--{option}: expected the name of an exercise in front of it")
    if args.register and args.exercise != "experiment":
        raise UserError("--register: expected experiment in front of it")
    if (args.mine and args.exercise) or (args.json and args.exercise == SUBMIT):
        raise UserError(f"{args.exercise}: expected no such word beside --mine or --json")
    return args


def check_now(exercise: Exercise) -> CheckResult:
    """The result of the check, run now; one that learns shows how far it is."""
    return check(exercise, lambda updates: with_progress(updates, "learning"))


def list_unfinished(results: Mapping[str, CheckResult]) -> list[str]:
    return [name for name, result in results.items() if result.state not in FINISHED]


def print_json(results: Mapping[str, CheckResult]) -> int:
    from course.artifacts.records import json_for_terminal

    rows = {}
    for name, result in results.items():
        rows[name] = {"state": result.state, "short": result.short, "lines": result.lines, "runs": result.runs}
    show(json_for_terminal(rows))
    return int(bool(list_unfinished(results)))


def hand_in(results: Mapping[str, CheckResult]) -> int:
    """Write the hand-in: what the student wrote, and the runs that a check counts or that have the student's words."""
    from check.runs import has_words, read_logged_runs
    from check.submission import submit

    runs = {run for result in results.values() for run in result.runs}
    runs |= {run.name for run in read_logged_runs() if has_words(run)}
    elsewhere = {run for run in runs if not run.startswith("runs/")}
    path, names = submit(runs - elsewhere)
    show(submission_text(path, names, sorted(elsewhere), list_unfinished(results)))
    return 0


def show_machine() -> int:
    from check.machine import list_works

    verdicts = {}
    for exercise in EXERCISES.values():
        if exercise.slow:
            verdicts[exercise.id] = slow_results.read_last_result(exercise.id, exercise.files)
    show(machine_text(list_works(), verdicts))
    return 0


def show_overview(results: Mapping[str, CheckResult]) -> int:
    """A line for each exercise, and the next thing to do."""
    show(overview({name: EXERCISES[name].milestone for name in results}, results))
    todo = list_unfinished(results)
    if todo:
        show_next(EXERCISES[todo[0]], results[todo[0]])
        return 1
    show(f"\n{wrap_sentence(end_text(results))}")
    print(f"next: {command_line(['check', SUBMIT])}")
    return 0


def show_one(exercise: Exercise, args: Namespace) -> int:
    """Explain one exercise, or the one thing of it that was asked for."""
    if args.register:
        from check.own_experiment import register_design

        show(wrap_sentence(register_design()))
        return 0
    if args.hint is not None:
        show_hints(exercise, args.hint)
        return 0
    if args.watch:
        return watch(exercise)
    result = check_now(exercise)
    if exercise.slow:
        slow_results.keep_result(exercise.id, exercise.files, result)
    if args.id is not None:
        print(part_of(result, args.id))  # not folded: it may be a command, to be pasted
        return 0
    keys = [KEYS / name for name in exercise.files if (KEYS / name).is_file()]
    command = f"{program_name('check')} {exercise.id}"
    if result.state in FINISHED:
        if args.solution and keys:
            show_solution(keys)
            return 0
        show(exercise_text(exercise.id, result, [f"our version: {command} --solution"] if keys else [], args.all))
        print(f"next: {command_line(['check'])}")
        return 0
    more = [f"stuck: {command} --hint"]
    if args.solution:
        more.insert(0, "solution: it opens when this check passes")
    show(exercise_text(exercise.id, result, more, args.all))
    show_next(exercise, result)
    return 1


def watch(exercise: Exercise) -> int:
    """Check again whenever a file of the exercise or a run was saved, each time in a new process; Ctrl-C ends it."""
    line = [sys.executable, *(["-P"] if sys.flags.safe_path else []), "-m", "check", exercise.id]
    seen: list[int] | None = None
    watched = [*map(Path, exercise.files), run_log.LOG]
    try:
        while True:
            saved = [path.stat().st_mtime_ns for path in watched if path.exists()]
            if saved != seen:
                seen = saved
                subprocess.run(line, check=False)
                print(f"\nwatching {', '.join([*exercise.files, 'your runs'])}; Ctrl-C ends\n", flush=True)
            time.sleep(_EVERY)
    except KeyboardInterrupt:
        return 0


def show_hints(exercise: Exercise, count: int) -> None:
    """Its first hints, and what to type for one more."""
    hints = exercise.hints
    if count > len(hints):
        raise UserError(f"--hint: expected a number from 1 to {len(hints)}, got {count}")
    lines = [wrap_sentence(f"hint {number} of {len(hints)}: {hints[number - 1]}") for number in range(1, count + 1)]
    if count < len(hints):
        lines.append(f"one more: {program_name('check')} {exercise.id} --hint {count + 1}")
    show("\n".join(lines))


def show_next(exercise: Exercise, result: CheckResult) -> None:
    command = result.command or f"check {exercise.id}"
    show(f"\n{wrap_sentence(f'{exercise.id}: {exercise.what} (read {exercise.read}), then type')}")
    print(f"next: {command_line(command.split(' '))}")


def show_solution(keys: list[Path]) -> None:
    """The course's version of the files."""
    for key in keys:
        text = key.read_text(encoding="utf-8")
        print(f"{key.relative_to(KEYS).as_posix()}\n{step_text(text) if key.suffix == '.md' else text}")


def part_of(result: CheckResult, id_: str) -> str:
    """What there is to say of one part, safe to print."""
    if result.state == "wrong" and not result.parts:
        raise UserError(result.lines[0])
    if id_ not in result.parts:
        parts = ", ".join(result.parts) or "none yet"
        raise UserError(f"--id: expected one that has something to show ({parts}), got {quote(id_)}")
    return step_text(result.parts[id_])


if __name__ == "__main__":
    run_command(main)
