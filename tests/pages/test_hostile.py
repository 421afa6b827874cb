"""Hostile text through real runs into real pages, and a real Chromium that shows it and obeys none of it.

Every payload would set a mark on the page, change its title, or ask an address of this machine that listens.
"""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import CHROMIUM, Reader, Shown, listening, shown
from conftest import Lab, manifest_edited
from hostile import hostile_texts

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not CHROMIUM, reason="Chromium is not here")]
TAGS_OF_THE_LAB = {
    "html",
    "head",
    "body",
    "meta",
    "title",
    "style",
    "script",
    "main",
    "h1",
    "h2",
    "h3",
    "p",
    "section",
    "div",
    "button",
    "input",
    "label",
    "details",
    "summary",
    "dl",
    "dt",
    "dd",
    "bdi",
    "em",
    "strong",
    "ol",
    "ul",
    "li",
    "svg",
    "rect",
    "line",
    "text",
    "circle",
    "polyline",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "code",
    "output",
    "mark",
    "figure",
    "article",
    "span",
}
HARMFUL = {"src", "href", "srcdoc", "action", "formaction", "style", "onerror", "onload", "onfocus", "data-ran"}


@pytest.fixture
def address() -> Iterator[tuple[str, list[str]]]:
    with listening() as (address, asked):
        yield address, asked


def assert_harmless(found: Shown, asked: Sequence[str]) -> None:
    assert asked == []
    assert found.title not in ("", "RAN")
    assert HARMFUL.isdisjoint(found.attributes)
    assert not [name for name in found.attributes if name.startswith("on")]
    assert {tag.lstrip("/") for tag in found.tags} <= TAGS_OF_THE_LAB
    assert found.tags.count("script") == 2
    assert found.tags.count("style") == 1
    assert found.complaints == []


def readable(text: str) -> str:
    """What of a text has to stand on the page as it is: its longest line of plain ASCII."""
    lines = "".join(char if " " <= char < "\x7f" else "\n" for char in text).split("\n")
    return max((line.strip() for line in lines), key=len)


def measured(lab: Lab, texts: Sequence[str]) -> Path:
    """Loop A on examples whose ids, prompts and completions are such texts."""
    rows = [(f"{i}: {text}", f"{text} ({i})", text) for i, text in enumerate(texts)]
    lab.write("d.jsonl", [{"id": id_, "prompt": prompt, "expected_answer": 1} for id_, prompt, _ in rows])
    lab.write("c.jsonl", [{"id": id_, "completion": text} for id_, _, text in rows])
    lab.meta("c", policy=texts[0])
    words = ("--dataset", "d.jsonl", "--completions", "c.jsonl", "--outdir", "a", "--change", texts[1])
    done = lab("eval", *words)
    assert done.status == 0, done.err
    manifest_edited(Path("a"), expect=texts[0])
    assert lab("report", "a").status == 0
    return Path("a/report.html").resolve()


def test_in_a_page_without_care_they_do_run(tmp_path: Path, address: tuple[str, list[str]]) -> None:
    """So that silence below says something."""
    page = tmp_path / "careless.html"
    for text in hostile_texts(address[0])[:2]:
        page.write_text(f"<!doctype html><title>x</title><p>{text}</p>", encoding="utf-8")
        found = shown(page, "", tmp_path)
        assert found.title == "RAN"
        assert "data-ran" in found.attributes
    page.write_text("<!doctype html><title>x</title>".join(hostile_texts(address[0])[6:13]), encoding="utf-8")
    assert "onerror" in shown(page, "", tmp_path).attributes
    assert {"/img", "/css"} <= {*address[1]}


