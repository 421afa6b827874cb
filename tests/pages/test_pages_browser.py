"""Every page in a real Chromium from its file: by clicks, by keyboard alone, and out of its address again.

An example: Tab as far as the bar ``missing prefix`` of a run of Loop A and Enter show its rows only. The address that
then stands there gives the same page, in a new tab and in one that is open already.
"""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import pytest
from browsing import PHONE, tab
from conftest import ROOT, Lab

from course.artifacts import run_log
from course.experiments import goodhart

pytestmark = pytest.mark.slow

LIVE = {"verifier": "verifier", "hack": "watch_it_cheat"}
KINDS = ("loop_a", "loop_b", "bandit", "token_train", "goodhart", "gate", *LIVE)
MAY_SCROLL = ".wide, .rows .first, .rows .id"
Does = Callable[[Any, Any], object]  # what a person does with a page and a control on it


def click(_: Any, control: Any) -> None:
    control.click()


def press(*names: str) -> Does:
    return lambda page, _: [page.keyboard.press(name) for name in names]


def fill(text: str) -> Does:
    """By mouse, as a paste does it, and then elsewhere."""
    return lambda page, control: [control.fill(text), page.click("h1")]


def write(text: str) -> Does:
    """In place of what stands in the field, and on to the next."""
    return lambda page, _: [page.keyboard.press("Control+a"), page.keyboard.press("Delete"),
                            page.keyboard.type(text), page.keyboard.press("Tab")]  # fmt: skip


def pick(value: str) -> Does:
    return lambda _, control: control.select_option(value)


def slide(share: float) -> Does:
    """Click a slider at this part of its width."""

    def click_there(_: Any, control: Any) -> None:
        box = control.bounding_box()
        control.click(position={"x": share * box["width"], "y": box["height"] / 2})

    return click_there


def until(does: Does, shown: str | re.Pattern[str]) -> Does:
    """Do it, and wait for a text."""
    return lambda page, control: [does(page, control), page.locator("main", has_text=shown).wait_for()]


def twice(does: Does, shown: str | re.Pattern[str]) -> Does:
    """Do it, wait for a text, and do it once more."""
    return lambda page, control: [until(does, shown)(page, control), does(page, control)]


class Control(NamedTuple):
    """A control of a kind of page, and what is done with it by mouse and by keyboard.

    ``keeps``: the names under which the address has it afterwards; none of what no address opens. ``says``: a text that
    the page did not show before.
    """

    kind: str
    at: str
    mouse: Does
    keyboard: Does
    keeps: str
    says: str = ""
    start: str = ""  # the address before


def of_scored(kind: str, rows: int, find: str, outcome: str, row: int, start: str = "") -> list[Control]:
    """What stands around the examples. ``row``: one of this outcome. ``start``: of an address that shows them."""
    opened = f"#{start}&outcome={outcome}"
    return [
        Control(kind, f".tally.{outcome}", click, press("Enter"), "outcome", start=f"#{start}"),
        Control(kind, "#find", fill(find), write(find), "find", f"of {rows} rows", start=f"#{start}"),
        Control(kind, f"[data-row='{row}'] summary", click, press("Enter"), "row", "✓ passed", start=opened),
    ]


def of_part(kind: str, name: str, says: str = "") -> Control:
    """A part that is folded until it is asked for. ``says``: what stands in it."""
    return Control(kind, f"[data-part={name}] > summary", click, press("Enter"), name, says)


def of_scrubber(kind: str, second: str, key: str) -> list[Control]:
    """``second``: what its second place says; where many come quickly, any later one will do. ``key``: away from where
    the page opens.
    """
    later = re.compile(second.replace("update 2", r"update ([2-9]|\d\d+)"))
    return [
        Control(kind, ".scrubber input", slide(0.7), press(key), "step"),
        Control(kind, ".play", twice(click, later), twice(press("Space"), later), "step"),
    ]


