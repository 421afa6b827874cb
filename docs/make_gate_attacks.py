"""Write docs/gate_attacks.md: every attack on the gate of tests/attacks, and what the gate said of it.

    python3 docs/make_gate_attacks.py

The attacks are made and the commands are run: nothing in the page is written down beforehand but the names.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
DOC = LAB / "docs" / "gate_attacks.md"

HEAD = """\
# Attacks on the gate

`tests/attacks` makes each of these with the real commands, on small runs, and gives them to `course.gate`.
`python3 docs/make_gate_attacks.py` writes this page from what the gate said.

REJECT is exit status 1, INCONCLUSIVE 3, PROMOTE 0. "Refused" is 2: the command that should have measured, or the gate,
says in one line what to mend. Of each answer the part is shown that names the cause."""

FORGERIES = """\
## Forgeries

Any file of a run is rewritten, and all digests, fingerprints and numbers that others follow from are made to fit. The
log of runs (`runs/log.jsonl`) is not touched, so a run whose manifest changed is in no log, and it is that in each of
these cases. The last column asks for more: what does the gate say where the log was forged too? A fact that can be
derived is still found. One that can be derived from nothing is not, and the column names it: the log alone stands
for it."""

MISTAKES = """\
## Honest mistakes

Nobody forged anything here."""

IMPROVEMENTS = """\
## Honest improvements

The other way round: each of these is promoted, so that the gate is not safe by being of no use."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def parts() -> Iterator[str]:
    """The page, part by part; the attacks are made on the way."""
    from attacks.findings import of_forgery, of_improvement, of_mistake
    from attacks.forgeries import FORGERIES as BY_FORGED
    from attacks.improvements import IMPROVEMENTS as IMPROVED
    from attacks.laboratory import VERDICTS
    from attacks.mistakes import MISTAKES as BY_CAUSE

    numbers = [sum(map(len, kinds.values())) for kinds in (BY_FORGED, BY_CAUSE)]
    yield HEAD
    yield f"{numbers[0]} forgeries and {numbers[1]} mistakes: none promoted. {len(IMPROVED)} improvements: all are."
    yield FORGERIES
    for title, forgeries in BY_FORGED.items():
        rows = []
        for forgery in forgeries:
            found = of_forgery(forgery)
            noticed = f"no: {forgery.believed}" if found.log_forged.status == 0 else "yes"
            sides = " and ".join(forgery.sides)
            rows.append([forgery.name, sides, VERDICTS[found.gate.status], forgery.said, noticed])
        yield f"### {title}"
        yield table(["forged", "in", "the gate says", "because", "noticed without the log"], rows)
    yield MISTAKES
    for title, mistakes in BY_CAUSE.items():
        yield f"### {title}"
        said = [[(one.make.__doc__ or ""), VERDICTS[of_mistake(one).status], one.said] for one in mistakes]
        yield table(["what was done", "what is said", "because"], said)
    yield IMPROVEMENTS
    yield table(
        ["what was done", "the gate says"],
        [[one.__doc__ or "", VERDICTS[of_improvement(one).status]] for one in IMPROVED],
    )


def attacks_page() -> str:
    """The page in Markdown."""
    return "\n\n".join(parts()) + "\n"


if __name__ == "__main__":
    sys.path[:0] = [str(LAB), str(LAB / "tests")]
    DOC.write_text(attacks_page(), encoding="utf-8", newline="\n")