def test_loop_a_shows_all_of_it_and_obeys_none(lab: Lab, address: tuple[str, list[str]]) -> None:
    texts = hostile_texts(address[0])
    page = measured(lab, texts)
    for opened in (1, 4, 8, 19, 21):
        found = shown(page, f"find=%20&row={opened}", lab.folder)  # every prompt has a space
        assert_harmless(found, address[1])
        assert readable(texts[opened - 1]) in found.texts
    for text in texts:
        assert readable(text)[:60] in found.texts
    for name in ("U+202E RIGHT-TO-LEFT OVERRIDE", "U+200B ZERO WIDTH SPACE", "U+001B ESCAPE", "U+E0041 TAG LATIN"):
        assert name in found.texts
    assert "U+FF11 FULLWIDTH DIGIT ONE" in shown(page, "row=22", lab.folder).texts
    assert "␣␣Final: 1␣␣" in shown(page, "row=23", lab.folder).texts


@pytest.mark.parametrize("keys", ["find", "outcome row step id rubric"])  # a search takes the place of the kinds
def test_what_stands_in_the_address_is_not_obeyed_either(lab: Lab, address: tuple[str, list[str]], keys: str) -> None:
    page = measured(lab, hostile_texts(address[0]))
    for text in hostile_texts(address[0])[:8:3]:
        state = "&".join(f"{key}={quote(text)}" for key in keys.split())
        assert_harmless(shown(page, state, lab.folder), address[1])


def test_loop_b_and_the_gate(lab: Lab, address: tuple[str, list[str]]) -> None:
    texts = hostile_texts(address[0])
    lab.write(
        "d.jsonl", [{"id": f"{i} {t}", "prompt": f"{t} ({i})", "expected_answer": 1} for i, t in enumerate(texts)]
    )
    for name, right in (("one", "Final: 1"), ("two", "x")):
        lab.write(f"{name}.jsonl", [{"id": f"{i} {t}", "samples": [t, right, t + t]} for i, t in enumerate(texts)])
        lab.meta(name, sampling={"temperature": 1.0, "top_p": 1.0, "seed": 7, "n": 3}, policy=f"{name} {texts[0]}")
        done = lab("selection_demo", "--dataset", "d.jsonl", "--samples", f"{name}.jsonl", "--n", 2, "--outdir", name)
        assert done.status == 0, done.err
    assert lab("report", "one").status == 0
    assert lab("gate", "--baseline", "one", "--candidate", "two", "--min-delta", 0, "--report").status == 1
    found = shown(Path("one/report.html").resolve(), "row=1", lab.folder)
    assert_harmless(found, address[1])
    assert texts[0] in found.texts
    assert_harmless(shown(Path("two/gate.html").resolve(), "", lab.folder), address[1])


def test_a_megabyte_and_a_thousand_ids_with_quotes(lab: Lab, address: tuple[str, list[str]]) -> None:
    texts = hostile_texts(address[0])
    ids = [f"it's \"{i}\" <b onclick='{i}'>&quot;\\" for i in range(1_000)]
    huge = [texts[i % 5] * (1_000_000 // len(texts[i % 5])) for i in range(3)] + ["\u202e" * 300_000]
    lab.write("d.jsonl", [{"id": id_, "prompt": "1?", "expected_answer": 1} for id_ in ids])
    completions = huge + [f"Final: {texts[i % len(texts)]}" for i in range(996)]
    lab.write("c.jsonl", [{"id": id_, "completion": text} for id_, text in zip(ids, completions, strict=True)])
    done = lab("eval", "--dataset", "d.jsonl", "--completions", "c.jsonl", "--outdir", "a")
    assert done.status == 0, done.err
    assert lab("report", "a").status == 0
    page = Path("a/report.html").resolve()
    assert page.stat().st_size < 1_000_000
    read = Reader(page.read_text(encoding="utf-8"))
    data = json.loads(next(within for tag, within in zip(read.tags, read.within, strict=True) if tag == "script"))
    assert [row["id"] for row in data["scored"]["rows"]] == ids
    found = shown(page, "find=it%27s&all=find&row=4", lab.folder)
    assert_harmless(found, address[1])
    assert ids[0] in found.texts
    assert ids[999] in found.texts
    assert "1,000 of 1,000 rows" in found.texts
    assert "more characters" in found.texts
