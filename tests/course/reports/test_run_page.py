"""The page of a run.

An example: a run of Loop B in which 3 of 4 passed says its result with an interval, and leaves three blanks for what
only the person knows: expected, observed, conclusion.
"""

import pytest

from course.artifacts.records import Details, Result
from course.artifacts.summary import summary_of
from course.reports.run_page import run_page

ROOM = {"split": "dev", "sampling": None}
ROW = Result("q\x1b1", "<b>?</b>", 7, "Final:\n7", 0.0, Details("not_single_line", None))


def test_a_page_has_the_result_an_example_and_three_blanks() -> None:
    page = run_page("B", summary_of({"ok": 3, "empty": 1}), ROOM, "N is 4", [ROW], 0)
    assert page.startswith("# Loop B: choose\n")
    assert "- Result: 3 of 4 passed: 75.0 %, 95 % interval 30.1 to 95.4 %\n" in page
    assert "- The one change since the run before: N is 4\n" in page
    assert "    split                 dev\n" in page
    assert "    id          q<U+001B ESCAPE>1\n" in page
    assert "    completion  Final:<U+000A LINE FEED>7\n" in page
    for blank in ("Expected (write it", "Observed:", "Conclusion ("):
        assert blank in page
    assert "sampling" not in page
    assert "look number" not in page


@pytest.mark.parametrize(("look", "said"), [(0, False), (3, True)])
def test_a_look_at_the_holdout_stands_on_the_page(look: int, said: bool) -> None:
    assert ("look number 3 at it" in run_page("A", {}, ROOM, None, [], look)) == said


def test_numbers_are_short_and_what_is_undefined_says_so() -> None:
    page = run_page("C", {"kl": None, "rates": [1 / 3, 1], "none": {}, "text": "a\nb"}, {}, None, [], 0)
    assert "    kl                      undefined\n" in page
    assert "    rates                   0.3333, 1\n" in page
    assert "    none                    none\n" in page
    assert "    text                    a<U+000A LINE FEED>b\n" in page
