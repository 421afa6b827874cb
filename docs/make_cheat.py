"""Write docs/figures/watch_it_cheat.svg: the first updates of docs/live/watch_it_cheat.html, as a moving picture.

    python3 docs/make_cheat.py

Node runs the script of the page, with the careless verifier and seed 0, so the picture has the numbers and texts that
the page shows. The same page gives the same bytes. The picture moves by CSS alone: a site that hosts code shows it as
an image, without scripts and without network. Where less motion is wanted, or none is possible, its last frame stands.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

LAB = Path(__file__).resolve().parents[1]
PAGE = LAB / "docs" / "live" / "watch_it_cheat.html"
STYLE = LAB / "course" / "pages" / "parts" / "shared.css"
FIGURE = LAB / "docs" / "figures" / "watch_it_cheat.svg"

UPDATES = 60
EVERY = 5  # updates from frame to frame
SECONDS = 0.7  # of a frame
REST = 5.0  # seconds of the last frame
SHOWN = 4  # answers in a frame
LONGEST = 27  # characters of an answer

LEFT, RIGHT, TOP, BOTTOM = 62, 392, 92, 332  # of the plot, in the picture's 860 x 380
CARDS, CARD_WIDTH, CARD_HEIGHT = 500, 340, 64

TRAIN = """
const { log, step } = makeTraining(data, anywhere, 0);
const answers = [];
while (log.paid.length < data.updates) {
  step();
  answers.push(log.answers);
}
process.stdout.write(JSON.stringify({ paid: log.paid, strict: log.strict, answers }));
"""


def train(page: str) -> dict[str, Any]:
    """The page's own training: of each update the two shares, and the first completion of each prompt."""
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    program = f"{script}\nconst data = {json.dumps({**data, 'updates': UPDATES})};{TRAIN}"
    done = subprocess.run(["node", "-"], input=program, capture_output=True, encoding="utf-8", check=True)
    return dict(json.loads(done.stdout))


def colours(style: str) -> dict[str, tuple[str, str]]:
    """Name -> its colour in light and in dark, from the style sheet of all pages."""
    return {name: (light, dark) for name, light, dark in re.findall(r"--(\w+): light-dark\((#\w+), (#\w+)\)", style)}


def draw(run: Mapping[str, Any], style: str) -> str:
    """The picture as SVG."""
    updates = [1, *range(EVERY, UPDATES + 1, EVERY)]
    parts = [head(run), css(colours(style), len(updates)), *plot(run["paid"], run["strict"])]
    for number, update in enumerate(updates):
        parts += frame(run, update, number, is_last=update == UPDATES)
    return "\n".join([*parts, "</svg>", ""])


def head(run: Mapping[str, Any]) -> str:
    paid, strict = run["paid"], run["strict"]
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 860 380" role="img" aria-labelledby="title desc">
  <title id="title">Watch it cheat: a policy learns to be paid, and not to be right</title>
  <desc id="desc">Two lines over {UPDATES} updates of a policy that is trained with a careless verifier, which pays if \
