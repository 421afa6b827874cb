"""A page is what the lab made it, whatever its data say: no text of theirs becomes an element, and all of it arrives.

An example: a completion is ``</script><script>…``. Python's own parser of HTML finds the elements of the page and no
more, and the JSON in it holds the completion as it was.
"""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from browser import Reader
from conftest import ROOT
from hostile import hostile_texts
from hypothesis import given
from hypothesis import strategies as st

from course.pages.html import HEAD, PARTS, PARTS_OF_RUNS, html_page, names_in
from course.text import visible

TAGS = ["html", "meta", "meta", "meta", "meta", "title", "/title", "style", "/style"]
TAGS += ["main", "h1", "/h1", "p", "/p", "/main", "script", "/script", "script", "/script", "/html"]
ATTRIBUTES = {"lang", "charset", "name", "content", "http-equiv", "data-view", "type", "id"}


def data_of(text: str) -> object:
    read = Reader(text)
    return json.loads(next(within for tag, within in zip(read.tags, read.within, strict=True) if tag == "script"))


@pytest.mark.parametrize("text", hostile_texts())
def test_no_text_becomes_an_element(text: str) -> None:
    made = html_page("A", text, text or "x", {"text": text, text: [text]})
    read = Reader(made)
    assert read.tags == TAGS
    assert read.attributes.keys() == ATTRIBUTES
    data = data_of(made)
    assert isinstance(data, dict)
    assert (data["text"], data[text]) == (text if text != "text" else [text], [text])
    assert read.within[read.tags.index("h1")] == visible(text)


@given(st.text())
def test_data_arrive_as_they_are(text: str) -> None:
    made = html_page("A", "title", "", {"text": text})
    assert data_of(made) == {"text": text, "names": names_in(json.dumps(text, ensure_ascii=False))}
    script = made.partition('id="data">')[2].partition("</script>")[0]
    assert "<" not in script
    assert script.isascii()


def test_the_browser_may_run_this_script_take_this_style_and_nothing_else() -> None:
    made = html_page("A", "title", "", {})
    read = Reader(made)
    policy = next(value for value in read.attributes["content"] if value and "default-src" in value)
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    *_, script = [within for tag, within in zip(read.tags, read.within, strict=True) if tag == "script"]
    style = read.within[read.tags.index("style")]
    assert script == "\n".join(part.with_suffix(".js").read_text(encoding="utf-8") for part in PARTS_OF_RUNS)
    for rule, part in (("script-src", script), ("style-src", style)):
        assert rules[rule] == f"'sha256-{base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
    others = {rule: value for rule, value in rules.items() if not value.startswith("'sha256-")}
    assert others == dict.fromkeys(("default-src", "base-uri", "form-action"), "'none'")


def test_scripts_and_styles_ask_for_nothing() -> None:
    parts = [path for folder in (PARTS, ROOT / "docs" / "live") for path in folder.iterdir() if path.suffix != ".html"]
    assert len(parts) > 10
    for path in parts:
        part = path.read_text(encoding="utf-8")
        assert {*re.findall(r"https?://[^\s\"')/]+", part)} <= {"http://www.w3.org"}, "the names of HTML and SVG"
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|url\(", part)
        assert "</" not in part.replace("</>", ""), "an end tag in it would end it"


def test_every_page_begins_so_that_it_is_known_again() -> None:
    assert html_page("A", "title", "", {}).startswith(HEAD)


def test_a_number_that_json_lacks_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        html_page("A", "title", "", {"loss": float("nan")})


@given(st.text())
def test_what_is_hidden_has_a_name(text: str) -> None:
    names = names_in(text)
    for char in set(text):
        if visible(char) != char:
            assert visible(char) == f"<U+{ord(char):04X} {names[f'{ord(char):04X}']}>"


def test_many_characters_that_can_be_seen_are_not_all_named() -> None:
    text = "".join(chr(code) for code in range(0x4E00, 0x4E00 + 5_000)) + "\u200b"
    names = names_in(text)
    assert names["200B"] == "ZERO WIDTH SPACE"
    assert len(names) < 400


def test_the_reader_of_these_tests_is_pythons_own() -> None:
    assert issubclass(Reader, HTMLParser)
    assert Reader("<script>x</script><img onerror=y>").tags == ["script", "/script", "img"]
