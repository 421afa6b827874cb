"""Yours: tests of your update. Level 3 asks for one that your spoiled update fails and your repaired update passes.

    python3 lab.py test tests/test_reinforce.py

A test takes ``reinforce_step`` as an argument, ``def test_slopes(reinforce_step)``. Here it is your update. The check
has other versions in its place: your spoiled update, common mistakes, and right ones.

Write a finite-difference test, which docs/levels.md explains in the part Level 3: raise one logit by 0.000001, and see
by how much the log-probability of the action changes. This difference divided by 0.000001 is the slope. Your update has
to add to the logit: the learning rate times the advantage times the slope. Do so for every logit of an episode of two
steps, with a baseline that is not 0 and a learning rate that is not 1.
"""
