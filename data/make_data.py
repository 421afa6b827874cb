"""Makes the files of ``data/datasets`` and ``data/rollouts``: the prompts, and what a simulated policy answers them.

    python3 data/make_data.py [--out FOLDER]

writes the same bytes each time. No language model was run: ``simulated-writer-1`` is a random choice among texts
modelled on what models write (answers in format, slips of arithmetic, right values in the wrong form, working,
second thoughts, refusals, texts cut off, odd characters). word_problems.py then rewords every third prompt.

The writer meets each problem in a fixed temper: a chance to find the value, one to keep to the format, and a habit it
mostly falls back on if not. It draws the value of a completion first, then the form. The scorer is not asked.

Left out
    What a model's errors depend on beyond the kind of problem: its tokens, its temperature, the size of the operands.
    Any link between finding the value and keeping to the format: here the two are independent.
    Texts written to deceive a verifier: those are in the golden exploit suite.
"""

import argparse
import hashlib
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from word_problems import with_word_problems

DEV_ROUNDS, HOLDOUT_ROUNDS, SAMPLES = 8, 6, 8  # prompts of each kind in either split; completions in a group
POLICY, CREATED = "simulated-writer-1", "2026-11-21"
NOTE = "No language model was run: data/make_data.py drew these texts at random, modelled on what models write."

# A generator for each purpose. README.md says how these numbers were picked.
PROMPTS_SEED, TEMPERS_SEED = 2, 32
FROZEN_DEV_SEED, FROZEN_HOLDOUT_SEED, SELECTION_SEED = 359, 312, 9


@dataclass(frozen=True)
class Problem:
    kind: str
    expression: str
    answer: int
    steps: str  # true lines of working that stop short of the answer
    trap: int  # what a common mistake makes of it; now and then that is the answer itself

    @property
    def prompt(self) -> str:
        return f"Compute {self.expression}. Answer with exactly one line: Final: <int>"


def a_sum(rng: random.Random) -> Problem:
    a, tens, ones = rng.randrange(100, 1000), 10 * rng.randrange(2, 100), rng.randrange(1, 10)
    b, steps = tens + ones, f"{a} + {tens} = {a + tens}\nThat leaves {ones} to add."
    return Problem("sum", f"{a} + {b}", a + b, steps, a + b - 10)


def a_sum_of_three(rng: random.Random) -> Problem:
    a, b, c = rng.randrange(11, 500), rng.randrange(11, 500), rng.randrange(11, 500)
    return Problem("sum_of_three", f"{a} + {b} + {c}", a + b + c, f"{a} + {b} = {a + b}", a + b + c - 10)


def a_difference(rng: random.Random) -> Problem:
    a, b = rng.randrange(10, 600), rng.randrange(10, 600)
    return Problem("difference", f"{a} - {b}", a - b, f"The larger of the two is {max(a, b)}.", b - a)


def a_product(rng: random.Random) -> Problem:
    a, tens, ones = rng.randrange(12, 100), 10 * rng.randrange(1, 10), rng.randrange(1, 10)
    b, steps = tens + ones, f"{a} * {tens} = {a * tens}\n{a} * {ones} = {a * ones}"
    return Problem("product", f"{a} * {b}", a * b, steps, a * b - a)


def a_division(rng: random.Random) -> Problem:
    quotient, divisor = rng.randrange(12, 90), rng.randrange(3, 25)
    product, tens = quotient * divisor, quotient // 10 * 10
    steps = f"{divisor} * {tens} = {divisor * tens}\n{product} - {divisor * tens} = {product - divisor * tens}"
    return Problem("division", f"{product} / {divisor}", quotient, steps, quotient + 1)


def a_remainder(rng: random.Random) -> Problem:
    number, divisor = rng.randrange(20, 300), rng.randrange(3, 20)
    quotient, remainder = divmod(number, divisor)
    expression = f"the remainder when {number} is divided by {divisor}"
    return Problem("remainder", expression, remainder, f"{divisor} * {quotient} = {divisor * quotient}", quotient)


def an_order_of_operations(rng: random.Random) -> Problem:
    a, b, c = rng.randrange(10, 200), rng.randrange(3, 30), rng.randrange(3, 13)
    sign, way = rng.choice((("+", 1), ("-", -1)))
    expression, answer, trap = f"{a} {sign} {b} * {c}", a + way * b * c, (a + way * b) * c
    return Problem("order_of_operations", expression, answer, f"{b} * {c} = {b * c}", trap)


def a_parenthesis(rng: random.Random) -> Problem:
    a, b, c = rng.randrange(5, 60), rng.randrange(5, 60), rng.randrange(3, 13)
    sign, way = rng.choice((("+", 1), ("-", -1)))
    step, trap = f"{a} {sign} {b} = {a + way * b}", a + way * b * c
    return Problem("parentheses", f"({a} {sign} {b}) * {c}", (a + way * b) * c, step, trap)


