"""Numbers and records made into text: pure functions, data in, text out.

``text``: tables and lines for the terminal. ``progress``: how far a long piece of work is. ``run_page``: the README
of a run. The others belong to the command they are named for.
"""
