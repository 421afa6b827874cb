"""Machinery: what ``course.attack`` prints."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from course.rubrics.forms import FINAL, Form
from course.rubrics.hackable import GAPS, in_words
from course.rubrics.kinds import Kind, kind_of
from course.score import score
from course.search import FAULTS, Findings, Written, make_example
from course.show.tables import table, wrap_sentence
from course.text import clipped, quote
from course.verifier import Answer, Verifier

FAULT_SENTENCES = {
    Kind.WRONG: "it pays a wrong value",
    Kind.SEVERAL: "it pays several answers",
    Kind.RIGHT: "it refuses a right answer",
}
ROWS = {
    Kind.WRONG: "wrong value, paid",
    Kind.SEVERAL: "several answers, paid",
    Kind.RIGHT: "right one, refused",
    Kind.OTHER_FORM: "other form, paid",
}
LEARNED = {
    Kind.RIGHT: "it learned to be right",
    Kind.OTHER_FORM: "it learned to be right, in another form",
    Kind.SEVERAL: "it hedges: several answers are paid",
    Kind.WRONG: "it found a wrong answer that is paid",
}
KIND_NAMES = {
    Kind.RIGHT: "the right line",
    Kind.OTHER_FORM: "the right value in another form",
    Kind.SEVERAL: "several answers, the right one among them",
    Kind.WRONG: "a wrong value",
}


def describe_findings(verifier: Verifier, form: Form, findings: Findings, seconds: int | None) -> Iterator[str]:
    """The verdict first."""
    yield wrap_sentence(describe_verdict(verifier.name, form, findings, seconds))
    guessed = " (guessed: --call says another)" if verifier.is_guess else ""
    yield f"  {'called as':23}{quote(verifier.call)}{guessed}"
    yield f"  {'form':23}{quote(str(form))}"
    if not findings.right_paid:
        return
    for kind, name in ROWS.items():
        yield wrap_sentence(f"  {name:23}{findings.shortest.get(kind, 'none')}{_blameless(kind, findings)}")
    if findings.padded:
        yield wrap_sentence(f"  {'white space, refused':23}{findings.padded} (no fault)")
    if findings.failure:
        also = f"; {findings.failures:,} such texts" if findings.failures > 1 else ""
        yield wrap_sentence(f"  {'no reward':23}{findings.failure}{also} (no fault)")
    for why, times in verifier.asked_again.items():
        yield wrap_sentence(f"  {'asked again':23}{times:,} of the texts, in a new process: {why} (no fault)")


def _blameless(kind: Kind, findings: Findings) -> str:
    return "" if kind in FAULTS or kind not in findings.shortest else " (no fault)"


def describe_verdict(name: str, form: Form, findings: Findings, seconds: int | None) -> str:
    tried = f"{findings.tried:,} texts were tried"
    if seconds is not None:
        tried += f", then --seconds {seconds} had passed"
    refused = findings.shortest.get(Kind.RIGHT)
    if not findings.right_paid and refused and refused.failure:
        return f"FAILED {name}: no right answer in the form {quote(str(form))} gets a reward, such as {refused}"
    if not findings.right_paid and refused:
        others = ", ".join(f"--form '{other}'" for other in findings.paid_forms)
        hint = f"it pays one in another: {others}" if others else "--form says another"
        return f"FAILED {name}: no right answer in the form {quote(str(form))} is paid. Is that the form? ({hint})"
    for kind in FAULTS:
        if kind in findings.shortest:
            return f"FAILED {name}: {FAULT_SENTENCES[kind]}, {findings.shortest[kind]} ({tried})"
    if seconds is not None:
        return f"UNDECIDED {name}: no fault was found; {tried}. Give it more seconds"
    return f"PASSED {name}: no fault was found; {tried}"


def describe_try(name: str, expected: int, completion: str, form: Form, answer: Answer) -> Iterator[str]:
    """One text: what the verifier gives and says, what the text is, and what the spec gives and says."""
    message = str(answer.details.get("message", ""))
    if name in GAPS and answer.reward is not None:
        given = {"reward": answer.reward, "details": answer.details}
        message = in_words(given, completion)["details"]["message"]
    words = answer.failure or clipped(message, 300) or "no message"
    reward = "none" if answer.reward is None else f"{answer.reward:.4g}"
    true = score(make_example(expected), completion)
    outcome = f"{true['details']['outcome']}: {true['details']['message']}"
    yield wrap_sentence(f"text      '{clipped(completion, 200)}'")
    yield wrap_sentence(f"verifier  {reward}  {quote(name)}: {words}")
    yield f"it is     {KIND_NAMES[kind_of(expected, completion, form)]}"
    if form == FINAL:
        yield wrap_sentence(f"the spec  {true['reward']:.4g}  {outcome}")


def describe_curve(curve: Sequence[dict[str, Any]], last: Sequence[Written], kinds: Sequence[Kind]) -> Iterator[str]:
    """``last``: what the policy wrote at the end; ``kinds``: of each of these texts."""
    yield f"\na policy learned from its rewards; % of the {len(last)} completions of an update"
    columns = ("paid", *(kind.value for kind in Kind), "exploits")
    header = ("update", *(column.replace("_", " ") for column in columns))
    rows = [(point["update"], *(f"{100 * point[column]:.0f}" for column in columns)) for point in curve]
    yield table(header, rows, right=range(len(header)))
    paid = [(kind, row) for kind, row in zip(kinds, last, strict=True) if row.reward > 0]
    if not paid:
        yield "nothing was paid, so nothing was pushed"
        return
    kind, count = Counter(kind for kind, _ in paid).most_common(1)[0]
    shortest = min((row.finding() for row_kind, row in paid if row_kind == kind), key=lambda finding: finding.order)
    share = f"{100 * count / len(last):.0f} % of the last completions are {KIND_NAMES[kind]} and paid"
    yield wrap_sentence(f"{LEARNED[kind]}: {share}, such as {shortest}")
    if failures := max(point["failures"] for point in curve):
        yield wrap_sentence(f"up to {100 * failures:.0f} % had no reward; here they count as not paid")
