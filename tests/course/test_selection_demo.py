"""Loop B: its numbers against a pack worked by hand, and a pick_best that is not believed.

An example: four prompts with four samples each, of which 2, 1, 0 and 4 are right. The first sample is right twice,
best of four three times; so 50 % and 75 %.
"""

import hashlib
import json
import math
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, SAMPLING, Lab, lines_of

ANSWERS = [22, -8, 0, 7]
GROUPS = [
    ["Final: 21", "Final: 22", "Final: 22\n", "22"],  # two right, the second is the first of them
    ["Final: -8", "Final: 8", "Final: 8", "-8"],  # one right, the first
    ["Final: -0", "zero", "Final: 00", ""],  # none
    ["Final: 7", "Final: 7", "Final: 7", "Final: 7"],  # all
]
LAST_OF_THE_BEST = """
def pick_best(samples):
    return max(samples, key=lambda sample: (sample.reward, sample.index))
"""


def summary_of(run: str = "runs/run_001") -> dict[str, Any]:
    summary: dict[str, Any] = json.loads(Path(run, "summary.json").read_bytes())
    return summary


def kl(p: float, n: int) -> float:
    """KL of best-of-n for a binary reward, from its definition: the sum over both rewards."""
    q = 1 - (1 - p) ** n
    return q * math.log(q / p) + (1 - q) * math.log((1 - q) / (1 - p))


def test_every_number_of_four_samples_is_the_one_worked_by_hand(lab: Lab) -> None:
    done = lab.select(ANSWERS, GROUPS, 4, "--details")
    assert (done.status, done.err) == (0, "")
    summary = summary_of()
    assert (summary["n"], summary["passes"], summary["samples_per_prompt"]) == (4, 3, 4)
    assert summary["outcomes"] == {"ok": 3, "negative_zero": 1}
    assert summary["first_sample_accuracy"] == 2 / 4
    assert summary["selected_accuracy"] == summary["pass_rate"] == 3 / 4
    assert summary["random_choice"] == pytest.approx((2 / 4 + 1 / 4 + 0 + 1) / 4)
    assert summary["ceiling"] == 3 / 4
    assert summary["pass_at_k"] == pytest.approx(
        {
            "1": (1 / 2 + 1 / 4 + 0 + 1) / 4,
            "2": (5 / 6 + 1 / 2 + 0 + 1) / 4,  # of 6 pairs, one and three miss
            "3": (1 + 3 / 4 + 0 + 1) / 4,  # of 4 triples, none and one miss
            "4": 3 / 4,
        }
    )
    assert summary["kl_estimate"] == pytest.approx((kl(1 / 2, 4) + kl(1 / 4, 4) + 0 + 0) / 4)
    assert summary["kl_estimate_reason"] is None
    assert summary["kl_bound"] == pytest.approx(math.log(4) - 3 / 4)
    for name, value in (
        ("first sample", "50.0"),
        ("random choice", "43.8"),
        ("selected", "75.0"),
        ("ceiling", "75.0"),
    ):
        assert re.search(rf"^{name} +{value} %", done.out, re.MULTILINE)


def test_the_first_screen_has_the_first_sample_the_average_and_the_choice_alone(lab: Lab) -> None:
    """The first samples are right for 2 of 4; all 16 samples, on average, for 7 of 16."""
    out = lab.select(ANSWERS, GROUPS, 4).out
    shown = re.findall(r"[0-9.]+ %", out)
    assert shown == ["50.0 %", "43.8 %", "75.0 %", "95 %", "95.4 %"]
    whole = lab.select(ANSWERS, GROUPS, 4, "--details")
    assert whole.out.startswith(out.partition("\n\nrun: ")[0])
    one, two = (Path("runs", run, "manifest.json").read_bytes() for run in ("run_001", "run_002"))
    assert one == two


