"""The moving picture of the README: the page's own training, one frame at a time, and nothing but itself.

The worked example. Two shares, 1 and 0, in a plot 330 wide and 240 high: a line from its upper left to its lower right.
"""

import shutil
import xml.etree.ElementTree as ET
from typing import Any

import pytest
from browsing import tab

from docs.make_cheat import EVERY, FIGURE, PAGE, REST, SECONDS, STYLE, UPDATES, colours, draw, marked, points, train

SVG = "{http://www.w3.org/2000/svg}"
VISIBLE = """() => [...document.querySelectorAll("g")].filter((one) => getComputedStyle(one).visibility === "visible")
  .map((one) => one.querySelector("text").textContent)"""
AT = """seconds => document.getAnimations().forEach((animation) => {
  animation.pause();
  animation.currentTime = 1000 * seconds;
})"""


def test_a_share_has_its_place() -> None:
    assert points([1.0, 0.0]) == "0.0,4.0 330.0,244.0"


def test_a_text_is_shown_and_never_obeyed() -> None:
    assert marked("<7>\n17 -7 7.", "7") == '&lt;<tspan class="mark">7</tspan>&gt;⏎17 -7 <tspan class="mark">7</tspan>.'
    assert marked("9" * 40, "7") == "9" * 26 + "…"


def test_the_colours_are_those_of_the_pages() -> None:
    assert colours("--true: light-dark(#123456, #abcdef);\n  --x: 1px;") == {"true": ("#123456", "#abcdef")}
    assert {"true", "paid", "grey", "text", "paper", "box", "edge"} <= colours(STYLE.read_text("utf-8")).keys()


@pytest.mark.skipif(not shutil.which("node"), reason="Node is not here")
def test_the_picture_is_the_training_of_the_page() -> None:
    run = train(PAGE.read_text(encoding="utf-8"))
    assert draw(run, STYLE.read_text(encoding="utf-8")) == FIGURE.read_text(encoding="utf-8")


def test_the_picture_needs_nothing_but_itself() -> None:
    """No script, no address, no foreign element: what a site that hosts code takes out of an image, or blocks."""
    picture = ET.parse(FIGURE).getroot()
    tags = {element.tag.removeprefix(SVG) for element in picture.iter()}
    assert tags == {"svg", "title", "desc", "style", "rect", "text", "tspan", "polyline", "path", "g"}
    names = {name for element in picture.iter() for name in element.attrib}
    assert not any(name.startswith("on") or "href" in name for name in names)
    style = picture.findtext(f"{SVG}style", "")
    assert "url(" not in style
    assert "@import" not in style
    assert picture.get("aria-labelledby", "").split() == ["title", "desc"]
    assert all(picture.findtext(f"{SVG}{name}") for name in ("title", "desc"))


@pytest.mark.slow
def test_one_frame_after_the_other_is_seen_and_then_the_last_one_rests(browser: Any) -> None:
    updates = [1, *range(EVERY, UPDATES + 1, EVERY)]
    middles = [(number + 0.5) * SECONDS for number in range(len(updates))]
    with tab(browser, reduced_motion="no-preference") as one:
        page = one.open(FIGURE)
        for update, seconds in [*zip(updates, middles, strict=True), (UPDATES, middles[-1] + REST - SECONDS)]:
            page.evaluate(AT, seconds)
            [text] = page.evaluate(VISIBLE)
            assert text.startswith(f"After {update} update")
    with tab(browser, reduced_motion="reduce") as one:
        page = one.open(FIGURE)
        [text] = page.evaluate(VISIBLE)
        assert text.startswith(f"After {UPDATES} updates")
        assert page.evaluate("document.getAnimations().length") == 0
        assert one.serious("color-contrast") == []
