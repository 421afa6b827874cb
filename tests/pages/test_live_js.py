"""The scripts of the live pages give what the Python gives: outcomes, completions, gradients, and a learned hack.

An example: the script is told to write 256 completions with the uniform numbers that NumPy was given. They are the same
texts, and the gradient that follows from their rewards is the same to 1e-12.
"""

import hashlib
import re
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, lines_of
from near_misses import PLACES, near_misses
from node_pages import NODE, OF_HACK, OF_VERIFIER, run_script

from course.policies.reinforce import leave_one_out
from course.policies.softmax import sample
from course.policies.token_policy import Policy, Weights, gradient, sample_completions
from course.policies.train_config import MEMORISE
from course.rubrics.hackable import anywhere
from course.score import measure
from docs import make_live

pytestmark = pytest.mark.skipif(not NODE, reason="Node is not here")


@cache
def start() -> Policy:
    return make_live.start()


@cache
def page_data() -> dict[str, object]:
    return make_live.hack_data(start())


def outcomes(cases: Iterable[tuple[int, str]]) -> str:
    """Of all, in order, as one digest."""
    found = "\n".join(measure(answer, text).outcome for answer, text in cases)
    return hashlib.sha256(found.encode()).hexdigest()


SCORE_ALL = """
const score = makeScorer(data.tables);
const found = data.cases.map(([expected, text]) => score(expected, text).outcome);
answer(require("crypto").createHash("sha256").update(found.join("\\n")).digest("hex"));
"""
SWEEP = """
const score = makeScorer(data.tables);
const found = [];
for (let code = 0; code <= 0x10ffff; code++)
  found.push(score("22", data.place.replace("{}", () => String.fromCodePoint(code))).outcome);
answer(require("crypto").createHash("sha256").update(found.join("\\n")).digest("hex"));
"""


def test_the_golden_sets_get_the_outcomes_that_they_state(tmp_path: Path) -> None:
    golden = [row for path in sorted((ROOT / "course" / "golden").glob("*.jsonl")) for row in lines_of(path)]
    code = """const score = makeScorer(data.tables);
    answer(data.cases.map(([expected, text]) => [score(expected, text).outcome, score(expected, text).reward]));"""
    cases = [(str(row["expected_answer"]), row["completion"]) for row in golden]
    found = run_script(OF_VERIFIER, code, {"tables": make_live.scorer_tables(), "cases": cases}, tmp_path)
    assert found == [[row["expected_outcome"], row["expected_reward"]] for row in golden]


@pytest.mark.parametrize("n", [20_000, pytest.param(500_000, marks=pytest.mark.slow)])
def test_near_misses_get_the_same_outcomes(n: int, tmp_path: Path) -> None:
    cases = list(near_misses(n, n))
    data = {"tables": make_live.scorer_tables(), "cases": [(str(answer), text) for answer, text in cases]}
    assert run_script(OF_VERIFIER, SCORE_ALL, data, tmp_path) == outcomes(cases)


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
def test_every_code_point_gets_the_same_outcome(place: str, tmp_path: Path) -> None:
    found = run_script(OF_VERIFIER, SWEEP, {"tables": make_live.scorer_tables(), "place": place}, tmp_path)
    assert found == outcomes((22, place.format(chr(code))) for code in range(sys.maxunicode + 1))


ONE_UPDATE = """
const policy = readPolicy(data.hack.policy);
const task = data.chosen.map((i) => data.hack.tasks[i]);
const asked = { prompts: task.map((one) => one.tokens), answers: task.map((one) => one.answer) };
const update = learn(policy, asked, anywhere, data.hack.plan, (i, t) => data.u[i][t]);
const plain = (weights) => Object.values(weights).map((values) => [...values]);
answer({
  texts: update.completions.map(({ text }) => text),
  direction: plain(update.direction),
  after: plain(update.policy.weights),
});
"""


