"""Yours: tests of your rule of Loop B. Level 2 asks for one that your spoiled rule fails and your repaired rule passes.

    python3 lab.py test tests/test_pick_best.py

Call ``pick_best`` with samples of equal reward, in two orders, and demand the sample with the lowest index both times.
Do so for several groups of samples, because a rule that draws by chance passes a single test now and then.
"""

# from course.picking import Sample
# from exercises.pick_best import pick_best
