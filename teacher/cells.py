"""Machinery: what stands in the gradebook's cells: words for a state, and text that no spreadsheet runs."""

from check.result import TO_READ

# A program sees that a note is whole. Whether it is right, a teacher decides.
HANDED_IN = "handed in"
_STARTS_A_FORMULA = (
    "=",
    "+",
    "-",
    "@",
    "\t",
    "\r",
    "\uff1d",
    "\uff0b",
    "\uff0d",
    "\uff20",
)


def state_words(state: str) -> str:
    """A state of the check in the teacher's words."""
    return HANDED_IN if state == TO_READ else state


def student_cell(name: str) -> str:
    """A student's name as a cell: 1e5 and 3-4 are names here."""
    if name[:1].isdigit():
        return f"'{name}"
    return defuse(name)


def defuse(text: str) -> str:
    """A cell that a spreadsheet shows and does not run."""
    if text.lstrip(" ").startswith(_STARTS_A_FORMULA):
        return f"'{text}"
    return text
