"""Write docs/loop_c_differences.md: the four functions called ``learn``, and what each changes in the one before.

    python3 docs/make_differences.py

The source is compared as it is formatted, without blank lines, comments, docstrings and imports. A replaced line
counts once: of a stretch of lines in the place of another, the longer one counts.
"""

import ast
import io
import tokenize
from difflib import SequenceMatcher, ndiff
from pathlib import Path
from typing import NamedTuple

LAB = Path(__file__).resolve().parents[1]
DOC = LAB / "docs" / "loop_c_differences.md"


class Loop(NamedTuple):
    """One file with a ``learn``, and what it adds to the loop before."""

    path: str
    title: str
    text: str  # of its section
    idea: str = ""  # of the overview
    starts: tuple[str, ...] = ()  # of the lines that hold the idea


LOOPS = (
    Loop(
        "course/policy_gradient_demo.py",
        "The loop",
        "An action is sampled and scored, the reward is compared with the baseline, and theta changes.",
    ),
    Loop(
        "course/bandit_train.py",
        "Side by side",
        "N runs learn at the same time, so theta, the baseline and everything that follows from them get an axis of "
        "runs. The verifier is called once for each arm, before the loop. Nothing else changes.",
        "Many bandits learn side by side. For this, each arm is scored once, before the loop:",
        ("reward =",),
    ),
    Loop(
        "course/toy_mdp.py",
        "Plus time",
        "An episode has several steps. Theta has a row for each state, and the return takes the place of the reward. "
        "There is one run again, always with the baseline. `credited` can switch off the update of a step.",
        "An episode has several steps. The return, which is the sum of the rewards from a step on, takes the place of "
        "the reward:",
        ("advantage =",),
    ),
    Loop(
        "course/policies/token_learner.py",
        "Plus tokens",
        "The policy is a network that writes many completions in a step. A rubric rewards them, a KL penalty can hold "
        "the policy back, and the baseline can be the rest of a completion's group. So every line has a new word in "
        "it, and the order of the lines stays the same. The policy takes the place of theta, `sample_completions` that "
        "of `sample_trajectory`, and the rubric that of `score`. The return is the reward minus the KL penalty, and "
        "`gradient` takes `grad_log_prob` through the network.",
        "A network writes completions token by token. The return is the reward minus the KL penalty, and the baseline "
        "can be the rest of a completion's group:",
        ("return_ =", "baseline ="),
    ),
)


def learn_lines(source: str) -> list[str]:
    """The lines of the function ``learn``, without blank lines, comments, docstrings and imports."""
    function = next(
        node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef) and node.name == "learn"
    )
    left_out: set[int] = set()
    for node in ast.walk(function):
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, ast.stmt) and (is_docstring or isinstance(node, ast.Import | ast.ImportFrom)):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = source.split("\n")
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column]
    numbers = range(function.lineno, (function.end_lineno or function.lineno) + 1)
    return [lines[n - 1].rstrip() for n in numbers if n not in left_out and lines[n - 1].strip()]


def changed_lines(before: list[str], after: list[str]) -> int:
    """How many lines differ; of two stretches in the same place the longer one counts."""
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in changes if tag != "equal")


def difference(before: list[str], after: list[str]) -> str:
    """The whole of ``after`` as a diff: lines that only ``before`` has start with -, those that only it has with +."""
    return "\n".join(line for line in ndiff(before, after) if not line.startswith("?"))


def lines_of_idea(loop: Loop, lines: list[str]) -> str:
    """The lines of a ``learn`` in which its idea stands, as lines that were added."""
    return "\n".join(f"+ {line}" for line in lines if line.strip().startswith(loop.starts))


def differences_page() -> str:
    """The page in Markdown."""
    sources = [learn_lines((LAB / loop.path).read_text(encoding="utf-8")) for loop in LOOPS]
    first, *others = LOOPS
    parts = [
        "# Loop C as differences",
        "Four files have a function called `learn`. The loop is the same each time, and each file adds one idea to the "
        "file before. Here are the three ideas, each with the lines that hold it.",
    ]
    for loop, lines in zip(others, sources[1:], strict=True):
        parts += [f"**{loop.title}.** {loop.idea}", f"```diff\n{lines_of_idea(loop, lines)}\n```"]
    parts += [
        "Now read the first loop whole, and then only the lines that change. All four loops end with the direction, "
        "`apply_gradient`, `yield` and the baseline, in this order.",
        "`python3 docs/make_differences.py` writes this page from the source. It leaves out comments, docstrings and "
        "imports.",
        f"## {first.title}: `{first.path}`",
        first.text,
        "```python\n" + "\n".join(sources[0]) + "\n```",
    ]
    for loop, before, after in zip(others, sources, sources[1:], strict=False):
        parts += [
            f"## {loop.title}: `{loop.path}`",
            loop.text,
            f"{changed_lines(before, after)} lines changed.",
            f"```diff\n{difference(before, after)}\n```",
        ]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    DOC.write_text(differences_page(), encoding="utf-8", newline="\n")
