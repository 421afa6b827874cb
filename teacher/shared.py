"""Machinery: what two hand-ins share, and what a hand-in shares with a solution that the course shows.

An answer is compared by its runs of five words, once case, white space, punctuation and unseen characters are gone.
Code is compared by its runs of fifteen tokens, once comments, blank lines and docstrings are gone and every name of the
student's own choice is the same name. What the course itself says or ships, on any page and in any sheet or stub, is
left out first. Two students share an answer where a third of the shorter one's runs, and five at least, stand in the
other; they share a file of code where half of them do, and fifteen at least. A run of a command is known by the second
in which it ended.

Covered
    A whole hand-in, an answer, a file or a run that was copied. Words that were changed here and there, other line
    breaks, other punctuation, zero-width characters; renamed variables, moved functions, new comments.
Not covered
    An answer that was said anew, translated, or written by a program for each of two students; letters of another
    alphabet that look alike; answers of fewer than nine words; code of fewer than thirty tokens; a clock that was
    edited in ``environment.json``; who copied from whom. Equal digests of runs are no evidence: the same command gives
    everybody the same bytes. Nor are the numbers and the verdict in the form of one's own experiment, for the same
    reason; the lines of these fields are left out.
"""

import builtins
import json
import keyword
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import Any, NamedTuple

from check import own_experiment
from check.milestones import EXERCISES
from check.sheets import KEYS
from course.datasets.files import LAB
from course.text import hides
from teacher.release import list_tracked_files
from teacher.sheets import LONGEST, Sheet, decode_text, read_answers

SOLUTION = "the shown solution"
WORDS = 5  # in a run of words
TOKENS = 15  # in a run of tokens
FEWEST = {WORDS: 5, TOKENS: 15}  # runs that two texts have in common at least
SHARE = {WORDS: 1 / 3, TOKENS: 1 / 2}  # of the runs of the shorter text
_CODE = re.compile(r"\.?\w+|[^\w\s]")  # an attribute with its dot
_NO_CODE = re.compile(r"(?s)(\"\"\"|''').*?\1|#[^\n]*")
_IN_WORDS = ("against",)  # of the form of an experiment what a student says, and no command gives
_A_RUN = "runs/[^/]+/manifest.json"
_KNOWN_NAMES = {*keyword.kwlist, *dir(builtins)}
_MOST_RUNS = 1_000  # of a hand-in

Runs = frozenset[tuple[str, ...]]


class Work(NamedTuple):
    """One hand-in as it is compared. ``texts``: (file, heading) -> its runs of words, or of a file of code of tokens;
    the heading is empty for the whole file. ``ends``: (command, the second in which it ended) -> the run.
    """

    digest: str
    texts: dict[tuple[str, str], Runs]
    ends: dict[tuple[str, str], str]


class Shared(NamedTuple):
    """What two hand-ins have in common. ``texts``: (file, heading) -> the share of the shorter one's runs."""

    first: str
    second: str
    is_whole: bool
    texts: dict[tuple[str, str], float]
    runs: list[str]


class Course(NamedTuple):
    """What is nobody's own: the runs of words and of tokens that students are given."""

    words: Runs
    tokens: Runs


def read_course(shipped: Mapping[str, bytes]) -> Course:
    """The course's own words and code: its pages, its data, its source, and the files that students get."""
    texts = [decode_text(content) for content in shipped.values()]
    places = ("course/", "data/", "docs/", "README.md", "MEASUREMENT_RULES.md")
    names = [
        name
        for name in list_tracked_files()
        if name.startswith(places) and name.endswith((".md", ".toml", ".py")) and not name.startswith("data/keys/")
    ]
    texts += [(LAB / name).read_text(encoding="utf-8") for name in names]
    stubs = [decode_text(content) for name, content in shipped.items() if name.endswith(".py")]
    tokens = frozenset(run for stub in stubs for run in runs_of(tokens_of(stub), TOKENS))
    words = frozenset(run for text in texts for run in runs_of(words_of(text), WORDS))
    return Course(words, tokens)


def read_work(files: Mapping[str, bytes], sheets: Sequence[Sheet], course: Course, digest: str = "") -> Work:
    """A hand-in, from its files."""
    texts: dict[tuple[str, str], Runs] = {}
    for sheet in sheets:
        answers = read_answers(decode_text(files.get(sheet.file, b"")), sheet.shipped)
        for heading in ("", *sheet.questions):
            texts[sheet.file, heading] = own_words(without_fields(sheet.file, heading, answers[heading]), course)
    for file in {sheet.file for sheet in sheets}:
        # Answers that are too short to be evidence are none together.
        answers_in_file = [runs for key, runs in texts.items() if key[0] == file and len(runs) >= FEWEST[WORDS]]
        texts[file, ""] = frozenset().union(*answers_in_file)
    for file in dict.fromkeys(file for exercise in EXERCISES.values() for file in exercise.files):
        text = decode_text(files.get(file, b""))
        if file.endswith(".py"):
            texts[file, ""] = frozenset(runs_of(tokens_of(text), TOKENS)) - course.tokens
        elif file.endswith(".jsonl"):
            texts[file, ""] = frozenset().union(*(own_words(string, course) for string in strings_of(text)))
    ends = {}
    for run, manifest, environment in read_runs(files):
        command = manifest.get("command")
        second = environment.get("finished_at")
        if isinstance(command, str) and isinstance(second, str):  # two runs without a clock have no second in common
            ends[command, second] = run
    return Work(digest, {key: runs for key, runs in texts.items() if runs}, ends)


