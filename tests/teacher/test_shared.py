"""What two hand-ins share.

An example by hand: "a b c d e f g h i" has five runs of five words; with "e" replaced none of them is left. So an
answer of nine words in which the middle one was changed is shared by nobody, and one of thirty words with two of them
changed has 26 runs, of which 16 are left: 62 %.
"""

import json

import pytest
from conftest import ROOT

from check.sheets import KEYS
from teacher.release import read_committed_files
from teacher.shared import SOLUTION, count_text, find_shared, read_course, read_solution, read_work
from teacher.sheets import list_sheets, read_questions

SHIPPED = read_committed_files(None)
SHEETS = list_sheets(SHIPPED)
COURSE = read_course(SHIPPED)
NOTE = "notes/mental_map_v2.md"
FIRST, SECOND, *_ = read_questions(SHIPPED[NOTE].decode())
ANSWER = (
    "Four tries reached two prompts more than my guess had promised, mostly sums with a minus sign, and the writer "
    "itself stayed exactly as clumsy as it was on Monday morning before tea."
)
CODE = """from course.picking import Sample
def pick_best(samples):
    highest = max(sample.reward for sample in samples)
    candidates = [sample for sample in samples if sample.reward == highest]
    candidates.sort(key=lambda sample: sample.index)
    return candidates[0]
"""
DISGUISED = '''from course.picking import Sample
def pick_best(group):
    """Mine."""
    top = max(s.reward for s in group)  # the best

    good = [s for s in group if s.reward == top]
    good.sort(key=lambda s: s.index)
    return good[0]
'''
OTHER_CODE = """def pick_best(samples):
    best = samples[0]
    for other in samples:
        if other.reward > best.reward or (other.reward == best.reward and other.index < best.index):
            best = other
    return best
"""
MILESTONE = (ROOT / "docs" / "milestones" / "0.md").read_text(encoding="utf-8")
PAGE = next(text for text in MILESTONE.split("\n\n") if len(text.split()) > 40 and text[:1].isalpha())


EXPERIMENT = "notes/experiment.md"
CAME = "baseline: runs/rule_first, 18 of 100\n*candidate*: runs/rule_common, 25 of 100\nverdict: PROMOTE"
DESIGN = (
    "n: 100 of the sums that I wrote\nflips: 30 % of all, as in milestone two\nsmallest: 15.9 points, or 16 of them"
)
EXPECT = "expect: 35 % of all hundred prompts pass in the end\nagainst: "


def form(came: str = "", design: str = "", expectation: str = "") -> dict[str, bytes]:
    """The sheet of an experiment with these answers in it."""
    text = SHIPPED[EXPERIMENT].decode()
    headings = {"What came": came, "What n prompts can show": design, "Expectation": expectation}
    for heading, answer in headings.items():
        text = text.replace(f"## {heading}\n", f"## {heading}\n{answer}\n")
    return {EXPERIMENT: text.encode()}


def quarks(count: int, begin: int = 0) -> list[str]:
    """So many words, no two alike and none of the course's."""
    return [f"quark{number}" for number in range(begin, begin + count)]


def two_texts(common: int, length: int, begin: int = 1_000) -> tuple[str, str]:
    """Two texts of so many words, of which the first are common."""
    rest = length - common
    return " ".join(quarks(common) + quarks(rest, begin)), " ".join(quarks(common) + quarks(rest, 2 * begin))


def note(answer: str, heading: str = FIRST) -> bytes:
    """The sheet as shipped, with one answer in it."""
    return SHIPPED[NOTE].decode().replace(f"## {heading}\n", f"## {heading}\n{answer}\n").encode()


def run_of(manifest: dict[str, object], environment: dict[str, object]) -> dict[str, bytes]:
    return {
        "runs/first/manifest.json": json.dumps(manifest).encode(),
        "runs/first/environment.json": json.dumps(environment).encode(),
    }


def run(second: int, host: str = "a", expect: str = "40 %", command: str = "course.eval") -> dict[str, bytes]:
    """Of a run what is compared: everything else is the same for everybody who types the same command."""
    clock = {"finished_at": f"2026-11-24T03:52:{second:02}+00:00", "host": host}
    return run_of({"command": command, "expect": expect, "outputs": {"results.jsonl": "0" * 64}}, {**clock})


