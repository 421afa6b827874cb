"""docs/own_data.md does what it says: the files it shows are read, and its Python makes the records it promises.

An example: the page shows two rows of a batch file. They are refused with the name of that shape; then the Python below
them is run, and the rollouts that it writes are those of the page's first lines.
"""

import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
from conftest import ROOT, Lab, lines_of

PAGE = (ROOT / "docs" / "own_data.md").read_text(encoding="utf-8")
ROLLOUTS = [{"id": "q1", "completion": "Final: 323"}, {"id": "q2", "completion": "The answer is 7."}]
ANSWERS = {"q1": 323, "q2": 7}
RIGHT = {"prompt": "?", "expected_answer": 7}


class Block(NamedTuple):
    language: str
    text: str
    name: str  # of the file that the paragraph above it names first or, where it says "writes", last


def blocks() -> Iterator[Block]:
    for above, language, text in re.findall(
        r"([^\n]*(?:\n[^\n]+)*)\n\n```(\w+)\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE
    ):
        names = re.findall(r"`([\w.]+\.(?:jsonl|json|csv))`", above)
        yield Block(language, text, names[-1] if names else "")


BLOCKS = list(blocks())
DATA = [block for block in BLOCKS if block.language in ("json", "text")]


def lay_out(lab: Lab) -> None:
    for block in DATA:
        lab.write(block.name, block.text)


def test_every_fence_is_of_a_kind_that_is_looked_at_and_every_file_has_a_name() -> None:
    assert {block.language for block in BLOCKS} == {"json", "text", "bash", "python"}
    assert len(BLOCKS) + PAGE.count("```bash example\n") == PAGE.count("```") / 2
    assert [block.name for block in DATA] == [
        "dataset.jsonl",
        "rollouts.jsonl",
        "batch_output.jsonl",
        "vllm_rows.jsonl",
        "test.jsonl",
        "samples_gsm8k.jsonl",
        "log.json",
        "outputs.csv",
        "many.jsonl",
        "reasoned.jsonl",
        "more_dataset.jsonl",
        "more_rollouts.jsonl",
        "my_cases.jsonl",
    ]


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("batch_output.jsonl", "the batch output of a served model"),
        ("vllm_rows.jsonl", "rows of vLLM"),
        ("test.jsonl", "questions with worked answers, as in GSM8K"),
        ("samples_gsm8k.jsonl", "samples of lm-eval"),
        ("log.json", "an Inspect log"),
        ("outputs.csv", "a table (CSV)"),
    ],
)
@pytest.mark.parametrize("option", ["--dataset", "--completions"])
def test_what_the_page_converts_is_refused_by_its_name(lab: Lab, name: str, shape: str, option: str) -> None:
    lay_out(lab)
    right = {"--dataset": "dataset.jsonl", "--completions": "rollouts.jsonl"} | {option: name}
    said = lab.refused("eval", *(word for pair in right.items() for word in pair))
    assert f"{name}:1 expected rows with id, " in said
    assert f", got {shape}; docs/own_data.md has the code that" in said


def test_the_python_of_the_page_makes_the_records_it_promises(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out(lab)
    table = [{"question": "Compute 17 * 19."}]
    parquet = ModuleType("pyarrow.parquet")  # not installed with the lab: read_table(path).to_pylist() is all it uses
    parquet.read_table = lambda _: SimpleNamespace(to_pylist=lambda: table)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pyarrow", SimpleNamespace(parquet=parquet))
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", parquet)
    lab.write("outputs.json", json.dumps(table))
    names: dict[str, Any] = {}
    packs = []
    written = {"dataset.jsonl": 0, "rollouts.jsonl": 0, "pack.jsonl": 0}
    for block in BLOCKS:
        if block.language != "python":
            continue
        for name in written:
            Path(name).unlink(missing_ok=True)
        if "completions_sha256" in block.text:
            continue  # it describes a file that is there: the next test runs it
        exec(compile(block.text, block.name, "exec"), names)
        if Path("rollouts.jsonl").exists():
            assert lines_of(Path("rollouts.jsonl")) == ROLLOUTS
        if Path("dataset.jsonl").exists():
            assert {row["id"]: row["expected_answer"] for row in lines_of(Path("dataset.jsonl"))} == ANSWERS
        if Path("pack.jsonl").exists():
            packs.append([row["samples"] for row in lines_of(Path("pack.jsonl"))])
        for name in written:
            written[name] += Path(name).exists()
        if "outputs." in block.text and "rollouts" not in block.text:
            assert names["rows"] == table
    assert written == {"dataset.jsonl": 4, "rollouts.jsonl": 6, "pack.jsonl": 2}
    assert packs == [
        [["Final: 323"], ["The answer is 7."]],
        [["Final: 332", "Final: 323"], ["The answer is 7.", "Final: 7"]],
    ]
    assert capsys.readouterr().out == "1.0\n"
    reward_of = names["reward_of"]
    assert reward_of(RIGHT, "7") == 0.0
    for example, completion in [({"prompt": "?", "expected_answer": "7"}, "Final: 7"), ({}, ""), (RIGHT, None)]:
        with pytest.raises(ValueError, match="expected"):
            reward_of(example, completion)


def test_the_description_that_the_page_writes_is_read_and_bound_to_the_completions(lab: Lab) -> None:
    lay_out(lab)
    (top,) = (block.text for block in BLOCKS if "def write" in block.text)
    (code,) = (block.text for block in BLOCKS if "completions_sha256" in block.text)
    exec(top + code, {})
    words = ["--dataset", "dataset.jsonl", "--completions", "rollouts.jsonl", "--outdir", "runs/described"]
    assert lab("eval", *words).status == 0
    manifest = json.loads(Path("runs/described/manifest.json").read_bytes())
    assert manifest["policy"] == "my-model-7b"
    assert manifest["template"][1:] == [{"role": "user", "content": "{prompt}"}]
    assert manifest["sampling"] == {"temperature": 0.7, "top_p": 1.0, "seed": None, "n": 1}
    with Path("rollouts.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n")
    assert "$.completions_sha256: expected the SHA-256 of rollouts.jsonl" in lab.refused("eval", *words[:4])


def test_a_failed_request_or_sample_stops_the_pages_python(lab: Lab) -> None:
    lay_out(lab)
    for name, before, after in [
        (
            "batch_output.jsonl",
            '"response": {"status_code": 200, "body": {"choices"',
            '"response": null, "x": {"y": {"z"',
        ),
        ("log.json", '"epoch": 1', '"error": {"message": "no answer"}'),
    ]:
        Path(name).write_text(Path(name).read_text("utf-8").replace(before, after, 1), encoding="utf-8")
        (code,) = (block.text for block in BLOCKS if block.language == "python" and f'"{name}"' in block.text)
        (top,) = (block.text for block in BLOCKS if "def write" in block.text)
        with pytest.raises((TypeError, AssertionError)):
            exec(top + code, {})


def test_the_commands_of_the_page_do_what_it_says(lab: Lab) -> None:
    lay_out(lab)
    for line in "".join(block.text for block in BLOCKS if block.language == "bash").splitlines():
        _, _, module, *arguments = shlex.split(line)
        done = lab(module.removeprefix("course."), *arguments)
        assert done.status == 0, (line, done.err)
        if "--json" in arguments:
            assert json.loads(done.out)["summary"]["pass_rate"] == 0.5
    assert lab("selection_demo", "--help").status == 0
