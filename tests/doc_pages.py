"""Machinery: the pages of the course as blocks that run, and how what they show is compared with what came.

A fence's first word is its language, the others are marks::

    bash                      one command a line, each with exit status 0; exit=1 is that of the last line
    bash needs=solutions      from here on the teacher's solutions lie over the copy
    bash input="y\\n"          what is typed at its questions
    bash long                 minutes: the tests run it with fewer updates and compare nothing that stands below it
    text                      what the last command printed; runs of spaces count as one, blank lines as none
    text band=5%              the same, and a number may differ by 5 % of itself, or of 1 if that is more
    json file=runs/x/y.json   what stands in that file; text file=… as well
    python                    a doctest
    … example                 nothing runs it

In what is shown a line ``…`` stands for any lines, and ``…`` within a line for any text.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token
from other_pythons import make_python, packages

LANGUAGES = {"bash", "text", "json", "python", "diff"}
MARKS = {"exit", "needs", "input", "long", "band", "file", "example"}
ALL_TESTS = "python3 lab.py test"  # run by .ci/run, and nothing that a test should do again
COMMAND = re.compile(r'python3 (-m (course|check|teacher)(\.\w+)?|lab\.py|exercises/\w+\.py|-c ".*"$)(?= |$)')
ONE_SYSTEMS = re.compile(r"[|<>;&`$\\]|/tmp")  # what PowerShell or cmd.exe reads in another way
BRIEFLY = {  # a long command, and what its longest work gets in a test
    "course.token_train": ["--sft-steps", "20", "--steps", "5"],
    "course.experiment shift": ["--steps", "1"],
    "course.experiment goodhart": ["--steps", "1", "--seeds", "1", "--rubrics", "score", "anywhere", "--kl-coef", "1"],
    "course.experiment pass_at_k": ["--steps", "1", "--seeds", "1", "--presets", "memorise"],
    "course.experiment coverage": ["--steps", "1", "--seeds", "1", "--values", "30"],
    "course.experiment noise": ["--steps", "1", "--seeds", "1"],
}
NUMBER = r"(?<![\w.])-?\d+(?:\.\d+)?"


class Block(NamedTuple):
    """A fence of a page. ``line``: of the page, from 1."""

    language: str
    marks: dict[str, str]
    text: str
    line: int

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.split("\n") if line.strip()]


def tokens(page: Path) -> list[Token]:
    return MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))


def blocks(page: Path) -> list[Block]:
    """Each code block, also one that is indented and so has no language."""
    found = []
    for token in tokens(page):
        if token.type in ("fence", "code_block"):
            language, *marks = shlex.split(token.info) or [""]
            pairs = (mark.partition("=") for mark in marks)
            found.append(Block(language, {k: v for k, _, v in pairs}, token.content, (token.map or [0])[0] + 1))
    return found


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as GitHub and the site make them."""
    found: list[str] = []
    heading = False
    for token in tokens(page):
        if heading and token.children is not None:
            words = "".join(child.content for child in token.children)
            slug = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
            found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
        heading = token.type == "heading_open"
    return set(found)


def links(page: Path) -> list[str]:
    """Where its links and pictures lead, but for other sites."""
    inline = [child for token in tokens(page) for child in token.children or []]
    found = [
        str(child.attrs["href" if child.type == "link_open" else "src"])
        for child in inline
        if child.type in ("link_open", "image")
    ]
    return [link for link in found if not re.match(r"\w+:", link)]


def differs(shown: Sequence[str], came: Sequence[str], band: float | None = None) -> str:
    """Nothing where what is shown is what came; else the first line that did not come where it is shown."""
    shown = _with_single_spaces(shown)
    came = _with_single_spaces(came)
    if _agrees(shown, came, band):
        return ""
    agreeing = max(count for count in range(len(shown) + 1) if _agrees([*shown[:count], "…"], came, band))
    if agreeing == len(shown):
        return "an end, and more came"
    return shown[agreeing]


def _with_single_spaces(lines: Sequence[str]) -> list[str]:
    return [" ".join(line.split()) for line in lines if line.strip()]


