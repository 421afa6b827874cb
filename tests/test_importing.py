"""Importing the course as a library changes nothing in the caller's process.

An example: ``import numpy; from course.score import score`` must leave NumPy with as many threads as it had, so no
module may set OPENBLAS_NUM_THREADS when it is imported. A command sets what it needs when it runs as a command.
"""

import json
import subprocess
import sys

import pytest
from conftest import ROOT

MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for path in sorted((ROOT / "course").rglob("*.py"))
    if path.stem != "__main__"
]
STATE = """
import decimal, gc, importlib, json, locale, os, random, signal, sys, threading, tracemalloc, warnings
if 'without numpy' not in sys.argv:
    import numpy

def limits():
    umask = os.umask(0o022)
    os.umask(umask)
    try:
        import resource
    except ImportError:  # Windows
        return umask
    names = [name for name in sorted(dir(resource)) if "RLIMIT_" in name]
    return [umask, *(resource.getrlimit(getattr(resource, name)) for name in names)]

def state():
    return {
        "environment": dict(os.environ),
        "signals": {int(s): str(signal.getsignal(s)) for s in signal.valid_signals()},
        "threads": threading.active_count(),
        "digits": sys.get_int_max_str_digits(),
        "streams": [sys.stdout.encoding, sys.stderr.encoding],
        "warnings": [str(entry) for entry in warnings.filters],
        "random": str(random.getstate()),
        "numpy": str(numpy.random.get_state()) + str(numpy.geterr()) if "without numpy" not in sys.argv else "",
        "path": sys.path,
        "hooks": [str(sys.excepthook), str(sys.displayhook), str(threading.excepthook)],
        "collector": [gc.isenabled(), gc.get_threshold()],
        "switching": sys.getswitchinterval(),
        "limits": limits(),
        "recursion": sys.getrecursionlimit(),
        "locale": locale.setlocale(locale.LC_ALL),
        "folder": os.getcwd(),
        "arguments": sys.argv,
    }
"""


def changed_by(imports: str, *arguments: str) -> dict[str, object]:
    """What differs in a fresh process after these lines; ``peak``: the most memory they held at once, in bytes."""
    code = f"""{STATE}
before = state()
tracemalloc.start()
{imports}
peak = tracemalloc.get_traced_memory()[1]
after = state()
print(json.dumps({{name: after[name] for name in after if after[name] != before[name]}} | {{"peak": peak}}))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    found: dict[str, object] = json.loads(done.stdout)
    return found


IMPORTS = "\n".join(f"importlib.import_module({module!r})" for module in MODULES)


def test_a_process_that_has_not_loaded_numpy_is_left_as_it_was() -> None:
    """What NumPy reads when it is loaded must be as it was; and another program's words are not this one's."""
    changed = changed_by("importlib.import_module('course.score')", "without numpy", "-m", "course.eval")
    changed |= changed_by(IMPORTS, "without numpy", "-m", "course.eval")
    assert set(changed) == {"peak", "warnings"}  # NumPy adds a filter of its own


def test_every_module_leaves_the_process_as_it_was() -> None:
    assert "course.score" in MODULES
    changed = changed_by(IMPORTS)
    peak = changed.pop("peak")
    assert isinstance(peak, int)
    assert peak < 24_000_000  # the modules themselves take some 10 MB
    assert changed == {}


@pytest.mark.slow
def test_a_change_would_be_seen() -> None:
    assert "environment" in changed_by("os.environ['OMP_NUM_THREADS'] = '1'")
    assert "signals" in changed_by("signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    assert changed_by("numpy.empty(4_000_000)")["peak"] > 24_000_000  # type: ignore[operator]