CONTROLS = [
    *of_scored("loop_a", 120, "q2", "missing_prefix", 2),
    Control("loop_a", "[data-row='8'] summary", click, press("Space"), "row", start="#find=q&row=3"),
    Control("loop_a", ".tally.ok", click, press("Space"), "outcome row", start="#outcome=missing_prefix&row=2"),
    Control("loop_a", ".rows + button", click, press("Enter"), "all"),
    of_part("loop_a", "conditions", "digest of this run"),
    *of_scored("loop_b", 12, "won", "ok", 2),
    of_part("loop_b", "details", "at most"),
    of_part("bandit", "scored", "search all"),
    *of_scored("bandit", 30, "323", "ok", 2, "scored=open"),
    *of_scrubber("bandit", "update 2 of 30", "ArrowRight"),
    *of_scrubber("token_train", "after 10 updates", "ArrowLeft"),
    Control("token_train", ".jump:nth-of-type(1)", click, press("Enter"), "step", "after 0 updates"),
    of_part("token_train", "rates", "Rates at each evaluation"),
    of_part("token_train", "tokens", "log p before"),
    Control("token_train", "#token", pick("1"), press("ArrowDown"), "token", start="#tokens=open"),
    *of_scrubber("goodhart", "after 2 updates", "ArrowLeft"),
    Control("goodhart", "#training", pick("1"), press("ArrowDown"), "training"),
    of_part("gate", "gained", "q10: "),
    of_part("gate", "room", "dataset fingerprint"),
    of_part("gate", "numbers", "Wilson's 95 % interval of the candidate"),
    of_part("gate", "differences"),
    Control("verifier", "#answer", fill("3"), write("3"), "answer", "wrong answer"),
    Control("verifier", "#text", fill("Final: +22"), write("Final: +22"), "text", "plus sign: expected"),
    Control("verifier", "#text", fill(""), write(""), "text", "empty: expected"),
    Control("verifier", ".controls button:nth-of-type(4)", click, press("Enter"), "answer text", "Reward 0"),
    *(Control("hack", f".{rubric}", until(click, "Go on"), until(press("Enter"), "Go on"), "rubric seed step",
              "After 60 updates") for rubric in ("careless", "strict", "own")),
    Control("hack", "#pattern", until(fill("[0-9]+"), "After 60 "), until(write("[0-9]+"), "After 60 "),
            "rubric seed step pattern pick", start="#rubric=own&step=20"),
    Control("hack", "#pick", until(pick("last"), "After 60 "), until(press("ArrowDown"), "After 60 "),
            "rubric seed step pattern pick", start="#rubric=own&step=20"),
    Control("hack", "#seed", fill("3"), write("3"), "seed"),
    Control("hack", "#seed", until(fill("3"), "After 60 "), until(write("3"), "After 60 "), "rubric seed step",
            start="#rubric=strict&step=20"),
    Control("whole_hack", ".controls button:nth-of-type(1)", until(twice(click, "Pause"), "Go on"),
            until(twice(press("Enter"), "Pause"), "Go on"), "step",
            start="#rubric=careless&step=20"),
    Control("hack", ".controls button:nth-of-type(2)", until(click, "After 60 "), until(press("Space"), "After 60 "),
            "step", start="#rubric=strict&step=20"),
]  # fmt: skip
OF_ONE_MAKE = (  # one of them stands for all
    ".tally",
    ".rows summary",
    ".rows + button",
    ".jump",
    "[data-view=verifier] .controls button",
)

# All that a person sees of a page: its words, its lines and numbers, and how each control stands.
SEEN = """async () => {
  const last = document.createElement("details"); // events of what opened before it come before its own
  await new Promise((resolve) => { last.addEventListener("toggle", resolve); last.open = true; });
  do for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  while (document.querySelector("[aria-busy=true]"));
  const parts = "polyline, rect, svg[aria-label], input, select, textarea, button, details";
  const all = [...document.querySelectorAll(parts)];
  const seen = all.filter((one) => one.checkVisibility()).map((one) => [one.id, one.value, one.checked, one.open,
    ...["points", "width", "aria-label", "aria-pressed", "aria-valuetext"].map((name) => one.getAttribute(name))]);
  return [document.querySelector("main").innerText, ...seen.map((one) => one.join("|"))]; }"""
UNKNOWN = """([known, alike]) => [...document.querySelectorAll("button, input, select, textarea, summary, a")].filter(
  (one) => !known.some((at) => one.matches(at)) && !alike.some((at) => one.matches(at))).map((one) => one.outerHTML)"""


