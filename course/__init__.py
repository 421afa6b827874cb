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

import sys
from importlib.util import find_spec

_ARGUMENTS = sys.orig_argv
_AS_COMMAND = "-m" in _ARGUMENTS and f"{_ARGUMENTS[_ARGUMENTS.index('-m') + 1]}.".startswith("course.")

# A student who forgot the environment gets one line. Whoever imports the package as a library is left alone.
if _AS_COMMAND and find_spec("msgspec") is None:
    print(
        "error: expected the lab's environment, got a Python without its packages; "
        "run python3 lab.py once, then source .venv/bin/activate (Windows: .venv\\Scripts\\activate)",
        file=sys.stderr,
    )
    sys.exit(2)
