r"""Machinery: the form in which a verifier wants its answer, such as ``Final: …`` or ``\boxed{…}``.

Not covered: a form with several places for the answer, and one that is a pattern.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from course.errors import UserError
from course.faults import PREFIX
from course.text import quote

# An answer in the course's own form: from the prefix to the end of its line, or to the next prefix. White space after
# it stays outside, and so does bold or a code span that was opened before the prefix.
_ANSWER = re.compile(rf"(\*\*|`|){PREFIX}((?:(?!{PREFIX}).)*?)(?=[ \t\r]*\1[ \t\r]*(?:\n|\Z|{PREFIX}))")


@dataclass(frozen=True)
class Form:
    """What stands before the answer, and what stands after it."""

    before: str
    after: str

    def __str__(self) -> str:
        return self.line("…")

    def line(self, answer: object) -> str:
        """The answer in this form."""
        return f"{self.before}{answer}{self.after}"

    def rewrite(self, completion: str) -> str:
        r"""A completion in the course's own form, as it would have been written in this one.

        >>> parse_form(r"\boxed{…}").rewrite("11 * 2 = 22\nFinal: 22\n")
        '11 * 2 = 22\n\\boxed{22}\n'
        """
        if self == FINAL:
            return completion
        return _ANSWER.sub(lambda match: f"{match[1]}{self.line(match[2])}", completion)

    @cached_property
    def marker(self) -> "re.Pattern[str] | None":
        """Finds the form in a text, in either case and however spaced. Its group is what stands where the answer does.

        None for a form that is the bare answer.
        """
        before, after = (r"\s*".join(map(re.escape, part.split())) for part in (self.before, self.after))
        if after:
            return re.compile(rf"{before}(.*?){after}", re.IGNORECASE | re.DOTALL)
        if before:
            return re.compile(rf"{before}([^\n]*?)(?=\n|\Z|{before})", re.IGNORECASE)
        return None


FINAL = Form(PREFIX, "")


def parse_form(text: str) -> Form:
    """``<answer>…</answer>``: an ellipsis, or three dots, stands for the answer. Raises UserError."""
    before, *more = text.replace("...", "…").split("…")
    if len(more) != 1:
        expected = "expected the form of a right answer with … where the answer stands, such as 'Final: …'"
        raise UserError(f"{expected}, got {quote(text)}")
    return Form(before, more[0])
