"""The site in a real Chromium, opened from its folder without network.

An example: Ctrl-K on the front page, ``advantage`` and Enter lead to a list of pages in which the glossary stands.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from browsing import PHONE, PROJECTOR, Tab, tab
from conftest import ROOT
from site_building import build

pytestmark = pytest.mark.slow

FORMULAS = ("docs/introduction.html", "docs/reference/baselines.html")
WIDE = "docs/reference/how_verifiers_fail.html"
# What is on a page at all is on one of these: code of each kind, tables, formulas, figures.
DARK = {
    "docs/milestones/0.html",
    "docs/milestones/3.html",
    "docs/milestones/5.html",
    "search.html",
    "docs/index.html",
    "docs/reference/reward_spec.html",
    "docs/loop_c_differences.html",
    "docs/introduction.html",
    WIDE,
}

MAY_SCROLL = "pre, .highlight, .pst-scrollable-table-container, mjx-container, p:has(> a > img)"
FRAMED = {
    "docs/storyline.html": "watch_it_cheat",
    "docs/milestones/0.html": "verifier",
    "docs/milestones/3.html": "watch_it_cheat",
    "docs/reference/goodhart.html": "watch_it_cheat",
    "teacher/guide/live_session.html": "watch_it_cheat",
}
TITLES = {
    "watch_it_cheat": "Watch it cheat",
    "verifier": "The verifier at each keystroke",
}
A4 = {"width": 718, "height": 1000}  # between margins of 1 cm


@pytest.fixture(scope="module")
def site(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: ARG001  (none, none needed)
    out = tmp_path_factory.mktemp("built") / "site"
    done = build(ROOT, out)
    assert done.returncode == 0, done.stderr
    return out


def pages_of(site: Path) -> list[Path]:
    """All but index.html, which leads on to another at once."""
    pages = {*site.glob("*.html"), *site.glob("[!_]*/**/*.html")} - {site / "index.html"}
    assert site / "docs" / "index.html" in pages
    return sorted(pages)


class Findings(NamedTuple):
    """What is wrong, with the page's name before it; each list is to be empty."""

    faults: list[str]  # errors of scripts, files that are not there, requests that leave the folder
    serious: list[str]  # axe, the pages of DARK in the light: one of each kind
    contrast: list[str]  # axe, the pages of DARK in the dark
    sideways: list[str]  # scrolls sideways on a phone


@pytest.fixture(scope="module")
def findings(browser: Any, site: Path) -> Findings:
    """All pages, each opened once."""
    found = Findings([], [], [], [])
    with tab(browser) as one:
        assert {path.relative_to(site).as_posix() for path in pages_of(site)} >= DARK
        for path in pages_of(site):
            name = path.relative_to(site).as_posix()
            page = one.open(path)
            if name in DARK:
                found.serious.extend(f"{name}: {what}" for what in one.serious())
                page.emulate_media(color_scheme="dark")
                found.contrast.extend(f"{name}: {what}" for what in one.serious("color-contrast"))
                page.emulate_media(color_scheme="light")
            page.set_viewport_size(PHONE)
            found.sideways.extend(f"{name}: {what}" for what in one.sideways(MAY_SCROLL))
            page.set_viewport_size(PROJECTOR)
            found.faults.extend(f"{name}: {what}" for what in one.faults)
            one.faults.clear()
    return found


def test_no_page_has_an_error_or_asks_for_anything_outside_its_folder(findings: Findings) -> None:
    assert findings.faults == []


def test_axe_finds_nothing_serious_on_a_page_of_each_kind(findings: Findings) -> None:
    assert findings.serious == []


def test_in_the_dark_everything_can_still_be_read(findings: Findings) -> None:
    assert findings.contrast == []


def test_no_page_scrolls_sideways_on_a_phone(findings: Findings) -> None:
    assert findings.sideways == []


def test_a_wide_table_scrolls_inside_itself(browser: Any, site: Path) -> None:
    with tab(browser, PHONE) as phone:
        phone.open(site / WIDE)
        widths = "tables => tables.map(table => table.scrollWidth - table.clientWidth)"
        assert max(phone.page.eval_on_selector_all(".pst-scrollable-table-container", widths)) > 0
        assert phone.serious() == []  # of these, that such a table is reached by keyboard


@pytest.mark.parametrize("name", FORMULAS)
def test_formulas_are_typeset_and_can_be_heard(browser: Any, site: Path, name: str) -> None:
    with tab(browser) as one:
        page = one.open(site / name)
        page.wait_for_selector("mjx-container svg")
        page.evaluate("MathJax.startup.promise")
        written = len(re.findall(r'class="math notranslate', (site / name).read_text(encoding="utf-8")))
        assert page.locator("mjx-container svg").count() == written > 0
        assert page.locator("mjx-container mjx-assistive-mml math").count() == written
        assert page.locator("mjx-merror, merror").count() == 0
        assert r"\(" not in page.inner_text("article")


def test_search_by_keyboard_finds_advantage(browser: Any, site: Path) -> None:
    with tab(browser) as one:
        page = one.open(site / "docs" / "index.html")
        page.keyboard.press("Control+k")
        page.keyboard.type("advantage")
        page.keyboard.press("Enter")
        page.wait_for_selector("#search-results li a")
        found = page.locator("#search-results li a").all_inner_texts()
        assert found[0].startswith("Glossary")
        page.locator("#search-results li a").first.press("Enter")
        page.wait_for_selector("article h1")
        assert "advantage" in page.inner_text("article").lower()


