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
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from course.command import Parser, non_negative_int, positive_int, run_command
from course.reports.attack import Found, attack_verdict, found_text, try_text
from course.reports.terminal import show
from course.score import score
from course.verifier import Verifier, example_with, golden, optimise, search


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
    attacks: dict[str, Callable[[Verifier], Found]] = {
        "golden sets": golden,
        "search for the shortest text": search,
        "a policy that learns from its rewards": partial(optimise, seed=args.seed),
    }
    found: dict[str, Found] = {}
    with suppress(TimeoutError):
        for number, (name, find) in enumerate(attacks.items(), 1):
            found[name] = find(verifier)
            if not args.json:
                show(found_text(f"{number} {name}", found[name]))
    seconds = args.seconds if len(found) < len(attacks) else None
    if args.json:
        said = {"rubric": args.rubric, "seed": args.seed, "stopped_after": seconds, "found": found}
        print(json.dumps(said, default=vars))
    else:
        show(attack_verdict([*found.values()], seconds))
    if any(one.false_positives or one.false_negatives for one in found.values()):
        return 1
    return 0 if seconds is None else 3


def try_one(verifier: Verifier, args: Namespace) -> int:
    """Status 1 where the rubric's reward is not the spec's."""
    completion = re.sub(r"\\([nrt]|u[0-9a-fA-F]{4})", lambda escape: json.loads(f'"{escape[0]}"'), args.completion)
    example = example_with(args.expected)
    result, true = verifier(example, completion), score(example, completion)
    show(try_text(args.rubric, completion, result, true))
    return int(result["reward"] != true["reward"])


if __name__ == "__main__":
    run_command(main)
