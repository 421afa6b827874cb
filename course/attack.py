"""Machinery: attack any verifier of one-line integer answers, your own or one of the course's.

    python3 -m course.attack --rubric suffix --try "Final: 7323" --expected 323
    python3 -m course.attack --rubric mine.py:verify
    python3 -m course.attack --rubric mine.py:verify --json

The verifier is a function of a Python file with the scorer's signature; it may also return the bare reward. With
``--try`` it is asked about one text. Without, three attacks look for a text that it rewards above the spec: the golden
sets, the shortest such text, and a small policy that learns from its rewards. Status 1: one of them found something,
or a right line that is not rewarded in full; 3: nothing, and its time ran out. A wider format counts as found.
"""

import json
import re
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from course.command import Parser, non_negative_int, positive_int, run_command
from course.rubrics.hackable import GAPS, in_words
from course.score import score
from course.show.tables import wrap_sentence
from course.show.terminal import show, with_progress
from course.text import clipped, quote
from course.verifier import GOLDS, Findings, Verifier, collect_findings, make_example, optimise, search, try_golden_sets


def main() -> int:
    parser = Parser("course.attack", "Find a text that a verifier rewards and the spec does not.")
    help_ = "FILE:FUNCTION, or the name of a rubric of the course"
    parser.add_argument("--rubric", required=True, metavar="RUBRIC", help=help_)
    help_ = r"ask about this one text; \n, \r, \t and \uXXXX in it stand for the character"
    parser.add_argument("--try", dest="completion", metavar="TEXT", help=help_)
    parser.add_argument("--expected", type=int, default=323, help="its expected answer (default: 323)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the policy's draws (default: 0)")
    parser.add_argument("--seconds", type=positive_int, default=60, help="stop after so many, and say so (default: 60)")
    parser.add_argument("--json", action="store_true", help="print what was found for a program")
    args = parser.parse_args()
    with Verifier(args.rubric, args.seconds) as verifier:
        return attack(verifier, args) if args.completion is None else try_one(verifier, args)


def attack(verifier: Verifier, args: Namespace) -> int:
    attacks: dict[str, Callable[[Verifier], Findings]] = {
        "golden sets": try_golden_sets,
        "search for the shortest text": lambda asked: search(
            asked, lambda golds: with_progress(golds, "searching", len(GOLDS))
        ),
        "a policy that learns from its rewards": lambda asked: optimise(
            asked, args.seed, lambda updates: with_progress(updates, "learning")
        ),
    }
    findings: dict[str, Findings] = {}
    with suppress(TimeoutError):
        for number, (name, find) in enumerate(attacks.items(), 1):
            findings[name] = find(verifier)
            if not args.json:
                show(describe_findings(f"{number} {name}", findings[name]))
    seconds = args.seconds if len(findings) < len(attacks) else None
    if args.json:
        outcome = {"rubric": args.rubric, "seed": args.seed, "stopped_after": seconds, "found": findings}
        print(json.dumps(outcome, default=vars))
    else:
        show(describe_verdict([*findings.values()], seconds))
    if any(one.false_positives or one.false_negatives for one in findings.values()):
        return 1
    return 0 if seconds is None else 3


def try_one(verifier: Verifier, args: Namespace) -> int:
    """Status 1 where the rubric's reward is not the spec's."""
    completion = re.sub(r"\\([nrt]|u[0-9a-fA-F]{4})", lambda escape: json.loads(f'"{escape[0]}"'), args.completion)
    example = make_example(args.expected)
    result, true = verifier(example, completion), score(example, completion)
    show(describe_try(args.rubric, completion, result, true))
    return int(result["reward"] != true["reward"])


def describe_findings(title: str, found: Findings) -> str:
    lines = [f"{title} ({found.tried:,} texts)"]
    for kind, some in (("wrong, rewarded", found.false_positives), ("right, refused", found.false_negatives)):
        count = f"{len(some)}, such as " if len(some) > 1 else ""
        lines.append(f"  {kind:15}  {count}{some[0] if some else 'none'}")
    return "\n".join(map(wrap_sentence, lines))


def describe_verdict(attacks: Sequence[Findings], seconds: int | None) -> str:
    """The end of a page. ``seconds``: after so many it was stopped; None where it was not."""
    every = collect_findings([one for found in attacks for one in found.false_positives + found.false_negatives])
    tried = f"{sum(found.tried for found in attacks):,} texts were tried"
    tried += "" if seconds is None else f", then --seconds {seconds} had passed"
    if some := every.false_positives or every.false_negatives:
        return wrap_sentence(
            f"FAILED: it {'is cheated by' if every.false_positives else 'refuses'} {some[0]} ({tried})"
        )
    undecided = "" if seconds is None else "undecided: "
    return wrap_sentence(f"{undecided}no text was found on which it differs from the spec; {tried}")


def describe_try(rubric: str, completion: str, result: dict[str, Any], true: dict[str, Any]) -> str:
    """One text: what the rubric gives and says, and what the spec gives and says."""
    if rubric in GAPS:
        result = in_words(result, completion)
    said = clipped(str(result["details"].get("message", "")), 300)
    lines = [
        f"text      '{clipped(completion, 200)}'",
        f"rubric    {result['reward']:.4g}  {quote(rubric)}: {said or 'no message'}",
        f"the spec  {true['reward']:.4g}  {true['details']['outcome']}: {true['details']['message']}",
    ]
    return "\n".join(map(wrap_sentence, lines))


if __name__ == "__main__":
    run_command(main)
