"""Files of another shape: each known one is named with its remedy, and what is right, or unknown, is left alone.

An example: ``--dataset`` is given the rollouts. Their first line has an id and a completion, which is what rollouts
have; so the message asks whether two files were swapped.
"""

import json
from pathlib import Path

import pytest

from course.datasets.jsonl import read_records
from course.datasets.other_shapes import other_shape
from course.datasets.records import Example, GoldenCase, Record, Rollout, SampleGroup
from course.errors import UserError

EXAMPLE = {"id": "q1", "prompt": "2 + 2?", "expected_answer": 4}
ROLLOUT = {"id": "q1", "completion": "Final: 4"}
PACK = {"id": "q1", "samples": ["Final: 4"]}
GOLDEN = {"prompt": "2 + 2?", "expected_answer": 4, "completion": "Final: 4", "expected_reward": 1.0}
INSPECT = {"version": 2, "status": "success", "eval": {"task": "é" * 40_000}, "samples": [ROLLOUT]}
BATCH: dict[str, object] = {"id": "r", "custom_id": "q1", "response": {"body": {"choices": []}}, "error": None}
RESPONSE = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0, "message": {"content": "4"}}]}
VLLM_BATCH = {"id": "vllm-1", "custom_id": "q1", "response": {"status_code": 200, "body": RESPONSE}, "error": None}
VLLM = {
    "request_id": "0",
    "prompt": "2 + 2?",
    "prompt_token_ids": [17, 489],
    "outputs": [{"index": 0, "text": "4", "token_ids": [19], "finish_reason": "stop"}],
    "finished": True,
}
GSM8K = {"question": "2 + 2?", "answer": "2 + 2 = <<2+2=4>>4\n#### 4"}
LINES = "docs/own_data.md has the code that converts such a file"