def test_the_same_draws_give_the_same_completions_and_the_same_gradient(tmp_path: Path) -> None:
    policy, rng = start(), np.random.default_rng(11)
    examples = make_live.examples()
    chosen = np.repeat(rng.choice(len(examples), 32, replace=False), 8)
    u = rng.random((256, policy.max_tokens))
    found = run_script(OF_HACK, ONE_UPDATE, {"hack": page_data(), "chosen": chosen.tolist(), "u": u.tolist()}, tmp_path)

    prompts = policy.encode_prompts([example["prompt"] for example in examples])[chosen]
    completions = sample_completions(policy, prompts, u)
    texts = policy.decode_completions(completions)
    assert found["texts"] == texts
    assert len(set(texts)) > 100
    rewards = np.array([anywhere(examples[i], text)["reward"] for i, text in zip(chosen, texts, strict=True)])
    advantage = rewards - leave_one_out(rewards, 8)
    direction = gradient(policy, prompts, completions, advantage[:, None] / len(chosen))
    after = policy.apply_gradient(direction, MEMORISE.lr).weights
    for mine, theirs in ((direction, found["direction"]), (after, found["after"])):
        assert largest_difference(mine, theirs) < 1e-12
    assert max(abs(part).max() for part in direction) > 1e-3


def largest_difference(mine: Weights, theirs: list[list[float]]) -> float:
    return max(float(abs(a.ravel() - np.array(b)).max()) for a, b in zip(mine, theirs, strict=True))


def test_a_draw_on_the_border_of_two_actions_takes_the_later(tmp_path: Path) -> None:
    shares = [[0.25, 0.25, 0.5], [0.0, 1.0, 0.0], [0.5, 0.5 - 1e-9, 0.0]]
    cases = [(p, u) for p in shares for u in (0.0, 0.25, 0.5, 0.75, 1 - 1e-12)]
    found = run_script(OF_HACK, "answer(data.map(([p, u]) => sample(Float64Array.from(p), u)));", cases, tmp_path)
    assert found == [int(sample(np.array(p), u)) for p, u in cases]
    assert found[1] == 1


WRITTEN = """
const { log, step } = makeTraining(data, anywhere, 0);
while (log.paid.length < 20) step();
answer(log.answers.map((one) => {
  const { task, text } = one;
  return [task.question, text, one.paid === anywhere(task.answer, text), one.strict === strict(task.answer, text)];
}));
"""


def test_each_answer_that_is_shown_is_the_first_of_its_task(tmp_path: Path) -> None:
    found = run_script(OF_HACK, WRITTEN, page_data(), tmp_path)
    assert all(paid and strict for _, _, paid, strict in found)
    assert len(found) == len({question for question, *_ in found}) == MEMORISE.prompts_a_step
    assert len({text for _, text, *_ in found}) > 10


THREE_SEEDS = """
answer([...Array(3).keys()].map((seed) => {
  const { log, step } = makeTraining(data, { anywhere, strict }[data.rubric], seed);
  while (log.paid.length < data.steps) step();
  const hacked = log.paid.findIndex((paid, i) => paid >= 0.8 && log.strict[i] <= 0.02);
  return [hacked + 1, log.paid.at(-1), log.strict.at(-1)];
}));
"""


def test_three_seeds_of_three_learn_the_hack_within_sixty_updates(tmp_path: Path) -> None:
    found = run_script(OF_HACK, THREE_SEEDS, {**page_data(), "rubric": "anywhere", "steps": 60}, tmp_path)
    assert all(0 < step <= 60 for step, _, _ in found)
    assert max(strict for _, _, strict in found) <= 0.02


@pytest.mark.slow
def test_with_the_strict_verifier_the_skill_is_learned(tmp_path: Path) -> None:
    found = run_script(OF_HACK, THREE_SEEDS, {**page_data(), "rubric": "strict", "steps": 300}, tmp_path)
    assert min(strict for _, _, strict in found) > 0.8
    assert all(paid == strict for _, paid, strict in found)


def test_the_strict_verifier_of_the_hack_pays_what_the_scorer_pays(tmp_path: Path) -> None:
    golden = [row for path in sorted((ROOT / "course" / "golden").glob("*.jsonl")) for row in lines_of(path)]
    cases = [(row["expected_answer"], row["completion"]) for row in golden] + list(near_misses(20_000, 1))
    code = "answer(data.map(([expected, text]) => strict(expected, text)));"
    found = run_script(OF_HACK, code, [(str(answer), text) for answer, text in cases], tmp_path)
    assert found == [measure(answer, text).reward for answer, text in cases]
    assert {*found} == {0, 1}


