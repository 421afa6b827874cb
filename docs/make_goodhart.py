"""Write docs/figures/goodhart_curve.svg: what a careless rubric pays over a training, and what the strict scorer would.

    python3 -m course.experiment goodhart --rubrics format_bonus --kl-coef --steps 500 --eval-every 10 --seeds 5 --outdir runs/goodhart_curve
    python3 docs/make_goodhart.py runs/goodhart_curve

The first line trains for some minutes. The second draws the run's ``log.jsonl``: a thin line for each seed, a thick one
for their median, and a mark for each seed where the two rewards part, by ``diverged_at`` of the run's summary.
"""  # noqa: E501  the first line is to be pasted

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import msgspec

LAB = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(LAB)]

from course.artifacts.inference import Trainings, column, medians  # noqa: E402
from course.artifacts.records import SUMMARY  # noqa: E402
from course.artifacts.token_rows import TOKEN_LOG, EvaluationRow  # noqa: E402

FIGURE = LAB / "docs" / "figures" / "goodhart_curve.svg"
LEFT, RIGHT, TOP, BOTTOM = 84, 664, 96, 376  # of the plot, in the picture's 860 x 450
CURVES = (("proxy_reward", "#a14a00", "none"), ("true_reward", "#27598c", "9 5"))  # quantity, color, dashes
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 450" role="img" aria-labelledby="title desc" \
font-family="Verdana, 'DejaVu Sans', Arial, sans-serif" font-size="15" fill="#1b2733">
  <title id="title">Goodhart's curve: the proxy reward rises on, the true reward rises, bends and falls to nothing</title>
  <desc id="desc">{desc}</desc>
  <defs>
    <pattern id="hatch" width="10" height="10" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
