"""Machinery: the experiments of ``course.experiment``: the same training again and again, with one thing changed.

Each module has ``CONFIGS``, a row for each training; ``name_of``, the name of a row in the log; and ``report``, which
asks for the trainings, and shows and draws the findings. ``shift`` and ``pass_at_k`` also have ``measure``, which
measures one training; the others use ``driver.evaluate``. ``driver`` is the code that all experiments share.
"""
