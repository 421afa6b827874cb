"""Write docs/gate_attacks.md and its parts: every attack on the gate of tests/attacks, and what the gate said of it.

    .venv/bin/python docs/make_gate_attacks.py

The attacks are made and the commands are run: nothing in the pages is written down beforehand but the names.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
DOC = LAB / "docs" / "gate_attacks.md"
REFERENCE = LAB / "docs" / "reference"

HEAD = """\
# Attacks on the gate

`tests/attacks` makes each of these with the real commands, on small runs, and gives them to `course.gate`.
`docs/make_gate_attacks.py` writes this page and its parts from what the gate said.

REJECT is exit status 1, INCONCLUSIVE 3, PROMOTE 0. "Refused" is 2: the command that should have measured, or the gate,
says in one line what to mend. Of each answer the part is shown that names the cause. All that the gate can answer is
in [the gate](reference/gate.md)."""

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

# The sections of the first page; of each the parts: a name, a title, and the headings that stand on it.
SECTIONS = (
    (FORGERIES, (
        ("manifest", "Forged manifests", ["The manifest says another thing than the run is"]),
        ("rows", "Forged rows", ["The rows say another thing than was measured"]),
        ("files", "Forged summaries, exchanged files",
         ["The summary says another thing than the rows", "Files in other places"]),
    )),
    (MISTAKES, (
        ("data", "Honest mistakes with data",
         ["Files that do not belong together", "Not everything was answered", "The examples are not the same",
          "Holdouts, and what a policy was trained on"]),
        ("comparison", "Honest mistakes with comparisons",
         ["More was turned than the one thing studied, or nothing", "What happened to a run afterwards"]),
    )),
    (IMPROVEMENTS, (("improvements", "Honest improvements", ["What is promoted"]),)),
)  # fmt: skip


def tables() -> Iterator[tuple[str, str]]:
    """Each heading with its table; the attacks are made on the way."""
    from attacks.findings import of_forgery, of_improvement, of_mistake
    from attacks.forgeries import FORGERIES as BY_FORGED
    from attacks.improvements import IMPROVEMENTS as IMPROVED
    from attacks.laboratory import VERDICTS
    from attacks.mistakes import MISTAKES as BY_CAUSE

    from docs.taken_from_code.markdown import table

    for title, forgeries in BY_FORGED.items():
        rows = []
        for forgery in forgeries:
            found = of_forgery(forgery)
            noticed = f"no: {forgery.believed}" if found.log_forged.status == 0 else "yes"
            side = "both" if len(forgery.sides) > 1 else forgery.sides[0]
            rows.append([forgery.name, side, VERDICTS[found.gate.status], forgery.said, noticed])
        yield title, table(["forged", "in", "the gate says", "because", "noticed without the log"], rows)
    for title, mistakes in BY_CAUSE.items():
        said = [[(one.make.__doc__ or ""), VERDICTS[of_mistake(one).status], one.said] for one in mistakes]
        yield title, table(["what was done", "what is said", "because"], said)
    rows = [[one.__doc__ or "", VERDICTS[of_improvement(one).status]] for one in IMPROVED]
    yield "What is promoted", table(["what was done", "the gate says"], rows)


def counts() -> str:
    """How many there are of each kind."""
    from attacks.forgeries import FORGERIES as BY_FORGED
    from attacks.improvements import IMPROVEMENTS as IMPROVED
    from attacks.mistakes import MISTAKES as BY_CAUSE

    numbers = [sum(map(len, kinds.values())) for kinds in (BY_FORGED, BY_CAUSE)]
    return f"{numbers[0]} forgeries and {numbers[1]} mistakes: none promoted. {len(IMPROVED)} improvements: all are."


def attacks_pages() -> dict[Path, str]:
    """The first page and its parts in Markdown."""
    found = dict(tables())
    first, pages = [HEAD, counts()], {}
    for opening, parts in SECTIONS:
        links = []
        for name, title, headings in parts:
            written = [f"# {title}", "How they were made, and what the columns mean: [attacks](../gate_attacks.md)."]
            for heading in headings:
                rows = found.pop(heading)
                anchor = re.sub(r"[^\w ]", "", heading.lower()).replace(" ", "-")
                count = rows.count("\n") - 1  # besides the two lines of the head
                links.append(f"- [{heading}](reference/gate_attacks_{name}.md#{anchor}): {count}")
                written += [f"## {heading}", rows]
            pages[REFERENCE / f"gate_attacks_{name}.md"] = "\n\n".join(written) + "\n"
        first += [opening, "\n".join(links)]
    assert not found, f"on no page: {', '.join(found)}"
    return {DOC: "\n\n".join(first) + "\n"} | pages


if __name__ == "__main__":
    sys.path[:0] = [str(LAB), str(LAB / "tests")]
    for path, text in attacks_pages().items():
        path.write_text(text, encoding="utf-8", newline="\n")