@pytest.fixture(scope="module")
def pages(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:  # noqa: ARG001  (none, none made)
    """Each kind of page, of runs that are made once."""
    with pytest.MonkeyPatch.context() as patch:
        lab = Lab(tmp_path_factory.mktemp("lab"))
        patch.chdir(lab.folder)
        patch.setattr(run_log, "LOG", lab.log)
        patch.setattr(goodhart, "CONFIGS", [config._replace(sft_steps=40) for config in goodhart.CONFIGS])
        found = {name: ROOT / "docs" / "live" / f"{file}.html" for name, file in LIVE.items()}
        short = found["hack"].read_text(encoding="utf-8").replace('"steps":600', '"steps":60')
        lab.write("hack.html", short)  # with a training that ends sooner
        found |= {"whole_hack": found["hack"], "hack": lab.folder / "hack.html"}
        return found | {name: lab.folder / path for name, path in made(lab).items()}


def made(lab: Lab) -> dict[str, str]:
    shutil.copytree(ROOT / "data" / "datasets", lab.folder / "data" / "datasets")

    def run(command: str, *words: object) -> None:
        done = lab(command, *words)
        assert done.err == ""
        assert done.status in (0, 1)

    n = 120
    texts = [("Final: {}", "{}", "Final: {} ", "Final: \u200b{}", "Final: 1{}")[i % 5].format(i) for i in range(n)]
    assert lab.evaluate(range(n), texts, "--outdir", "loop_a", "--expect", "50 %").status == 0
    groups = [[f"Final: {i}", "x"] if i % 2 else ["y", f"Final: {i}"] for i in range(12)]
    assert lab.select(range(12), groups, 2, "--outdir", "loop_b").status == 0
    run("bandit_train", "--steps", 30, "--outdir", "bandit")
    size = ("--sft-steps", 40, "--steps", 20, "--eval-every", 10, "--slow", 2)
    run("token_train", "--preset", "memorise", "--rubric", "anywhere", *size, "--outdir", "token_train")
    few = ("--steps", 4, "--eval-every", 2, "--jobs", 1)
    run("experiment", "goodhart", "--rubrics", "anywhere", "score", "--kl-coef", *few, "--outdir", "goodhart")
    lab.measured("before", [True] * 6 + [False] * 6)
    lab.measured("gate", [False] * 2 + [True] * 10)
    assert lab("gate", "--baseline", "before", "--candidate", "gate", "--min-delta", "0.02", "--report").status == 3
    kinds = ("loop_a", "loop_b", "bandit", "token_train", "goodhart")
    for kind in kinds:
        run("report", kind)
    found = {kind: f"{kind}/report.html" for kind in kinds}
    return found | {"gate": "gate/gate.html"}


def reach(page: Any, at: str) -> None:
    """Tab to it."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("at => document.activeElement.matches(at)", at):
            return
    raise AssertionError(f"the keyboard does not reach {at}")


@pytest.mark.parametrize("way", ["mouse", "keyboard"])
@pytest.mark.parametrize("control", CONTROLS, ids=lambda one: f"{one.kind} {one.at}{one.start}")
def test_a_control_works_and_its_address_gives_the_same_page(
    browser: Any, pages: dict[str, Path], control: Control, way: str
) -> None:
    path = pages[control.kind]
    with tab(browser) as one:
        page = one.open(path, control.start)
        before = page.evaluate(SEEN)
        if way == "keyboard":
            reach(page, control.at)
        getattr(control, way)(page, page.locator(control.at).first)
        after = page.evaluate(SEEN)
        address = page.evaluate("location.hash")
        assert after != before
        assert control.says not in before[0] or not control.says
        assert control.says in after[0]
        assert {*control.keeps.split()} <= {*parse_qs(address[1:], keep_blank_values=True)}
    if way == "mouse" or not control.keeps:  # the address is the same either way
        return
    with tab(browser) as one:
        assert one.open(path, address).evaluate(SEEN) == after
        assert one.open(path, control.start or "#").evaluate(SEEN) == before  # the tab is the same, its address another
        assert one.open(path, address).evaluate(SEEN) == after


@pytest.mark.parametrize("kind", KINDS)
def test_every_control_stands_in_the_list_above(browser: Any, pages: dict[str, Path], kind: str) -> None:
    with tab(browser) as one:
        known = [control.at for control in CONTROLS]
        assert one.open(pages[kind]).evaluate(UNKNOWN, [known, OF_ONE_MAKE]) == []


@pytest.mark.parametrize("kind", ["bandit", "token_train", "goodhart"])
def test_the_keys_of_a_scrubber_work_wherever_the_focus_is(browser: Any, pages: dict[str, Path], kind: str) -> None:
    with tab(browser) as one:
        page = one.open(pages[kind])
        last = page.locator(".scrubber input").get_attribute("max")
        for key, place in (("Home", "0"), ("ArrowRight", "1"), ("ArrowLeft", "0"), ("End", last)):
            page.keyboard.press(key)
            assert page.locator(".scrubber input").input_value() == place
            assert page.evaluate("location.hash") == f"#step={place}"
        page.keyboard.press("Space")
        page.locator(".play", has_text="Pause").wait_for()
        page.keyboard.press("Space")
        assert "Play" in page.inner_text(".play")


def test_what_is_wider_than_a_phone_scrolls_by_keyboard(browser: Any, pages: dict[str, Path]) -> None:
    region = "[data-part=room] .wide"
    with tab(browser, PHONE) as one:
        page = one.open(pages["gate"], OPENED["gate"])
        reach(page, region)
        page.keyboard.press("ArrowRight")
        page.wait_for_function("at => document.querySelector(at).scrollLeft > 0", arg=region)


OPENED = {
    "loop_a": "#row=3&conditions=open",
    "loop_b": "#row=1",
    "bandit": "#step=2&row=1",
    "token_train": "#step=1&rates=open&tokens=open&token=1",
    "goodhart": "#step=1&training=1&row=1",
    "gate": "#room=open&numbers=open&differences=open",
    "verifier": "#answer=22&text=Final%3A%202%E2%80%8B2",
    "hack": "#rubric=own&pick=any&step=60",
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_is_quiet_and_for_everyone(browser: Any, pages: dict[str, Path], kind: str) -> None:
    """Light, dark, on a phone: nothing that axe calls serious; nothing moves by itself, nothing is asked for."""
    with tab(browser) as one:
        asked: list[str] = []
        one.page.on("request", lambda request: asked.append(request.url.partition("#")[0]))
        page = one.open(pages[kind], OPENED.get(kind, ""))
        assert page.locator("h1").inner_text()
        assert one.serious() == []
        page.emulate_media(color_scheme="dark")
        assert max(colour_of(page)) < 64
        assert one.serious() == []
        assert page.evaluate("document.getAnimations().length") == 0
        assert [url for url in asked if not url.startswith("blob:")] == [pages[kind].as_uri()]  # a worker is a blob
    with tab(browser, PHONE) as phone:
        phone.open(pages[kind], OPENED.get(kind, ""))
        assert phone.sideways(MAY_SCROLL) == []
        assert phone.serious() == []


def colour_of(page: Any) -> list[int]:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]


@pytest.mark.parametrize("kind", KINDS)
def test_on_paper_there_is_all_that_was_on_the_screen(browser: Any, pages: dict[str, Path], kind: str) -> None:
    with tab(browser, {"width": 700, "height": 990}, color_scheme="dark") as one:
        page = one.open(pages[kind], OPENED.get(kind, ""))
        words = page.inner_text("main")
        controls = page.locator(".choices, .controls, .scrubber").all_inner_texts()
        page.emulate_media(media="print")
        assert min(colour_of(page)) > 192
        for words_of_one in controls:
            words = words.replace(words_of_one, "")
        shown = page.inner_text("main")
        assert [line for line in words.split("\n") if line not in shown] == []
        assert one.sideways("none") == []  # paper does not scroll


@pytest.mark.parametrize(("motion", "redrawn"), [("reduce", 6), ("no-preference", 60)])
def test_a_training_moves_less_where_less_motion_is_wanted(
    browser: Any, pages: dict[str, Path], motion: str, redrawn: int
) -> None:
    with tab(browser, reduced_motion=motion) as one:
        page = one.open(pages["hack"])
        page.evaluate("""() => {
          const count = () => (window.redrawn = (window.redrawn ?? 0) + 1);
          new MutationObserver(count).observe(document.querySelector(".chart"), { childList: true });
        }""")
        page.click(".careless")
        page.locator("main", has_text="After 60 updates").wait_for()
        assert redrawn <= page.evaluate("window.redrawn") <= redrawn + 2  # at its begin and at its end


def test_a_training_says_the_rates_that_it_draws(browser: Any, pages: dict[str, Path]) -> None:
    """In every frame. Before a choice there is nothing to pause, and no empty chart."""
    with tab(browser, reduced_motion="no-preference") as one:
        page = one.open(pages["hack"])
        parts = page.locator(".live, .controls button")
        assert [parts.nth(i).is_visible() for i in range(parts.count())] == [False, False, False]
        page.evaluate("""() => {
          window.told = [];
          const said = () => document.querySelector(".status .said")?.textContent;
          const drawn = () => document.querySelector(".chart svg").getAttribute("aria-label");
          const look = () => window.told.push([said(), drawn()]);
          new MutationObserver(look).observe(document.querySelector(".chart"), { childList: true });
        }""")
        page.click(".careless")
        page.locator("main", has_text="After 60 updates").wait_for()
        assert all(parts.nth(i).is_visible() for i in range(parts.count()))
        told = page.evaluate("window.told.filter(([said]) => said)")
        assert len(told) > 40
        assert [(said, drawn) for said, drawn in told if said != drawn] == []
