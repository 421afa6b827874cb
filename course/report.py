"""Machinery: a page to look at a run, at two runs side by side, or at the log of runs, made from what they hold.

    python3 -m course.report runs/run_001
    python3 -m course.report runs/run_001 runs/run_002
    python3 -m course.report --log

One file that opens by a double click, without network; ``--open`` does that at once. It is ``report.html`` in the run's
folder, of two runs ``comparison.html`` in the second's, of the log ``log.html`` beside it: derived and under no seal,
so make it again whenever you like. Runs are verified, and the page of one that fails begins with that.
"""

import sys
import webbrowser
from pathlib import Path

from course.artifacts import run_log
from course.artifacts.reading import Broken, newest_run
from course.artifacts.run_log import read_log
from course.artifacts.writing import write_page
from course.command import Parser, run_command
from course.errors import UserError
from course.publishing import write_report
from course.reports.pages import HEAD
from course.reports.report import COMPARISON, LOG_PAGE, page_of_log, page_of_two
from course.reports.tables import wrapped
from course.text import visible_path


def main() -> None:
    parser = Parser("course.report", "A page to look at a run, at two of them, or at the log of runs.")
    parser.add_argument("run", type=Path, nargs="*", help="the folder of a run, or last: the newest; or two of them")
    parser.add_argument("--log", action="store_true", help="without a run: the log of runs as a table")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page here (default: into the run's folder)")
    parser.add_argument("--open", action="store_true", help="show it in the browser, too")
    args = parser.parse_args()
    if len(args.run) > 2 or bool(args.run) == args.log:
        parser.error(f"expected one run, two runs, or --log, got {len(args.run)} runs{' and --log' * args.log}")
    runs = [newest_run() if path == Path("last") else path for path in args.run]

    faults = list[str]()
    try:
        if args.log:
            log = read_log(run_log.LOG)
            place = write_page(args.out or run_log.LOG.with_name(LOG_PAGE), page_of_log(log), HEAD)
        elif len(runs) == 1:
            place, faults = write_report(runs[0], args.out)
        else:
            page, faults = page_of_two(runs[0], runs[1], read_log(run_log.LOG))
            place = write_page(args.out or runs[1] / COMPARISON, page, HEAD)
    except Broken as error:
        raise UserError(f"{runs[0]}: expected a whole run, got a broken one: {error}") from None
    for fault in faults:
        print(wrapped(f"WARNING: not verified: {fault}"), file=sys.stderr)
    place = place.relative_to(here) if place.is_relative_to(here := Path.cwd()) else place
    print(f"report: {visible_path(place)}")
    if args.open:
        webbrowser.open(place.resolve().as_uri())


if __name__ == "__main__":
    run_command(main)
