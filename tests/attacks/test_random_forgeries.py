"""Random forgeries: values anywhere in a run deleted, doubled, exchanged and given another type; none is promoted.

An example: the candidate was sampled at another temperature. Its ``sampling`` becomes that of the baseline, and all is
written and sealed as the lab writes it. The log does not know this manifest: REJECT. Where the log is forged too it is
promoted, for nothing can derive a temperature.
"""

import copy
import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pytest
from attacks import pairs
from attacks.forging import MANIFEST, RESULTS, SUMMARY, fitted, other, sealed
from attacks.laboratory import SIDES, laboratory, lay, log_forged, pair_of
from conftest import Lab

from course.artifacts.records import indented
from course.errors import UserError
from course.gate import examine
from course.score import measure

pytestmark = pytest.mark.medium

FEW, MANY = 400, 20_000
STARTS = [make for make, (status, _) in pairs.PAIRS.items() if status != 0]
BELIEVED = {
    *("policy", "sampling", "trained_on", "seed", "change", "expect", "settings"),
    *("split", "dataset_fingerprint", "completions_fingerprint"),
}
OF_ROWS = {"prompts_fingerprint", "examples_fingerprint"}  # what follows from rows that were made up
NOTHING = "nothing in this place"
VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 4, 24, 10**30, 0.0, 0.5, 1e308, "", "0", "A", "B", "C", "dev", "holdout", "zero"),
    *("course.eval", "ok", "missing_completion", "Final: 7", "0" * 64, "\u202e\x1b[2J", [], {}, [1.0], {"n": 1}),
]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path to each value in a tree, without its root."""
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        yield (*path, key)
        if isinstance(child, dict | list):
            yield from places(child, (*path, key))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


def found_at(value: Any, path: tuple[Any, ...]) -> Any:
    """The same, or ``NOTHING``."""
    try:
        return at(value, path)
    except (KeyError, IndexError, TypeError):
        return NOTHING


def retyped(value: Any) -> Any:
    if isinstance(value, str):
        return [value]
    return {int: float, float: int, bool: int}.get(type(value), str)(value) if value is not None else "null"


def edit(tree: Any, theirs: Any, rng: random.Random) -> None:
    """One edit somewhere in ``tree``. ``theirs``: the same file of the run beside."""
    paths, kind = list(places(tree)), rng.randrange(7)
    if kind > 4:  # what the other run has in this place, where that is something else
        paths = [path for path in paths if found_at(theirs, path) not in (NOTHING, at(tree, path))] or paths
    path = rng.choice(paths)
    parent, key = at(tree, path[:-1]), path[-1]
    if kind == 0:
        del parent[key]
    elif kind == 1:
        parent[key] = rng.choice(VALUES)
    elif kind == 2:
        parent[key] = retyped(parent[key])
    elif kind == 3:  # exchanged with a neighbour
        neighbour = rng.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
        parent[key], parent[neighbour] = parent[neighbour], parent[key]
    elif kind == 4 and isinstance(parent, list):  # doubled
        parent.insert(rng.randrange(len(parent) + 1), copy.deepcopy(parent[key]))
    elif kind == 4:
        parent[rng.choice([f"{key}_", "note", *parent])] = copy.deepcopy(parent[key])
    else:
        parent[key] = copy.deepcopy(found_at(theirs, path))


def read(run: Path, name: str) -> Any:
    data = (run / name).read_bytes()
    return [json.loads(line) for line in data.splitlines()] if name == RESULTS else json.loads(data)


def write(run: Path, name: str, value: Any) -> None:
    lines = b"".join(msgspec.json.encode(row) + b"\n" for row in value) if name == RESULTS else indented(value)
    (run / name).write_bytes(lines)


def forged(run: Path, rng: random.Random) -> None:
    """One to three edits of one file, mostly of the manifest; then whatever can be made to fit is."""
    name = rng.choice([MANIFEST, MANIFEST, MANIFEST, RESULTS, RESULTS, SUMMARY])
    tree, theirs = read(run, name), read(other(run), name)
    for _ in range(rng.randint(1, 3)):
        if tree and theirs:
            edit(tree, theirs, rng)
    write(run, name, tree)
    with suppress(msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError, ArithmeticError, OSError):
        (fitted if name == RESULTS and rng.random() < 0.5 else sealed)(run)  # else it is not a run any more: so be it


def verdict(log: Path, *more: Path) -> str:
    """Of the gate. What it refuses with an error is refused; any other exception fails the test."""
    try:
        return examine(Path("baseline"), Path("candidate"), Fraction(0), log, more).verdict
    except UserError:
        return "refused"


def as_the_scorer_says(rows: list[dict[str, Any]]) -> bool:
    return all(
        (row["reward"], row["details"]["outcome"], row["details"]["parsed_answer"])
        == tuple(measure(row["expected_answer"], row["completion"]))
        for row in rows
    )


def facts_changed(before: dict[str, Any], run: Path) -> set[str]:
    """The fields of the manifest that were changed, and ``results`` if the rows were."""
    after = read(run, MANIFEST)
    changed = {name for name in before[MANIFEST] | after if before[MANIFEST].get(name) != after.get(name)}
    return changed - {"outputs"} | ({"results"} if before[RESULTS] != read(run, RESULTS) else set())


def evidence(run: Path) -> tuple[bytes, ...]:
    """All that is sealed. A forger who makes one run the other, byte for byte, has copied it."""
    return tuple((run / name).read_bytes() for name in (MANIFEST, RESULTS, SUMMARY))


def attacked(lab: Lab, make: pairs.Make, times: int, rng: random.Random) -> Iterator[tuple[str, str, set[str]]]:
    """Of each forgery of this pair: the verdict, that with a forged log, and what was changed if that is PROMOTE."""
    pair = pair_of(make)
    lay(lab, pair)
    measured = {evidence(Path(side)) for side in SIDES}
    before = {side: {name: read(Path(side), name) for name in (MANIFEST, RESULTS)} for side in SIDES}
    for _ in range(times):
        for side in rng.choice([SIDES[:1], SIDES[1:], SIDES[1:], SIDES]):
            forged(Path(side), rng)
        said, with_log = verdict(lab.log), verdict(lab.log, log_forged(lab))
        if not {evidence(Path(side)) for side in SIDES} <= measured:
            assert said in ("REJECT", "refused"), make.__name__
        changed = set()
        if with_log == "PROMOTE":
            for side in SIDES:
                changed |= facts_changed(before[side], Path(side))
                assert as_the_scorer_says(read(Path(side), RESULTS))
        yield said, with_log, changed
        for name, data in pair.files.items():
            (lab.folder / name).write_bytes(data)


@pytest.mark.parametrize("times", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
def test_no_random_forgery_is_promoted_and_with_the_log_only_what_is_believed(times: int) -> None:
    verdicts: Counter[str] = Counter()
    promoted: Counter[frozenset[str]] = Counter()
    for number, make in enumerate(STARTS):
        rng = random.Random(f"{times} {make.__name__}")
        share = (times - number - 1) // len(STARTS) + 1
        with laboratory() as lab:
            for said, with_log, changed in attacked(lab, make, share, rng):
                assert said != "PROMOTE", (make.__name__, changed)
                verdicts[said] += 1
                if with_log == "PROMOTE":
                    promoted[frozenset(changed)] += 1
                    assert changed <= BELIEVED | OF_ROWS | {"results"}, (make.__name__, changed)
                    assert changed & BELIEVED or "results" in changed
    assert sum(verdicts.values()) == times
    assert verdicts["REJECT"] > 0.9 * times
    facts = set().union(*promoted) - OF_ROWS - {"results"}
    assert facts <= BELIEVED
    if times == MANY:
        assert {"policy", "sampling", "trained_on", "split", "dataset_fingerprint", "settings"} <= facts


def test_the_editor_reaches_every_place_of_a_tree() -> None:
    assert list(places({"a": [1, {"b": None}], "c": 2})) == [("a",), ("a", 0), ("a", 1), ("a", 1, "b"), ("c",)]


def test_the_digests_that_a_forger_takes_are_right() -> None:
    with laboratory() as lab:
        lay(lab, pair_of(pairs.equal))
        run = Path("candidate")
        write(run, RESULTS, read(run, RESULTS)[:3])
        fitted(run)
        said, rows = read(run, MANIFEST), read(run, RESULTS)
        assert said["outputs"][RESULTS] == hashlib.sha256((run / RESULTS).read_bytes()).hexdigest()
        text = "".join(f'["{row["id"]}","{row["prompt"]}"]\n' for row in rows)
        assert said["prompts_fingerprint"] == hashlib.sha256(text.encode()).hexdigest()
        assert read(run, SUMMARY)["n"] == 3
