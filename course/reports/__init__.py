"""Machinery: what a command prints and draws. ``reports/NAME.py`` is the text of ``course.NAME``, ``NAME_figure.py`` its
figure; shared are ``tables``, ``figures``, ``progress``, ``updates``, ``measurement`` and ``run_page``. Pure: data in,
text or figure out."""