def _agrees(shown: Sequence[str], came: Sequence[str], band: float | None) -> bool:
    if not shown:
        return not came
    if shown[0] == "…":
        return any(_agrees(shown[1:], came[start:], band) for start in range(len(came) + 1))
    return bool(came) and _same(shown[0], came[0], band) and _agrees(shown[1:], came[1:], band)


def _same(shown: str, came: str, band: float | None) -> bool:
    """One line. A number is a group of the pattern where there is a band."""
    patterns = []
    for part in shown.split("…"):
        if band is None:
            patterns.append(re.escape(part))
        else:
            between_numbers = [re.escape(text) for text in re.split(NUMBER, part)]
            patterns.append(f"({NUMBER})".join(between_numbers))
    found = re.fullmatch(".*".join(patterns), came)
    if not found or band is None:
        return bool(found)
    for expected, number in zip(re.findall(NUMBER, shown), found.groups(), strict=True):
        value = float(expected)
        if abs(value - float(number)) > band * max(1.0, abs(value)):
            return False
    return True


def faults(page: Path, copy: Path, solutions: Path, *, whole: bool = False) -> Iterator[str]:
    """Run a page's blocks in order in ``copy``. ``whole``: long blocks too, as they stand."""
    printed: list[str] | None = None
    doctests = []
    for block in blocks(page):
        place = f"{page.name}:{block.line}"
        if "example" in block.marks:
            continue
        if block.language == "bash":
            printed = None
            if block.marks.get("needs") == "solutions":
                shutil.copytree(solutions, copy, dirs_exist_ok=True)
            brief = "long" in block.marks and not whole
            for line in block.lines:
                if line == ALL_TESTS:
                    continue
                status, out, err = ran(line, copy, block.marks.get("input", ""), briefly(line) if brief else [])
                printed = None if brief else out
                expected = int(block.marks.get("exit", "0")) if line == block.lines[-1] else 0
                if status != expected:
                    yield f"{place} {line}: status {status} and not {expected}: {' / '.join([*out, *err][-5:])}"
                elif err and status < 2:
                    yield f"{place} {line}: said on stderr: {' / '.join(err)}"
                elif status == 2:
                    printed = err
        elif block.language == "python":
            doctests.append(block.text)
        elif block.language in ("text", "json"):
            came = printed
            if "file" in block.marks:
                came = (copy / block.marks["file"]).read_text(encoding="utf-8").splitlines()
            if came is not None:
                band = float(block.marks["band"].rstrip("%")) / 100 if "band" in block.marks else None
                if missing := differs(block.text.split("\n"), came, band):
                    yield f"{place}: shows what did not come: {missing}"
    if doctests:
        (copy / "page.txt").write_text("\n".join(doctests), encoding="utf-8")
        status, out, _ = ran("python3 -m doctest page.txt", copy)
        if status:
            yield f"{page.name}: {' / '.join(out)}"


def briefly(line: str) -> list[str]:
    """The options that make a long command brief: behind its own they override them. None for any other command."""
    for command, fewer in BRIEFLY.items():
        if command in line:
            return fewer
    return []


def ran(line: str, copy: Path, typed: str = "", more: Sequence[str] = ()) -> tuple[int, list[str], list[str]]:
    """A command as a student types it, with this Python in the place of theirs: its status and both its outputs."""
    words = shlex.split(line)
    if words == ["python3", "lab.py"] and not (copy / ".venv").exists():
        make_python(copy / ".venv", packages(), copy)  # so that nothing is downloaded
    elif words[:3] == ["python3", "lab.py", "micro"]:
        words[1:3] = ["micro.py"]
    elif words[:3] == ["python3", "lab.py", "test"]:
        words[1:3] = ["-m", "pytest", "-p", "no:cacheprovider"]
    words[0] = sys.executable
    words += more
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PYTEST"))}
    environment |= {"COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        words,
        cwd=copy,
        env=environment,
        input=typed.replace("\\n", "\n"),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    return done.returncode, done.stdout.split("\n"), [one for one in done.stderr.split("\n") if one]
