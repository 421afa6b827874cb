"""Machinery: a page that shows a run, made from the files of the run.

    python3 -m course.report runs/run_001

The page is one file, ``report.html`` in the run's folder. It opens by a double click, without network; ``--open`` opens
it at once. The page is derived and not sealed, so make it again whenever you like. The run is verified first; if it
fails, the page begins with the faults. For a page about two runs and their verdict, use course.gate --report.
"""

import sys
import webbrowser
from pathlib import Path
from shutil import get_terminal_size

from course.artifacts import run_log
from course.artifacts.reading import Broken, newest_run
from course.artifacts.run_log import read_log
from course.artifacts.writing import write_page
from course.command import Parser, run_command
from course.errors import UserError
from course.pages.html import HEAD
from course.pages.run import page_of_run
from course.show.tables import wrap_sentence
from course.show.terminal import fold_lines
from course.text import visible_path

REPORT = "report.html"


def main() -> None:
    parser = Parser("course.report", "Make one HTML page that shows a run.")
    parser.add_argument("run", type=Path, help="the folder of a run, or the word last for the newest")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the page here (default: into the run's folder)")
    parser.add_argument("--open", action="store_true", help="also open the page in the browser")
    args = parser.parse_args()
    run = newest_run() if args.run == Path("last") else args.run
    try:
        page, faults = page_of_run(run, read_log(run_log.LOG))
    except Broken as error:
        raise UserError(f"{run}: this run is broken: {error}") from None
    place = write_page(args.out or run / REPORT, page, HEAD)
    for fault in faults:
        print(fold_lines(wrap_sentence(f"WARNING: {fault}"), get_terminal_size().columns), file=sys.stderr)
    here = Path.cwd()
    if place.is_relative_to(here):
        place = place.relative_to(here)
    print(f"report: {visible_path(place)}")
    if args.open:
        webbrowser.open(place.resolve().as_uri())


if __name__ == "__main__":
    run_command(main)
