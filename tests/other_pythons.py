"""Pythons other than the one that runs the tests: without packages, or with those of this one."""

import os
import subprocess
import sys
import venv
from pathlib import Path

from conftest import Done

SITE = Path("Lib/site-packages" if os.name == "nt" else f"lib/python3.{sys.version_info[1]}/site-packages")
BIN = Path("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_python(folder: Path, *paths: Path) -> Path:
    """A Python of its own that sees these folders and no packages but theirs."""
    venv.EnvBuilder(symlinks=os.name != "nt").create(folder)
    (folder / SITE / "more.pth").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    return folder / BIN


def packages() -> Path:
    return Path(sys.prefix) / SITE


def typed(python: Path, *words: str, cwd: Path, **environment: str) -> Done:
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | environment
    done = subprocess.run([python, *words], cwd=cwd, env=env, capture_output=True, text=True)
    return Done(done.returncode, done.stdout, done.stderr)
