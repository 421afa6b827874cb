"""The student's work, judged: what is done, what is wrong, and the one next thing to do.

    python3 -m check
    python3 -m check kata_1 --hint
    python3 -m check submit --run runs/first

    __main__                  the command: the overview, one exercise, its hints, the hand-in
    milestones                what each milestone asks for (data/exercises.toml), and the check of each exercise
    result                    what a check says of an exercise, and its states
    sheets, notes, kata       Markdown that a student fills in: notes and diagnoses
    runs, levels              what the log of runs says of a student's measurements, and the steps of the levels
    lock                      whether a test locks the repair of a level
    slow_results              what the overview keeps of slow checks
    machine                   what each of the student's files measured, chose and learned
    functions, oracles        a student's functions, held against exact values
    loop                      a student's training step, held against the course's own
    own_spec, redteam         a student's scorer, exploits and patch
    committee, own_experiment  verdicts and experiments, held against the gate and the log of runs
    judging, judge, kills     a student's tests, each called with every version of a function
    versions                  these versions, right ones and wrong ones (data/wrong/)
    report, report_tests      what is printed of a result
    submission                the zip to hand in

It imports ``course`` and is never imported by it.
"""

import course  # noqa: F401  (under ``python3 -m check`` it finds the lab's packages)
