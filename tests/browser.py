"""Machinery: a page as a real Chromium shows it, from ``file://`` and without any of the browser's own requests."""

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import NamedTuple

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--virtual-time-budget=4000"),
)
COMPLAINT = re.compile(r'CONSOLE[^"]*"(.*)", source')


class Shown(NamedTuple):
    """What a person reads there, and of what it is made.

    ``texts``: all that is to be read, one after the other; ``words``: the same, apart from each other. ``attributes``:
    of all elements, with their values.
    """

    title: str
    texts: str
    words: str
    tags: list[str]
    attributes: dict[str, list[str | None]]
    complaints: list[str]  # of the browser's console


class Reader(HTMLParser):
    """The elements of a page, as Python's own parser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.attributes: dict[str, list[str | None]] = {}
        self.within: list[str] = []  # the text of each element in ``tags``, up to the next tag
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.within.append("")
        for name, value in attrs:
            self.attributes.setdefault(name, []).append(value)

    def handle_endtag(self, tag: str) -> None:
        self.tags.append(f"/{tag}")
        self.within.append("")

    def handle_data(self, data: str) -> None:
        if self.within:
            self.within[-1] += data


def shown(page: Path, state: str, folder: Path) -> Shown:
    """What stands in the page when its script has run. ``state``: of the address, behind the #."""
    assert CHROMIUM
    line = [CHROMIUM, *FLAGS, f"--user-data-dir={folder / 'profile'}", "--dump-dom", f"{page.as_uri()}#{state}"]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=120, check=False)
    read = Reader(done.stdout)
    kept = [text for tag, text in zip(read.tags, read.within, strict=True) if tag not in ("script", "style")]
    title = next(text for tag, text in zip(read.tags, read.within, strict=True) if tag == "title")
    return Shown(
        title,
        "".join(kept),
        " ".join(" ".join(kept).split()),
        read.tags,
        read.attributes,
        COMPLAINT.findall(done.stderr),
    )


@contextmanager
def listening() -> Iterator[tuple[str, list[str]]]:
    """An address of this machine, and what was asked of it."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
