"""The easy sums and what SmolLM2 answered them: bytes, answers and descriptions. The model is never run here.

An example: ``Mia has 12 marbles and finds 4 more.`` Finding adds, so the oracle counts on from 12 by 4 and gets 16.
"""

import json
import random
import re
import unicodedata
from hashlib import sha256
from typing import Any

import pytest
from conftest import ROOT, lines_of

from course.datasets.records import Provenance
from course.faults import FAMILIES
from course.rubrics.hackable import RUBRICS
from course.score import measure
from teacher.release import LEFT_OUT

DATA = ROOT / "data"
EXAMPLES = lines_of(DATA / "datasets" / "easy_sums_dev.jsonl")
ANSWERS = {example["id"]: example["expected_answer"] for example in EXAMPLES}
INSTRUCTION = " Answer with exactly one line: Final: <int>"
DIGESTS = {
    "datasets/easy_sums_dev.jsonl": "c0f7fc8d489b8e9d3e08bf12042913838cd840bcec16238e14a9cce60839e7be",
    "rollouts/smollm2_pack_dev.jsonl": "7dd19c359ab32e3732329ef76281ba6e5f0627ebb855f839208e2ba30f0d514c",
    "rollouts/smollm2_pack_dev.meta.json": "5f8df499c5909638dc48526012dd604c2192928bfb6a361a5d8e02c5488c5623",
    "rollouts/smollm2_rollouts_dev.jsonl": "d63eac36a468b3e84f1d6e0d46cd2fa973bd978a7d1a042af65d02c15c9388a4",
    "rollouts/smollm2_rollouts_dev.meta.json": "4e6b1e20ba829f486c03378716f054faf7ae172dccd731d07858a3ac46e5e2b8",
    "rollouts/smollm2_zero_shot_dev.jsonl": "03eb2d694943772efcca3f38c21cc249b048c4b3e129387b3b5966dc4416362f",
    "rollouts/smollm2_zero_shot_dev.meta.json": "4331eb76cf020b71dce7f82b3008e84385b8e5eeeade3aa422d110dfb5a919e6",
}
WEIGHTS = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"  # SHA-256 of the file of the weights
COMPLETIONS = {  # examples before each prompt, completions a prompt, seed of the first
    "smollm2_pack_dev": (8, 8, 1),
    "smollm2_rollouts_dev": (8, 1, 1001),
    "smollm2_zero_shot_dev": (0, 1, 2001),
}
each_file = pytest.mark.parametrize("name", COMPLETIONS)


def counted(prompt: str) -> int:
    """The answer to a prompt, from its words alone and by counting."""
    question = prompt.removesuffix(INSTRUCTION)
    assert question != prompt
    first, second = map(int, re.findall(r"\d+", question))
    if re.search(r"\+|more are put on it|more get on|more arrive|finds \d+ more", question):
        return range(first, 100)[second]
    assert re.search(r" - |fly away|are eaten|are taken out|gives away", question), question
    return range(first, -1, -1)[second]


def normal_form(prompt: str) -> str:
    """Case, white space and the shapes of characters aside."""
    return " ".join(unicodedata.normalize("NFKC", prompt).casefold().split())


def samples_of(name: str) -> list[tuple[str, list[str]]]:
    rows = lines_of(DATA / "rollouts" / f"{name}.jsonl")
    return [(row["id"], row["samples"] if "samples" in row else [row["completion"]]) for row in rows]


def test_the_files_are_those_that_were_written_once() -> None:
    assert {name: sha256((DATA / name).read_bytes()).hexdigest() for name in DIGESTS} == DIGESTS


def test_a_hundred_numbered_prompts_ask_for_exactly_one_line() -> None:
    assert [example["id"] for example in EXAMPLES] == [f"dev-{number:03}" for number in range(1, 101)]
    kinds = [example["metadata"]["kind"] for example in EXAMPLES]
    assert kinds == (["sum", "difference", "story"] * 34)[:100]
    assert {example["metadata"]["split"] for example in EXAMPLES} == {"dev"}
    assert all(example["prompt"].endswith(INSTRUCTION) for example in EXAMPLES)


