"""The locked room: which difference is a fault, which missing fact is one, and which knob was turned.

An example: two runs differ in temperature alone. The condition ``sampling`` has a fault that shows both values, and
the knob that was turned is selection compute.
"""

from itertools import combinations

import msgspec
import pytest
from msgspec import UNSET

from course.artifacts.locked_room import knobs_turned, locked_room, room_conditions, room_digest
from course.artifacts.records import Golden, Manifest, TrainedOn
from course.datasets.records import Message, Sampling

BASE = Manifest(
    schema_version=3,
    loop="A",
    command="course.eval",
    settings={},
    split="dev",
    dataset_fingerprint="d",
    prompts_fingerprint="p",
    examples_fingerprint="e",
    completions_fingerprint="c",
    samples_per_prompt=1,
    policy="somebody",
    template="Q: {prompt}\nA:",
    sampling=Sampling(temperature=1.0, top_p=0.5, seed=7, n=1),
    trained_on=None,
    seed=None,
    scorer_name="final_int",
    scorer_version="1.0.0",
    scorer_fingerprint="s",
    spec="spec",
    golden=Golden(passed=True, cases=82),
    change=None,
    expect=None,
    outputs={},
)
COLDER = Sampling(temperature=0.0, top_p=0.5, seed=7, n=1)
CONDITIONS = {  # what can differ -> (another value, the knob that was turned)
    "dataset_fingerprint": ("other", "environment"),
    "prompts_fingerprint": ("other", "environment"),
    "examples_fingerprint": ("other", "environment"),
    "split": ("holdout", "environment"),
    "template": ("{prompt}", "environment"),
    "scorer_name": ("other", "instrument"),
    "scorer_version": ("1.0.1", "instrument"),
    "scorer_fingerprint": ("other", "instrument"),
    "loop": ("B", "selection compute"),
    "samples_per_prompt": (2, "selection compute"),
    "sampling": (COLDER, "selection compute"),
}
FREE = {
    "command": "course.other",
    "settings": {"pick_sha256": "b"},
    "trained_on": TrainedOn("score", 75, 0, 2),
    "completions_fingerprint": "other",
    "policy": "somebody else",
    "change": "everything",
    "expect": "half",
    "outputs": {"results.jsonl": "0"},
}


def changed(**fields: object) -> Manifest:
    return msgspec.structs.replace(BASE, **fields)


def faults(one: Manifest, other: Manifest) -> list[str]:
    """What is wrong with the room, less the words that all faults begin with and the values that follow."""
    said = [fault for condition in locked_room(one, other) if (fault := condition.fault)]
    return [fault.removeprefix("locked room: ").partition(" (")[0] for fault in said]


def test_a_run_is_in_one_room_with_itself() -> None:
    assert faults(BASE, BASE) == []


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_that_differs_is_a_fault_whichever_side_it_is_on(name: str) -> None:
    value, knob = CONDITIONS[name]
    other = changed(**{name: value})
    for pair in ((BASE, other), (other, BASE)):
        assert faults(*pair) == [f"{name} differs"]
        assert knobs_turned(locked_room(*pair), *pair) == [knob]


def test_a_fault_shows_both_values_and_of_a_fingerprint_the_beginning() -> None:
    other = changed(split="holdout", dataset_fingerprint="0123456789ab" + "c" * 52)
    one, two, _, three = locked_room(BASE, other)[:4]
    assert one.fault == "locked room: dataset_fingerprint differs (d / 0123456789ab…)"
    assert two.fault is None
    assert three.fault == "locked room: split differs (dev / holdout)"


@pytest.mark.parametrize("name", FREE)
def test_what_is_studied_and_what_is_only_a_name_may_differ(name: str) -> None:
    assert faults(BASE, changed(**{name: FREE[name]})) == []


@pytest.mark.parametrize("setting", ["temperature", "top_p", "n"])
def test_each_sampling_setting_but_the_seed_is_part_of_the_condition(setting: str) -> None:
    assert BASE.sampling is not None
    other = msgspec.structs.replace(BASE.sampling, **{setting: 3})
    assert faults(BASE, changed(sampling=other)) == ["sampling differs"]


def test_a_fact_that_is_missing_fails_closed_also_where_both_miss_it() -> None:
    unknown = changed(sampling=None)
    assert faults(unknown, BASE) == ["sampling is not known for the baseline"]
    assert faults(BASE, unknown) == ["sampling is not known for the candidate"]
    assert faults(unknown, unknown) == ["sampling is not known for the baseline and the candidate"]
    for pair in (
        (unknown, BASE),
        (BASE, unknown),
        (unknown, unknown),
    ):
        assert knobs(*pair) == []  # nobody turned what nobody knows