def test_a_row_holds_the_choice_and_all_it_was_chosen_from(lab: Lab) -> None:
    lab.select(ANSWERS, GROUPS, 4)
    rows = lines_of(Path("runs/run_001/results.jsonl"))
    assert [row["chosen"] for row in rows] == [1, 0, 0, 0]  # ties go to the first
    assert [row["rewards"] for row in rows] == [
        [0, 1, 1, 0],
        [1, 0, 0, 0],
        [0, 0, 0, 0],
        [1, 1, 1, 1],
    ]
    assert [row["samples"] for row in rows] == GROUPS
    assert [row["completion"] for row in rows] == ["Final: 22", "Final: -8", "Final: -0", "Final: 7"]
    assert [row["details"]["outcome"] for row in rows] == ["ok", "ok", "negative_zero", "ok"]
    assert lab("inspect_run", "--run", "runs/run_001", "--verify").status == 0


def test_fewer_samples_are_the_first_ones(lab: Lab) -> None:
    lab.select(ANSWERS, GROUPS, 1)
    summary = summary_of()
    names = ("first_sample_accuracy", "selected_accuracy", "random_choice", "ceiling")
    assert [summary[name] for name in names] == [0.5] * 4
    assert summary["pass_at_k"] == pytest.approx({"1": (1 / 2 + 1 / 4 + 0 + 1) / 4})  # from all that were drawn
    assert (summary["kl_estimate"], summary["kl_bound"]) == (0.0, 0.0)
    rows = lines_of(Path("runs/run_001/results.jsonl"))
    assert [row["samples"] for row in rows] == [group[:1] for group in GROUPS]
    assert [row["others"] for row in rows] == [group[1:] for group in GROUPS]
    assert rows[0]["other_rewards"] == [1, 1, 0]


def test_with_one_sample_no_text_speaks_of_more(lab: Lab) -> None:
    out = lab.select(ANSWERS, GROUPS, 1, "--details").out
    assert "With one sample there is nothing to choose, and Loop A measures the same number." in out
    for word in ("selection", "ceiling", "random choice", "another sample", "KL"):
        assert word not in out.replace("selection_demo", "")


def test_the_rate_behind_the_kl_comes_from_all_samples_of_a_prompt(lab: Lab) -> None:
    lab.select(ANSWERS, GROUPS, 2)
    assert summary_of()["kl_estimate"] == pytest.approx((kl(1 / 2, 2) + kl(1 / 4, 2) + 0 + 0) / 4)


@pytest.mark.parametrize(
    ("drawn", "p", "bias"),
    [
        (8, 0.1, -0.17),
        (8, 0.5, -0.13),
        (4, 0.1, -0.34),
        (4, 0.5, -0.25),
    ],
)
def test_the_bias_that_the_docstring_tells_is_the_one_there_is(drawn: int, p: float, bias: float) -> None:
    """The mean over all counts of right samples that so many draws can hold, against the KL of the true rate."""
    chances = [math.comb(drawn, c) * p**c * (1 - p) ** (drawn - c) for c in range(drawn + 1)]
    mean = sum(chance * kl(c / drawn, 4) for c, chance in enumerate(chances) if 0 < c < drawn)
    assert mean / kl(p, 4) - 1 == pytest.approx(bias, abs=0.005)


def test_the_manifest_says_n_and_which_pick_best_chose(lab: Lab) -> None:
    picker = lab.picker(LAST_OF_THE_BEST)
    lab.select(ANSWERS, GROUPS, 3, "--change", "three, not two", "--expect", "80 %")
    manifest = json.loads(Path("runs/run_001/manifest.json").read_bytes())
    assert (manifest["loop"], manifest["samples_per_prompt"], manifest["change"]) == ("B", 3, "three, not two")
    assert manifest["expect"] == "80 %"
    assert manifest["sampling"] == SAMPLING | {"n": 4}
    assert manifest["completions_fingerprint"] == hashlib.sha256(Path("pack.jsonl").read_bytes()).hexdigest()
    assert manifest["settings"] == {
        "pick": "pick_best.py:pick_best",
        "pick_sha256": hashlib.sha256(picker.read_bytes()).hexdigest(),
    }
    assert Path("runs/run_001/pick.py").read_bytes() == picker.read_bytes()
    (line,) = lines_of(lab.log)
    assert (line["loop"], line["command"]) == ("B", "course.selection_demo")
    assert line["number"] == {"selected_accuracy": summary_of()["selected_accuracy"]}


def test_choosing_twice_is_choosing_the_same(lab: Lab) -> None:
    for _ in range(2):
        lab.select(ANSWERS, GROUPS, 4)
    one, two = (Path("runs", run, "results.jsonl").read_bytes() for run in ("run_001", "run_002"))
    assert one == two


