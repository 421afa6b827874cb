"""Reading a run strictly: what is no manifest of this lab is refused before a row is read.

An example: a manifest in which ``loop`` stands twice. Another reader might take the first, ours the last; this lab
would write other bytes for either, so it is no manifest.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Lab, manifest_edited

from course.artifacts.reading import LOOPS_OF, Broken, open_run, rows

Tamper = Callable[[Path], object]


@pytest.fixture
def run(lab: Lab) -> Path:
    return lab.measured("a", [True, False, True])


def without(name: str) -> Tamper:
    return lambda run: (run / name).unlink()


def unlike_text(name: str, text: bytes) -> Tamper:
    return lambda run: (run / name).write_bytes(text)


def manifest_of(**changes: object) -> Tamper:
    return lambda run: manifest_edited(run, **changes)


def changed(old: bytes, new: bytes) -> Tamper:
    path = "manifest.json"
    return lambda run: (run / path).write_bytes((run / path).read_bytes().replace(old, new))


def reordered(run: Path) -> None:
    fields = json.loads((run / "manifest.json").read_text("utf-8"))
    text = json.dumps(dict(reversed(fields.items())), indent=2) + "\n"
    (run / "manifest.json").write_text(text, encoding="utf-8", newline="\n")


def output(name: str) -> Tamper:
    return lambda run: manifest_edited(run, outputs={"results.jsonl": "", "summary.json": "", name: ""})


BREAKAGES: dict[str, tuple[Tamper, str]] = {
    "no manifest": (without("manifest.json"), "manifest.json cannot be read"),
    "no JSON": (unlike_text("manifest.json", b"{"), "manifest.json is not a manifest of this lab"),
    "no UTF-8": (unlike_text("manifest.json", b'{"loop":"\xff"}'), "manifest.json is not a manifest of this lab"),
    "deep JSON": (unlike_text("manifest.json", b"[" * 100_000), "manifest.json is not a manifest of this lab"),
    "an extra key": (manifest_of(extra=1), "unknown field `extra`"),
    "a field of another type": (manifest_of(golden=True), "$.golden"),
    "no samples": (manifest_of(samples_per_prompt=0), "$.samples_per_prompt"),
    "loop D": (manifest_of(loop="D"), "$.loop"),
    "another schema": (manifest_of(schema_version=1), "manifest.json has schema version 1, but this lab reads 3"),
    "a loop that is not its command's": (
        manifest_of(loop="C"),
        "says Loop C, but course.eval leaves no run",
    ),
    "a command that is none": (manifest_of(command="course.score"), "says Loop A, but course.score"),
    "a key given twice": (changed(b'"loop": "A",', b'"loop": "C",\n  "loop": "A",'), "byte for byte"),
    "a number of another spelling": (changed(b'"temperature": 1.0', b'"temperature": 1.00'), "byte for byte"),
    "lines that end as on Windows": (changed(b"\n", b"\r\n"), "byte for byte"),
    "keys in another order": (reordered, "byte for byte"),
    "results unsealed": (manifest_of(outputs={"summary.json": ""}), "manifest.json has no digest of results.jsonl"),
    "summary unsealed": (manifest_of(outputs={"results.jsonl": ""}), "manifest.json has no digest of summary.json"),
    "an output that is a path": (output("../a/rows"), "not a file of its folder: ../a/rows"),
    "an output on another drive": (output("C:secret"), "not a file of its folder: C:secret"),
    "an output with a backslash": (output("..\\secret"), "not a file of its folder: ..\\secret"),
    "an output that is the root": (output("/etc/passwd"), "not a file of its folder: /etc/passwd"),
    "an output with a NUL": (output("a\0b"), "not a file of its folder: a<U+0000 NULL>b"),
    "an output that is the folder": (output(".."), "not a file of its folder: .."),
    "an output two folders down": (output("a/b/c"), "not a file of its folder: a/b/c"),
    "an output beside its folder": (output("rollouts/../../secret"), "not a file of its folder: rollouts/"),
    "an output without a name": (output("rollouts/"), "not a file of its folder: rollouts/"),
}


@pytest.mark.parametrize("kind", BREAKAGES)
def test_a_run_without_a_whole_manifest_is_not_opened(lab: Lab, run: Path, kind: str) -> None:
    tamper, said = BREAKAGES[kind]
    tamper(run)
    with pytest.raises(Broken) as refusal:
        open_run(run)
    assert said in str(refusal.value)
    line = lab.refused("inspect_run", "--run", run, "--only-fails")
    assert f"a: this run is broken: {refusal.value}" in line
    verified = lab("inspect_run", "--run", run, "--verify")
    assert verified.status == 1
    assert " ".join(verified.out.split()) == f"a: NOT verified - {refusal.value}"
    assert verified.out.startswith("a: NOT verified\n  - ")


def test_what_is_no_folder_is_the_callers_mistake(lab: Lab) -> None:
    lab.write("file", "mine")
    for path, got in (("file", "a file"), ("nowhere", "a path that does not exist")):
        assert f"{path}: expected the folder of a run, got {got}" in lab.refused("inspect_run", "--run", path)


def test_rows_come_as_they_stand_and_feed_the_digest(run: Path) -> None:
    digest = hashlib.sha256()
    assert [(row.id, row.reward) for row in rows(open_run(run), digest)] == [("q1", 1.0), ("q2", 0.0), ("q3", 1.0)]
    assert digest.hexdigest() == hashlib.sha256((run / "results.jsonl").read_bytes()).hexdigest()
    assert open_run(run).digest == hashlib.sha256((run / "manifest.json").read_bytes()).hexdigest()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such pipes")
@pytest.mark.parametrize("name", ["manifest.json", "results.jsonl", "summary.json"])
def test_a_pipe_in_place_of_a_file_is_a_broken_run_and_blocks_nothing(lab: Lab, run: Path, name: str) -> None:
    (run / name).unlink()
    os.mkfifo(run / name)
    done = lab("inspect_run", "--run", run, "--verify")
    assert done.status == 1
    assert f"{name} cannot be read: " in done.out


def test_a_run_is_only_of_a_loop_that_its_command_leaves_runs_of() -> None:
    """The gate and --verify hold a manifest's command against this; a new command of Loop A or B must be named here."""
    sources = {f"course.{path.stem}": path.read_text(encoding="utf-8") for path in (ROOT / "course").glob("*.py")}
    commands = {name: source for name, source in sources.items() if "end_run(" in source}
    assert commands.keys() >= LOOPS_OF.keys()
    for name, source in commands.items():
        loops = {loop for loop in "ABC" if f'loop="{loop}"' in source or f'Conditions("{loop}"' in source}
        loops |= {"C"} if "conditions_of(" in source else set()
        loops |= {loop for loop in "ABC" if re.search(rf'Conditions\(\s+"{loop}",', source)}
        if re.search('loop="B" if .* else "C"', source):
            loops = {"B", "C"}
        assert loops == set(LOOPS_OF.get(name, "C")), name


@pytest.mark.parametrize("number", [1, 2, 2_999, 3_000])
def test_a_broken_row_is_named_by_its_own_number_however_late(lab: Lab, number: int) -> None:
    """3,000 rows are read in several blocks."""
    run = lab.measured("long", [True] * 3_000)
    lines = (run / "results.jsonl").read_bytes().split(b"\n")
    assert sum(map(len, lines)) > 1 << 18
    for bad, said in [
        (b'{"id":3}', "is not a result: "),
        (b" " + lines[number - 1], "is not, byte for byte, what this lab writes"),
    ]:
        (run / "results.jsonl").write_bytes(b"\n".join([*lines[: number - 1], bad, *lines[number:]]))
        with pytest.raises(Broken, match=f"^results.jsonl:{number} {said}"):
            list(rows(open_run(run)))