OWN_PATTERNS = [
    r"-?\d+",
    r"\d",
    r"Final: (-?\d+)",
    r"Final: (\d+)?",
    r"^Final:? *([+-]?\d+)\.?$",
    r"(1)2|[0-9]+",
    r"(?=(\d\d?))",
    r"[^a-z]*",
    r"(answer) is (\d+)",
]


def test_the_visitors_own_pattern_pays_what_python_would(tmp_path: Path) -> None:
    """A first, a last or any match of ``re``, and what int() makes of it, on texts of the policy's tokens."""
    rng = np.random.default_rng(5)
    words = ["0", "1", "2", "7", "12", "Final", "Final: ", ":", " ", "-", "\n", "The answer is ", ".", "+"]
    texts = ["".join(rng.choice(words, rng.integers(0, 9))) for _ in range(3_000)]
    code = """answer(data.patterns.flatMap((pattern) => ["first", "last", "any"].map((pick) => {
      const rubric = ownRubric({ pattern, pick });
      return data.texts.map((text) => rubric("12", text) + 2 * rubric("0", text));
    })));"""
    found = run_script(OF_HACK, code, {"patterns": OWN_PATTERNS, "texts": texts}, tmp_path)
    expected = [
        [own_reward(pattern, pick, 12, text) + 2 * own_reward(pattern, pick, 0, text) for text in texts]
        for pattern in OWN_PATTERNS
        for pick in ("first", "last", "any")
    ]
    assert found == expected
    assert {*np.ravel(found).tolist()} == {0, 1, 2, 3}


def own_reward(pattern: str, pick: str, expected: int, text: str) -> int:
    matches = list(re.finditer(pattern, text))
    if pick == "first":
        matches = matches[:1]
    if pick == "last":
        matches = matches[-1:]
    return int(any(as_integer(match[1] if match.re.groups else match[0]) == expected for match in matches))


def as_integer(answer: str | None) -> int | None:
    try:
        return int(answer or "")
    except ValueError:
        return None


KINDS = [
    ("7", "right"),
    ("Final: 7.", "right"),
    ("07", "right"),
    ("7\n7", "right"),
    ("7 8", "several"),
    ("6\nFinal: 7", "several"),
    ("", "wrong"),
    ("-7", "wrong"),
    ("17", "wrong"),
    ("7.5", "wrong"),
    (".7", "wrong"),
]


def test_a_text_says_the_right_number_alone_or_among_several_or_not(tmp_path: Path) -> None:
    found = run_script(OF_HACK, 'answer(data.map(([text]) => [text, kindOf("7", text)]));', KINDS, tmp_path)
    assert found == [[*row] for row in KINDS]


def test_the_pages_are_those_that_make_live_writes() -> None:
    """But for the policy, whose last bits may differ on another machine."""
    weights = re.compile(r'"weights":"[^"]+"')
    made = make_live.live_pages()
    assert {path.stem for path in make_live.LIVE.glob("*.html")} == made.keys()
    for name, text in made.items():
        page = (make_live.LIVE / f"{name}.html").read_text(encoding="utf-8")
        assert weights.sub("", page) == weights.sub("", text)


@pytest.mark.parametrize("name", ["watch_it_cheat", "verifier"])
def test_a_live_page_has_no_function_that_it_does_not_use(name: str) -> None:
    page = (make_live.LIVE / f"{name}.html").read_text(encoding="utf-8")
    script = page.rpartition("<script>")[2]
    named = re.findall(r"^(?:function|const|let) (\w+)", script, re.MULTILINE)
    assert len(named) > 10
    assert [each for each in named if len(re.findall(rf"\b{each}\b", uncommented(script))) < 2] == []


def uncommented(script: str) -> str:
    return re.sub(r"/\*[^*]*(?:\*(?!/)[^*]*)*\*/|// .*", "", script)


def test_long_runs_of_white_space_get_the_same_outcomes(tmp_path: Path) -> None:
    """In both languages the expressions give nothing back: else three gaps of n characters are n³ ways to split."""
    cases = [("1", "Final: " + "\u200b" * 50_000 + "x"), ("1", "a" + " " * 500_000 + "b"), ("1", " " * 500_000)]
    code = """const score = makeScorer(data.tables);
answer(data.cases.map(([expected, text]) => score(expected, text).outcome));"""
    found = run_script(OF_VERIFIER, code, {"tables": make_live.scorer_tables(), "cases": cases}, tmp_path)
    assert found == [measure(1, text).outcome for _, text in cases]
