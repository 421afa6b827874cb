"""Who checks the check of the red team: what must not be accepted, what must, and what the policy and the search find.

An example: ``suffix`` pays for 'Final: 7323' where 323 is right. A patch that refuses this one string is refused, for
another number stands in front of another answer.
"""

import random
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, lines_of

from check.milestones import EXERCISES, check
from check.redteam import check_redteam, wrong_texts
from check.result import CheckResult
from course import search
from course.policies.train_config import MEMORISE
from course.rubrics.hackable import GAPS
from course.rubrics.kinds import EXPLOITS, kind_of

RIGHT = 'return completion.strip(" \\t\\r\\n") == f"Final: {example[\'expected_answer\']}"'
FILE = Path("exercises/exploits.jsonl")
CLASSES = tomllib.loads((ROOT / "data" / "red_team" / "classes.toml").read_text(encoding="utf-8"))


def exploit(answer: int, completion: str, fooled: str = "suffix", why: str = "it is paid") -> dict[str, Any]:
    asked = {"id": f"{answer} {completion}", "prompt": "?", "expected_answer": answer, "completion": completion}
    return asked | {"expected_reward": 0.0, "fooled": fooled, "why": why}


SUFFIX = [exploit(323, "Final: 7323"), exploit(18, "Final: 718")]


