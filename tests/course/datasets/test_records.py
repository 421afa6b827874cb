"""The kinds of record: what each takes, and the very words in which it refuses the rest.

An example: a golden case that expects the reward 1.0 with the outcome ``empty`` contradicts itself and is refused.
"""

import json
from datetime import date
from pathlib import Path

import msgspec
import pytest

from course.datasets.jsonl import read_json, read_records
from course.datasets.plain import FORM
from course.datasets.records import (
    Example,
    GoldenCase,
    Message,
    Provenance,
    Record,
    Rollout,
    SampleGroup,
    Sampling,
    Training,
    prompt_digest,
)
from course.errors import UserError
from course.text import visible

DIGEST = "0123456789abcdef" * 4
NINES = "9" * 1000
CASE = {"id": '"g"', "prompt": '"p"', "expected_answer": "1", "completion": '"Final: 1"'}
VERDICT = {"expected_reward": "1.0", "expected_outcome": '"ok"', "rule": '"r"', "why": '"w"'}
RIGHT = GoldenCase(id="g", prompt="p", expected_answer=1, completion="Final: 1", expected_reward=1.0)
EMPTY = msgspec.structs.replace(RIGHT, completion="", expected_reward=0.0)
SAID = {"rule": "r", "why": "w"}
SAMPLING = {"temperature": "0.7", "top_p": "1", "seed": "-1", "n": "4"}


def written(**fields: str) -> str:
    """A JSON object whose values are already JSON."""
    return "{" + ",".join(f'"{key}":{value}' for key, value in fields.items()) + "}"


def example(**fields: str) -> str:
    return written(**{"id": '"a"', "prompt": '"p"', "expected_answer": "1"} | fields)


def golden(**fields: str) -> str:
    return written(**CASE | VERDICT | fields)


def provenance(created: str = '"2026-11-20"', note: str = '""', **sampling: str) -> str:
    return written(policy='"tiny"', created=created, note=note, sampling=written(**SAMPLING | sampling))


def digested(digest: str) -> str:
    return provenance().replace("{", f'{{"completions_sha256":{digest},', 1)


def asked(template: str) -> str:
    return provenance().replace("{", f'{{"template":{template},', 1)


def training(said: str) -> str:
    return provenance().replace("{", f'{{"training":{said},', 1)


def read_line(tmp_path: Path, kind: type[Record], line: str) -> Record:
    path = tmp_path / "in.jsonl"
    path.write_text(line, encoding="utf-8")
    (record,) = read_records(path, kind)
    return record


@pytest.mark.parametrize(
    ("line", "record"),
    [
        (example(), Example("a", "p", 1)),
        (example(prompt='""', expected_answer="-0"), Example("a", "", 0)),
        (example(expected_answer=NINES), Example("a", "p", 10**1000 - 1)),
        (example(expected_answer="-" + NINES), Example("a", "p", 1 - 10**1000)),
        (example(metadata='{"k":[1,{"k":null}]}'), Example("a", "p", 1, {"k": [1, {"k": None}]})),
        ('{"id":"a","completion":""}', Rollout("a", "")),
        ('{"id":"a","completion":"\\u0000x","metadata":{}}', Rollout("a", "\0x", {})),
        ('{"id":"a","samples":["","x"]}', SampleGroup("a", ["", "x"])),
        (golden(), msgspec.structs.replace(RIGHT, expected_outcome="ok", **SAID)),
        (
            golden(expected_reward="0", completion='""', expected_outcome='"empty"'),
            msgspec.structs.replace(EMPTY, expected_outcome="empty", **SAID),
        ),
        (written(**CASE, expected_reward="1"), RIGHT),
        (written(**CASE | {"completion": '""'}, expected_reward="0"), EMPTY),
    ],
    ids=lambda _: "",
)
def test_a_right_line_becomes_its_record(tmp_path: Path, line: str, record: Record) -> None:
    assert read_line(tmp_path, type(record), line) == record


def test_records_cannot_be_changed() -> None:
    for record in (Example("a", "p", 1), Rollout("a", ""), Sampling(1.0, 1.0, 0, 1)):
        with pytest.raises(AttributeError, match="immutable"):
            setattr(record, msgspec.structs.fields(record)[0].name, "other")