def test_every_answer_is_reached_by_counting_and_is_at_most_20() -> None:
    wrong = [example["id"] for example in EXAMPLES if counted(example["prompt"]) != example["expected_answer"]]
    assert not wrong
    assert all(type(answer) is int and 0 <= answer <= 20 for answer in ANSWERS.values())


def test_no_prompt_stands_twice_or_in_another_dataset_or_among_the_examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DATA)
    import make_smollm2

    prompts = [normal_form(example["prompt"]) for example in EXAMPLES]
    assert len(set(prompts)) == 100
    others = {normal_form(f"{question}{INSTRUCTION}") for question, _ in make_smollm2.EXAMPLES}
    assert len(others) == 8
    for path in (DATA / "datasets").glob("*.jsonl"):
        if path.name != "easy_sums_dev.jsonl":
            others.update(normal_form(example["prompt"]) for example in lines_of(path))
    assert not others & set(prompts)
    assert all(counted(f"{question}{INSTRUCTION}") == answer for question, answer in make_smollm2.EXAMPLES)


def test_the_script_makes_the_same_dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DATA)
    import make_smollm2

    questions = make_smollm2.draw_questions(random.Random(make_smollm2.PROMPTS_SEED))
    assert [make_smollm2.example(number, *question) for number, question in enumerate(questions, 1)] == EXAMPLES


@each_file
def test_each_prompt_is_answered_in_order_and_the_description_is_whole(name: str) -> None:
    examples, n, seed = COMPLETIONS[name]
    assert [id_ for id_, _ in samples_of(name)] == [*ANSWERS]
    assert {len(samples) for _, samples in samples_of(name)} == {n}
    meta: dict[str, Any] = json.loads((DATA / "rollouts" / f"{name}.meta.json").read_bytes())
    assert list(meta) == list(Provenance.__struct_fields__)
    assert meta["policy"] == "SmolLM2-135M-Instruct Q4_1"
    *shown, last = meta["template"]
    assert last == {"role": "user", "content": "{prompt}"}
    assert [message["role"] for message in shown] == ["user", "assistant"] * examples
    for question, answer in zip(shown[::2], shown[1::2], strict=True):
        assert answer["content"] == f"Final: {counted(question['content'])}"
    assert meta["sampling"] == {"temperature": 0.7, "top_p": 1.0, "seed": seed, "n": n}
    assert meta["completions_sha256"] == DIGESTS[f"rollouts/{name}.jsonl"]
    assert meta["training"] is None
    for fact in ("Apache-2.0", WEIGHTS, "xllamacpp 2026.10.11549", "chat template", f"the seed {seed} + i"):
        assert fact in meta["note"]


def test_the_readme_says_how_the_files_come_out() -> None:
    """Right, wrong value, wrong form: of the pack and the two files of single completions."""
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    for name in COMPLETIONS:
        outcomes = [measure(ANSWERS[id_], text).outcome for id_, samples in samples_of(name) for text in samples]
        families = [FAMILIES[outcome] for outcome in outcomes]
        by_form = families.count("model_format")
        assert len(outcomes) == outcomes.count("ok") + outcomes.count("wrong_answer") + by_form
        assert f"| `{name}.jsonl` | {outcomes.count('ok')} | {outcomes.count('wrong_answer')} | {by_form} |" in readme


def test_the_page_says_how_many_texts_each_verifier_rewards() -> None:
    page = (ROOT / "docs" / "reference" / "real_models.md").read_text(encoding="utf-8")
    titles = {"score": "the spec"} | {name: f"`{name}`" for name in ("last_number", "anywhere", "format_only")}
    for rubric, title in titles.items():
        counts = []
        for name in ("smollm2_zero_shot_dev", "smollm2_rollouts_dev"):
            texts = [({"prompt": "", "expected_answer": ANSWERS[id_]}, text) for id_, (text,) in samples_of(name)]
            counts.append(sum(RUBRICS[rubric](example, text)["reward"] == 1 for example, text in texts))
        assert f"| {title} | {counts[0]} | {counts[1]} |" in page


def test_students_get_the_files_and_not_the_script() -> None:
    assert not [name for name in DIGESTS if f"data/{name}".startswith(LEFT_OUT)]
    assert "data/make_smollm2.py".startswith(LEFT_OUT)
