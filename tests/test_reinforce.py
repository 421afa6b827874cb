"""Yours: tests of your update. Level 3 asks for one that your spoiled update fails and your repaired update passes.

    python3 lab.py test tests/test_reinforce.py

An idea: a finite difference. Raise one logit by 0.000001 and see by how much the log-probability of the action changes.
Divide this change by 0.000001. Times the advantage and the learning rate, it is what your update adds to the logit.
"""

# from exercises.reinforce import reinforce_step