def test_another_choice_leaves_the_kl_undefined_and_says_why(lab: Lab) -> None:
    lab.picker(LAST_OF_THE_BEST)
    done = lab.select(ANSWERS, GROUPS, 4, "--details")
    summary = summary_of()
    assert summary["kl_estimate"] is None
    assert summary["kl_estimate_reason"] == "the choice was not everywhere the first of the best samples"
    assert (summary["selected_accuracy"], summary["kl_bound"]) == (3 / 4, pytest.approx(math.log(4) - 3 / 4))
    assert [row["chosen"] for row in lines_of(Path("runs/run_001/results.jsonl"))] == [2, 0, 3, 3]
    assert "estimate undefined" in done.out
    assert "(the choice was not everywhere the first of the best samples)" in done.out


def test_the_worst_choice_is_scored_as_what_it_is(lab: Lab) -> None:
    lab.picker("def pick_best(samples):\n    return min(samples, key=lambda sample: sample.reward)\n")
    done = lab.select(ANSWERS, GROUPS, 4)
    summary = summary_of()
    assert (summary["selected_accuracy"], summary["first_sample_accuracy"], summary["ceiling"]) == (1 / 4, 1 / 2, 3 / 4)
    assert "one sample was right, and a different sample was chosen" in done.out
    assert "the right value is there, never in the right format" not in done.out


def test_the_gate_knows_that_on_the_same_samples_only_the_choice_was_turned(lab: Lab) -> None:
    lab.select(ANSWERS, GROUPS, 4, "--outdir", "first")
    lab.picker(LAST_OF_THE_BEST)
    lab.select(ANSWERS, GROUPS, 4, "--outdir", "last")
    done = lab("gate", "--baseline", "first", "--candidate", "last", "--min-delta", 0)
    assert done.status == 3
    assert "knob turned: selection compute" in done.out


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (5, "--n: expected at most 4, the number of samples of each prompt in pack.jsonl, got 5"),
        (0, "argument --n: expected a whole number from 1 to 999999999, got 0"),
        (-1, "argument --n: expected a whole number from 1 to 999999999, got -1"),
        ("two", "argument --n: expected a whole number from 1 to 999999999, got two"),
        ("²", "argument --n: expected a whole number from 1 to 999999999, got ²"),
        ("", "argument --n: expected a whole number from 1 to 999999999, got "),
    ],
)
def test_a_group_size_that_cannot_be_had_is_refused(lab: Lab, n: object, said: str) -> None:
    files = "--dataset", lab.dataset(ANSWERS), "--samples", lab.pack(GROUPS)
    assert said in lab.refused("selection_demo", *files, f"--n={n}")


def refused(lab: Lab, answers: list[int] = ANSWERS, groups: list[list[str]] = GROUPS) -> str:
    return lab.refused("selection_demo", "--dataset", lab.dataset(answers), "--samples", lab.pack(groups), "--n", 2)


def test_groups_of_different_size_are_refused_and_the_odd_one_is_named(lab: Lab) -> None:
    for odd in (["a"] * 3, ["a"] * 5):
        groups = [*GROUPS[:2], odd, GROUPS[3]]
        message = f"pack.jsonl: expected groups of the same size, got 4 samples in the first and {len(odd)} in q3"
        assert message in refused(lab, groups=groups)


def described(lab: Lab, **said: object) -> tuple[object, ...]:
    """The options that name a dataset and a pack of four samples a prompt, of whose meta file this is said."""
    options = ("--dataset", lab.dataset(ANSWERS), "--samples", lab.pack(GROUPS), "--n", 2)
    lab.meta("pack", **{"sampling": SAMPLING | {"n": 4}} | said)
    return options


@pytest.mark.parametrize("n", [1, 2, 8])
def test_a_pack_of_another_size_than_its_meta_file_says_is_refused(lab: Lab, n: int) -> None:
    """Also where it says --n: so many are looked at, and so many more were drawn."""
    line = lab.refused("selection_demo", *described(lab, sampling=SAMPLING | {"n": n}))
    assert (
        f"pack.meta.json $.sampling.n: expected 4, the number of completions of each prompt in pack.jsonl, got {n}"
        in line
    )


