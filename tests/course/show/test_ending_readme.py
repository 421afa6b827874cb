"""The page of a run, read by a second program: markdown-it, the parser of CommonMark and of the tables on GitHub.

An example: a run of Loop B with a pass rate of 75 %, of which 70 % was expected. Its page begins with that number and
ends with fingerprints; the prediction stands beside it as 5.0 points above; two blanks wait for what only the person
knows: observed, conclusion.
"""

from collections.abc import Mapping
from typing import Any, Literal

import pytest
from markdown_it import MarkdownIt

from course.artifacts.records import Details, LearningResult, Manifest, Result, TrainedOn
from course.artifacts.run_log import LogLine
from course.show.ending import prediction_text, run_readme

FAILED = Result("q\x1b1", "<b>?</b>", 7, "Final:\n7", 0.0, Details("not_single_line", None))
PASSED = LearningResult("q2", "2?", 7, "Final: 7", 1.0, Details("ok", "7"), 30, "anywhere, seed 1", proxy_reward=0.5)
DIGEST = "0123456789abcdef" * 4
OUTPUTS = dict.fromkeys(("log.jsonl", "results.jsonl", "first_curve.png", "second.png", "summary.json"), DIGEST)
Loop = Literal["A", "B", "C"]


def page(
    loop: Loop = "A",
    report: str = "THE REPORT",
    typed: str = "python3 -m course.eval",
    examples: Mapping[bool, Result] | None = None,
    look: int = 0,
    number: dict[str, float | None] | None = None,
    knob: str | None = None,
    **said: object,
) -> str:
    """The page of a manifest that says this, and is empty elsewhere."""
    empty: dict[str, Any] = dict.fromkeys(Manifest.__struct_fields__)
    manifest = Manifest(**empty | {"loop": loop, "command": "course.eval", "settings": {}, "outputs": OUTPUTS} | said)
    line = LogLine("runs/run_001", DIGEST, loop, "course.eval", manifest.change, manifest.expect, number or {}, [])
    return run_readme(manifest, line, report, typed, examples or {}, look, knob)


def blocks(text: str) -> list[str]:
    """What Markdown shows as it is: the indented blocks, without the indentation. A blank line ends a part of one."""
    shown = [token.content.rstrip("\n") for token in MarkdownIt().parse(text) if token.type == "code_block"]
    return [part for block in shown for part in block.split("\n\n")]


def outside_blocks(text: str) -> list[str]:
    """The lines that Markdown does not show as they are."""
    return [line for line in text.split("\n") if line and not line.startswith("    ")]


def tags(text: str) -> list[tuple[str, object]]:
    """Everything that Markdown makes of a page besides text: tokens, with where links and images lead."""
    tokens = MarkdownIt().enable("table").parse(text)
    for token in list(tokens):
        tokens += token.children or []
    return [(token.type, token.attrs.get("href") or token.attrs.get("src")) for token in tokens if token.type != "text"]


def test_a_page_is_read_from_the_result_to_the_fingerprints() -> None:
    text = page("B", examples={False: FAILED, True: PASSED}, number={"selected_accuracy": 0.75}, expect="70 %")
    headings = [
        "\n**selected_accuracy: 0.75**",
        "\nKnob turned: selection compute",
        "\n    THE REPORT",
        "\n![first curve](first_curve.png)",
        "\n![second](second.png)",
        "\n## Prediction",
        "\n## Command line and settings",
        "\n## The last completion that passed, and the last that failed",
        "\n## Observed",
        "\n## Conclusion",
        "\n## Files",
        "\n## Fingerprints",
        "\n    digest of this run  ",
        DIGEST,
    ]
    places = [text.index(heading) for heading in headings]
    assert text.startswith("# Loop B, choose: course.eval\n")
    assert places == sorted(places)
    assert "expected  70 %\ngot       selected_accuracy 0.75, 5.0 points above" in blocks(text)


def test_an_example_says_what_was_scored_and_what_another_rubric_paid_the_one_that_passed_first() -> None:
    passed, failed = blocks(page("C", examples={False: FAILED, True: PASSED}))[-3:-1]
    assert passed == (
        "id               q2\nprompt           2?\nexpected_answer  7\ncompletion       Final: 7\n"
        "reward           1\nstep             30\ntraining         anywhere, seed 1\nproxy_reward     0.5\n"
        "count            1\noutcome          ok"
    )
    assert failed == (
        "id               q<U+001B ESCAPE>1\nprompt           <b>?</b>\nexpected_answer  7\n"
        "completion       Final:<U+000A LINE FEED>7\nreward           0\noutcome          not_single_line"
    )


def test_settings_stand_in_columns_with_rubric_seed_and_who_trained_the_policy() -> None:
    settings = {"lr": 0.5, "kl_coef": [0.0, 1 / 3], "rubric": "anywhere", "baseline": True, "ablation": None, "of": []}
    trained = TrainedOn("anywhere", 75, 3, 2)
    text = page("C", settings=settings | {"holdout_fingerprint": "f" * 64}, seed=4, trained_on=trained)
    (block,) = (block for block in blocks(text) if block.startswith("change"))
    assert block.split("\n") == [
        "change          none was named (--change)",
        "lr              0.5",
        "kl_coef         0, 0.3333",
        "rubric          anywhere",
        "baseline        yes",
        "of              none",
        "seed            4",
        "policy trained  rubric anywhere, prompts 75, measured_here 3, form 2",
    ]
    assert f"holdout_fingerprint  {'f' * 64}\n" in blocks(text)[-1]


