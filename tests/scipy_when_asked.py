"""SciPy, loaded when a test first asks it: that takes a second of each process, and the fast tests do without."""

import importlib
from typing import Any


class _Scipy:
    def __getattr__(self, part: str) -> Any:
        return importlib.import_module(f"scipy.{part}")


scipy = _Scipy()