def a_negative_operand(rng: random.Random) -> Problem:
    a, b = rng.randrange(4, 90), rng.randrange(4, 90)
    choices = [(f"(-{a}) + {b}", b - a, -a - b), (f"(-{a}) - {b}", -a - b, b - a), (f"{a} - (-{b})", a + b, a - b)]
    choices += [(f"(-{a}) * {b}", -a * b, a * b), (f"(-{a}) * (-{b})", a * b, -a * b), (f"({-a * b}) / {b}", -a, a)]
    expression, answer, trap = rng.choice(choices)
    return Problem("negative_operand", expression, answer, "I have to mind the signs here.", trap)


def a_near_zero(rng: random.Random) -> Problem:
    a, b = rng.randrange(3, 30), rng.randrange(3, 30)
    c = a * b + rng.choice((-2, -1, 0, 0, 1, 2))
    return Problem("near_zero", f"{a} * {b} - {c}", a * b - c, f"{a} * {b} = {a * b}", c - a * b)


KINDS: tuple[Callable[[random.Random], Problem], ...] = (a_sum, a_sum_of_three, a_difference, a_product, a_division)
KINDS += (a_remainder, an_order_of_operations, a_parenthesis, a_negative_operand, a_near_zero)

# How likely the writer is to find the value, on average over the problems of a kind; and to keep to the format.
SKILL = {"sum": 0.80, "sum_of_three": 0.70, "difference": 0.75, "product": 0.50, "division": 0.65, "remainder": 0.60}
SKILL |= {"order_of_operations": 0.65, "parentheses": 0.70, "negative_operand": 0.60, "near_zero": 0.70}
OBEDIENCE = 0.65

# The forms an answer takes. {other} is a second value, {reshaped} the value in digits that the format rules out.
Forms = tuple[str, ...]
IN_FORMAT: Forms = ("Final: {value}",) * 6 + ("Final: {value}\n",) * 3
IN_FORMAT += (" Final: {value}", "\n\nFinal: {value}", "Final: {value} ")
FREE: Forms = ("{value}", "{value}.", "The answer is {value}.", "Answer: {value}", "\\boxed{{{value}}}", "= {value}")
NEAR_PREFIX: Forms = ("**Final: {value}**", "**Final:** {value}", "final: {value}", "FINAL: {value}", "Final:{value}")
NEAR_PREFIX += ("`Final: {value}`", "Final answer: {value}", "Sure! Final: {value}", "Final:\u00a0{value}")
DRESSED: Forms = ("Final: {value}.", "Final: {value}.0", "Final: <{value}>", "Final: {value}<|im_end|>", "Final: <int>")
DRESSED += ("Final:  {value}", "Final: {expression} = {value}", "Final: \\boxed{{{value}}}", "Final: **{value}**")
RESHAPED: Forms = ("Final: {reshaped}",) * 6 + ("Final: \u200b{value}", "Final: {value}\u200b", "Final: {value}\u2028")
WORKED: Forms = ("{steps}\nSo the answer is {value}.\nFinal: {value}", "<think>\n{steps}\n</think>\n\nFinal: {value}")
WORKED += ("Let me work this out.\n{steps}\n\nFinal: {value}", "Step by step:\n{steps}\n\n**Final: {value}**")
TWO_ANSWERS: Forms = ("Final: {other}\nFinal: {value}", "Final: {value} or {other}", "Final: {other} Final: {value}")
TWO_ANSWERS += ("Final: {other}\n\nWait, I should check that. {steps}\n\nFinal: {value}",)
UNWILLING: Forms = ("I'm sorry, I can't help with that.", "A calculator is safer than I am for {expression}.")
UNWILLING += ("Should the result be exact or rounded?", "Do you want {expression} as a decimal?", "")
CUT_OFF = (*WORKED, *IN_FORMAT[:4])  # written like this, then broken off somewhere
HABITS: tuple[Forms, ...] = (FREE, NEAR_PREFIX, WORKED, RESHAPED) * 2 + (WORKED, DRESSED)
HABITS += (TWO_ANSWERS, UNWILLING, CUT_OFF)

FULLWIDTH, ARABIC_INDIC = (str.maketrans("0123456789", digits) for digits in ("０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩"))


@dataclass(frozen=True)
class Temper:
    """How the writer takes one problem, each time it meets it."""

    knows: float
    obeys: float
    habit: Forms


def around(rng: random.Random, mean: float) -> float:
    """A chance between 0 and 1 with this mean: u^(1/mean − 1) for u uniform, as the integral of u^a is 1/(1 + a)."""
    return float(rng.random() ** (1 / mean - 1))