@pytest.fixture
def brief(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Two updates and few texts only."""
    monkeypatch.setattr(search, "UPDATES", 2)
    monkeypatch.setattr(search, "_MOST_SYMBOLS", 2)
    monkeypatch.setattr(search, "MEMORISE", MEMORISE._replace(sft_steps=100))
    return lab


def checked() -> CheckResult:
    return check(EXERCISES["redteam"])


@pytest.mark.parametrize("start", CLASSES)
def test_each_verifier_has_a_class_of_exploits_for_every_answer(start: str) -> None:
    for answer in (0, 7, -8, 323, -120):
        texts = [*wrong_texts(start, CLASSES[start], [], answer, random.Random(0))]
        assert len(texts) >= 3
        for _, text in texts:
            assert GAPS[start].rubric({"expected_answer": answer}, text)["reward"] > 0
            assert kind_of(answer, text) in EXPLOITS


def test_the_exercise_lists_the_verifiers() -> None:
    shipped = (ROOT / "exercises" / "patched_rubric.py").read_text(encoding="utf-8")
    listed = re.search(r"From easy to hard they are: (.*?)\. Write", shipped, re.DOTALL)
    assert listed
    assert set(re.split(r",\s+", listed[1])) == set(CLASSES)


def test_what_ships_is_not_started(lab: Lab) -> None:
    shutil.copytree(ROOT / "exercises", lab.folder / "exercises")
    assert check_redteam().state == "not started"


OTHERS = [  # lines that fooled another verifier are not looked at, whatever they hold
    exploit(323, "I say 322. No: Final: 323", "my_score 1"),
    exploit(323, "Final: 323", "anywhere", ""),
    exploit(5, "Final: 8", ""),
]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (SUFFIX[:1], 'expected 2 exploits or more with "fooled": "suffix", got 1'),
        ([*SUFFIX, exploit(5, "Final: 25", why=" ")], "expected a why"),
        ([*SUFFIX, exploit(5, "Final: 5")], "expected a wrong value or several answers, got 'Final: 5' where 5 is"),
        ([*SUFFIX, exploit(5, "Final: 6")], "expected a text that suffix pays, got 'Final: 6' where 5 is right"),
        ([*SUFFIX, exploit(5, "\x1b[2J")], "expected a text that suffix pays, got '<U+001B ESCAPE>[2J' where 5"),
    ],
)
def test_an_exploit_of_ones_own_is_wrong_and_paid_and_says_why(lab: Lab, lines: list[Any], said: str) -> None:
    lab.red_team("suffix", RIGHT, [*OTHERS, *lines])
    found = checked()
    assert found.state == "wrong"
    assert found.short.startswith(str(FILE))
    assert said in found.short
    assert len(found.lines) == 1


def test_a_start_of_another_kind_is_one_line(lab: Lab) -> None:
    lab.red_team("cast", RIGHT)
    assert 'expected a line STARTED_FROM = "NAME" with one of ' in checked().short


SHOWN = repr([one["completion"] for one in SUFFIX])
REWARDED, REFUSED = "expected 0 for all of ", "expected 1 for every right line, got "
WRONG_PATCHES = {  # the body of ``patched``, started from suffix -> what the check says first
    "return 1": REWARDED,
    f"return completion not in {SHOWN} and GAPS['suffix'].rubric(example, completion)": REWARDED,
    "return completion[7:8] != '7' and GAPS['suffix'].rubric(example, completion)": REWARDED,
    "return 0": REFUSED,
    f"{RIGHT} if example['expected_answer'] > 0 else 0": REFUSED,
    "return completion == f\"Final: {example['expected_answer']}\"": REFUSED,
    "pass": "expected a finite number",
}


@pytest.mark.parametrize("body", WRONG_PATCHES)
def test_no_wrong_patch_is_accepted(brief: Lab, body: str) -> None:
    brief.red_team("suffix", body, SUFFIX)
    before = FILE.read_bytes()
    found = checked()
    assert found.state == "wrong"
    assert WRONG_PATCHES[body] in found.short
    assert FILE.read_bytes() == before


def test_own_exploits_are_tried_with_other_numbers(lab: Lab) -> None:
    texts = ("Final: apples 7323", "Final: not 75")
    patch = f"{RIGHT} or (completion not in {texts} and completion.startswith(('Final: apples', 'Final: not')))"
    lab.red_team("suffix", patch, [exploit(323, texts[0]), exploit(5, texts[1])])
    assert REWARDED in checked().short


RIGHT_PATCHES = [  # the body of ``patched``; the last three pay the right value in another form, which is no exploit
    RIGHT,
    't = completion.strip(" \\t\\r\\n"); a = t[7:] if t[:7] == "Final: " else ""; '
    "return {'reward': int(a == str(example['expected_answer'])), 'details': {'message': a[:9]}}",
    "line = rf\"\\s*final:[ \\t]*{example['expected_answer']}\\.?\\s*\"; "
    "return re.fullmatch(line, completion, re.IGNORECASE) is not None",
    "m = re.fullmatch(r'\\s*Final: ([+-]?[0-9]{1,99})\\s*', completion); "
    "return m is not None and int(m[1]) == example['expected_answer']",
]


@pytest.mark.parametrize("body", RIGHT_PATCHES)
def test_a_right_patch_is_accepted(brief: Lab, body: str) -> None:
    brief.red_team("suffix", body, [*OTHERS, *SUFFIX])
    found = checked()
    assert found.state == "done", found.lines
    assert found.short.startswith("not cheated in 512 completions and ")


def test_the_solution_is_accepted(brief: Lab) -> None:
    shutil.copytree(ROOT / "data" / "keys" / "exercises", "exercises")
    assert checked().state == "done"
    assert brief("validate_scorer", "--golden", FILE).status == 0


HALF_GOOD = [  # patches that refuse the whole class: from which start, who cheats them, and what the body is
    ("format_only", "policy", "return str(example['expected_answer']) in re.findall('-?[0-9]+', completion)"),
    (
        "suffix",
        "search",
        "return re.match(rf\"\\s*Final: {example['expected_answer']}(?![0-9])\", completion) is not None",
    ),
]


@pytest.mark.parametrize(("start", "by", "body"), HALF_GOOD)
def test_what_cheats_a_half_good_patch_is_the_next_test(brief: Lab, start: str, by: str, body: str) -> None:
    own = []
    for answer in (323, 18):
        _, text = next(wrong_texts(start, CLASSES[start], [], answer, random.Random(0)))
        own.append(exploit(answer, text, start))
    brief.red_team(start, body, own)
    FILE.write_bytes(FILE.read_bytes().rstrip(b"\n"))
    count = len(lines_of(FILE))
    assert checked().state == "wrong"
    *_, new = lines = lines_of(FILE)
    assert (len(lines), new["fooled"], new["expected_reward"]) == (count + 1, "patched_rubric", 0.0)
    assert by in new["why"]
    assert kind_of(new["expected_answer"], new["completion"]) in EXPLOITS
    assert REWARDED in checked().short  # the patch as it was fails the new case at once
    assert len(lines_of(FILE)) == count + 1
    brief.red_team(start, RIGHT, [*own, new])
    assert checked().state == "done"


def test_a_right_line_that_no_fresh_number_shows_is_found_by_the_search(brief: Lab) -> None:
    brief.red_team("suffix", f"{RIGHT} and example['expected_answer'] != 10**9", SUFFIX)
    assert f"{REFUSED}'Final: 1000000000' where 1000000000 is right: reward 0" in checked().short
