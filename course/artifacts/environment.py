"""Machinery: everything that may differ between two equal runs, and nothing else: clock, host, versions, git."""

import os
import platform
import sys
import unicodedata
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from course.datasets.files import LAB
from course.text import visible

PACKAGES = ("matplotlib", "msgspec", "numpy", "rich", "splintr-rs")  # all that the project depends on


def environment() -> dict[str, Any]:
    return {
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "system": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "unicode": unicodedata.unidata_version,
        "packages": {name: version_of(name) for name in PACKAGES},
        "command_line": [visible(word) for word in sys.orig_argv],  # as it was typed
        "git": _git(LAB),
    }


def version_of(package: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:  # not every command needs every package
        return None


def _git(lab: Path) -> dict[str, Any] | None:
    """Commit and dirty flag of the lab's own repository; None where the lab stands in none, or git is not there."""
    import subprocess

    if not (lab / ".git").exists():  # an outer repository is not the lab's
        return None
    command = ["git", "-C", str(lab), "status", "--porcelain=v2", "--branch"]
    try:
        answer = subprocess.run(
            command, capture_output=True, timeout=5, check=True, env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid")), None)
    return {"commit": commit, "dirty": any(not line.startswith("#") for line in lines)}
