"""What course.attack prints: the shortest text of each kind, nothing of it obeyed, and a verdict last."""

from course.reports.attack import Judged, attack_verdict, found_in, found_text, try_text


def judged(completion: str, reward: float, true: float) -> Judged:
    return Judged({"id": "a", "prompt": "?", "expected_answer": 7}, completion, reward, true)


BOTH = found_in([judged("Final: 77", 1, 0), judged("7", 0.5, 0), judged("Final: 7", 0.25, 1), judged("x", 0, 0)])


def test_the_shortest_stands_first_and_what_agrees_is_only_counted() -> None:
    assert (BOTH.tried, len(BOTH.false_positives), len(BOTH.false_negatives)) == (4, 2, 1)
    assert found_text("1 golden sets", BOTH).split("\n") == [
        "1 golden sets (4 texts)",
        "  wrong, rewarded  2, such as '7' where 7 is expected: reward 0.5",
        "  right, refused   'Final: 7' where 7 is expected: reward 0.25",
    ]
    assert "wrong, rewarded  none" in found_text("1 golden sets", found_in([]))


def test_a_hostile_text_is_shown_and_short() -> None:
    text = found_text("1 golden sets", found_in([judged("\x1b[31m" + "a" * 100_000, 1, 0)]))
    assert "'<U+001B ESCAPE>[31maaa" in " ".join(text.split())
    assert len(text) < 500
    told = {"reward": 1, "details": {"message": "\x1b" * 99}}
    tried = try_text("f.py:v", "\x1b", told, {"reward": 0, "details": {"outcome": "x", "message": "y"}})
    assert "\x1b" not in tried
    assert max(map(len, tried.split("\n"))) <= 80


def test_the_verdict_names_a_cheat_first_then_a_refusal_then_what_was_tried() -> None:
    assert attack_verdict([BOTH, BOTH], None).startswith(
        "FAILED: it is cheated by '7' where 7 is expected: reward 0.5 (8"
    )
    refused = found_in([judged("Final: 7", 0, 1)])
    assert " ".join(attack_verdict([refused], 5).split()) == (
        "FAILED: it refuses 'Final: 7' where 7 is expected: reward 0 (1 texts were tried, then --seconds 5 had passed)"
    )
    assert attack_verdict([], 5).startswith("undecided: no text was found ")
    assert (
        attack_verdict([found_in([])], None)
        == "no text was found on which it differs from the spec; 0 texts were tried"
    )
