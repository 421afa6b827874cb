"""Machinery: the experiments of ``course.experiment``, the same training again and again with one thing changed.

Each module has ``CONFIGS``, a row for each training; ``name_of``, what a row is called in the log; and ``report``,
which asks for the trainings, shows what they say, and draws it. ``shift`` and ``pass_at_k`` also have ``measure``, what
is measured in one training; the others use ``training.evaluate``. ``training`` is the driver that they share.
"""