EXAMPLE_KEYS = "id, prompt, expected_answer, metadata"
OUTCOMES = (
    "invalid_example, completion_not_text, empty, not_single_line, missing_prefix, not_ascii, extra_whitespace, "
    "plus_sign, negative_zero, leading_zeros, not_an_integer, wrong_answer, ok"
)
REWARDS = "$.expected_reward: expected 1.0 with the outcome ok and 0.0 with any other, got"
ARRAY = "a JSON array; write one object on each line (JSONL); docs/own_data.md has the code that does this"
PUT = "put it under metadata"
NO_KEY = "this key is not one of id, samples; delete it"
NEVER = "(datasets are never coerced)"
PACKS = "(selection packs are never coerced)"


@pytest.mark.parametrize(
    ("kind", "line", "complaint"),
    [
        (Example, example(expected_answer="3.7"), f"$.expected_answer: expected int, got float 3.7 {NEVER}"),
        (Example, example(expected_answer="1.0"), f"$.expected_answer: expected int, got float 1.0 {NEVER}"),
        (Example, example(expected_answer="1e2"), f"$.expected_answer: expected int, got float 100.0 {NEVER}"),
        (Example, example(expected_answer="true"), f"$.expected_answer: expected int, got bool true {NEVER}"),
        (
            Example,
            example(expected_answer='"-22"'),
            f'$.expected_answer: expected int, got str "-22" {NEVER}; write -22 without quotes',
        ),
        (Example, example(expected_answer='"22.0"'), f'$.expected_answer: expected int, got str "22.0" {NEVER}'),
        (Example, example(expected_answer="[22]"), f"$.expected_answer: expected int, got array [22] {NEVER}"),
        (Example, example(prompt="3"), f"$.prompt: expected str, got int 3 {NEVER}"),
        (Example, example(prompt=f"[{'7, ' * 99}7]"), f"$.prompt: expected str, got array [{'7, ' * 19}7… {NEVER}"),
        (
            Example,
            example(prompt='["\u200b"]'),
            f'$.prompt: expected str, got array ["<U+200B ZERO WIDTH SPACE>"] {NEVER}',
        ),
        (Example, example(id="7"), f'$.id: expected str, got int 7 {NEVER}; write "7" in every file'),
        (Example, example(id='""'), f'$.id: expected str of length >= 1, got "" {NEVER}'),
        (Example, example(metadata="[1]"), f"$.metadata: expected object, got array [1] {NEVER}"),
        (Example, '{"id":"a","prompt":"p"}', "$.expected_answer: this key is missing"),
        (Example, '{"prompt":"p","expected_answer":1}', "$.id: this key is missing"),
        (
            Example,
            example(answer="1"),
            f"$.answer: this key is not one of {EXAMPLE_KEYS}; put it under metadata",
        ),
        (Example, "[1]", f"expected rows with id, prompt, expected_answer, got {ARRAY}"),
        (Example, '"text"', f'$: expected object, got str "text" {NEVER}'),
        (Rollout, '{"id":"a","completion":7}', "$.completion: expected str, got int 7 (rollouts are never coerced)"),
        (
            Rollout,
            '{"id":"a","completion":"","n":1}',
            f"$.n: this key is not one of id, completion, metadata; {PUT}",
        ),
        (
            SampleGroup,
            '{"id":"a","samples":[""],"n":1}',
            f"$.n: {NO_KEY}",
        ),
        (SampleGroup, '{"id":"a","samples":["x",3]}', f"$.samples[1]: expected str, got int 3 {PACKS}"),
        (SampleGroup, '{"id":"a","samples":[]}', f"$.samples: expected array of length >= 1, got [] {PACKS}"),
        (SampleGroup, '{"id":"a","samples":"xy"}', f'$.samples: expected array, got str "xy" {PACKS}'),
        (GoldenCase, golden(expected_reward="0.5"), f"{REWARDS} 0.5 with ok"),
        (GoldenCase, golden(expected_reward="0"), f"{REWARDS} 0.0 with ok"),
        (GoldenCase, golden(expected_outcome='"empty"'), f"{REWARDS} 1.0 with empty"),
        (GoldenCase, golden(fooled="1"), "$.fooled: expected str, got int 1 (golden sets are never coerced)"),
        (GoldenCase, golden(rule="1"), "$.rule: expected str, got int 1 (golden sets are never coerced)"),
        (GoldenCase, golden(expected_outcome='"fine"'), f"$.expected_outcome: expected one of {OUTCOMES}, got fine"),
    ],
    ids=lambda _: "",
)
def test_a_wrong_line_is_refused_with_file_line_field_expected_and_got(
    tmp_path: Path, kind: type[Record], line: str, complaint: str
) -> None:
    with pytest.raises(UserError) as refused:
        read_line(tmp_path, kind, line)
    assert str(refused.value) == f"{tmp_path / 'in.jsonl'}:1 {complaint}"