def test_a_template_counts_as_it_stands_and_no_text_is_taken_for_messages() -> None:
    texts = ["{prompt}", " {prompt}", '[{"role":"user","content":"{prompt}"}]', f"sha256:{'0' * 64}"]
    messages = [[Message("user", "{prompt}")], [Message("system", "{prompt}")]]
    for one, other in combinations([*texts, *messages], 2):
        assert faults(changed(template=one), changed(template=other)) == ["template differs"]


@pytest.mark.parametrize("unknown", [None, UNSET])
def test_a_template_that_nobody_wrote_down_is_equal_to_none_and_the_fault_says_what_to_write(unknown: object) -> None:
    old = changed(template=unknown)
    for pair, sides in (((old, BASE), "baseline"), ((BASE, old), "candidate"), ((old, old), "baseline and the cand")):
        (fault,) = [condition.fault for condition in locked_room(*pair) if condition.fault]
        assert f"template is not known for the {sides}" in fault
        assert all(words in fault for words in ('"template"', ".meta.json", '"{prompt}"'))
        assert knobs(*pair) == []


def test_of_two_long_templates_the_part_is_shown_in_which_they_differ() -> None:
    before, after = (f"{'Be brief. ' * 30}{word}\n{{prompt}}" for word in ("Please", "Quickly"))
    (fault,) = [
        condition.fault
        for condition in locked_room(changed(template=before), changed(template=after))
        if condition.fault
    ]
    assert "Please" in fault
    assert "Quickly" in fault
    assert len(fault) < 200


RUBRIC = {"rubric": "a.py:f", "rubric_version": "1", "rubric_sha256": "0" * 64, "rubric_call": "f(example, completion)"}


@pytest.mark.parametrize(("name", "value"), [*((name, "2") for name in RUBRIC), ("rubric", None)])
def test_another_verifier_is_another_instrument(name: str, value: str | None) -> None:
    one, other = changed(settings=RUBRIC), changed(settings=RUBRIC | {name: value})
    assert faults(one, one) == []
    assert faults(one, other) == ["verifier differs"]
    assert knobs(one, other) == ["instrument"]


def test_the_conditions_are_twelve_and_shown_with_their_values() -> None:
    assert room_conditions(BASE) == {
        "dataset_fingerprint": "d",
        "prompts_fingerprint": "p",
        "examples_fingerprint": "e",
        "split": "dev",
        "template": '"Q: {prompt}\\nA:"',
        "scorer_name": "final_int",
        "scorer_version": "1.0.0",
        "scorer_fingerprint": "s",
        "missing_completions": "refused",
        "loop": "A",
        "samples_per_prompt": "1",
        "sampling": "temperature 1.0, top_p 0.5, n 1",
    }


def test_missing_completions_that_count_as_zero_are_another_way_to_measure() -> None:
    other = changed(settings={"missing": "zero"})
    assert faults(BASE, changed(settings={"missing": None})) == []
    assert faults(BASE, other) == ["missing_completions differs"]
    assert knobs(BASE, other) == ["instrument"]


@pytest.mark.parametrize("seed", [8, None])
def test_the_seed_is_no_condition_for_two_policies_draw_differently_from_one(seed: int | None) -> None:
    assert BASE.sampling is not None
    other = changed(sampling=msgspec.structs.replace(BASE.sampling, seed=seed))
    for pair in ((BASE, other), (other, BASE)):
        assert faults(*pair) == []
        assert knobs(*pair) == []
    assert room_digest(other) == room_digest(BASE)


def knobs(one: Manifest, other: Manifest) -> list[str]:
    return knobs_turned(locked_room(one, other), one, other)


def test_the_knob_is_the_policy_where_another_one_wrote_the_completions() -> None:
    assert knobs(BASE, changed(policy="somebody else", completions_fingerprint="other")) == ["policy"]


def test_no_knob_was_turned_where_the_same_policy_wrote_them() -> None:
    assert knobs(BASE, BASE) == []
    assert knobs(BASE, changed(completions_fingerprint="other")) == []


def test_in_loop_b_the_knob_is_the_choice_where_pick_best_was_another() -> None:
    one = changed(loop="B", samples_per_prompt=4, settings={"pick_sha256": "a"})
    other = changed(loop="B", samples_per_prompt=4, settings={"pick_sha256": "b"})
    fresh = msgspec.structs.replace(other, policy="somebody else")
    assert knobs(one, one) == []
    assert knobs(one, other) == ["selection compute"]
    assert knobs(other, fresh) == ["policy"]
    assert knobs(one, fresh) == ["policy", "selection compute"]


def test_several_knobs_are_all_named_each_once() -> None:
    other = changed(split="holdout", dataset_fingerprint="other", scorer_version="2.0.0", policy="somebody else")
    assert knobs(BASE, other) == ["environment", "instrument", "policy"]
