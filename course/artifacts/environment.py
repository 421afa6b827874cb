"""Machinery: everything that may differ between two equal runs, and nothing else: clock, host, versions, git."""

import os
from pathlib import Path
from typing import Any

LAB = Path(__file__).parents[2]


def environment() -> dict[str, Any]:
    # Imported here: a command that writes no run, or is only asked for --help, needs none of it.
    import platform
    import unicodedata
    from datetime import UTC, datetime
    from importlib import metadata

    return {
        "finished_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "host": platform.node(),
        "system": platform.platform(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "unicode": unicodedata.unidata_version,
        "packages": {name: metadata.version(name) for name in ("jiter", "msgspec", "rich")},
        "git": _git(),
    }


def _git() -> dict[str, Any] | None:
    """Commit and dirty flag of the lab's own repository; None where the lab stands in none, or git is not there."""
    import subprocess

    if not (LAB / ".git").exists():  # an outer repository is not the lab's
        return None
    command = ["git", "-C", str(LAB), "status", "--porcelain=v2", "--branch"]
    try:
        answer = subprocess.run(
            command, capture_output=True, timeout=5, check=True, env=os.environ | {"GIT_OPTIONAL_LOCKS": "0"}
        )
    except (OSError, subprocess.SubprocessError):
        return None
    lines = answer.stdout.decode("utf-8", "replace").splitlines()
    commit = next((line.split()[-1] for line in lines if line.startswith("# branch.oid")), None)
    return {"commit": commit, "dirty": any(not line.startswith("#") for line in lines)}