def completion(rng: random.Random, problem: Problem, temper: Temper) -> str:
    right, slipped = str(problem.answer), slip(rng, problem)
    value, other = (right, slipped) if rng.random() < temper.knows else (slipped, right)
    forms = IN_FORMAT if rng.random() < temper.obeys else temper.habit if rng.random() < 0.5 else rng.choice(HABITS)
    text = rng.choice(forms).format(
        value=value, other=other, reshaped=reshape(rng, value), expression=problem.expression, steps=problem.steps
    )
    return text[: rng.randrange(len(text))] if forms is CUT_OFF else text


def slip(rng: random.Random, problem: Problem) -> str:
    """A value that is wrong in a way arithmetic goes wrong; for 0 with its sign turned, that is ``-0``."""
    right = str(problem.answer)
    sign, digits = ("-", right[1:]) if right.startswith("-") else ("", right)
    values = [str(problem.trap), str(problem.answer + rng.choice((-1, 1)))]
    if "-" in problem.expression:
        values.append(digits if sign else f"-{digits}")
    if len(digits) > 1:
        at = rng.randrange(1, len(digits))
        transposed = digits[: at - 1] + digits[at] + digits[at - 1] + digits[at + 1 :]
        values += [sign + str(int(transposed)), str(problem.answer + rng.choice((-10, 10)))]
    return rng.choice([value for value in values if value != right])


def reshape(rng: random.Random, value: str) -> str:
    """The value in digits or with a sign that the format rules out."""
    signed = "-0" if value == "0" else value.replace("-", "\u2212") if value.startswith("-") else f"+{value}"
    shapes = [value.translate(FULLWIDTH), value.translate(ARABIC_INDIC), value.zfill(len(value) + 1), signed, signed]
    if abs(int(value)) >= 1000:
        shapes += [f"{int(value):,}"] * 3
    return rng.choice(shapes)


def draw_problems(rng: random.Random, rounds: int) -> list[Problem]:
    """One problem of each kind in each round, no prompt twice."""
    problems: dict[str, Problem] = {}
    for draw in KINDS * rounds:
        problem = draw(rng)
        while problem.prompt in problems:
            problem = draw(rng)
        problems[problem.prompt] = problem
    return list(problems.values())


def write_files(folder: Path) -> None:
    rng = random.Random(TEMPERS_SEED)
    problems = draw_problems(random.Random(PROMPTS_SEED), DEV_ROUNDS + HOLDOUT_ROUNDS)
    tempers = [Temper(around(rng, SKILL[row.kind]), around(rng, OBEDIENCE), rng.choice(HABITS)) for row in problems]
    pairs = list(zip(problems, tempers, strict=True))
    first_holdout = DEV_ROUNDS * len(KINDS)
    dev = {f"dev-{number:03}": pair for number, pair in enumerate(pairs[:first_holdout], 1)}
    holdout = {f"holdout-{number:03}": pair for number, pair in enumerate(pairs[first_holdout:], 1)}

    for split, met, seed in (("dev", dev, FROZEN_DEV_SEED), ("holdout", holdout, FROZEN_HOLDOUT_SEED)):
        examples = [example(id_, split, problem) for id_, (problem, _) in met.items()]
        write_jsonl(folder / "datasets" / f"math_{split}.jsonl", with_word_problems(examples))
        rng = random.Random(seed)
        rollouts = [{"id": id_, "completion": completion(rng, *pair)} for id_, pair in met.items()]
        write_generated(folder / "rollouts" / f"frozen_rollouts_{split}.jsonl", rollouts, seed, 1)

    rng = random.Random(SELECTION_SEED)
    groups = [{"id": id_, "samples": [completion(rng, *pair) for _ in range(SAMPLES)]} for id_, pair in dev.items()]
    write_generated(folder / "rollouts" / "selection_pack_dev.jsonl", groups, SELECTION_SEED, SAMPLES)


def example(id_: str, split: str, problem: Problem) -> dict[str, Any]:
    metadata = {"split": split, "kind": problem.kind}
    return {"id": id_, "prompt": problem.prompt, "expected_answer": problem.answer, "metadata": metadata}


def write_generated(path: Path, records: list[dict[str, Any]], seed: int, n: int) -> None:
    write_jsonl(path, records)
    sampling = {"temperature": 1.0, "top_p": 1.0, "seed": seed, "n": n}
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    provenance = {
        "policy": POLICY,
        "created": CREATED,
        "sampling": sampling,
        "template": "{prompt}",
        "completions_sha256": digest,
        "training": None,
        "note": NOTE,
    }
    write_text(path.with_suffix(".meta.json"), json.dumps(provenance, indent=2))


def write_jsonl(path: Path, records: list[dict[str, Any]]) -> None:
    write_text(path, "\n".join(json.dumps(record, ensure_ascii=False, separators=(",", ":")) for record in records))


def write_text(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write datasets/ and rollouts/ anew, the same bytes each time.")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent, metavar="FOLDER", help="default: data/")
    write_files(parser.parse_args().out)
