"""Machinery: what a command prints and draws, as pure functions: data in, text or figure out.

``reports/NAME.py`` is the text of ``course.NAME`` and its figure. Shared are ``tables``,
``terminal``, ``figures``, ``updates``, ``measurement`` and ``run_page``. What the pages of ``page/`` show is in
``learning_page`` (a run of Loop C), ``comparison_page`` (two runs) and ``page_tables``.
"""
