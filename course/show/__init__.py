"""Machinery: what several commands print and draw, as pure functions: data in, text or figure out.

What one command alone prints stands in that command, or beside it as ``course/NAME_text.py``.
"""