def test_a_meta_file_of_another_pack_is_refused_with_the_line_that_mends_it(lab: Lab) -> None:
    line = lab.refused("selection_demo", *described(lab, completions_sha256="0" * 64))
    digest = hashlib.sha256(Path("pack.jsonl").read_bytes()).hexdigest()
    assert (
        "pack.meta.json $.completions_sha256: expected the SHA-256 of pack.jsonl, got the SHA-256 of different bytes"
        in line
    )
    assert line.endswith(f'write "completions_sha256": "{digest}"\n')


def test_a_pack_that_nothing_is_bound_to_leaves_the_sampling_unknown_and_says_so(lab: Lab) -> None:
    done = lab("selection_demo", *described(lab, completions_sha256=None))
    assert "pack.meta.json has no SHA-256" in done.out
    assert json.loads(Path("runs/run_001/manifest.json").read_bytes())["sampling"] is None


def test_the_template_for_a_pack_says_the_size_of_its_groups(lab: Lab) -> None:
    options = described(lab)
    lab.write("pack.meta.json", "{}")
    assert '"seed": null, "n": 4}' in lab.refused("selection_demo", *options)


def test_groups_in_another_order_are_matched_by_their_ids(lab: Lab) -> None:
    options = described(lab)
    lines = Path("pack.jsonl").read_bytes().splitlines(keepends=True)
    backwards = lab.write("backwards.jsonl", b"".join(reversed(lines)))
    for path, run in (("pack.jsonl", "one"), (backwards, "other")):
        assert lab("selection_demo", *options[:2], "--samples", path, "--n", 2, "--outdir", run).status == 0
    assert Path("one/results.jsonl").read_bytes() == Path("other/results.jsonl").read_bytes()


def test_missing_unknown_and_empty_groups_are_refused(lab: Lab) -> None:
    assert "no record for 1 id (q4)" in refused(lab, groups=GROUPS[:3])
    assert "1 id (q4) that the dataset does not have" in refused(lab, answers=ANSWERS[:3])
    assert "pack.jsonl:4 $.samples" in refused(lab, groups=[*GROUPS[:3], []])


def test_no_option_is_offered_that_this_command_does_not_have(lab: Lab) -> None:
    assert "--missing" not in refused(lab, groups=GROUPS[:3])


def test_the_shipped_pick_best_reaches_the_ceiling_of_the_shipped_pack(lab: Lab) -> None:
    dataset = ROOT / "data" / "datasets" / "math_dev.jsonl"
    pack = ROOT / "data" / "rollouts" / "selection_pack_dev.jsonl"
    assert lab("selection_demo", "--dataset", dataset, "--samples", pack, "--n", 4).status == 0
    answers = [example["expected_answer"] for example in lines_of(dataset)]
    right = []
    for answer, group in zip(answers, lines_of(pack), strict=True):
        line = re.compile(rf"[ \t\r\n]*Final: {answer}[ \t\r\n]*")
        right.append([line.fullmatch(sample) is not None for sample in group["samples"]])
    summary = summary_of()
    counts = [sum(samples) for samples in right]  # of 8
    none_of_4 = [math.comb(8 - count, 4) / math.comb(8, 4) for count in counts]
    assert summary["pass_at_k"]["4"] == pytest.approx(1 - sum(none_of_4) / 80)
    right = [samples[:4] for samples in right]
    assert summary["passes"] == sum(map(any, right))
    assert summary["selected_accuracy"] == summary["ceiling"] == sum(map(any, right)) / 80
    assert summary["first_sample_accuracy"] == sum(samples[0] for samples in right) / 80
    assert summary["random_choice"] == pytest.approx(sum(map(sum, right)) / 320)
    assert 0 < summary["kl_estimate"] < summary["kl_bound"]


def test_json_is_one_object_and_all_that_is_printed(lab: Lab) -> None:
    done = lab.select(ANSWERS, GROUPS, 2, "--json")
    assert (done.status, done.err) == (0, "")
    printed = json.loads(done.out)
    assert printed["summary"] == summary_of()
    assert (printed["run"], printed["manifest"]["loop"]) == (str(Path("runs/run_001")), "B")
