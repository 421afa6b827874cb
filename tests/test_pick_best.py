"""Yours: tests of your rule of Loop B. Level 2 asks for one that your spoiled rule fails and your repaired rule passes.

    python3 lab.py test tests/test_pick_best.py

A test takes ``pick_best`` as an argument, ``def test_ties(pick_best)``. Here it is your rule. The check has other
versions in its place: your spoiled rule, common mistakes, and right ones.

Call ``pick_best`` with samples of equal reward, in two orders, and demand the sample with the lowest index both times.
Do so for several groups of samples, because a rule that draws by chance passes a single test now and then. Then do the
same, in two orders, with samples of unequal reward: the best must be taken. Let its index not be the lowest.
"""

# from course.picking import Sample
