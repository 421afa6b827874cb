"""What the introduction shows of Loop C's differences stands, line by line, on the page that is made from the source.

An example: it shows ``+         reward = rewards[action]``. Were the name changed in the learner, the page of the
differences would follow it, and this test would name the line that the introduction still has.
"""

from conftest import ROOT

START = "```diff example\n"


def test_each_line_of_a_difference_is_one_of_the_source() -> None:
    _, *shown = (ROOT / "docs" / "introduction.md").read_text(encoding="utf-8").split(START)
    source = (ROOT / "docs" / "loop_c_differences.md").read_text(encoding="utf-8").splitlines()
    lines = [line for block in shown for line in block.partition("```")[0].splitlines()]
    assert len(shown) == 3
    assert [line for line in lines if line not in source] == []