def shared(first: dict[str, bytes], second: dict[str, bytes]) -> str:
    works = {name: read_work(files, SHEETS, COURSE, name) for name, files in (("a", first), ("b", second))}
    return "; ".join(count_text(pair) for pair in find_shared(works))


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ({NOTE: note(ANSWER)}, {NOTE: note(ANSWER)}, "1 answer"),
        ({NOTE: note(ANSWER)}, {NOTE: note(ANSWER.upper().replace(" ", "\n  "))}, "1 answer"),
        ({NOTE: note(ANSWER)}, {NOTE: note(ANSWER.replace(", ", " -- ").replace("e", "e\u200b"))}, "1 answer"),
        ({NOTE: note(ANSWER)}, {NOTE: note(ANSWER.replace("prompts", "lines").replace("clumsy", "bad"))}, "1 answer"),
        ({NOTE: note(ANSWER)}, {NOTE: note(f"{PAGE} {ANSWER} {PAGE}")}, "1 answer"),
        ({NOTE: note(ANSWER)}, {NOTE: note(ANSWER, SECOND)}, "1 file"),  # under another heading
        ({NOTE: note(ANSWER)}, {NOTE: note("The policy is the same, and we looked at four samples for each")}, ""),
        ({NOTE: note("One two three four, more or less.")}, {NOTE: note("One two three four, more or less.")}, ""),
        ({NOTE: SHIPPED[NOTE]}, {NOTE: SHIPPED[NOTE]}, ""),
        ({NOTE: note(PAGE)}, {NOTE: note(PAGE)}, ""),  # both quote the course
        (SHIPPED, SHIPPED, ""),
        ({"exercises/pick_best.py": CODE.encode()}, {"exercises/pick_best.py": DISGUISED.encode()}, "1 file"),
        ({"exercises/pick_best.py": CODE.encode()}, {"exercises/pick_best.py": OTHER_CODE.encode()}, ""),
        (run(1, "a"), run(1, "b"), "1 run"),  # whoever edits the host forgets the clock
        (run(1), run(2), ""),  # the same command, the same bytes, and two people
        (run(1), run(1, command="course.gate"), ""),
        ({"runs/first/manifest.json": b"["}, {"runs/first/manifest.json": b"["}, ""),
        (form(CAME), form(CAME), ""),  # the same experiment has the same numbers
        (form(f"{CAME}\n{ANSWER}"), form(f"{CAME}\n{ANSWER}"), "1 answer"),
        (form("", DESIGN), form("", DESIGN), ""),
        (form("", "", EXPECT), form("", "", EXPECT), ""),
        (form("", "", EXPECT + ANSWER), form("", "", EXPECT + ANSWER), "1 answer"),
        (run_of({}, {}), run_of({}, {}), ""),  # a clock that neither has is no second in common
        (run_of({"command": "course.eval"}, {}), run_of({"command": "course.eval"}, {}), ""),
        (run_of({}, {"finished_at": "2026"}), run_of({}, {"finished_at": "2026"}), ""),
    ],
    ids=range(25),
)  # fmt: skip
def test_what_two_hand_ins_share(first: dict[str, bytes], second: dict[str, bytes], said: str) -> None:
    assert shared(first, second) == said
    assert shared(second, first) == said


@pytest.mark.parametrize(
    ("common", "length", "said"),
    [
        (9, 9, "1 answer"),  # five runs of five
        (8, 8, ""),  # four, which is nothing
        (9, 19, "1 answer"),  # 5 of 15 runs, a third
        (9, 20, ""),  # 5 of 16
    ],
)
def test_the_borders_of_a_shared_answer(common: int, length: int, said: str) -> None:
    first, second = two_texts(common, length)
    assert shared({NOTE: note(first)}, {NOTE: note(second)}) == said


@pytest.mark.parametrize(
    ("common", "length", "said"),
    [
        (29, 29, "1 file"),  # fifteen runs of fifteen tokens
        (28, 28, ""),  # fourteen, which is nothing
        (29, 44, "1 file"),  # 15 of 30 runs, the half
        (29, 45, ""),  # 15 of 31
    ],
)
def test_the_borders_of_a_shared_file_of_code(common: int, length: int, said: str) -> None:
    first, second = (text.replace("quark", "") for text in two_texts(common, length))  # numbers, which keep their name
    file = "exercises/pick_best.py"
    assert shared({file: first.encode()}, {file: second.encode()}) == said


def test_short_answers_are_no_evidence_together() -> None:
    sheet = SHIPPED[NOTE].decode()
    for number, heading in enumerate([FIRST, SECOND]):
        sheet = sheet.replace(f"## {heading}\n", f"## {heading}\n{' '.join(quarks(8, 10 * number))}\n")
    assert shared({NOTE: sheet.encode()}, {NOTE: sheet.encode()}) == ""


def test_equal_digests_are_the_whole_hand_in() -> None:
    work = read_work({NOTE: note(ANSWER)}, SHEETS, COURSE, "one digest")
    (pair,) = find_shared({"a": work, "b": work, "c": read_work({}, SHEETS, COURSE, "another")})
    assert (pair.first, pair.second, pair.is_whole) == ("a", "b", True)


def test_every_key_is_known_when_it_is_handed_in() -> None:
    files = {path.relative_to(KEYS).as_posix(): path.read_bytes() for path in KEYS.rglob("*") if path.is_file()}
    works = {"emil": read_work(files, SHEETS, COURSE), SOLUTION: read_solution(SHEETS, COURSE)}
    (pair,) = find_shared(works)
    found = {file for file, _ in pair.texts}
    assert {name for name in files if not name.endswith(".jsonl")} - found == set()
