"""What the commands leave behind, from runs that are made here: as short as they can be, for only names are read."""

import csv
import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

DATA = "data/datasets/math_dev.jsonl"
ROLLOUTS, PACK = "data/rollouts/frozen_rollouts_dev.jsonl", "data/rollouts/selection_pack_dev.jsonl"
POLICY = "token_train/policy.npz"
SUMS = "data/datasets/one_digit_sums_holdout.jsonl"
RUNS: dict[str, tuple[str, ...]] = {  # the name of a run -> its command, and with what
    "eval": ("eval", "--dataset", DATA, "--completions", ROLLOUTS),
    "eval_shards": ("eval_shards", "pairs"),
    "selection_demo": ("selection_demo", "--dataset", DATA, "--samples", PACK, "--n", "4"),
    "policy_gradient_demo": ("policy_gradient_demo", "--steps", "2", "--predict"),
    "bandit_train": ("bandit_train", "--steps", "2", "--ablation", "2"),
    "toy_mdp": ("toy_mdp", "--episodes", "2"),
    "token_train": ("token_train", "--preset", "memorise", "--sft-steps", "1", "--steps", "1", "--slow", "1"),
    "kl_tradeoff_demo": ("kl_tradeoff_demo",),
    "improvement_selection": ("policy_improvement_demo", "--mode", "selection", "--rounds", "2"),
    "improvement_learning": ("policy_improvement_demo", "--mode", "learning", "--rounds", "2"),
    "token_inspect": ("token_inspect",),
    "rollouts": ("sample_rollouts", "--policy", POLICY, "--dataset", SUMS),
    "pack": ("sample_rollouts", "--policy", POLICY, "--dataset", SUMS, "--n", "2"),
    "goodhart_demo": ("goodhart_demo", "--rubrics", "score", "--kl-coef", "1", "--steps", "1"),
    "distribution_shift_demo": ("distribution_shift_demo", "--steps", "1"),
    "pass_at_k_demo": ("pass_at_k_demo", "--presets", "memorise", "--prompts", "1", "--steps", "1"),
    "cold_start": ("sweep_demo", "cold_start", "--values", "0", "--steps", "1"),
    "coverage": ("sweep_demo", "coverage", "--values", "10", "--steps", "1"),
}


class Left(NamedTuple):
    """What a run left: the names of its files, and what is in those that are looked into."""

    command: str
    files: tuple[str, ...]
    json: dict[str, Any]  # name of a JSON file -> its content
    rows: dict[str, bytes]  # name of a JSONL file -> its first row
    columns: list[str]  # of the CSV file
    arrays: list[str]  # of the policy


@cache
def left() -> dict[str, Left]:
    """Every run of ``RUNS``."""
    from attacks.laboratory import laboratory
    from conftest import ROOT

    found = {}
    with laboratory() as lab, as_short_as_can_be():
        (lab.folder / "data").symlink_to(ROOT / "data", target_is_directory=True)
        lab.picker()
        for folder, name in (("datasets", DATA), ("rollouts", ROLLOUTS)):
            lab.write(f"pairs/{folder}/part.jsonl", (ROOT / name).read_bytes())
        for name, (command, *arguments) in RUNS.items():
            done = lab(command, *arguments, "--outdir", name)
            assert done.status == 0, done.err
            found[name] = look_into(command, lab.folder / name)
    return found


@contextmanager
def as_short_as_can_be() -> Iterator[None]:
    """Every policy is fine-tuned for one step; who asks anything finds the end of its input."""
    import pytest

    import course.goodhart_demo
    from course.policies import presets

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", io.StringIO())
        for name, preset in list(presets.PRESETS.items()):
            brief = preset._replace(plan=preset.plan._replace(sft_steps=1))
            patch.setitem(presets.PRESETS, name, brief)
            if name == "memorise":
                patch.setattr(presets, "MEMORISE", brief)
                patch.setattr(course.goodhart_demo, "MEMORISE", brief)
        yield


def look_into(command: str, run: Path) -> Left:
    import numpy as np

    paths = {path.relative_to(run).as_posix(): path for path in sorted(run.rglob("*")) if path.is_file()}
    jsons = {name: json.loads(path.read_bytes()) for name, path in paths.items() if name.endswith(".json")}
    rows = {name: path.read_bytes().partition(b"\n")[0] for name, path in paths.items() if name.endswith(".jsonl")}
    sheets = [path.read_text(encoding="utf-8") for name, path in paths.items() if name.endswith(".csv")]
    columns = [column for sheet in sheets for column in next(csv.reader(io.StringIO(sheet)))]
    arrays = [np.load(path).files for name, path in paths.items() if name == "policy.npz"]
    return Left(f"course.{command}", tuple(paths), jsons, rows, columns, [name for names in arrays for name in names])


def names_in(value: Any, *, named: bool = False) -> list[str]:
    """The names in a JSON object, with a point between the levels; what is counted by name is one name.

    ``named``: the keys at the top are names that somebody gave, and all entries have the same fields.
    """
    if named:
        return list(dict.fromkeys(name for entry in value.values() for name in names_in(entry)))
    names = []
    for key, one in value.items():
        inner = one[0] if isinstance(one, list) and one and isinstance(one[0], dict) else one
        if isinstance(inner, dict) and key not in ("outcomes", "families", "pass_at_k", "packages", "git"):
            names += [f"{key}.{name}" for name in names_in(inner)]
        else:
            names.append(key)
    return names


def decodes(row: bytes, record: type) -> bool:
    """Whether a row of a file is of this type: each of its fields, and no other."""
    try:
        msgspec.json.decode(row, type=record)
    except msgspec.ValidationError:
        return False
    return True
