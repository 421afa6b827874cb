"""Any single bit of what a run seals: flipped, it is noticed by the one check of ``--verify`` and the gate.

An example: bit 5 of the first letter of ``"ok"`` makes it ``"Ok"``. No digest fits any more, and no scorer says so.
"""

import random
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from attacks.laboratory import TAKES_FIRST, Step, demo, groups, laboratory, loop_a, loop_b

from course.artifacts import run_log
from course.artifacts.reading import Broken, open_run
from course.artifacts.records import MANIFEST
from course.artifacts.run_log import read_log
from course.artifacts.verification import Verification

DRAWN = 100  # bits of each file in the default tier; --all flips every third, so that each bit of a byte is met
SMALL_RUNS: dict[str, Step] = {
    "A": loop_a(["Final: 0", "1", "Final: 9"]),
    "B": loop_b(groups(1, of=2, size=2), 2, TAKES_FIRST),
    "C": demo("--mode", "learning", "--rounds", 2, "--n", 2),
}
# What a manifest says that can be derived from nothing. A flip in it is noticed because the digest is in no log.
BELIEVED = {
    "A": {"settings", "split", "dataset_fingerprint", "completions_fingerprint", "policy", "sampling"},
    "B": {"settings", "split", "dataset_fingerprint", "completions_fingerprint", "policy", "sampling"},
    "C": {"command", "settings", "seed"},
}


def flip_each(path: Path, bits: Iterable[int]) -> Iterator[int]:
    """Each of these bits, while it is flipped in the file."""
    data = path.read_bytes()
    for bit in bits:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        yield bit
    path.write_bytes(data)


def is_noticed(run: Path, logged: set[str] | None = None) -> bool:
    """Whether the check finds a fault. ``logged`` None: the log was forged to fit, whatever the manifest is now."""
    try:
        opened = open_run(run)
    except Broken:
        return True
    check = Verification(opened, {opened.digest} if logged is None else logged)
    for _ in check.rows():
        pass
    return bool(check.faults)


def field_at(manifest: bytes, byte: int) -> str:
    """The field of a manifest in which a byte lies: the last that begins, indented by two, before it."""
    starts = [line for line in manifest[: byte + 1].decode().split("\n") if line.startswith('  "')]
    return starts[-1].split('"')[1] if starts else ""


@pytest.mark.parametrize("loop", SMALL_RUNS)
@pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["drawn", "every"])
def test_a_flipped_bit_is_noticed_and_where_the_log_is_forged_too_all_but_what_is_believed(
    loop: str, every: bool
) -> None:
    with laboratory() as lab:
        assert SMALL_RUNS[loop](lab, "run").status == 0
        run = Path("run")
        logged = {line.manifest for line in read_log(run_log.LOG)}
        manifest = (run / MANIFEST).read_bytes()
        assert not is_noticed(run, logged)
        believed = set()
        for name in (MANIFEST, *open_run(run).manifest.outputs):
            size = 8 * (run / name).stat().st_size
            bits = range(0, size, 3) if every else random.Random(f"{loop} {name}").sample(range(size), DRAWN)
            for bit in flip_each(run / name, bits):
                assert is_noticed(run, logged), (name, bit)
                if name == MANIFEST and not is_noticed(run):
                    believed.add(field_at(manifest, bit // 8))
        assert not is_noticed(run, logged)
    assert believed
    assert believed == BELIEVED[loop] if every else believed <= BELIEVED[loop]
