"""Write docs/figures/expected_*.svg: how learning curves look when nothing is broken, five seeds of each training.

    python3 docs/make_expected.py --jobs 2     train, write expected.json, draw: five minutes
    python3 docs/make_expected.py --draw       draw again from expected.json

The lab's own functions learn, as in the commands that stand in ``TRAININGS``. A band goes from the lowest of the seeds
to the highest, step by step; the line in it is their median. A sixth seed lies outside such a band in one of three
cases at any one step, for each of six is as likely as the others to be the lowest or the highest.
"""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LAB = Path(__file__).resolve().parents[1]
FIGURES = LAB / "docs" / "figures"
TABLE = FIGURES / "expected.json"
SEEDS = range(5)
UPDATES = [*range(30), *range(30, 201, 5)]  # of the small learners: each of the first 30, then every fifth
EVERY = 25  # updates between evaluations of a token policy
PAPER, WIDTH, TEXT = "#fbfaf6", 860, 14

Curves = dict[str, list[float]]  # name -> a value for each step


def bandit(seed: int, lr: float = 0.5) -> Curves:
    """The expected reward before the first update, and after each of the ``UPDATES``."""
    import numpy as np

    from course.bandit_train import draws_of, learn
    from course.policies.bandit import ARMS, arm_rewards
    from course.policies.softmax import expected_reward, softmax

    updates = learn(arm_rewards(), draws_of(seed, UPDATES[-1]), lr, with_baseline=True)
    thetas = [np.zeros((1, len(ARMS))), *(update.new_theta for update in updates)]
    return {"expected reward": [float(expected_reward(softmax(thetas[n][0]), arm_rewards())) for n in UPDATES]}


def two_steps(seed: int, *credited: bool) -> Curves:
    """The expected return, and the probability that the policy gives the right first and the right second token."""
    import numpy as np

    from course.policies.softmax import softmax
    from course.policies.two_step import ACTIONS, STATES, expected_return
    from course.toy_mdp import learn

    draws = np.random.default_rng(seed).random((UPDATES[-1], len(credited)))
    updates = learn(draws, 0.5, np.array(credited, dtype=float))
    thetas = [np.zeros((STATES, ACTIONS)), *(update.new_theta for update in updates)]
    chosen = [thetas[n] for n in UPDATES]
    return {
        "expected return": [expected_return(theta) for theta in chosen],
        "Final: as the first token": [float(softmax(theta[0])[1]) for theta in chosen],
        "323 after Final:": [float(softmax(theta[2])[1]) for theta in chosen],
    }


def tokens(seed: int, preset: str, rubric: str, updates: int = 600) -> Curves:
    """The mean rewards of rubric and strict scorer at each evaluation, on the training prompts and on the holdout."""
    from course.datasets.sources import Dataset
    from course.policies.evaluation import learn_and_evaluate
    from course.policies.presets import PRESETS
    from course.policies.token_learner import fine_tune
    from course.rubrics.hackable import RUBRICS
    from course.token_train import read_examples

    files = (Dataset(LAB / path, None) for path in PRESETS[preset][:2])
    examples, holdout = read_examples(*files)
    plan = PRESETS[preset].plan._replace(steps=updates)
    reference = fine_tune(examples, plan, seed)
    learning = learn_and_evaluate(reference, examples, holdout, RUBRICS[rubric], plan, seed, EVERY)
    found = [checkpoint.evaluations for checkpoint in learning]
    curves = {
        "strict": [float(of["train"].true.mean()) for of in found],
        "strict, holdout": [float(of["holdout"].true.mean()) for of in found],
    }
    if rubric != "score":
        curves["rubric"] = [float(of["train"].proxy.mean()) for of in found]
        curves["rubric, holdout"] = [float(of["holdout"].proxy.mean()) for of in found]
    return curves


class Training(NamedTuple):
    """What is trained once for each seed, and the command that does the same."""

    command: str
    steps: Sequence[int]
    curves: Callable[..., Curves]
    how: tuple[Any, ...] = ()


EVALUATIONS = range(0, 601, EVERY)
TRAININGS = {
    "bandit": Training("course.bandit_train --steps 200", UPDATES, bandit),
    "bandit_backwards": Training("course.bandit_train --steps 200 --lr -0.5", UPDATES, bandit, (-0.5,)),
    "two_steps": Training("course.toy_mdp", UPDATES, two_steps, (True, True)),
    "two_steps_sabotage": Training("course.toy_mdp --no-credit-step1", UPDATES, two_steps, (False, True)),
    "tokens_memorise": Training("course.token_train --preset memorise", EVALUATIONS, tokens, ("memorise", "score")),
    "tokens_anywhere": Training(
        "course.token_train --preset memorise --rubric anywhere", EVALUATIONS, tokens, ("memorise", "anywhere")
    ),
    "tokens_generalise": Training("course.token_train", EVALUATIONS, tokens, ("generalise", "score")),
}


