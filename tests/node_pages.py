"""Machinery: scripts of the pages, run by Node and given what the page's own data would be."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from conftest import ROOT

from course.pages.html import PARTS, PARTS_OF_RUNS

LIVE = ROOT / "docs" / "live"
OF_RUNS = PARTS_OF_RUNS
OF_VERIFIER = [PARTS / "shared", PARTS / "checks", LIVE / "verifier"]
OF_HACK = [PARTS / "shared", PARTS / "chart", LIVE / "watch_it_cheat"]
NODE = shutil.which("node")
HEAD = """
const data = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
const answer = (value) => process.stdout.write(JSON.stringify(value));
"""


def run_script(parts: Sequence[Path], code: str, data: object, folder: Path) -> Any:
    """``code`` is JavaScript behind the script of these parts: it has ``data`` and hands ``answer`` what it found."""
    assert NODE, "Node is needed: the script of the pages is held to the Python by it"
    (folder / "data.json").write_text(json.dumps(data), encoding="utf-8")
    script = [part.with_suffix(".js").read_text(encoding="utf-8") for part in parts]
    (folder / "run.js").write_text("\n".join([*script, HEAD, code]), encoding="utf-8")
    line = [NODE, "run.js", "data.json"]
    done = subprocess.run(line, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
