"""Machinery: a real Chromium, driven by playwright, and what one asks of a page in it.

Not covered: other browsers. Without playwright (requirements-browser.txt), Chromium or docs/node_modules, the tests
that ask for them are skipped.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

AXE = ROOT / "docs" / "node_modules" / "axe-core" / "axe.min.js"
MATHJAX = ROOT / "docs" / "node_modules" / "mathjax" / "es5" / "tex-svg.js"
ALONE = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
ALONE += ["--disable-component-update", "--disable-sync"]  # it shall ask for nothing by itself
PROJECTOR = {"width": 1280, "height": 720}
PHONE = {"width": 375, "height": 800}


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, closed at the end."""
    playwright = pytest.importorskip("playwright.sync_api", reason="requirements-browser.txt is not installed")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program or not AXE.exists() or not MATHJAX.exists():
        pytest.skip("there is no Chromium here" if not program else "npm ci --prefix docs was not run")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=ALONE)
        yield browser
        browser.close()


# What is wider than the window it stands in, save what may scroll inside itself: the elements that match ALLOWED.
_SIDEWAYS = """allowed => [...document.querySelectorAll("*")].filter((element) =>
  element.scrollWidth > element.clientWidth + 1
  && (element === document.documentElement || /auto|scroll/.test(getComputedStyle(element).overflowX))
  && !element.matches(allowed)
).map((element) => element.outerHTML.slice(0, 80))"""


class Tab:
    """A page in a window of its own, and all that it said or asked for while it was open."""

    def __init__(self, browser: Any, size: dict[str, int] = PROJECTOR, **window: Any) -> None:
        self.context = browser.new_context(viewport=size, **{"reduced_motion": "reduce", **window})
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("requestfailed", lambda request: self.faults.append(f"no {request.url}"))
        self.page.on("request", self.keep_request)

    def keep_request(self, request: Any) -> None:
        if not request.url.startswith(("file:", "data:", "blob:")):
            self.faults.append(f"asked for {request.url}")

    def open(self, path: Path, anchor: str = "") -> Any:
        self.page.goto(path.as_uri() + anchor)
        return self.page

    def serious(self, *rules: str) -> list[str]:
        """What axe finds that is serious or critical, with these rules or with all: the rule, and the first place."""
        self.page.evaluate(AXE.read_text(encoding="utf-8"))
        # With preload it would ask for the style sheets once more, which a browser refuses from file://.
        options = {"preload": False, "resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
        found = self.page.evaluate("options => axe.run(options)", options)["violations"]
        worst = [one for one in found if one["impact"] in ("serious", "critical")]
        return [f"{one['id']}: {one['nodes'][0]['html'][:120]}" for one in worst]

    def sideways(self, allowed: str) -> list[str]:
        return list(self.page.evaluate(_SIDEWAYS, allowed))

    def close(self) -> None:
        self.context.close()


@contextmanager
def tab(browser: Any, size: dict[str, int] = PROJECTOR, **window: Any) -> Iterator[Tab]:
    """Closed at the end; it fails if the pages had faults."""
    one = Tab(browser, size, **window)
    yield one
    one.close()
    assert one.faults == []