<path d="M0 0 V10" stroke="#a14a00" stroke-width="1.5" stroke-opacity=".28"/></pattern>
  </defs>
  <rect width="860" height="450" rx="10" fill="#fbfaf6"/>"""  # noqa: E501


def trainings_of(run: Path) -> Trainings:
    """The rows of each training of a run, in the order of its log."""
    rows = msgspec.json.Decoder(EvaluationRow).decode_lines((run / TOKEN_LOG).read_bytes())
    return [[row for row in rows if row.training == name] for name in dict.fromkeys(row.training for row in rows)]


def x_of(step: float, last: int) -> float:
    return LEFT + (RIGHT - LEFT) * step / last


def y_of(reward: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * reward


def drawn(trainings: Trainings, diverged_at: Sequence[int | None]) -> Iterator[str]:
    """The picture, part by part. Raises ValueError where the two rewards diverged in no seed."""
    steps = [row.step for row in trainings[0]]
    last, begins = steps[-1], sorted(step for step in diverged_at if step is not None)
    if not begins:
        raise ValueError("expected a training in which proxy and true reward diverge, got none")
    ends = {quantity: medians(trainings, quantity) for quantity, _, _ in CURVES}
    top = max(ends["true_reward"])
    yield HEAD.format(
        desc=f"Reward from 0 to 1 over {last} updates of a policy trained on the rubric format_bonus, for "
        f"{len(trainings)} seeds and their median. The proxy reward, solid, rises from "
        f"{ends['proxy_reward'][0]:.2f} to {ends['proxy_reward'][-1]:.2f}. The true reward, dashed, first rises too, "
        f"from {ends['true_reward'][0]:.2f} to {top:.2f}, then bends and falls to {ends['true_reward'][-1]:.2f}. "
        f"The two part between update {begins[0]} and update {begins[-1]}, by seed; the hatched part from the median, "
        f"update {median(begins):g}, on is labelled reward hacking."
    )
    middle = (LEFT + RIGHT) // 2
    yield f'  <text x="{middle}" y="34" text-anchor="middle" font-weight="bold">One verifier, two rewards</text>'
    parted = x_of(median(begins), last)
    size = f'width="{RIGHT - parted:.1f}" height="{BOTTOM - TOP}"'
    yield f'  <rect x="{parted:.1f}" y="{TOP}" {size} fill="url(#hatch)" stroke="none"/>'
    yield f'  <path d="M{parted:.1f} {TOP - 26} V{BOTTOM}" stroke="#1b2733" stroke-width="2"/>'
    yield f'  <text x="{parted + 10:.1f}" y="{TOP - 18}" font-weight="bold">reward hacking</text>'
    yield f'  <text x="{parted - 10:.1f}" y="{TOP - 18}" text-anchor="end">both rise</text>'
    yield from axes(steps)
    for quantity, color, dashes in CURVES:
        style = f'fill="none" stroke="{color}" stroke-dasharray="{dashes}"'
        for one in trainings:
            yield f'  <path d="{line(steps, column(one, quantity))}" {style} stroke-opacity=".45"/>'
        yield f'  <path d="{line(steps, ends[quantity])}" {style} stroke-width="4"/>'
    for step in begins:
        x = x_of(step, last)
        yield f'  <path d="M{x:.1f} {BOTTOM} l-6 11 h12 z" fill="#1b2733"/>'
    yield from labels(ends["proxy_reward"][-1], ends["true_reward"][-1])
    yield "</svg>\n"


def axes(steps: Sequence[int]) -> Iterator[str]:
    yield f'  <path d="M{LEFT} {TOP} V{BOTTOM} H{RIGHT}" fill="none" stroke="#1b2733"/>'
    for reward in (0, 0.25, 0.5, 0.75, 1):
        y = y_of(reward)
        yield f'  <path d="M{LEFT} {y:.1f} h-6" stroke="#1b2733"/>'
        yield f'  <text x="{LEFT - 10}" y="{y + 5:.1f}" text-anchor="end" font-size="13">{reward:g}</text>'
    for part in range(6):
        step = steps[-1] * part // 5
        x = x_of(step, steps[-1])
        yield f'  <text x="{x:.1f}" y="{BOTTOM + 30}" text-anchor="middle" font-size="13">{step}</text>'
    yield f'  <text x="{(LEFT + RIGHT) // 2}" y="{BOTTOM + 56}" text-anchor="middle">updates</text>'
    middle = (TOP + BOTTOM) // 2
    yield f'  <text x="26" y="{middle}" text-anchor="middle" transform="rotate(-90 26 {middle})">mean reward</text>'


def labels(proxy: float, true: float) -> Iterator[str]:
    """Beside the ends of the curves, and what the marks on the axis are."""
    for lines, reward, color in (
        (("proxy reward", "of the rubric", "format_bonus"), proxy, "#a14a00"),
        (("true reward", "of the strict scorer,", "for the same texts"), true, "#27598c"),
    ):
        y = min(y_of(reward) + 5, BOTTOM - 40)
        for row, text in enumerate(lines):
            weight = ' font-weight="bold"' if row == 0 else ""
            yield f'  <text x="{RIGHT + 14}" y="{y + 20 * row:.1f}" fill="{color}"{weight}>{text}</text>'
    yield f'  <path d="M{LEFT + 6} {BOTTOM + 45} l-6 11 h12 z" fill="#1b2733"/>'
    yield f'  <text x="{LEFT + 20}" y="{BOTTOM + 56}" font-size="13">one seed parts here</text>'


def line(steps: Sequence[int], rewards: Sequence[float]) -> str:
    points = (f"{x_of(step, steps[-1]):.1f} {y_of(reward):.1f}" for step, reward in zip(steps, rewards, strict=True))
    return "M" + " L".join(points)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python3 docs/make_goodhart.py RUN")
    run = Path(sys.argv[1])
    diverged_at = msgspec.json.decode((run / SUMMARY).read_bytes())["format_bonus"]["diverged_at"]
    FIGURE.write_text("\n".join(drawn(trainings_of(run), diverged_at)), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