the right number appears anywhere in the text. The share of texts that are paid rises from {percent(paid[0])} to \
{percent(paid[-1])}. The share that is the right line falls from {percent(strict[0])} to {percent(strict[-1])}. Beside \
the lines stands what the policy writes: lines such as Final: 7 at first, long lists of numbers at the end.</desc>"""


def css(palette: Mapping[str, tuple[str, str]], frames: int) -> str:
    """Every frame has the same animation and a delay of its own; the cover moves off the lines."""
    seconds = (frames - 1) * SECONDS + REST
    frame = 100 * SECONDS / seconds
    moved = 100 - 100 * REST / seconds
    light = " ".join(f"--{name}: {pair[0]};" for name, pair in palette.items())
    dark = " ".join(f"--{name}: {pair[1]};" for name, pair in palette.items())
    return f"""\
  <style>
    :root {{ {light} }}
    @media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}
    text {{ fill: var(--text); font: 15px Verdana, "DejaVu Sans", Arial, sans-serif; }}
    .small {{ font-size: 13px; }}
    .code {{ font-family: "DejaVu Sans Mono", Consolas, Menlo, monospace; }}
    .strong {{ font-weight: bold; }}
    .paper {{ fill: var(--paper); }}
    .box {{ fill: var(--box); stroke: var(--edge); }}
    .grid {{ stroke: var(--edge); }}
    .line {{ fill: none; stroke-width: 3.5; stroke-linejoin: round; }}
    .line.true {{ stroke: var(--true); }}
    .line.paid {{ stroke: var(--paid); stroke-dasharray: 9 5; }}
    text.true {{ fill: var(--true); }}
    text.paid {{ fill: var(--paid); }}
    text.none {{ fill: var(--grey); }}
    .mark {{ font-weight: bold; text-decoration: underline; }}
    .frame {{ visibility: hidden; animation: frame {seconds:.1f}s step-end infinite; }}
    .last {{ visibility: visible; animation-name: last; }}
    .cover {{ transform: translateX({RIGHT - LEFT}px); animation: cover {seconds:.1f}s linear infinite; }}
    @keyframes frame {{ 0% {{ visibility: visible; }} {frame:.3f}%, 100% {{ visibility: hidden; }} }}
    @keyframes last {{ 0% {{ visibility: visible; }} {100 - moved:.3f}%, 100% {{ visibility: hidden; }} }}
    @keyframes cover {{ 0% {{ transform: none; }} {moved:.3f}%, 100% {{ transform: translateX({RIGHT - LEFT}px); }} }}
    @media (prefers-reduced-motion: reduce) {{ .frame, .cover {{ animation: none; }} }}
  </style>"""


def plot(paid: Sequence[float], strict: Sequence[float]) -> Iterator[str]:
    """The two lines, with a cover of paper over them."""
    width, height = RIGHT - LEFT, BOTTOM - TOP
    middle = (LEFT + RIGHT) // 2
    yield '  <rect class="paper" fill="#fbfaf6" width="860" height="380" rx="10"/>'
    yield '  <text class="strong" x="20" y="32">Paid if the right number appears anywhere in the text</text>'
    yield f'  <svg x="{LEFT}" y="{TOP - 4}" width="{width}" height="{height + 8}">'
    yield f'    <polyline class="line true" points="{points(strict)}"/>'
    yield f'    <polyline class="line paid" points="{points(paid)}"/>'
    yield f'    <rect class="paper cover" width="{width}" height="{height + 8}"/>'
    yield "  </svg>"
    for share in (0, 0.25, 0.5, 0.75, 1):
        y = BOTTOM - height * share
        yield f'  <path class="grid" d="M{LEFT} {y:g} H{RIGHT}"/>'
        yield f'  <text class="small" x="{LEFT - 6}" y="{y + 5:g}" text-anchor="end">{percent(share)}</text>'
    yield f'  <text class="small" x="{middle}" y="{BOTTOM + 32}" text-anchor="middle">updates</text>'
    yield f'  <text class="small" x="{RIGHT}" y="{BOTTOM + 18}" text-anchor="end">{len(paid)}</text>'
    yield f'  <text class="strong paid" x="{RIGHT + 8}" y="{BOTTOM - height * paid[-1] + 5:.1f}">paid</text>'
    yield f'  <text class="strong true" x="{RIGHT + 8}" y="{BOTTOM - height * strict[-1] + 5:.1f}">right line</text>'


def points(shares: Sequence[float]) -> str:
    """In the plot, 4 below its top."""
    width, height = RIGHT - LEFT, BOTTOM - TOP
    last = len(shares) - 1
    return " ".join(f"{width * i / last:.1f},{4 + height * (1 - share):.1f}" for i, share in enumerate(shares))


def frame(run: Mapping[str, Any], update: int, number: int, *, is_last: bool) -> Iterator[str]:
    """What stands beside the lines after an update."""
    frames = UPDATES // EVERY
    seconds = frames * SECONDS + REST
    kind = "frame last" if is_last else "frame"
    paid, strict = percent(run["paid"][update - 1]), percent(run["strict"][update - 1])
    noun = "update" if update == 1 else "updates"
    yield f'  <g class="{kind}" style="animation-delay: {number * SECONDS - seconds:.1f}s">'
    yield f'    <text x="20" y="60">After {update} {noun} {paid} are paid and {strict} are the right line.</text>'
    for row, answer in enumerate(run["answers"][update - 1][:SHOWN]):
        yield from card(answer, TOP - 8 + row * (CARD_HEIGHT + 4))
    yield "  </g>"


def card(answer: Mapping[str, Any], y: int) -> Iterator[str]:
    """A question, what was written, and what it is worth."""
    paid = ("strong paid", "paid") if answer["paid"] else ("none", "not paid")
    right = ("strong true", "right line") if answer["strict"] else ("none", "not the line")
    question, text = answer["task"]["question"], marked(answer["text"], answer["task"]["answer"])
    yield f'    <rect class="box" x="{CARDS}" y="{y}" width="{CARD_WIDTH}" height="{CARD_HEIGHT - 4}" rx="8"/>'
    yield f'    <text x="{CARDS + 10}" y="{y + 24}">{question} =</text>'
    yield f'    <text class="code" x="{CARDS + 76}" y="{y + 24}">{text}</text>'
    yield f'    <text class="small {paid[0]}" x="{CARDS + 10}" y="{y + 47}">{paid[1]}</text>'
    yield f'    <text class="small {right[0]}" x="{CARDS + 76}" y="{y + 47}">{right[1]}</text>'


def marked(text: str, expected: str) -> str:
    """The beginning of a text, with the expected number marked and line breaks as signs."""
    short = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    parts = re.split(r"(-?[0-9]+)", short)
    tagged = [f'<tspan class="mark">{part}</tspan>' if part == expected else escape(part) for part in parts]
    return "".join(tagged).replace("\n", "⏎")


def percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def main() -> None:
    run = train(PAGE.read_text(encoding="utf-8"))
    FIGURE.write_text(draw(run, STYLE.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
