"""Machinery: what ``course.attack`` prints."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from course.attack_worker import Facts
from course.guest import Answer
from course.rubrics.forms import FINAL, Form
from course.rubrics.hackable import GAPS, in_words
from course.rubrics.kinds import EXPLOITS, Kind, kind_of
from course.score import score
from course.search import FAULTS, UPDATES, Finding, Findings, PolicyText, make_example
from course.show.measurement import KIND_NAMES
from course.show.tables import table, wrap_sentence
from course.text import clipped, quote

FAULT_SENTENCES = {
    Kind.WRONG: "the verifier pays a wrong value",
    Kind.SEVERAL: "the verifier pays several answers",
    Kind.RIGHT: "the verifier refuses a right answer",
}
ROWS = {
    Kind.WRONG: "wrong value, paid",
    Kind.SEVERAL: "several answers, paid",
    Kind.RIGHT: "right line, refused",
    Kind.OTHER_FORM: "other form, paid",
}
MANY = 0.1  # from this share of the last completions on, exploits get a line of their own


def describe_findings(verifier: Facts, form: Form, findings: Findings, seconds: int | None) -> Iterator[str]:
    """The report of an attack, with the verdict as its first line."""
    yield wrap_sentence(describe_verdict(verifier, form, findings, seconds))
    guessed = " (guessed; change it with --call)" if verifier.is_guess else ""
    yield f"  {'called as':23}{quote(verifier.call)}{guessed}"
    yield f"  {'form':23}{quote(str(form))}"
    if not findings.right_paid:
        return
    for kind, name in ROWS.items():
        yield wrap_sentence(f"  {name:23}{findings.shortest.get(kind, 'none')}{_blameless(kind, findings)}")
    if findings.padded:
        yield wrap_sentence(f"  {'white space, refused':23}{findings.padded} (not a fault)")
    if findings.failure:
        also = f"; {findings.failures:,} such texts" if findings.failures > 1 else ""
        yield wrap_sentence(f"  {'no reward':23}{findings.failure}{also} (not a fault)")


def _blameless(kind: Kind, findings: Findings) -> str:
    return "" if kind in FAULTS or kind not in findings.shortest else " (not a fault)"


def describe_verdict(verifier: Facts, form: Form, findings: Findings, seconds: int | None) -> str:
    name = verifier.name
    tried = f"{findings.tried:,} texts were tried"
    if seconds is not None:
        tried += f" before --seconds {seconds} had passed"
    refused = findings.shortest.get(Kind.RIGHT)
    if not findings.right_paid and refused and refused.failure:
        return f"FAILED {name}: no right answer in the form {quote(str(form))} gets a reward, such as {refused}"
    if not findings.right_paid and refused:
        others = ", ".join(f"--form '{other}'" for other in findings.paid_forms)
        hint = (
            f"it pays a right answer in a different form: {others}" if others else "otherwise name its form with --form"
        )
        as_number = pass_number(verifier)
        if not others and as_number:
            text = f"the answer is passed as the text '{refused.expected_answer}'"
            hint += f"; {text}, and --call {shlex.quote(as_number)} passes a number"
        unpaid = f"FAILED {name}: no right answer in the form {quote(str(form))} is paid"
        return f"{unpaid}. Is this the form that the verifier expects? ({hint})"
    for kind in FAULTS:
        if kind in findings.shortest:
            return f"FAILED {name}: {FAULT_SENTENCES[kind]}, {findings.shortest[kind]} ({tried})"
    if seconds is not None:
        return f"UNDECIDED {name}: no fault was found; {tried}. Run the attack again with more --seconds"
    return f"PASSED {name}: no fault was found; {tried}"


def pass_number(verifier: Facts) -> str | None:
    """The arguments for --call that pass the answer as a number; None if the call passes no answer as text."""
    arguments = verifier.call[len(verifier.function) + 1 : -1]
    as_number = re.sub(r"(?<![\w'\"(])answer(?![\w='\"])", "int(answer)", arguments)
    return None if as_number == arguments else as_number


def describe_try(name: str, expected: int, completion: str, form: Form, answer: Answer) -> Iterator[str]:
    """One text: the verifier's reward and message, the kind of the text, and the strict scorer's reward and message."""
    message = answer.message
    if name in GAPS:
        result = GAPS[name].rubric(make_example(expected), completion)
        message = in_words(result, completion)["details"]["message"]
    words = answer.failure or clipped(message, 300) or "no message"
    reward = "none" if answer.reward is None else f"{answer.reward:.4g}"
    true = score(make_example(expected), completion)
    outcome = f"{true['details']['outcome']}: {true['details']['message']}"
    yield wrap_sentence(f"text      '{clipped(completion, 200)}'")
    yield wrap_sentence(f"verifier  {reward}  {quote(name)}: {words}")
    yield f"kind      {KIND_NAMES[kind_of(expected, completion, form)]}"
    if form == FINAL:
        yield wrap_sentence(f"scorer    {true['reward']:.4g}  {outcome}")


def describe_curve(
    curve: Sequence[dict[str, Any]], last: Sequence[PolicyText], kinds: Sequence[Kind], seconds: int | None
) -> Iterator[str]:
    """How the policy changed. ``last``: the texts of its last update. ``kinds``: the kind of each of them.

    ``seconds``: the limit, if the time ran out before the last update; else None.
    """
    yield f"\nA policy learned from these rewards. In % of the {len(last)} completions of each update:"
    columns = ("paid", *(kind.value for kind in Kind), "exploits")
    header = ("update", *(column.replace("_", " ") for column in columns))
    rows = [(point["update"], *(f"{100 * point[column]:.0f}" for column in columns)) for point in curve]
    yield table(header, rows, right=range(len(header)))
    if seconds is not None:
        yield wrap_sentence(f"The training was cut short: --seconds {seconds} had passed before its {UPDATES} updates.")
    if failures := max(point["failures"] for point in curve):
        share = f"Up to {100 * failures:.0f} % of the completions of an update had no reward"
        yield wrap_sentence(f"{share}; the table counts them as not paid.")
    if not any(point["paid"] for point in curve):
        yield "Nothing was paid, so the policy did not change."
    else:
        yield from describe_end(last, kinds)


def describe_end(last: Sequence[PolicyText], kinds: Sequence[Kind]) -> Iterator[str]:
    """The most frequent kind among the last completions, paid or not; and the exploits, if there are many."""
    kind, count = Counter(kinds).most_common(1)[0]
    rows = [row for row, row_kind in zip(last, kinds, strict=True) if row_kind == kind]
    paid = [row for row in rows if row.reward > 0]
    unpaid = [row for row in rows if row.reward <= 0]
    usual = paid if len(paid) >= len(unpaid) else unpaid
    share = f"At the end, {100 * count / len(last):.0f} % of the completions are {KIND_NAMES[kind]}"
    yield wrap_sentence(f"{share} ({100 * len(paid) / count:.0f} % of these are paid), such as {_shortest(usual)}")
    exploits = [row for row, row_kind in zip(last, kinds, strict=True) if row_kind in EXPLOITS and row.reward > 0]
    if len(exploits) >= MANY * len(last):
        share = f"At the end, {100 * len(exploits) / len(last):.0f} % of the completions are exploits"
        yield wrap_sentence(f"{share} (paid, and wrong or with several answers), such as {_shortest(exploits)}")


def _shortest(rows: Sequence[PolicyText]) -> Finding:
    return min((row.finding() for row in rows), key=lambda finding: finding.order)
