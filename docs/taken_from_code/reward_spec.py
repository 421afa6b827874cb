"""docs/reference/reward_spec.md: the spec, the checks with an example each, the promises and their tests."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS, installed
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, task_of
from course.faults import CHECKS, PREFIX
from course.rubrics.ablations import REST_RULES, RULES, TEXT_RULES, VALUE, without
from course.score import SPEC, score
from course.text import visible
from docs.taken_from_code.markdown import code, fence, page, paragraph, table

LAB = Path(__file__).resolve().parents[2]
EXAMPLE: dict[str, Any] = {"prompt": "11 + 11?", "expected_answer": 22}
NOT_IN_GOLDEN: dict[str, tuple[Any, Any, str]] = {  # outcome -> what is scored, and how that is shown
    "invalid_example": ({"prompt": "11 + 11?"}, "Final: 22", "an example without `expected_answer`"),
    "completion_not_text": (EXAMPLE, None, "`None` for 22"),
    "empty": (EXAMPLE, " \n", "a space and a line feed for 22"),
}
DETAILS = {
    "outcome": "`ok`, or the first check that failed",
    "message": "one sentence: what was expected, and what was there",
    "checks": "each check in order, under its name: `passed`, `failed` or `not reached`",
    "parsed_answer": "the integer as text, or null where the text is not in format",
    "expected_answer": "the expected integer as text, or null where the example is broken",
    "completion_preview": "at most 200 characters of the trimmed text; what cannot be seen is written out",
    "scorer": "`name` and `version`",
}
SCORE, IDENTITY = "tests/course/test_score.py", "tests/course/artifacts/test_scorer_identity.py"
FAULTS, ABLATIONS = "tests/course/test_faults.py", "tests/course/rubrics/test_ablations.py"
PROMISES = (  # promise, what it means, and the tests that hold it
    ("deterministic", "Equal input, equal answer. No clock, locale, environment variable or interpreter setting is "
     "asked; a completion's digits never pass through `int()`.",
     {SCORE: ["test_no_setting_of_the_interpreter_changes_a_verdict",
              "test_the_same_call_gives_the_same_verdict_and_details_of_its_own"],
      FAULTS: ["test_no_table_of_the_running_python_is_asked"]}),
    ("total", "No input of any type raises, not even a `str` of a class that lies about itself.",
     {SCORE: ["test_no_input_of_any_type_raises_or_pays_by_lying"]}),
    ("explainable", "The details have the same keys each time, fit into JSON, and stay small.",
     {SCORE: ["test_every_completion_gets_the_outcome_that_was_worked_by_hand",
              "test_a_message_says_what_was_expected_and_what_was_there",
              "test_the_preview_is_of_the_trimmed_text_and_at_most_200_characters"]}),
    ("fast", "A few microseconds; less than 50 ms for 5 MB. The test allows five times that, for machines differ.",
     {SCORE: ["test_completions_of_five_megabytes_have_small_details_no_reward_and_are_scored_at_once"]}),
    ("versioned", "Name and version travel with each reward. A change of the source, of the spec or of a golden "
     "verdict is another fingerprint, and the changelog has to name the version.",
     {IDENTITY: ["test_another_name_version_or_spec_is_another_fingerprint",
                 "test_another_source_is_another_fingerprint",
                 "test_another_verdict_on_one_golden_case_is_another_fingerprint",
                 "test_the_changelogs_newest_comparability_entry_names_the_installed_scorer"]}),
)  # fmt: skip


def reward_spec_page() -> str:
    correct, exploits = (list(read_records(path, GoldenCase)) for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS))
    scorer = installed()
    return page(
        [
            "# Reward spec",
            paragraph(
                "A reward is read off one exact line. `docs/make_reference.py` writes this page from "
                "[course/score.py](../../course/score.py), [course/faults.py](../../course/faults.py) and the golden "
                "sets."
            ),
            "## Contract",
            "There is one signature:",
            fence("text example", ["score(example, completion) -> {\"reward\": float, \"details\": dict}"]),
            paragraph(
                "`example` is a mapping with `prompt` (text) and `expected_answer` (a whole number, no bool, of at "
                "most 1,000 digits); `id` (text) may be there, other keys are not read. `completion` is text. Nothing "
                "is coerced."
            ),
            fence("python", doctest()),
            paragraph(
                "Every verifier of the course has this signature, the wrong ones too: `test_every_rubric_keeps_the_"
                f"scorers_contract` in `{ABLATIONS}`. Treat another one, such as a "
                "`score` that is given a prompt and not an example, as a mistake. The reward is computed in one "
                "function, `measure`; `score` is made of it and says why."
            ),
            "## Spec",
            fence("text example", SPEC.split("\n")),
            paragraph(
                "Out of its scope: whether a text means the right number, whether the reasoning before it is sound, "
                "and whether the question was a good one. The scorer solves no problem. It trims, matches and compares."
            ),
            "## Checks and outcomes",
            paragraph(
                "The checks stand in this order, and the first that fails is the outcome. An outcome names what "
                "failed; its check, named in the details, what holds. Whether the format is met is decided by the "
                "pattern of the spec alone: from `empty` to `not_an_integer` the checks only name the fault. Examples "
                "are golden cases, so far as there are any; `<U+00A0 …>` is a character that cannot be seen."
            ),
            table(("outcome", "family", "expected", "such as"), outcome_rows([*correct, *exploits])),
            paragraph(
                "A family says whose fault it is: of the data, of the model's format, of the model's mathematics. "
                "Where nobody answered and `--missing zero` was typed, a run has the outcome `missing_completion`, "
                "of the family data."
            ),
            "## Rules, each with its exploits",
            paragraph(
                f"The three sentences are {len(RULES)} rules. `course.validate_scorer` leaves each out once: of the "
                f"{len(exploits)} golden exploits, each earns 0 by the spec and 1 without the rule that it attacks. "
                f"The other golden set has {len(correct)} right lines, and each must earn 1."
            ),
            table(("rule", "a verifier without it", "exploits", "such as"), rule_rows(exploits)),
            "## Details",
            table(("key", "what it holds"), detail_rows()),
            paragraph(f"The checks, in order: {', '.join(code(check.name) for check in CHECKS.values())}."),
            "## Name, version, fingerprint",
            paragraph(
                f"Name `{scorer.scorer_name}`, version {scorer.scorer_version}. The fingerprint is a SHA-256 over "
                "name, version, spec, the source of the two files above, and the verdicts on the "
                f"{scorer.golden.cases} golden cases. Two runs can be compared only if all three are equal."
            ),
            fence("bash", ["python3 -m course.validate_scorer --version"]),
            fence("text", [f"scorer {scorer.scorer_name} {scorer.scorer_version}", scorer.scorer_fingerprint]),
            "## Five promises",
            table(("promise", "what it means", "held by"), promise_rows()),
            paragraph(
                "Not covered: how a character is printed in `message` and `completion_preview`, which follows this "
                "Python's tables; an example whose own methods raise KeyboardInterrupt; in a text of more than "
                "200,000 characters, which outcome digits beyond U+FFFF get. None of these changes a reward."
            ),
        ]
    )  # fmt: skip


def doctest() -> Iterator[str]:
    """Three calls with what they return now."""
    yield ">>> from course.score import score"
    yield f'>>> example = {{"prompt": "{EXAMPLE["prompt"]}", "expected_answer": {EXAMPLE["expected_answer"]}}}'
    for completion, key in (("Final: 22", "reward"), ("Final: 022", "reward"), ("Final: 022", "message")):
        result = score(EXAMPLE, completion)
        got = result["reward"] if key == "reward" else result["details"][key]
        place = '["reward"]' if key == "reward" else f'["details"]["{key}"]'
        yield f'>>> score(example, "{completion}"){place}'
        yield repr(got)


def outcome_rows(cases: list[GoldenCase]) -> Iterator[tuple[str, ...]]:
    for outcome, check in CHECKS.items():
        case = next((case for case in cases if case.expected_outcome == outcome), None)
        if case is not None:
            example, completion = task_of(case), case.completion
            shown = f"{code(visible(case.completion))} for {case.expected_answer}"
        else:
            example, completion, shown = NOT_IN_GOLDEN[outcome]
        assert score(example, completion)["details"]["outcome"] == outcome
        expected = check.expected.replace(f"'{PREFIX}'", code(PREFIX))
        yield code(outcome), check.family, expected, shown
    case = next(case for case in cases if case.expected_outcome == "ok")
    yield "`ok`", "", "all of these", f"{code(case.completion)} for {case.expected_answer}"


def rule_rows(exploits: list[GoldenCase]) -> Iterator[tuple[str, ...]]:
    counts = Counter(case.rule for case in exploits)
    for rule in RULES:
        reading = {**TEXT_RULES, **REST_RULES}.get(rule)
        said = (reading.__doc__ or "").rstrip(".") if reading else "Forgives any other value"
        assert said.startswith("Forgives ")
        case = min((case for case in exploits if case.rule == rule), key=how_long)
        assert score(task_of(case), case.completion)["reward"] == 0
        assert without(rule)(task_of(case), case.completion)["reward"] == 1
        shown = code(visible(case.completion)) + (f" for {case.expected_answer}" if rule == VALUE else "")
        yield code(rule), said[0].lower() + said[1:], f"{counts[rule]}", shown


def how_long(case: GoldenCase) -> tuple[bool, int]:
    """To find the shortest; two spaces in a row, which a page shows as one, come last."""
    return "  " in case.completion, len(visible(case.completion))


def detail_rows() -> list[tuple[str, str]]:
    keys = list(score(EXAMPLE, "Final: 22")["details"])
    if {*keys} != {*DETAILS}:
        raise KeyError(f"details: not the same keys: {', '.join({*keys} ^ {*DETAILS})}")
    return [(code(key), DETAILS[key]) for key in keys]


def promise_rows() -> Iterator[tuple[str, ...]]:
    for promise, what, tests in PROMISES:
        links = []
        for path, names in tests.items():
            there = re.findall(r"^def (test_\w+)\(", (LAB / path).read_text(encoding="utf-8"), re.MULTILINE)
            if strange := {*names} - {*there}:
                raise KeyError(f"{path} has no {', '.join(strange)}")
            links.append(f"{', '.join(map(code, names))} in {code(path)}")
        yield promise, what, "; ".join(links)
