"""The table of the baseline chapter is what its script prints.

An example: the page has 0.035 and the script prints 0.044 on every machine. The test shows the row.
"""

import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT

from course.datasets.records import task_of
from course.datasets.sources import Dataset
from course.policies.presets import MEMORISE
from course.policies.sampling import sample_completions
from course.policies.token_learner import fine_tune
from course.policies.token_policy import gradient

SCRIPTS = ROOT / "benchmarks"
PAGE = ROOT / "docs" / "reference" / "baselines.md"
ROW = re.compile(r"^\| (\d+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", re.MULTILINE)


@pytest.mark.slow
def test_the_table_of_the_chapter_is_what_the_script_prints() -> None:
    """The last digits of a training differ between machines: within a tenth, or half of the last digit shown."""
    shown = [[float(cell) for cell in row] for row in ROW.findall(PAGE.read_text(encoding="utf-8"))]
    command = [sys.executable, str(SCRIPTS / "baseline_variance.py")]
    printed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, encoding="utf-8").stdout
    rows = [[float(number) for number in line.split()] for line in printed.splitlines()[1:]]
    assert len(shown) == len(rows) == 4
    for on_page, measured in zip(shown, rows, strict=True):
        assert np.allclose(on_page, measured[:5], rtol=0.1, atol=0.0005), measured
        _, none, group, mean_reward, best = measured[:5]
        assert group > none
        assert mean_reward > 2 * best


@pytest.mark.medium
def test_its_norms_and_variances_are_those_of_all_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(SCRIPTS)
    from baseline_variance import Batch, squared_norms, total_variance

    assert total_variance(np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 1.0]])) == 4.0
    tasks = [task_of(example) for example in Dataset(ROOT / MEMORISE.dataset, None)][:3]
    policy = fine_tune(tasks, MEMORISE.plan._replace(sft_steps=2), 0)
    prompts = policy.encode_prompts([task["prompt"] for task in tasks])
    completions = sample_completions(policy, prompts, np.full((3, 4), 0.4))
    second = gradient(policy, prompts, completions, np.array([0.0, 1.0, 0.0]))
    norms = squared_norms(policy, Batch(prompts, completions, np.zeros(3)))
    assert norms[1] == pytest.approx(sum((part**2).sum() for part in second))
