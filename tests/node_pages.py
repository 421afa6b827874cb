"""Machinery: the script of the pages, run by Node and given what the page's own data would be."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from conftest import ROOT

SCRIPT = ROOT / "course" / "reports" / "page" / "lab.js"
NODE = shutil.which("node")
HEAD = """
const data = JSON.parse(require("fs").readFileSync(process.argv[2], "utf8"));
const answer = (value) => process.stdout.write(JSON.stringify(value));
"""


def run_script(code: str, data: object, folder: Path) -> Any:
    """``code`` is JavaScript behind the whole script: it has ``data`` and hands ``answer`` what it found."""
    assert NODE, "Node is needed: the script of the pages is held to the Python by it"
    (folder / "data.json").write_text(json.dumps(data), encoding="utf-8")
    (folder / "run.js").write_text(SCRIPT.read_text(encoding="utf-8") + HEAD + code, encoding="utf-8")
    line = [NODE, "run.js", "data.json"]
    done = subprocess.run(line, cwd=folder, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)
