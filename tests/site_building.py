"""Machinery: the site, built strictly."""

import os
import subprocess
import sys
from pathlib import Path


def build(source: Path, out: Path) -> "subprocess.CompletedProcess[str]":
    """As docs/conf.py says, with every warning an error; the process is as free of this one as a maintainer's."""
    line = [sys.executable, "-m", "sphinx", "-q", "-c", f"{source}/docs", "-n", "-W", "--keep-going"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    done = [*line, f"{source}", f"{out}"]
    return subprocess.run(done, env=environment, capture_output=True, encoding="utf-8", check=False)
