"""RL foundations for LLMs: one small instrument, three loops.

     datasets/ ──► policies/ ──► rollouts ──► score.py ──► artifacts/ ──► Loop A measure · B choose · C learn
                                            guardrails: gate · golden/ · rubrics/ · the locked room

The reading path: these files, in this order. Each begins with what it does, and can be read alone.

    score.py                     the instrument: what is rewarded, and why a completion was not
    score_files.py               Loop A at work: `evaluate` is all of it, the rest is files and workers
    eval.py                      … as a command that leaves a run
    gate.py                      may one run take another's place?
    selection_demo.py            Loop B: choose one of N
    rubrics/hackable.py          verifiers that believe too much, each with its exploit
    policies/softmax.py          a distribution over actions, and the few equations about it
    policies/reinforce.py        the update, the baselines, the variance: the named equations of Loop C
    policy_gradient_demo.py      Loop C in slow motion; bandit_train, toy_mdp and token_learner are this loop
    bandit_train.py              … side by side: N runs at once
    policies/two_step.py         the same world with time: two tokens, one reward
    toy_mdp.py                   … and time: a reward at the end, credit for the first step
    policies/token_learner.py    … and tokens: a policy that writes, and learns to cheat a careless verifier

Everything else is machinery, and its first line says so:

    faults, text, stats          what names a fault; untrusted text made fit to print; intervals, paired tests, pass@k
    datasets, golden, rubrics    what goes in, read strictly; cases with a known reward; wrong verifiers
    policies                     the small policies: bandit, two steps, tokens
    artifacts                    what comes out: the rows and files of a run, written, read and verified
    show, NAME_text              what commands print and draw, together and each alone; the one ending of every run
    pages                        a run or a verdict as one HTML file
    guest, picking               a function of somebody's own, loaded and called; the samples that a rule chooses from
    attack_worker, search        a verifier in a process of its own; the texts that it is asked about
    limited_process              a hand-in's code, under limits, ended with all that it started
    the other commands           inspect_run, validate_scorer, kl_tradeoff_demo, …: python3 -m course names them
    command, starting, asking    how every command reads its arguments, finds what it needs, and asks a person
    errors                       what a person can mend, said in one line
    jobs                         work that splits, on several processes or several machines
    experiments                  many trainings, one for each seed and row of a table, and what they say

This package is the teacher's and is read, not edited. ``python3 -m course`` prints the commands.
"""

from course import starting as starting
