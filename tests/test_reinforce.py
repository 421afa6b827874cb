"""Yours: tests of your update. Level 3 asks for one that your spoiled update fails and your repaired update passes.

    python3 lab.py test tests/test_reinforce.py

An idea: a finite difference. Raise one logit by 0.000001 and see by how much the log-probability of the action changes;
that, times the advantage and the learning rate, is what your update has to add to the logit.
"""

# from exercises.reinforce import reinforce_step
