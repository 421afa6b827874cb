"""The student's work, judged: what is done, what is wrong, and the one next thing to do.

    python3 -m check
    python3 -m check kata_1 --hint
    python3 -m check submit

    __main__                   the command: the overview, one exercise, its hints, the hand-in
    milestones                 what each milestone asks for (data/exercises.toml), and the check of each exercise
    result, report             what a check says of an exercise, and what is printed of it
    sheets, notes, kata        Markdown that a student fills in: notes and diagnoses
    runs, levels               what the log of runs says of a student's measurements, and the steps of the levels
    machine, slow_results      what each of the student's files did, and the last verdicts of slow checks
    functions, oracles, loop   a student's functions, held against exact values
    own_spec, redteam          a student's scorer, exploits and patch
    committee, own_experiment  verdicts and experiments, held against the gate and the log of runs
    judge, own_tests, lock     a student's tests, each called with every version of a function
    versions                   these versions, right ones and wrong ones (data/wrong/)
    submission                 the zip to hand in

It imports ``course`` and is never imported by it.
"""

import course  # noqa: F401  (under ``python3 -m check`` it finds the lab's packages)