def framed(page: Any, name: str) -> Any:
    """The live page in the chapter, once it has been scrolled to."""
    page.locator("iframe.live").scroll_into_view_if_needed()
    frame = page.locator("iframe.live").element_handle().content_frame()
    frame.wait_for_url(f"**/docs/live/{name}.html")
    frame.wait_for_selector("button, input")
    return frame


@pytest.mark.parametrize("size", [PROJECTOR, PHONE], ids=["projector", "phone"])
@pytest.mark.parametrize("name", FRAMED)
def test_a_live_page_stands_in_its_chapter_whole(browser: Any, site: Path, name: str, size: dict[str, int]) -> None:
    with tab(browser, size, color_scheme="dark") as one:
        page = one.open(site / name)
        frame = framed(page, FRAMED[name])
        assert frame.inner_text("h1") == TITLES[FRAMED[name]]
        assert page.locator("p.live + iframe.live").get_attribute("title") == page.inner_text("p.live")
        wide, high, needs_wide, needs_high = frame.evaluate(
            "[innerWidth, innerHeight, document.documentElement.scrollWidth, document.documentElement.scrollHeight]"
        )
        assert needs_wide <= wide <= size["width"]
        assert needs_high <= high + 1
        assert max(map(int, re.findall(r"\d+", frame.evaluate("getComputedStyle(document.body).backgroundColor")))) < 64


def test_a_live_page_in_a_chapter_is_reached_and_worked_by_keyboard(browser: Any, site: Path) -> None:
    with tab(browser) as one:
        page = one.open(site / "docs" / "milestones" / "3.html")
        frame = framed(page, "watch_it_cheat")
        page.locator("p.live a").focus()
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        frame.locator("[aria-pressed=true]:focus").wait_for()
        frame.locator(".said", has_text=re.compile("[1-9]")).wait_for()
        assert frame.locator(".answers li").count() > 0
        assert frame.evaluate("document.documentElement.scrollHeight - innerHeight") <= 1  # of what has come, too
        assert page.url.endswith("3.html")


def test_a_figure_opens_by_itself_and_on_a_phone_it_scrolls(browser: Any, site: Path) -> None:
    with tab(browser, PHONE) as one:
        page = one.open(site / "docs" / "milestones" / "0.html")
        link = page.locator("article a:has(> img)").first
        assert link.locator("img").bounding_box()["width"] >= 640
        assert page.eval_on_selector("p:has(> a > img)", "place => place.scrollWidth > place.clientWidth")
        link.focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/_images/loop_and_tokens.svg")


@pytest.mark.parametrize("name", [WIDE, *FORMULAS, *FRAMED, "docs/reference/commands.html"])
def test_on_paper_a_page_is_light_and_whole(browser: Any, site: Path, name: str) -> None:
    with tab(browser, A4, color_scheme="dark") as one:
        page = one.open(site / name)
        page.wait_for_load_state()
        page.emulate_media(media="print")
        assert one.sideways("") == []
        cut = "all => all.filter((one) => getComputedStyle(one).overflow !== 'visible').map((one) => one.className)"
        assert page.locator("html, body, :has(article), article pre, article p").evaluate_all(cut) == []
        folded = "all => all.filter((one) => !one.checkVisibility()).map((one) => one.textContent)"
        assert page.locator("article details > *").evaluate_all(folded) == []
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert one.serious("color-contrast") == []
        seen = "header, .bd-sidebar, .bd-footer, .prev-next-footer, iframe"
        assert page.locator(seen).locator("visible=true").count() == 0
        for link in page.locator("p.live a").all():
            assert link.get_attribute("href") in link.evaluate("link => getComputedStyle(link, '::after').content")


def test_pages_are_turned_by_keyboard(browser: Any, site: Path) -> None:
    with tab(browser) as one:
        page = one.open(site / "docs" / "index.html")
        for key, name in [("ArrowRight", "storyline"), ("ArrowRight", "introduction"), ("ArrowLeft", "storyline")]:
            page.keyboard.press(key)
            page.wait_for_url(f"**/docs/{name}.html")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to main content"
        page.keyboard.press("Enter")
        assert page.url.endswith("#main-content")


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_page_is_dark_where_the_system_is(browser: Any, site: Path, scheme: str, dark: bool) -> None:
    with tab(browser, color_scheme=scheme) as one:
        page = one.open(site / "docs" / "index.html")
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, re.findall(r"\d+", colour)[:3])) < 64) == dark


def test_what_is_typed_has_a_copy_button_and_what_is_answered_none(browser: Any, site: Path) -> None:
    with tab(browser) as one:
        page = one.open(site / "docs" / "milestones" / "0.html")
        assert page.locator(".highlight-text button.copybtn").count() == 0
        block = page.locator(".highlight-bash").first
        block.hover()
        block.locator("button.copybtn").click()
        page.keyboard.press("Control+k")
        page.keyboard.press("Control+v")
        assert page.evaluate("document.activeElement.value") == block.locator("pre").inner_text().strip()


def test_the_site_opens_at_its_front_page(browser: Any, site: Path) -> None:
    with tab(browser) as one:
        one.open(site / "index.html")
        one.page.wait_for_url("**/docs/index.html")
        assert one.page.locator("h1").count() == 1


def test_a_page_that_asks_for_something_is_noticed(browser: Any, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text('<img src="http://127.0.0.1:9/x.png" alt=""><script>nothing()</script>')
    one = Tab(browser)
    one.open(tmp_path / "page.html")
    assert "asked for http://127.0.0.1:9/x.png" in one.faults
    assert any("nothing is not defined" in fault for fault in one.faults)
    assert [what.partition(":")[0] for what in one.serious()] == ["document-title", "html-has-lang"]
    one.close()
