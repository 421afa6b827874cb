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
    *(f"docs/milestones/{number}.html" for number in ("0", "0.5", "1", "2", "3", "4", "5", "6")),
    *("search.html", "docs/index.html", "docs/reference/reward_spec.html", "docs/loop_c_differences.html"),
    *(WIDE, *FORMULAS),
}

MAY_SCROLL = "pre, .highlight, .pst-scrollable-table-container, mjx-container"


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
    serious: list[str]  # axe, light
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
            found.serious.extend(f"{name}: {what}" for what in one.serious())
            if name in DARK:
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


def test_axe_finds_nothing_serious_on_any_page(findings: Findings) -> None:
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