@pytest.mark.parametrize("key", ["a\nb", "x - at $.y", "x\n - at $.y", "x`y", ""])
def test_an_unknown_key_of_any_name_is_named_as_it_is(tmp_path: Path, key: str) -> None:
    with pytest.raises(UserError) as refused:
        read_line(tmp_path, SampleGroup, json.dumps({"id": "a", "samples": ["x"], key: 1}))
    assert str(refused.value).endswith(f"in.jsonl:1 $.{visible(key)}: {NO_KEY}")


def test_a_reward_too_large_for_a_float_is_refused_in_the_grammar_of_the_others(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\$.expected_reward: expected (?!Number out of range)"):
        read_line(tmp_path, GoldenCase, golden(expected_reward="1" + "0" * 400))


def read_meta(tmp_path: Path, text: str) -> Provenance:
    path = tmp_path / "in.meta.json"
    path.write_text(text, encoding="utf-8")
    return read_json(path, Provenance)


def test_provenance_says_who_generated_the_completions_when_and_how(tmp_path: Path) -> None:
    assert read_meta(tmp_path, provenance()) == Provenance("tiny", date(2026, 11, 20), Sampling(0.7, 1.0, -1, 4))
    assert read_meta(tmp_path, "\n" + provenance(note='"why"', temperature="0") + "\n").note == "why"


def test_a_seed_that_there_is_none_of_is_null_and_what_is_not_known_may_be_left_out(tmp_path: Path) -> None:
    source = read_meta(tmp_path, provenance(seed="null"))
    assert source.sampling.seed is None
    assert (source.completions_sha256, source.training) == (None, None)


def test_provenance_can_bind_the_completions_and_say_what_the_policy_was_trained_on(tmp_path: Path) -> None:
    assert read_meta(tmp_path, digested(f'"{DIGEST}"')).completions_sha256 == DIGEST
    assert read_meta(tmp_path, training(f'{{"rubric":"score","prompts":["{DIGEST[:16]}"]}}')).training == Training(
        "score", [DIGEST[:16]]
    )
    assert read_meta(tmp_path, training('{"rubric":null,"prompts":[]}')).training == Training(None, [])


@pytest.mark.parametrize(
    ("text", "template"),
    [
        ("null", None),
        ('"{prompt}"', "{prompt}"),
        ('"Q: {prompt}\\n{\\"a\\": 1}"', 'Q: {prompt}\n{"a": 1}'),
        (f'"sha256:{DIGEST}"', f"sha256:{DIGEST}"),
        (
            '[{"role":"system","content":"Be brief."},{"content":"{prompt}?","role":"user"}]',
            [Message("system", "Be brief."), Message("user", "{prompt}?")],
        ),
    ],
)
def test_the_text_around_each_prompt_is_a_text_or_messages_or_a_digest(
    tmp_path: Path, text: str, template: object
) -> None:
    assert read_meta(tmp_path, asked(text)).template == template


def test_a_prompt_is_told_from_others_by_sixteen_digits_of_its_plain_form() -> None:
    assert prompt_digest("abc") == "ba7816bf8f01cfea"  # the example of FIPS 180-4
    assert prompt_digest(" ABC?") == prompt_digest("abc")
    assert prompt_digest("a b c") != prompt_digest("abc")


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ({"rubric": "score", "prompts": [DIGEST[:16]], "form": FORM}, True),
        ({"rubric": "score", "prompts": [DIGEST[:16]]}, False),  # as it was written before forms had numbers
        ({"rubric": "score", "prompts": [DIGEST[:16]], "form": FORM + 1}, False),
        ({"rubric": "score", "prompts": [], "form": FORM}, False),  # something was paid, so there were prompts
        ({"rubric": None, "prompts": [], "form": FORM}, True),
        ({"rubric": None, "prompts": []}, False),
    ],
)
def test_prompts_of_another_form_and_none_beside_a_rubric_are_not_known(
    tmp_path: Path, said: dict[str, object], known: bool
) -> None:
    source = read_meta(tmp_path, training(json.dumps(said)))
    assert source.training is not None
    assert source.training.prompts_known is known


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (provenance(temperature="-0.1"), "$.sampling.temperature: expected float >= 0.0, got -0.1"),
        (provenance(top_p="0"), "$.sampling.top_p: expected float > 0.0, got 0"),
        (provenance(top_p="1.1"), "$.sampling.top_p: expected float <= 1.0, got 1.1"),
        (provenance(n="0"), "$.sampling.n: expected int >= 1, got 0"),
        (provenance(seed="0.5"), "$.sampling.seed: expected int | array | null, got float 0.5"),
        (provenance(beta="1"), "$.sampling.beta: this key is not known"),
        (
            provenance(**{"x - at $.y\\n": "1"}),
            "$.sampling.x - at $.y<U+000A LINE FEED>: this key is not known",
        ),
        (provenance(created='"20 November"'), '$.created: expected a date such as 2026-11-21, got "20 November"'),
        (training("{}"), "$.training.rubric: this key is missing"),
        (training('{"rubric":"score"}'), "$.training.prompts: this key is missing"),
        (training('{"rubric":1,"prompts":[]}'), "$.training.rubric: expected str | null, got int 1"),
        (training('{"rubric":null,"prompts":[],"n":1}'), "$.training.n: this key is not known"),
        (digested("7"), "$.completions_sha256: expected str | null, got int 7"),
        (asked("7"), "$.template: expected str | array | null, got int 7"),
        (asked('""'), "$.template: expected"),
        (asked('"Be brief."'), "$.template: expected"),
        (asked('"{prompt} {prompt}"'), "$.template: expected"),
        (asked(f'"sha256:{DIGEST.upper()}"'), "$.template: expected"),
        (asked(f'"sha256:{DIGEST}\\n"'), "$.template: expected"),
        (asked('"sha256:12"'), "$.template: expected"),
        (asked("[]"), "$.template: expected"),
        (asked('[{"role":"user","content":"Q?"}]'), "$.template: expected"),
        (asked('[{"role":"user","content":"{prompt}"},{"role":"user","content":"{prompt}"}]'), "$.template: expected"),
        (asked('[{"role":"user","content":"{prompt"},{"role":"user","content":"}"}]'), "$.template: expected"),
        (asked('[{"role":"user","content":["{prompt}"]}]'), "$.template[0].content: expected str, got array"),
        (asked('[{"role":"user"}]'), "$.template[0].content: this key is missing"),
        (asked('[{"role":"user","content":"{prompt}","name":"x"}]'), "$.template[0].name: this key is not known"),
        (asked('["{prompt}"]'), "$.template[0]: expected object, got str"),
        ("{}", "$: expected the keys policy, created, sampling, got a record without policy, created, sampling"),
        ("", "expected one JSON object, got an empty file"),
    ],
    ids=lambda _: "",
)
def test_wrong_provenance_is_refused_with_field_expected_and_got(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(UserError) as refused:
        read_meta(tmp_path, text)
    assert str(refused.value).startswith(f"{tmp_path / 'in.meta.json'} {complaint}")


@pytest.mark.parametrize("created", ["2026-11-20\\n", "٢٠٢٦-١١-٢٠", "2026-99-99"])
def test_created_is_a_date(tmp_path: Path, created: str) -> None:
    with pytest.raises(UserError, match=r"\$.created: expected"):
        read_meta(tmp_path, provenance(created=f'"{created}"'))