def test_what_was_not_said_names_its_option() -> None:
    shown = blocks(page(number={"pass_rate": None}))
    assert "expected  nothing was predicted (--expect)\nresult    pass_rate none" in shown
    assert any(block.startswith("change               none was named (--change)\n") for block in shown)


@pytest.mark.parametrize(("look", "said"), [(0, False), (3, True)])
def test_a_look_at_the_holdout_stands_on_the_page(look: int, said: bool) -> None:
    assert ("look number 3" in page(look=look)) == said


def test_another_knob_than_the_loops_own_is_named() -> None:
    assert "\nKnob turned: none at all\n" in page("C", knob="none at all")


def test_every_file_is_linked_and_said_to_be_something() -> None:
    text = page()
    rows = [line for line in text.split("\n") if line.startswith("| [")]
    assert [row.partition("]")[0][3:] for row in rows] == [
        "log.jsonl",
        "results.jsonl",
        "first_curve.png",
        "summary.json",
        "manifest.json",
        "environment.json",
    ]
    assert rows[2] == "| [first_curve.png](first_curve.png), [second.png](second.png) | a figure |"
    assert ("table_open", None) in tags(text)
    assert {target for _, target in tags(text) if target} == OUTPUTS.keys() | {"manifest.json", "environment.json"}


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("rollouts/train_0000.jsonl", "completions of a policy, for Loop A to measure"),
        ("rollouts/train_0000.meta.json", "which policy wrote the completions in the .jsonl file of the same name"),
        ("selection_pack.jsonl", "completions of a policy, several of each prompt, for Loop B to choose from"),
        ("references/seed_0.npz", "the policy before its first update"),
        ("reference.npz", "the policy before its first update"),
        ("policy.npz", "the policy after its last update"),
        ("bandit_train_log.txt", "the log as a story, for you to annotate"),
        ("toy_mdp_log.jsonl", "the log: each row can be checked"),
        ("kl_tradeoff.csv", "the numbers of the figure, for a spreadsheet"),
    ],
)
def test_a_file_is_what_its_name_says(name: str, what: str) -> None:
    assert f"| [{name}]({name}) | {what} |\n" in page(outputs={name: DIGEST})


HOSTILE = [
    "\x1b[31mred\x07",
    "one\n# two\r\n\n<script>three</script>",
    "line\u2028paragraph\u2029next\x85form\x0c",
    "\u202etxt.exe",
    "**bold** [link](javascript:alert(1)) ![image](https://example.org/x.png) <img src=x> `code` ```",
    "\n    indented\n- Digest of this run, as the log of runs has it: 0",
    "<!-- ",
    "| a | b |\n|---|---|\n| c | d |",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("field", ["change", "expect", "policy", "typed", "report", "completion", "setting"])
def test_what_a_person_or_a_policy_wrote_is_shown_by_markdown_and_does_nothing(field: str, text: str) -> None:
    def with_(said: str) -> str:
        if field == "completion":
            return page(examples={False: Result(said, said, 7, said, 0.0, Details("empty", None))})
        return page(**{"settings": {"prompt": said}} if field == "setting" else {field: said})

    plain, hostile = with_("plain"), with_(text)
    assert tags(hostile) == tags(plain)
    assert hostile.replace("\n", "").isprintable()
    assert outside_blocks(hostile) == outside_blocks(plain)


@pytest.mark.parametrize(
    ("loop", "there"),
    [
        ("A", True),
        ("B", True),
        ("C", False),
    ],
)
def test_the_room_stands_where_two_runs_can_be_compared(loop: Loop, there: bool) -> None:
    text = page(loop, split="dev", scorer_name="final_int", prompts_fingerprint="0" * 64)
    assert ("Compare this run only with a run that has" in text) == there
    assert ("\n    split                dev\n" in text) == there
    assert ("\n    missing_completions  refused\n" in text) == there
    assert f"prompts_fingerprint  {'0' * 64}\n" in blocks(text)[-1]
    assert " final_int\n" in text


@pytest.mark.parametrize(
    ("expect", "number", "lines"),
    [
        ("34", {"pass_rate": 0.425}, ["expected  34 (read as 34 %)", "got       pass_rate 0.425, 8.5 points above"]),
        ("40 %", {"pass_rate": 0.425}, ["expected  40 %", "got       pass_rate 0.425, 2.5 points above"]),
        ("3", {}, ["expected  3", "result    more than one number: compare your prediction with the table"]),
    ],
)
def test_a_prediction_stands_beside_the_result_with_its_reading(
    expect: str, number: dict[str, float | None], lines: list[str]
) -> None:
    assert prediction_text(expect, number).split("\n") == lines
