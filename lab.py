"""Set the lab up and use it, on a machine that has only Python 3.11 or later.

    python3 lab.py              set up, then the first measurement: recorded completions, and how they failed
    python3 lab.py gate ...     any command of the course, with its arguments: eval, gate, token_train, ...
    python3 lab.py micro        the whole idea in one file: micro.py, with the lab's NumPy
    python3 lab.py test         set up with the tools for the lab's own tests, then run all but the slow ones
    python3 lab.py test PATH    the tests of one file; yours need no more tools: tests/test_rubric.py
    python3 lab.py lint         the same tools, then lint and types
    python3 lab.py site         the same tools, then the course as a site that needs no network, in site/

What follows ``test`` goes to pytest: ``--fast``, ``--all``, the path of a test file. On Windows, write ``py`` for
``python3``.

It makes ``.venv`` in this folder and fills it from requirements.txt, where each package has its exact version and the
digest of its files; nothing outside this folder is changed. A second call finds the work done.

This file is written so that every Python since 2.7 can read it, and say that it is too old.
"""

import os
import sys

if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.stderr.write("error: expected Python 3.11 or later, got " + sys.version.split()[0])
        sys.stderr.write("; call lab.py with a newer one, such as python3.12 lab.py\n")
        sys.exit(2)
    # Python looks into the folder of a script first. Last is soon enough: a student's random.py here is not Python's.
    if not sys.flags.safe_path:
        del sys.path[0]
    sys.path.append(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120

    from course import process

    process.begin_loading()  # from here on Ctrl-C is one line

    from course.command import run_command
    from lab_jobs import main

    run_command(lambda: main(sys.argv[1:]))
