"""RL foundations for LLMs: one small instrument, three loops.

     datasets/ ──► policies ──► rollouts ──► score.py ──► artifacts/ ──► Loop A measure · Loop B choose · Loop C learn
                                            guardrails: gate · golden/ · rubrics/ · the locked room

Read in this order:

    score.py         the instrument: what is paid, what can go wrong, and the verdict
    datasets/        what goes in, and how strictly it is read
    eval.py          Loop A on one screen; inspect_run.py looks at what failed
    artifacts/       what comes out, and why it can be believed
    gate.py          whether one run may replace another; stats.py is how sure a count makes you
    selection_demo.py   Loop B
    rubrics/, golden/   the instrument under attack: validate_scorer.py
    policies/        what Loop C changes, and the equations that change it
    policy_gradient_demo.py, bandit_train.py, toy_mdp.py   one loop three times: slow, kept, with time
    token_train.py, policies/token_learner.py   the same loop with tokens; goodhart_demo.py: what it does to a verifier

This package is the teacher's and is read, not edited. ``python -m course`` prints the commands.
"""

import os
import sys
from importlib.util import find_spec

# The matrices of this lab are small: a second thread only waits for the first, and the number of threads would decide
# the last bits of a sum. NumPy reads these when it is loaded, which is after this.
os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")

# While `python -m` imports this package, argv[0] is "-m". A student who forgot the environment gets one line.
if sys.argv[:1] == ["-m"] and find_spec("msgspec") is None:
    print(
        "error: expected the lab's environment, got a Python without its packages; "
        "run python3 lab.py once, then source .venv/bin/activate (Windows: .venv\\Scripts\\activate)",
        file=sys.stderr,
    )
    sys.exit(2)
