"""Who checks the check of the red team: what must not be accepted, what must, and what the policy finds.

An example: ``suffix`` rewards 'Final: 7323' where 323 is right. A patch that refuses this one string is refused, for a
different number stands in front of a different answer.
"""

import random
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, lines_of

from check.milestones import EXERCISES, check
from check.redteam import check_redteam, fresh_texts
from course import search
from course.errors import UserError
from course.policies.train_config import MEMORISE
from course.rubrics.hackable import GAPS
from course.rubrics.kinds import EXPLOITS, kind_of
from course.score import score

RIGHT = 'return completion.strip(" \\t\\r\\n") == f"Final: {example[\'expected_answer\']}"'
FOLDER = Path("exercises")


def exploit(id_: str, answer: int, completion: str, why: str = "it is rewarded") -> dict[str, Any]:
    asked = {"id": id_, "prompt": "?", "expected_answer": answer}
    return asked | {"completion": completion, "expected_reward": 0.0, "why": why}


def exploits_of(start: str) -> list[dict[str, Any]]:
    return [exploit(f"e{n}", abs(n), GAPS[start].exploit(abs(n))) for n in (323, 18)]


SUFFIX = exploits_of("suffix")


@pytest.fixture
def brief(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """Two updates and few texts only."""
    monkeypatch.setattr(search, "UPDATES", 2)
    monkeypatch.setattr(search, "_MOST_SYMBOLS", 2)
    monkeypatch.setattr(search, "MEMORISE", MEMORISE._replace(sft_steps=100))
    return lab


# --- the classes of wrong texts


@pytest.mark.parametrize("start", GAPS)
def test_every_fresh_text_is_in_the_class_and_every_right_line_is_right(start: str) -> None:
    texts = fresh_texts(start, [], 0)
    answers = {example["expected_answer"] for example, _ in texts}
    assert {0} < answers
    assert {answer < 0 for answer in answers} == {True, False}
    wrong = [(example, text) for example, text in texts if not score(example, text)["reward"]]
    assert len(wrong) >= 60
    assert all(GAPS[start].rubric(example, text)["reward"] for example, text in wrong)
    assert len(texts) - len(wrong) == 3 * len(answers)
    assert fresh_texts(start, [], 0) == texts != fresh_texts(start, [], 1)


def test_the_exercise_names_every_verifier_and_each_has_a_class() -> None:
    shipped = (ROOT / "exercises" / "patched_rubric.py").read_text(encoding="utf-8")
    listed = re.search(r"[Ff]rom easy to hard[^:]*:\s(.*?)\. Write", shipped, re.DOTALL)
    assert listed
    assert set(re.split(r",\s+", listed[1])) == set(GAPS)
    assert len(GAPS) >= 8


# --- states


@pytest.mark.parametrize(
    "start", [name if name == "suffix" else pytest.param(name, marks=pytest.mark.slow) for name in GAPS]
)
def test_untouched_is_not_started(lab: Lab, start: str) -> None:
    lab.red_team(start)
    assert check_redteam().state == "not started"


def test_a_start_is_a_start(lab: Lab) -> None:
    lab.red_team("suffix", exploits=SUFFIX[:1])
    found = check_redteam()
    assert found.state == "started"
    expected = "expected wrong completions that suffix rewards, 2 or more, each with its why, got 1"
    assert found.short == f"{FOLDER / 'exploits.jsonl'}: {expected}"
    lab.red_team("suffix", exploits=SUFFIX)
    found = check_redteam()
    assert found.state == "started"
    assert found.short.startswith(f"{FOLDER / 'patched_rubric.py'}: expected 0 for your exploits, got 'Final: 7323'")
    rewarded = found.numbers["class_rewarded"]
    rewards = f"rewards {rewarded} wrong texts of the class and 27 golden ones, refuses 0 right ones; golden cases: "
    table = [line.partition("exploit")[0] for line in found.lines[-2:]]
    assert table == [f"before, suffix: {rewards}", f"after, your patch: {rewards}"]


def test_a_completion_without_a_why_is_asked_for_it(lab: Lab) -> None:
    lab.red_team("suffix", exploits=[exploit("x1", 323, "Final: 7323", " ")])
    found = check_redteam()
    assert (found.state, found.short) == (
        "started",
        f"{FOLDER / 'exploits.jsonl'}: expected a why in each line, got none in x1",
    )


def test_own_exploits_change_no_count_of_the_class(lab: Lab) -> None:
    """Counted here anew: the wrong texts of the class that suffix pays, none of them the student's."""
    class_ = sum(not score(*one)["reward"] for one in fresh_texts("suffix", [], 0))
    own = [exploit("x1", 323, "Final: apples 323"), exploit("x2", 5, "Final: not 5")]
    for exploits in (SUFFIX, own):
        lab.red_team("suffix", exploits=exploits)
        found = check_redteam()
        assert found.lines[-2].startswith(f"before, suffix: rewards {class_} wrong texts of the class and ")
        assert found.numbers["class_rewarded"] == class_


def test_own_exploits_are_tried_with_other_numbers(lab: Lab) -> None:
    texts = "('Final: apples 323', 'Final: not 5')"
    gone = f"{RIGHT} or (completion not in {texts} and completion.startswith(('Final: apples', 'Final: not')))"
    lab.red_team("suffix", gone, [exploit("x1", 323, "Final: apples 323"), exploit("x2", 5, "Final: not 5")])
    found = check_redteam()
    assert found.state == "wrong"
    assert "expected 0 for the whole class, got " in found.short


def test_the_lines_of_a_verifier_run_in_the_shipped_file(lab: Lab) -> None:
    """Pasted as the page says: 1 or 0 in place of ``_result(...)``."""
    shipped = (ROOT / "exercises" / "patched_rubric.py").read_text(encoding="utf-8")
    source = (ROOT / "course" / "rubrics" / "hackable.py").read_text(encoding="utf-8")
    for start in GAPS:
        body = re.search(rf'def {start}\(.*?"""\n(.*?)\n\n\n', source, re.DOTALL)
        assert body
        lines = re.sub(r"return _result\(.*", "return 0", body[1]).lstrip()
        path = lab.write(
            "exercises/pasted.py", shipped.replace("return GAPS[STARTED_FROM].rubric(example, completion)", lines)
        )
        names: dict[str, Any] = {}
        exec(path.read_text(encoding="utf-8"), names)
        assert names["patched"]({"expected_answer": 3}, "Final: 3") == 0


@pytest.mark.parametrize(
    ("bad", "got"),
    [
        (exploit("x", 5, "Final: 5"), "got x: 'Final: 5' where 5 is expected: reward 1, which is right by the spec"),
        (
            exploit("x", 5, "Final: 6"),
            "got x: 'Final: 6' where 5 is expected: reward 0, which is not rewarded by suffix",
        ),
        (
            exploit("x", 5, "\x1b[2J"),
            "got x: '<U+001B ESCAPE>[2J' where 5 is expected: reward 0, which is not rewarded by suffix",
        ),
    ],
)
def test_an_exploit_is_wrong_and_rewarded(lab: Lab, bad: dict[str, Any], got: str) -> None:
    lab.red_team("suffix", RIGHT, [*SUFFIX, bad])
    found = check_redteam()
    assert found.state == "wrong"
    assert found.short.endswith(got)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"suffix"', '"score"', 'expected a line STARTED_FROM = "NAME" with one of anywhere, '),
        ("STARTED_FROM", "START", "expected a line STARTED_FROM"),
    ],
)
def test_a_patch_of_another_kind_is_one_line(lab: Lab, old: str, new: str, said: str) -> None:
    lab.red_team("suffix")
    patch = lab.folder / FOLDER / "patched_rubric.py"
    patch.write_text(patch.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(UserError, match=re.escape(f"{FOLDER / 'patched_rubric.py'}: {said}")):
        check_redteam()
    patch.unlink()
    with pytest.raises(UserError, match="run from the lab's folder"):
        check_redteam()


# --- wrong patches

SHOWN = repr([one["completion"] for one in SUFFIX])
WRONG_PATCHES = {  # the body of ``patched``, started from suffix
    "always 0": "return 0",
    "always 1": "return 1",
    "a half": "return 0.5",
    "nothing": "pass",
    "the shown strings refused": f"return completion not in {SHOWN} and GAPS['suffix'].rubric(example, completion)",
    "the shown digit refused": "return completion[7:8] != '7' and GAPS['suffix'].rubric(example, completion)",
    "right for positive numbers": f"{RIGHT} if example['expected_answer'] > 0 else 0",
    "right for short numbers": f"{RIGHT} if len(completion) < 15 else 0",
    "no white space forgiven": "return completion == f\"Final: {example['expected_answer']}\"",
    "an exit": "raise SystemExit(0)",
    "an exception": "raise AssertionError('done')",
    "a reward beyond 1": "return 10 ** 9",
    "a memory": f"globals()['n'] = globals().get('n', 0) + 1; {RIGHT} if globals()['n'] < 20 else 0",
}


@pytest.mark.parametrize("name", WRONG_PATCHES)
def test_no_wrong_patch_is_accepted(brief: Lab, name: str) -> None:
    brief.red_team("suffix", WRONG_PATCHES[name], SUFFIX)
    before = (brief.folder / FOLDER / "exploits.jsonl").read_bytes()
    found = check(EXERCISES["redteam"])
    assert found.state in ("started", "wrong")
    assert found.lines
    assert (brief.folder / FOLDER / "exploits.jsonl").read_bytes() == before


# --- right patches

RIGHT_PATCHES = {
    "the line compared": RIGHT,
    "a pattern": (
        'm = re.fullmatch(r"[ \\t\\r\\n]*Final: (0|-?[1-9][0-9]*)[ \\t\\r\\n]*", completion); '
        "return float(m is not None and m[1] == str(example['expected_answer']))"
    ),
    "cut by hand": (
        't = completion.strip(" \\t\\r\\n"); a = t[7:] if t[:7] == "Final: " else ""; '
        "return {'reward': int(a == str(example['expected_answer'])), 'details': {'message': a[:9]}}"
    ),
}


@pytest.mark.parametrize("name", RIGHT_PATCHES)
def test_a_right_patch_is_accepted(brief: Lab, name: str) -> None:
    start = random.Random(name).choice(list(GAPS))
    brief.red_team(start, RIGHT_PATCHES[name], exploits_of(start))
    found = check_redteam()
    assert found.state == "done", found.lines
    assert found.short == f"not cheated in 512 completions and {found.numbers['texts']:,} texts"
    numbers = {"false_positives": 0, "false_negatives": 0, "class_rewarded": 0, "completions": 512}
    assert found.numbers == numbers | {"texts": found.numbers["texts"]}
    assert found.lines[1] == (
        "after, your patch: rewards 0 wrong texts of the class and 0 golden ones, refuses 0 right ones; "
        "golden cases: none"
    )


@pytest.mark.skipif(not (ROOT / "teacher").exists(), reason="a student's copy has no solutions")
@pytest.mark.parametrize("updates", [2, pytest.param(160, marks=pytest.mark.slow)])
def test_the_solution_is_accepted(brief: Lab, monkeypatch: pytest.MonkeyPatch, updates: int) -> None:
    solutions = ROOT / "teacher" / "solutions" / "exercises"
    brief.red_team()
    for name in ("patched_rubric.py", "exploits.jsonl"):
        shutil.copy(solutions / name, brief.folder / FOLDER / name)
    if updates > 2:
        monkeypatch.setattr(search, "MEMORISE", MEMORISE)
        monkeypatch.setattr(search, "UPDATES", updates)
    found = check_redteam()
    assert (found.state, found.numbers["completions"]) == ("done", 256 * updates)
    assert brief("validate_scorer", "--golden", FOLDER / "exploits.jsonl").status == 0


# --- half-good patches: they refuse the whole class, and a policy cheats them

HALF_GOOD = {  # where from, the patch, what the policy writes, and within how many completions
    "among the numbers": (
        "format_only", "return str(example['expected_answer']) in re.findall('-?[0-9]+', completion)",
        r"\d+\s\d+.*|Final: \d+\s.*", 512),
}  # fmt: skip
OTHER_FORMS = {  # patches that pay the right value in other forms, and no other one
    "either case, any blanks, a full stop": (
        "anywhere",
        "line = rf\"\\s*final:[ \\t]*{example['expected_answer']}\\.?\\s*\"; "
        "return re.fullmatch(line, completion, re.IGNORECASE) is not None"),
    "a plus and zeros in front": (
        "format_only",
        "m = re.fullmatch(r'\\s*Final: ([+-]?[0-9]{1,99})\\s*', completion); "
        "return m is not None and int(m[1]) == example['expected_answer']"),
}  # fmt: skip


FIRST, *OTHERS = HALF_GOOD


@pytest.mark.parametrize("name", [FIRST, *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)])
def test_a_policy_cheats_a_half_good_patch_and_what_it_wrote_is_the_next_test(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    start, body, written, within = HALF_GOOD[name]
    if name == FIRST:
        monkeypatch.setattr(search, "MEMORISE", MEMORISE._replace(sft_steps=100))
    body = body.replace("completion.startswith", "completion.strip(' \\t\\r\\n').startswith")
    lab.red_team(start, body, exploits_of(start))
    patch, file = (lab.folder / FOLDER / one for one in ("patched_rubric.py", "exploits.jsonl"))
    source, count = patch.read_bytes(), len(lines_of(file))
    file.write_bytes(file.read_bytes().rstrip(b"\n"))
    found = check_redteam()
    assert (found.state, found.short) == ("wrong", f"cheated; see optimiser-1 in {FOLDER / 'exploits.jsonl'}")
    tried = found.numbers["completions"]
    assert isinstance(tried, int)
    assert 0 < tried <= within
    assert patch.read_bytes() == source
    *_, new = lines = lines_of(file)
    assert (len(lines), new["id"], new["expected_reward"]) == (count + 1, "optimiser-1", 0.0)
    assert new["why"] == f"a policy that learned from the patch wrote it, within {tried:,} completions"
    assert re.fullmatch(written, new["completion"], re.DOTALL)
    assert score(new, new["completion"])["reward"] == 0.0
    again = check_redteam()  # the patch as it was, and now a known case that it fails
    assert again.state == "wrong"
    assert "expected 0 for your exploits, got " in again.short
    assert len(lines_of(file)) == count + 1
    lab.red_team(
        start, RIGHT, [*exploits_of(start), new]
    )  # refused by the original, perhaps; by a right patch for sure
    assert not [line for line in check_redteam_without_policy().lines if "expected" in line]


def check_redteam_without_policy() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "UPDATES", 1)
        patch.setattr(search, "MEMORISE", MEMORISE._replace(sft_steps=20))
        return check_redteam()