def banded(seeds: Sequence[Curves]) -> dict[str, dict[str, list[float]]]:
    """For each curve the lowest, the middle and the highest of the seeds at each step, to four places."""
    table = {}
    for name in seeds[0]:
        columns = list(zip(*(curves[name] for curves in seeds), strict=True))
        ends = {"low": map(min, columns), "median": map(median, columns), "high": map(max, columns)}
        table[name] = {end: [round(value, 4) for value in values] for end, values in ends.items()}
    return table


def measured(name: str, curves: Sequence[Curves]) -> dict[str, Any]:
    """The part of expected.json that stands under ``name``."""
    training = TRAININGS[name]
    command = f"python3 -m {training.command} --seed SEED"
    return {"command": command, "seeds": list(SEEDS), "steps": list(training.steps), "curves": banded(curves)}


def measure(jobs: int) -> dict[str, Any]:
    """Train everything, on so many processes."""
    from course.jobs import in_order, processes

    with processes(jobs) as executor:
        todo = [(training.curves, (seed, *training.how)) for training in TRAININGS.values() for seed in SEEDS]
        done = in_order(executor, _call, todo)
        return {name: measured(name, [next(done) for _ in SEEDS]) for name in TRAININGS}


def _call(function: Callable[..., Curves], arguments: tuple[Any, ...]) -> Curves:
    return function(*arguments)


class Band(NamedTuple):
    """One curve of one training, as it is drawn."""

    training: str
    curve: str
    label: str
    color: str
    line: str = "-"


class Panel(NamedTuple):
    title: str
    x: str
    y: str
    bands: Sequence[Band]
    until: int | None = None  # the last step shown


class Drawing(NamedTuple):
    """A figure: its panels side by side, and what is to be seen in it, for those who cannot see it."""

    title: str
    seen: str
    height: int
    panels: Sequence[Panel]


def drawings() -> dict[str, Drawing]:
    """Every figure by its name: the file is expected_NAME.svg."""
    from course.reports.figures import BLUE, GREY, ORANGE

    j = "expected reward"
    learner = Band("bandit", j, "learning rate 0.5", BLUE)
    backwards = Band("bandit_backwards", j, "broken: learning rate −0.5", ORANGE, "--")
    total, first, second = "expected return", "Final: as the first token", "323 after Final:"
    return {
        "bandit": Drawing(
            "The bandit: what to expect",
            "Two panels with the expected reward of the bandit's policy: on the left the first 30 updates, on the "
            "right 200. A blue band rises from one half towards 1, wide at first and narrow later. A dashed orange "
            "band, the same with a negative learning rate, falls from one half towards 0.",
            330,
            [
                Panel("the first 30 updates", "updates", j, [learner, backwards], 30),
                Panel("200 updates", "updates", j, [learner, backwards]),
            ],
        ),
        "two_steps": Drawing(
            "Two steps and one reward at the end: what to expect",
            "Left: the expected return over 200 episodes. With credit for both steps a blue band rises from one "
            "quarter to nearly 1. Without credit for the first step a dashed orange band rises to one half and stays "
            "there. Right: with credit, over the first 40 episodes, the probabilities of the right first and of the "
            "right second token; both rise from one half above nine tenths, the first a little later.",
            330,
            [
                Panel(
                    "expected return", "episodes", total,
                    [
                        Band("two_steps", total, "credit for both steps", BLUE),
                        Band("two_steps_sabotage", total, "broken: none for step 1", ORANGE, "--"),
                    ],
                ),
                Panel(
                    "credit for both, the first 40", "episodes", "probability",
                    [
                        Band("two_steps", first, "right first token", BLUE),
                        Band("two_steps", second, "right second token", GREY, ":"),
                    ],
                    40,
                ),
            ],
        ),
        "tokens": Drawing(
            "The token policy: what to expect",
            "Three panels over 600 updates. Left, memorise with the strict scorer: the mean reward on the training "
            "prompts rises to nearly 1, on the holdout it stays near 0. Middle, memorise with the rubric anywhere: "
            "what the rubric pays rises to 1 within 100 updates, what the strict scorer pays falls to 0; on the "
            "holdout the rubric pays about half. Right, generalise: both training and holdout rise to nearly 1.",
            360,
            [
                Panel("memorise, strict", "updates", "mean reward", _splits("tokens_memorise", "strict", BLUE)),
                Panel(
                    "memorise, anywhere", "updates", "",
                    [
                        Band("tokens_anywhere", "rubric", "rubric, trained on", ORANGE),
                        Band("tokens_anywhere", "rubric, holdout", "rubric, holdout", ORANGE, "--"),
                        Band("tokens_anywhere", "strict", "strict, trained on", BLUE),
                    ],
                ),
                Panel("generalise, strict", "updates", "", _splits("tokens_generalise", "strict", BLUE)),
            ],
        ),
    }  # fmt: skip