def read_solution(sheets: Sequence[Sheet], course: Course) -> Work:
    """What the course shows once a check passes, as if it were a hand-in."""
    keys = (path for path in KEYS.rglob("*") if path.is_file())
    return read_work({path.relative_to(KEYS).as_posix(): path.read_bytes() for path in keys}, sheets, course)


def without_fields(file: str, heading: str, answer: str) -> str:
    """An answer without the lines of a form whose values everybody gets who measures the same."""
    asked = own_experiment.FIELDS.get(heading, ()) if file == own_experiment.SHEET.as_posix() else ()
    names = [re.escape(name) for name in asked if name not in _IN_WORDS]
    if not names:
        return answer
    return re.sub(rf"(?mi)^[ \t*_-]*({'|'.join(names)})[ \t*_]*:.*$", "", answer)


def own_words(text: str, course: Course) -> Runs:
    """The runs of words that the course does not have."""
    return frozenset(runs_of(words_of(text), WORDS)) - course.words


def words_of(text: str) -> list[str]:
    """The words of a text, alike however it is set: folded case, no punctuation, nothing that cannot be seen."""
    folded = unicodedata.normalize("NFKC", text[:LONGEST]).casefold()
    seen = "".join(char for char in folded if char.isspace() or not hides(char))
    return re.findall(r"\w+", seen)


def tokens_of(code: str) -> list[str]:
    """The tokens of Python code without comments and triple-quoted texts. A name that is neither Python's own nor an
    attribute is x.
    """
    tokens = _CODE.findall(_NO_CODE.sub("", code))
    return ["x" if token.isidentifier() and token not in _KNOWN_NAMES else token for token in tokens]


def runs_of(items: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    return zip(*(items[start:] for start in range(size)), strict=False)


def strings_of(lines: str) -> Iterator[str]:
    """Every text of every line of JSON: of exploits the completion and the reason, say."""
    for line in lines.split("\n"):
        with suppress(ValueError, RecursionError):
            row = json.loads(line)
            if isinstance(row, dict):
                yield from (value for value in row.values() if isinstance(value, str))


def read_runs(files: Mapping[str, bytes]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Each run of a hand-in, its manifest and its environment, as far as they can be read."""
    for run in list_runs(files)[:_MOST_RUNS]:
        found: list[dict[str, Any]] = []
        for name in ("manifest.json", "environment.json"):
            with suppress(ValueError, RecursionError):
                value = json.loads(files.get(f"{run}/{name}", b"")[:LONGEST])
                if isinstance(value, dict):
                    found.append(value)
        if len(found) == 2:
            yield run, found[0], found[1]


def list_runs(files: Iterable[str]) -> list[str]:
    """The folders of runs among the files: runs/NAME, in order."""
    return sorted(name.removesuffix("/manifest.json") for name in files if re.fullmatch(_A_RUN, name))


def find_shared(works: Mapping[str, Work]) -> list[Shared]:
    """The pairs that share anything, those that share most first. ``works``: by student, and ``SOLUTION``."""
    names = [*works]
    common: dict[tuple[str, str], Counter[tuple[str, str]]] = {pair: Counter() for pair in combinations(names, 2)}
    for key in dict.fromkeys(key for work in works.values() for key in work.texts):
        holders: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
        for name, work in works.items():
            for run in work.texts.get(key, ()):
                holders[run].append(name)
        for several in holders.values():
            for pair in combinations(several, 2):
                common[pair][key] += 1
    found = []
    for pair, counts in common.items():
        first, second = (works[name] for name in pair)
        texts = {}
        for key, count in counts.items():
            share = count / min(len(first.texts[key]), len(second.texts[key]))
            size = TOKENS if key[0].endswith(".py") else WORDS
            if count >= FEWEST[size] and share >= SHARE[size]:
                texts[key] = share
        sheets_with_answers = {file for file, heading in texts if heading}
        texts = {key: share for key, share in texts.items() if key[1] or key[0] not in sheets_with_answers}
        runs = [run for end, run in first.ends.items() if end in second.ends]
        is_whole = first.digest == second.digest and SOLUTION not in pair
        if is_whole or texts or runs:
            found.append(Shared(*pair, is_whole, texts, runs))
    return sorted(found, key=lambda shared: (-shared.is_whole, -len(shared.texts) - len(shared.runs)))


def count_text(shared: Shared) -> str:
    """What a pair shares, in a few words: ``the whole hand-in``, or ``12 answers, 1 file, 3 runs``."""
    if shared.is_whole:
        return "the whole hand-in, byte for byte"
    parts = [
        (sum(bool(heading) for _, heading in shared.texts), "answer"),
        (sum(not heading for _, heading in shared.texts), "file"),
        (len(shared.runs), "run"),
    ]
    return ", ".join(f"{count} {what}{'s' * (count != 1)}" for count, what in parts if count)
