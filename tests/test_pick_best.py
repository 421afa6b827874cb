"""Yours: tests of your rule of Loop B. Level 2 asks for one that your spoiled rule fails and your repaired rule passes.

    python3 lab.py test tests/test_pick_best.py

An idea: call ``pick_best`` twice with samples of equal reward, in two orders, and ask which sample comes back.
"""

# from course.picking import Sample
# from exercises.pick_best import pick_best
