"""Machinery: what a command prints and draws, as pure functions: data in, text or figure out.

``reports/NAME.py`` is the text of ``course.NAME`` and its figure. Shared are ``tables``,
``terminal``, ``figures``, ``updates`` and ``measurement``.
"""
