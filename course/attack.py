r"""Machinery: attack any verifier of integer answers, your own or one of the course.

    python3 -m course.attack last_number
    python3 -m course.attack mine.py:verify --form '\boxed{…}'
    python3 -m course.attack mine.py:verify --learn
    python3 -m course.attack suffix --try "Final: 7323" --expected 323

The verifier is a function in a Python file. The names of its parameters say how to call it: ``(example, completion)``,
``(completion, answer)``, TRL's ``(completions, answer, **kwargs)``; otherwise use ``--call``. ``--form`` says how a
right answer is written. Texts are sorted as a person would sort them, and a reward above 0 counts as paid. A verifier
fails (status 1) if it pays a wrong value or several answers, or refuses a right line. Three findings are reported and
are not faults: the verifier pays a right value in a different form, refuses white space around the right line, or
raises an exception on any other text. Status 3: the time ran out before a fault was found.
"""

import json
import re
from argparse import Namespace
from collections import Counter
from dataclasses import asdict
from typing import Any, NoReturn

from course.attack_text import describe_curve, describe_findings, describe_try
from course.attack_worker import Worker
from course.command import Parser, non_negative_int, positive_int, run_command
from course.errors import UserError
from course.rubrics.forms import FINAL, Form, parse_form
from course.rubrics.kinds import EXPLOITS, Kind, kind_of
from course.search import Findings, PolicyText, learn_from, make_example, search
from course.show.terminal import show, with_progress
from course.text import quote

EVERY = 20  # updates between two rows of the curve


def main() -> int:
    parser = Parser("course.attack", "Find wrong answers that a verifier pays, and right answers that it refuses.")
    help_ = "FILE:FUNCTION, or the name of a rubric of the course"
    parser.add_argument("verifier", nargs="?", metavar="VERIFIER", help=help_)
    parser.add_argument("--rubric", metavar="VERIFIER", help="the same, as an option")
    help_ = "how a right answer is written, with … in place of the integer (default: 'Final: …')"
    parser.add_argument("--form", type=parse_form, default=FINAL, help=help_)
    parser.add_call_option()
    parser.add_argument(
        "--learn", action="store_true", help="train a small policy on the verifier, and show what it learned"
    )
    help_ = r"ask about this one text; \n, \r, \t and \uXXXX in TEXT stand for these characters"
    parser.add_argument("--try", dest="completion", metavar="TEXT", help=help_)
    parser.add_argument("--expected", type=int, default=323, help="the right answer for --try (default: 323)")
    parser.add_argument(
        "--seed", type=non_negative_int, default=0, help="seed of the policy's random draws (default: 0)"
    )
    parser.add_argument("--seconds", type=positive_int, default=60, help="stop after this many seconds (default: 60)")
    parser.add_argument("--json", action="store_true", help="print the findings as one JSON object")
    args = parser.parse_args()
    if (args.verifier is None) == (args.rubric is None):
        parser.error("expected one verifier, such as mine.py:verify, got none or two")
    place = args.rubric if args.verifier is None else args.verifier
    with Worker(place, args.call, args.seconds) as worker:
        if worker.facts.is_guess:
            refuse_wrong_guess(worker, args.form.line(args.expected), args.expected)
        return attack(worker, args) if args.completion is None else try_text(worker, args)


def refuse_wrong_guess(worker: Worker, right_line: str, expected: int) -> None:
    """Raises UserError if the call was guessed and a right line has no reward: the guess is then wrong."""
    (answer,) = worker.answers([(make_example(expected), right_line)])
    if answer.failure:
        got = f"the right answer '{quote(right_line)}' got no reward: {answer.failure}"
        raise UserError(f"{worker.facts.name}: {got}{worker.facts.hint}")


def attack(worker: Worker, args: Namespace) -> int:
    findings = Findings()
    curve: list[dict[str, Any]] = []
    last: list[PolicyText] = []
    seconds = None
    try:
        search(worker, args.form, findings, lambda kinds: with_progress(kinds, "searching"))
        if args.learn and findings.right_paid:
            updates = learn_from(worker, args.form, args.seed, lambda items: with_progress(items, "learning"))
            for number, written in enumerate(updates, 1):
                findings.tried += len(written)
                if number % EVERY == 0 or number == 1:
                    kinds = sort_written(written, args.form)
                    add_exploits(findings, written, kinds)
                    curve.append(point_of(number, written, kinds))
                    last = written
    except TimeoutError:
        seconds = args.seconds
    if args.json:
        print(json.dumps(as_json(worker, args, findings, curve, seconds), ensure_ascii=False))
    else:
        show("\n".join(describe_findings(worker.facts, args.form, findings, seconds)))
        if curve:
            show("\n".join(describe_curve(curve, last, sort_written(last, args.form), seconds)))
    if findings.has_fault:
        return 1
    return 0 if seconds is None else 3


def try_text(worker: Worker, args: Namespace) -> int:
    """Print what the verifier gives for the text of --try. Status 1 if it pays an exploit or refuses the right line."""
    completion = re.sub(r"\\([nrt]|u[0-9a-fA-F]{4})", lambda escape: json.loads(f'"{escape[0]}"'), args.completion)
    (answer,) = worker.answers([(make_example(args.expected), completion)])
    show("\n".join(describe_try(worker.facts.name, args.expected, completion, args.form, answer)))
    kind = kind_of(args.expected, completion, args.form)
    refuses = completion == args.form.line(args.expected) and not answer.is_paid
    return int(refuses or (kind in EXPLOITS and answer.is_paid))


# --- what a policy learned


def sort_written(written: list[PolicyText], form: Form) -> list[Kind]:
    return [kind_of(row.example["expected_answer"], row.completion, form) for row in written]


def add_exploits(findings: Findings, written: list[PolicyText], kinds: list[Kind]) -> None:
    for row, kind in zip(written, kinds, strict=True):
        if kind in EXPLOITS and row.reward > 0:
            findings.add(kind, row.finding())


def point_of(number: int, written: list[PolicyText], kinds: list[Kind]) -> dict[str, Any]:
    """A row of the curve: shares of what was written in one update."""
    counts = Counter(kinds)
    paid = sum(row.reward > 0 for row in written)
    exploits = sum(row.reward > 0 and kind in EXPLOITS for row, kind in zip(written, kinds, strict=True))
    return {
        "update": number,
        "paid": paid / len(written),
        **{kind.value: counts[kind] / len(written) for kind in Kind},
        "exploits": exploits / len(written),
        "failures": sum(bool(row.failure) for row in written) / len(written),
    }


def as_json(
    worker: Worker, args: Namespace, findings: Findings, curve: list[dict[str, Any]], seconds: int | None
) -> dict[str, Any]:
    if findings.has_fault:
        verdict = "failed"
    elif seconds is None:
        verdict = "passed"
    else:
        verdict = "undecided"
    return {
        "verifier": worker.facts.name,
        "sha256": worker.facts.sha256,
        "call": worker.facts.call,
        "form": str(args.form),
        "seed": args.seed,
        "verdict": verdict,
        "stopped_after": seconds,
        "tried": findings.tried,
        "right_paid": findings.right_paid,
        "paid_forms": [str(form) for form in findings.paid_forms],
        "shortest": {kind.value: asdict(finding) for kind, finding in findings.shortest.items()},
        "white_space_refused": findings.padded and asdict(findings.padded),
        "without_reward": findings.failure and asdict(findings.failure),
        "curve": curve,
    }


def command() -> NoReturn:
    """Also what a wheel installs as ``attack-verifier``."""
    run_command(main)


if __name__ == "__main__":
    command()