def said_of(tmp_path: Path, data: bytes | str | object, kind: type[Record]) -> str:
    path = tmp_path / "in"
    text = data if isinstance(data, (str, bytes)) else json.dumps(data) + "\n"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError) as refused:
        list(read_records(path, kind))
    return str(refused.value).removeprefix(f"{path}:")


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        (Example, ROLLOUT, "got rollouts; rollouts go to --completions; were two files swapped? "),
        (Rollout, EXAMPLE, "got a dataset; a dataset goes to --dataset; were two files swapped?"),
        (Rollout, EXAMPLE | {"metadata": {"completion": ""}}, "got a dataset; "),
        (Rollout, PACK, "got a selection pack; a pack goes to course.selection_demo --samples; "),
        (SampleGroup, ROLLOUT, "docs/own_data.md turns several completions of an id into a pack"),
        (SampleGroup, EXAMPLE, "got a dataset; "),
        (Example, PACK, "got a selection pack; "),
        (Rollout, GOLDEN, "got golden cases; golden cases go to --golden"),
        (Rollout, BATCH, f"got the batch output of a served model; {LINES}"),
        (Example, BATCH, f"got the batch output of a served model; {LINES}"),
        (Rollout, {"doc_id": 0, "doc": {}, "target": "4", "resps": [["4"]]}, f"got samples of lm-eval; {LINES}"),
        (Rollout, VLLM_BATCH, f"got the batch output of a served model; {LINES}"),
        (Rollout, VLLM, f"got rows of vLLM; {LINES}"),
        (SampleGroup, VLLM, f"got rows of vLLM; {LINES}"),
        (Rollout, {"prompt": "2 + 2?", "generated_text": "4"}, f"got rows of vLLM; {LINES}"),
        (Rollout, {"id": "q1", "expected_answer": 4} | VLLM, f"got rows of vLLM; {LINES}"),
        (Rollout, RESPONSE, f"got responses of a served model; {LINES}"),
        (Example, GSM8K, f"got questions with worked answers, as in GSM8K; {LINES}"),
        (Rollout, GSM8K, f"got questions with worked answers, as in GSM8K; {LINES}"),
        (Example, {"id": "q1", "question": "2 + 2?", "answer": 4}, "got questions with worked answers, "),
        (Rollout, INSPECT, f"got an Inspect log; {LINES}"),
        (Rollout, json.dumps(INSPECT, indent=2), f"got an Inspect log; {LINES}"),
        (SampleGroup, json.dumps(INSPECT, indent=2, ensure_ascii=False), f"got an Inspect log; {LINES}"),
        (Rollout, b"PK\x03\x04\x14\x00\n", f"got a zip archive, such as an Inspect log (.eval); {LINES}"),
        (Rollout, b"\x1f\x8b\x08\0\n", "got a gzip file; unpack it"),
        (Rollout, b"\xff\xfe{\0}\0\n\0", "got text in UTF-16; save it as UTF-8"),
        (Rollout, b"PAR1\x15\x04\x15\n\xff", f"got a Parquet file; {LINES}"),
        (Rollout, "id,completion\nq1,Final: 4\n", f"got a table (CSV); {LINES}"),
        (Example, '"id";"prompt";"the answer"\r\n', f"got a table (CSV); {LINES}"),
        (Example, "id\tprompt\tanswer\n1\t2 + 2?\t4\n", f"got a table (CSV); {LINES}"),
        (Rollout, [ROLLOUT], "got a JSON array; write one object on each line (JSONL); docs/own_data.md has the code"),
        (Rollout, json.dumps([ROLLOUT], indent=1), "got a JSON array; "),
        (
            Example,
            {"index": 3, "question": "2 + 2?"},
            'got rows with an index; give each row an "id", a text such as "q-17"',
        ),
    ],
    ids=range(33),
)
def test_a_known_shape_is_named_with_what_to_do(
    tmp_path: Path, kind: type[Record], data: bytes | str | object, said: str
) -> None:
    line = said_of(tmp_path, data, kind)
    assert line.startswith("1 expected rows with ")
    assert said in line
    assert "\n" not in line


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        (
            Rollout,
            ROLLOUT | {"prompt": "2 + 2?"},
            "1 $.prompt: this key is not one of id, completion, metadata",
        ),
        (Rollout, ROLLOUT | EXAMPLE, "put it under metadata"),
        (
            Rollout,
            {"id": "q1", "text": "x"},
            "rename it to completion if it holds that value, otherwise put it under metadata",
        ),
        (Example, {"id": "q1", "question": "?"}, "rename it to prompt or expected_answer if it holds that value"),
        (SampleGroup, PACK | {"n": 1}, "1 $.n: this key is not one of id, samples; delete it"),
        (
            Rollout,
            {"id": 3, "completion": ""},
            'expected str, got int 3 (rollouts are never coerced); write "3" in every',
        ),
        (Example, {"prompt": "?", "expected_answer": 4}, "1 $.id: this key is missing"),
        (
            Example,
            "{}",
            "1 $: expected the keys id, prompt, expected_answer, got a record without id, prompt, expected_answer",
        ),
        (GoldenCase, EXAMPLE, "got a record without completion, expected_reward"),
        (GoldenCase, ROLLOUT, "got a record without prompt, expected_answer, expected_reward"),
        (Rollout, json.dumps(ROLLOUT) + "\n[1]\n", "2 $: expected object, got array [1]"),
        (Rollout, json.dumps(ROLLOUT) + "\nid,completion\n", "2 expected one JSON object, got invalid JSON"),
        (
            Rollout,
            json.dumps(ROLLOUT) + "\n" + json.dumps(PACK),
            "2 expected rows with id, completion, got a selection pack",
        ),
        (
            Rollout,
            f"{json.dumps(ROLLOUT)}\n{json.dumps(ROLLOUT)}",
            "a second time; docs/own_data.md turns",
        ),
        (Example, f"{json.dumps(EXAMPLE)}\n{json.dumps(EXAMPLE)}", 'in its file, got "q1" a second time'),
        (Rollout, "Final: 4, or 5\n", "1 expected one JSON object, got invalid JSON at byte "),
        (Rollout, "\n", " expected at least one record, got a file without any"),
    ],
    ids=range(17),
)
def test_what_is_nearly_right_is_named_by_its_fault(
    tmp_path: Path, kind: type[Record], data: bytes | str | object, said: str
) -> None:
    assert said in said_of(tmp_path, data, kind)


def test_a_key_inside_a_text_is_no_sign(tmp_path: Path) -> None:
    line = json.dumps({"id": "q1", "text": '"custom_id": 1, "resps": 2'})
    path = tmp_path / "in"
    path.write_text(line, encoding="utf-8")
    assert other_shape(path, line.encode(), Rollout) is None