def _splits(training: str, verifier: str, color: str) -> list[Band]:
    return [
        Band(training, verifier, f"{verifier}, trained on", color),
        Band(training, f"{verifier}, holdout", f"{verifier}, holdout", color, "--"),
    ]


def source_of(drawing: Drawing, table: Mapping[str, Any]) -> str:
    """From which commands and seeds a figure is, in a sentence."""
    names = dict.fromkeys(band.training for panel in drawing.panels for band in panel.bands)
    commands = "; ".join(table[name]["command"] for name in names)
    seeds = table[next(iter(names))]["seeds"]
    return f"Band: the lowest to the highest of seeds {seeds[0]} to {seeds[-1]}; line: their median. From: {commands}."


def draw(drawing: Drawing, table: Mapping[str, Any]) -> str:
    """A figure as SVG. The same numbers give the same bytes with one Matplotlib."""
    from course.reports.figures import dress, figure, legend_below

    fig = figure(WIDTH / 72, drawing.height / 72, drawing.title)
    from matplotlib import rc_context
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    engine = fig.get_layout_engine()
    assert isinstance(engine, ConstrainedLayoutEngine)
    engine.set(w_pad=0.15, h_pad=0.1)
    with rc_context({"svg.hashsalt": "expected", "svg.fonttype": "none", "font.size": TEXT}):
        fig.suptitle(drawing.title, fontsize=TEXT + 1, fontweight="bold")
        for axes, panel in zip(fig.subplots(1, len(drawing.panels), squeeze=False)[0], drawing.panels, strict=True):
            draw_panel(axes, panel, table)
            dress(axes, panel.x, panel.y)
            axes.set_title(panel.title, fontsize=TEXT)
        legend_below(fig, 2)
        for text in fig.legends[0].get_texts():
            text.set_fontsize(13)
        return clean(svg(fig), drawing, table)


def draw_panel(axes: Axes, panel: Panel, table: Mapping[str, Any]) -> None:
    for band in panel.bands:
        steps, curve = table[band.training]["steps"], table[band.training]["curves"][band.curve]
        shown = sum(panel.until is None or step <= panel.until for step in steps)
        low, middle, high = (curve[end][:shown] for end in ("low", "median", "high"))
        axes.fill_between(steps[:shown], low, high, color=band.color, alpha=0.22, linewidth=0)
        axes.plot(steps[:shown], middle, band.line, color=band.color, label=band.label, linewidth=2)
    axes.set_xlim(0)
    axes.set_facecolor(PAPER)


def svg(fig: Figure) -> str:
    out = BytesIO()
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    fig.savefig(out, format="svg", metadata=nothing, facecolor="none")
    return out.getvalue().decode()


def clean(source: str, drawing: Drawing, table: Mapping[str, Any]) -> str:
    """Matplotlib's SVG on opaque paper, with a text alternative, and without addresses but that of SVG itself."""
    drawn = source[source.index("<svg") :]
    drawn = re.sub(r' xmlns:xlink="[^"]*"', "", drawn).replace("xlink:href", "href")
    drawn = re.sub(r'<svg [^>]*viewBox="([^"]*)"[^>]*>', r"<svg \1>", drawn, count=1)
    size = re.search(r"<svg ([^>]*)>", drawn)
    assert size
    paper = f'<rect width="{WIDTH}" height="{drawing.height}" rx="10" fill="{PAPER}"/>'
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size[1]}" role="img" aria-labelledby="title desc">\n'
        f'  <title id="title">{escape(drawing.title)}</title>\n'
        f'  <desc id="desc">{escape(f"{drawing.seen} {source_of(drawing, table)}")}</desc>\n  {paper}'
    )
    return drawn.replace(size[0], head, 1)


def write_table(table: Mapping[str, Any]) -> str:
    """expected.json: a list of numbers on one line each."""
    text = json.dumps(table, indent=1)
    return re.sub(r"\[[^\[\]]*\]", lambda found: re.sub(r"\s+", " ", found[0]), text) + "\n"


def main() -> None:
    parser = ArgumentParser(description="Write docs/figures/expected.json and expected_*.svg.")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--draw", action="store_true", help="train nothing: draw what expected.json has")
    args = parser.parse_args()
    if not args.draw:
        TABLE.write_text(write_table(measure(args.jobs)), encoding="utf-8", newline="\n")
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    for name, drawing in drawings().items():
        (FIGURES / f"expected_{name}.svg").write_text(draw(drawing, table), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")
    sys.path.insert(0, str(LAB))
    main()