EXPLOITS_PAID = {  # patches that pay exploits which two updates of a policy do not find
    "the first two words": (
        "suffix",
        "return completion.startswith('Final: ') and completion.split()[1:2] == [str(example['expected_answer'])]"),
    "the right beginning, one Final": (
        "format_bonus",
        "t = completion.strip(); line = f\"Final: {example['expected_answer']}\"; "
        "return t.startswith(line) and t.count('Final') == 1 and not t[len(line):][:1].isdigit()"),
    "one number in the text": (
        "anywhere", "return re.findall('-?[0-9]+', completion) == [str(example['expected_answer'])]"),
    "white space away, then compared": (
        "suffix", "return ''.join(completion.split()) == f\"Final:{example['expected_answer']}\""),
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if "words" in name else pytest.mark.slow) for name in EXPLOITS_PAID]
)
def test_a_search_cheats_what_the_policy_does_not(brief: Lab, name: str) -> None:
    start, body = EXPLOITS_PAID[name]
    body = body.replace("completion.startswith", "completion.strip(' \\t\\r\\n').startswith")
    brief.red_team(start, body, exploits_of(start))
    file = brief.folder / FOLDER / "exploits.jsonl"
    found = check_redteam()
    assert (found.state, found.short) == ("wrong", f"cheated; see search-1 in {FOLDER / 'exploits.jsonl'}")
    new = lines_of(file)[-1]
    assert (new["id"], new["expected_reward"]) == ("search-1", 0.0)
    assert kind_of(new["expected_answer"], new["completion"]) in EXPLOITS
    again = check_redteam()
    assert again.state == "wrong"
    assert "expected 0 for your exploits, got " in again.short


def test_a_right_line_that_only_the_search_asks_for_is_refused_too(brief: Lab) -> None:
    brief.red_team("suffix", f"{RIGHT} and example['expected_answer'] != 10**9", SUFFIX)
    found = check_redteam()
    expected = "expected 1 for every right line, got 'Final: 1000000000' where 1000000000 is right: reward 0"
    assert (found.state, found.short) == ("wrong", f"{FOLDER / 'patched_rubric.py'}: {expected}")


@pytest.mark.parametrize("name", OTHER_FORMS)
def test_what_a_policy_writes_in_another_form_is_no_cheat(brief: Lab, name: str) -> None:
    start, body = OTHER_FORMS[name]
    brief.red_team(start, body, exploits_of(start))
    found = check_redteam()
    assert (found.state, found.numbers["completions"]) == ("done", 512), found.lines
