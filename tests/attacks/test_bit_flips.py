"""Every single bit of what a run seals: flipped, it is noticed by the one check of ``--verify`` and the gate.

An example: bit 5 of the first letter of ``"ok"`` makes it ``"Ok"``. No digest fits any more, and no scorer says so.
"""

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from attacks.laboratory import TAKES_FIRST, chosen, groups, laboratory, measured
from conftest import Lab

from course.artifacts import run_log
from course.artifacts.reading import Broken, open_run
from course.artifacts.run_log import read_log
from course.artifacts.verifying import Verification

pytestmark = pytest.mark.medium

DRAWN = 300  # flips of each run in the default tier
MANIFEST = "manifest.json"
SEALED = {  # loop -> what a small run of it seals
    "A": {MANIFEST, "results.jsonl", "summary.json"},
    "B": {MANIFEST, "results.jsonl", "summary.json"},
    "C": {MANIFEST, "results.jsonl", "summary.json", "policy_improvement.jsonl"},
}
# What a manifest says that can be derived from nothing. A flip in it is noticed because the digest is in no log.
BELIEVED = {
    "A": {"settings", "split", "dataset_fingerprint", "completions_fingerprint", "policy", "sampling"},
    "B": {"settings", "split", "dataset_fingerprint", "completions_fingerprint", "policy", "sampling"},
    "C": {"command", "settings", "seed"},
}


class Flip(NamedTuple):
    name: str
    byte: int
    bit: int


def small_run(lab: Lab, loop: str) -> Path:
    if loop == "A":
        return measured(lab, "run", ["Final: 0", "1", "Final: 9"])
    if loop == "B":
        return chosen(lab, "run", 2, groups(1, of=2, size=2), TAKES_FIRST)
    mode = ["--mode", "learning", "--rounds", 2, "--n", 2]
    assert lab("policy_improvement_demo", *mode, "--outdir", "run").status == 0
    return Path("run")


def flips_of(run: Path, names: set[str]) -> list[Flip]:
    sizes = {name: (run / name).stat().st_size for name in sorted(names)}
    return [Flip(name, byte, bit) for name, size in sizes.items() for byte in range(size) for bit in range(8)]


def flipped(run: Path, flips: list[Flip]) -> Iterator[Flip]:
    """Each flip, while it stands in the run."""
    for flip in flips:
        with (run / flip.name).open("r+b", buffering=0) as file:
            file.seek(flip.byte)
            byte = file.read(1)[0]
            file.seek(flip.byte)
            file.write(bytes([byte ^ 1 << flip.bit]))
            yield flip
            file.seek(flip.byte)
            file.write(bytes([byte]))


def noticed(run: Path, logged: set[str] | None = None) -> bool:
    """Whether the check finds a fault. ``logged`` None: the log was forged to fit, whatever the manifest is now."""
    try:
        opened = open_run(run)
    except Broken:
        return True
    check = Verification(opened, {opened.digest} if logged is None else logged)
    for _ in check.rows():
        pass
    return bool(check.faults)


def in_the_log() -> set[str]:
    return {line.manifest for line in read_log(run_log.LOG)}


@cache
def field_at(manifest: bytes, byte: int) -> str:
    """The field of a manifest in which a byte lies: the last that begins, indented by two, before it."""
    starts = [line for line in manifest[: byte + 1].decode().split("\n") if line.startswith('  "')]
    return starts[-1].split('"')[1] if starts else ""


@pytest.mark.parametrize("loop", SEALED)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["drawn", "every"])
def test_a_flipped_bit_is_noticed(loop: str, every: bool) -> None:
    with laboratory() as lab:
        run, logged = small_run(lab, loop), in_the_log()
        assert {path.name for path in run.iterdir()} - {"README.md", "environment.json"} == SEALED[loop]
        assert not noticed(run, logged)
        assert not noticed(run)
        flips = flips_of(run, SEALED[loop])
        chosen_flips = flips if every else random.Random(loop).sample(flips, DRAWN)
        assert [flip for flip in flipped(run, chosen_flips) if not noticed(run, logged)] == []
        assert not noticed(run, logged)


@pytest.mark.parametrize("loop", SEALED)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["drawn", "every"])
def test_where_the_log_is_forged_too_only_a_flip_in_what_is_believed_is_not(loop: str, every: bool) -> None:
    with laboratory() as lab:
        run = small_run(lab, loop)
        manifest = (run / MANIFEST).read_bytes()
        flips = flips_of(run, {MANIFEST})
        chosen_flips = flips if every else random.Random(loop).sample(flips, DRAWN)
        missed = [flip for flip in flipped(run, chosen_flips) if not noticed(run)]
    fields = {field_at(manifest, flip.byte) for flip in missed}
    assert fields == BELIEVED[loop] if every else fields <= BELIEVED[loop]
    assert missed


@pytest.mark.parametrize("loop", SEALED)
def test_a_flip_in_what_is_not_sealed_is_none_of_its_business(loop: str) -> None:
    with laboratory() as lab:
        run, logged = small_run(lab, loop), in_the_log()
        flips = random.Random(loop).sample(flips_of(run, {"README.md", "environment.json"}), 20)
        assert [flip for flip in flipped(run, flips) if noticed(run, logged)] == []


@pytest.mark.parametrize("loop", SEALED)
def test_the_command_says_so_with_status_1(loop: str) -> None:
    with laboratory() as lab:
        run = small_run(lab, loop)
        assert lab("inspect_run", "--run", run, "--verify").status == 0
        for _ in flipped(run, random.Random(loop).sample(flips_of(run, SEALED[loop]), 10)):
            done = lab("inspect_run", "--run", run, "--verify")
            assert (done.status, done.err) == (1, "")
            assert done.out.startswith("run: NOT verified\n  - ")
