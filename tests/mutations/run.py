"""A maintainer's job: apply each patch of this folder to a copy of the lab, and see the tests that it names fail.

    .venv/bin/python3 tests/mutations/run.py            all of them
    .venv/bin/python3 tests/mutations/run.py any_for    those whose name holds this

Each patch is a fault that once passed the whole suite, or would be hard to see. The tests of the file that it changes
have to notice: tests mirror the code. A patch that no longer applies is a fault, too: the code moved on, so write the
patch anew. It needs git, and takes minutes.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LAB = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "runs", "site", "node_modules", "__pycache__", ".*_cache")
FAILED = 1  # pytest: some tests failed; 2 to 5 say that they could not be run


def outcome(patch: Path) -> str:
    """What became of one patch: "noticed", or what is wrong."""
    changed = re.findall(r"^\+\+\+ b/(.+)/(.+)$", patch.read_text(encoding="utf-8"), re.MULTILINE)
    tests = [f"tests/{folder}/test_{file}" for folder, file in changed]
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / "lab"
        shutil.copytree(LAB, copy, ignore=LEFT_OUT)
        if subprocess.run(["git", "apply", str(patch)], cwd=copy, capture_output=True).returncode:
            return "DOES NOT APPLY"
        pytest = [sys.executable, "-m", "pytest", "-q", "--all", "--numprocesses=0", "-x", *tests]
        status = subprocess.run(pytest, cwd=copy, capture_output=True).returncode
    return "noticed" if status == FAILED else "PASSED UNNOTICED" if status == 0 else f"pytest ended with {status}"


def main() -> int:
    patches = [path for path in sorted(Path(__file__).parent.glob("*.patch")) if "".join(sys.argv[1:]) in path.name]
    found = {}
    for patch in patches:
        found[patch.name] = outcome(patch)
        print(f"{patch.name:50}{found[patch.name]}", flush=True)
    return 0 if patches and set(found.values()) == {"noticed"} else 1


if __name__ == "__main__":
    sys.exit(main())
