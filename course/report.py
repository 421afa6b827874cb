"""Machinery: a page to look at a run, at two runs side by side, or at the log of runs, made from what they hold.

    python3 -m course.report runs/run_001
    python3 -m course.report runs/run_001 runs/run_002
    python3 -m course.report --log

One file that opens by a double click, without network; ``--open`` does that at once. It is ``report.html`` in the run's
folder, of two runs ``comparison.html`` in the second's, of the log ``log.html`` beside it: derived and under no seal,
so make it again whenever you like. Runs are verified, and the page of one that fails begins with that. Of two runs it
shows what course.gate finds out; the verdict is on the page of course.gate --report.
"""

import sys
import webbrowser
from fractions import Fraction
from pathlib import Path
from shutil import get_terminal_size

from course.artifacts import run_log
from course.artifacts.reading import Broken, newest_run, open_run
from course.artifacts.run_log import read_log
from course.artifacts.writing import write_page
from course.command import Parser, run_command
from course.errors import UserError
from course.gate import examine
from course.reports.pages import HEAD
from course.reports.report import COMPARISON, LOG_PAGE, REPORT, page_of_log, page_of_run, page_of_two
from course.reports.tables import wrapped
from course.reports.terminal import folded
from course.starting import PYTHON
from course.text import shell_word, visible_path


def main() -> None:
    parser = Parser("course.report", "A page to look at a run, at two of them, or at the log of runs.")
    parser.add_argument("run", type=Path, nargs="*", help="the folder of a run, or last: the newest; or two of them")
    parser.add_argument("--log", action="store_true", help="without a run: the log of runs as a table")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page here (default: into the run's folder)")
    parser.add_argument("--open", action="store_true", help="show it in the browser, too")
    args = parser.parse_args()
    if len(args.run) > 2 or bool(args.run) == args.log:
        parser.error(f"expected one run, two runs, or --log, got runs: {len(args.run)}{', and --log' * args.log}")
    runs = [newest_run() if run == Path("last") else run for run in args.run]
    faults = list[str]()
    try:
        loops = [open_run(path := run).manifest.loop for run in runs]
        if args.log:
            log = read_log(run_log.LOG)
            place = write_page(args.out or run_log.LOG.with_name(LOG_PAGE), page_of_log(log), HEAD)
        elif len(runs) == 1:
            page, faults = page_of_run(runs[0], read_log(run_log.LOG))
            place = write_page(args.out or runs[0] / REPORT, page, HEAD)
        else:
            finding = None if "C" in loops else examine(runs[0], runs[1], Fraction(0), run_log.LOG, [])
            sides = f"--baseline {shell_word(runs[0])} --candidate {shell_word(runs[1])}"
            asked = f"{PYTHON} -m course.gate {sides} --min-delta 0.02 --report"
            page, faults = page_of_two(runs, finding, asked, read_log(run_log.LOG))
            place = write_page(args.out or runs[1] / COMPARISON, page, HEAD)
    except Broken as error:
        raise UserError(f"{path}: expected a whole run, got a broken one: {error}") from None
    for fault in faults:
        print(folded(wrapped(f"WARNING: {fault}"), get_terminal_size().columns), file=sys.stderr)
    place = place.relative_to(here) if place.is_relative_to(here := Path.cwd()) else place
    print(f"report: {visible_path(place)}")
    if args.open:
        webbrowser.open(place.resolve().as_uri())


if __name__ == "__main__":
    run_command(main)
