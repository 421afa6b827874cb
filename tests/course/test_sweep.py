"""Many trainings on several processes: every command with ``--jobs`` writes the same bytes for 1, 2 and 3 of them.

An example: sweep_demo cold_start with two starts and two seeds is four trainings. On three processes they end in any
order, and the log has them as it has them on one.
"""

from typing import Any

import pytest
from conftest import COMMANDS, ROOT, Lab, lines_of
from learning_checks import evidence

from course import goodhart_demo, pass_at_k_demo, sweep_demo
from course.policies import presets

TINY: dict[str, Any] = {"sft_steps": 30, "prompts_a_step": 4, "group_size": 4, "max_tokens": 8, "width": 4, "hidden": 8}
BRIEFLY: list[tuple[Any, ...]] = [
    ("goodhart_demo", "--rubrics", "score", "anywhere", "--kl-coef", 0.1, "--steps", 3),
    ("pass_at_k_demo", "--presets", "memorise", "--steps", 3, "--prompts", 2),
    ("sweep_demo", "coverage", "--values", 4, 20, "--steps", 3),
    ("sweep_demo", "verifier_noise", "--steps", 3),
    ("sweep_demo", "cold_start", "--values", 0, 30, "--steps", 3),
]
FIGURES = {
    goodhart_demo: ["rubrics_figure", "kl_coef_figure"],
    pass_at_k_demo: ["pass_at_k_figure"],
    sweep_demo: ["sweep_figure"],
}


@pytest.fixture
def tiny(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    for name, size in (("MEMORISE", 40), ("GENERALISE", 60)):
        preset = getattr(presets, name)
        small = preset._replace(plan=preset.plan._replace(**TINY))
        monkeypatch.setattr(presets, name, small)
        monkeypatch.setitem(presets.PRESETS, name.lower(), small)
        if name == "MEMORISE":
            monkeypatch.setattr(goodhart_demo, name, small)
        for file in (preset.dataset, preset.holdout):
            lab.write(file, lines_of(ROOT / file)[:size])
    for module, figures in FIGURES.items():
        for figure in figures:
            monkeypatch.setattr(module, figure, lambda *_: b"a figure")
    monkeypatch.setattr(sweep_demo, "ERRORS", ((0.0, 0.0), (0.3, 0.1)))
    return lab


def test_every_command_with_jobs_is_tried(lab: Lab) -> None:
    with_jobs = {name for name in COMMANDS if "--jobs N" in lab(name, "--help").out}
    assert with_jobs == {command for command, *_ in BRIEFLY} | {"eval"}  # tests/course/test_eval_files.py
    assert [name for name in COMMANDS if "--cluster ADDRESS" in lab(name, "--help").out] == ["eval"]


@pytest.mark.slow
@pytest.mark.parametrize("line", BRIEFLY, ids=lambda line: "_".join(map(str, line[:2])))
def test_the_bytes_are_the_same_for_any_number_of_processes(tiny: Lab, line: tuple[Any, ...]) -> None:
    for jobs in (1, 2, 3):
        done = tiny(*line, "--seeds", 2, "--jobs", jobs, "--outdir", f"run_{jobs}")
        assert (done.status, done.err) == (0, "")
    one, two, three = (evidence(tiny.folder / f"run_{jobs}") for jobs in (1, 2, 3))
    assert len(one["log.jsonl"].splitlines()) > 4
    assert one == two == three
