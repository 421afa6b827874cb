"""A level from its build to its repair, and what a prediction is worth.

By hand: level 2's selected accuracy falls from 1 to 0, by more than 50 points, so its event has come about. Who gave it
0.8 gets (0.8 - 1)² = 0.04. In level 0 nothing falls; who gave that 0.8 gets 0.64. The mean of the two is 0.34.
"""

import json
import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import cast

import pytest
from conftest import ROOT, Lab

from check.levels import LEVELS, check_level, record_prediction
from check.report import step_text
from course.artifacts import run_log
from course.errors import UserError

LONGEST = "def pick_best(samples):\n    return max(samples, key=lambda sample: len(sample.completion))\n"
REFLECTION = "The best was there among the samples, and the longest was taken in place of it."
SAW = f"## level_0\n## level_1\n## level_2\n{REFLECTION}\n## level_3\n"


@pytest.fixture
def ready(lab: Lab) -> Lab:
    """The sheet as it ships."""
    lines = (ROOT / "notes" / "levels.md").read_text(encoding="utf-8").split("\n")
    lab.write("notes/levels.md", "\n".join(line for line in lines if line.startswith(("#", ">"))))
    return lab


def choose(lab: Lab, step: str) -> None:
    groups = [["Final: 1", "It is 1, I think."], ["Final: 2", "Who knows, perhaps 2?"]]
    assert lab.select([1, 2], groups, 2, "--change", f"level_2 {step}").status == 0


def measure(lab: Lab, step: str) -> None:
    assert lab.evaluate([1, 2], ["Final: 1", "x"], "--change", f"level_0 {step}").status == 0


def explain(name: str) -> str:
    return " ".join(check_level(name).lines)


def test_the_five_steps_in_order(ready: Lab) -> None:
    assert check_level("level_2")[:2] == ("not started", "")
    assert "Next: build." in explain("level_2")
    choose(ready, "build")
    assert check_level("level_2")[:2] == ("started", "1 of 5 steps")
    assert "Next: predict." in explain("level_2")
    assert record_prediction("level_2", 0.5).startswith("recorded: 0.5 that the longest sample is chosen")
    record_prediction("level_2", 0.8)  # another mind, before it is known
    assert "Next: sabotage." in explain("level_2")
    ready.picker(LONGEST)
    choose(ready, "sabotage")
    assert "It came about: selected_accuracy was 1.000, then 0.000." in explain("level_2")
    assert "Brier scores: level_2 (0.8 - 1)² = 0.04. Mean 0.04; 0 is best" in explain("level_2")
    with pytest.raises(UserError, match="level_2: expected a prediction before the sabotage, got another after it"):
        record_prediction("level_2", 1.0)
    assert "Next: reflect." in explain("level_2")
    ready.write("notes/levels.md", SAW)
    choose(ready, "repair")  # pick_best is still the wrong one
    assert check_level("level_2")[:2] == ("started", "4 of 5 steps")
    assert "Next: repair." in explain("level_2")
    ready.picker(None)
    choose(ready, "repair")
    assert check_level("level_2")[:2] == ("done", "5 of 5 steps")
    assert len(cast(list[str], check_level("level_2").numbers["runs"])) == 4  # to be handed in

    record_prediction("level_0", 0.8)
    measure(ready, "build")
    measure(ready, "sabotage")
    scores = "level_0 (0.8 - 0)² = 0.64; level_2 (0.8 - 1)² = 0.04. Mean 0.34"
    assert "It did not come about: pass_rate was 0.500, then 0.500." in explain("level_0")
    assert scores in explain("level_0")
    assert scores in explain("level_2")


def test_a_sabotage_counts_from_the_prediction_on(ready: Lab) -> None:
    early = "Your sabotage came before your prediction, and does not count: run it again after it."
    choose(ready, "sabotage")
    assert check_level("level_2")[:2] == ("started", "0 of 5 steps")
    choose(ready, "build")
    assert f"{early} Next: predict." in explain("level_2")
    record_prediction("level_2", 0.5)
    record_prediction("level_2", 0.8)  # nothing that counts has come since
    assert f"{early} Next: sabotage." in explain("level_2")
    assert "came about" not in explain("level_2")
    ready.picker(LONGEST)
    choose(ready, "sabotage")
    event = "It came about: selected_accuracy was 1.000, then 0.000."
    assert f"{event} Brier scores: level_2 (0.8 - 1)²" in explain("level_2")
    assert early not in explain("level_2")
    with pytest.raises(UserError, match="got another after it; the first stays"):
        record_prediction("level_2", 1.0)


def test_a_step_can_be_pasted_and_names_a_folder_that_is_free(ready: Lab) -> None:
    for name, level in LEVELS.items():
        for step, text in check_level(name).parts.items():
            head, _, rest = text.partition("python3 -m ")
            typed, _, more = rest.partition("\n")
            assert shlex.split(typed) == shlex.split(level.get(step, f"check {name} --predict 0.5"))
            assert all(
                re.fullmatch(r"[A-Z].*\.|python3 exercises/tamper.py|", line) for line in (head + more).split("\n")
            )
            typed_lines = [line for line in step_text(text).split("\n") if line.startswith(("python3", "    "))]
            assert max(map(len, typed_lines)) <= 80
            assert " ".join(step_text(text).replace("\\\n", "").split()) == " ".join(text.split())
    for folder in ("build", "sabotage", "sabotage_2"):
        (ready.folder / "runs" / f"level_0_{folder}").mkdir(parents=True)
    parts = check_level("level_0").parts
    assert "--outdir runs/level_0_build_2 " in parts["build"]
    assert "--outdir runs/level_0_sabotage_3 " in parts["sabotage"]
    assert "--outdir runs/level_0_repair " in parts["repair"]
    assert re.findall(r"runs/\w+", parts["reflect"]) == ["runs/level_0_build", "runs/level_0_sabotage_2"]


def test_what_stands_in_the_log_beside_the_digest_is_not_believed(ready: Lab) -> None:
    choose(ready, "build")
    log = run_log.LOG.read_text(encoding="utf-8")
    run_log.LOG.write_text(log.replace("level_2 build", "level_2 sabotage"), encoding="utf-8", newline="\n")
    assert check_level("level_2")[:2] == ("started", "1 of 5 steps")
    run_log.LOG.write_text(log, encoding="utf-8", newline="\n")
    shutil.rmtree(json.loads(log)["run"])
    assert check_level("level_2").state == "not started"


def test_a_run_of_another_command_or_loop_is_not_the_levels(ready: Lab) -> None:
    assert ready.evaluate([1], ["Final: 1"], "--change", "level_2 build").status == 0
    assert check_level("level_2").state == "not started"
    assert ready("policy_gradient_demo", "--fast", "--summary", "--change", "level_3 build").status == 0
    summary = json.loads(Path("runs/run_002/summary.json").read_bytes())
    assert LEVELS["level_3"]["number"] in summary
    assert check_level("level_3").state == "not started"


@pytest.mark.parametrize(
    "broken", ["{", '{"level_0": 0.5}', '{"level_0": [2, 0]}', '{"level_0": [0.5, -1]}', "[]", '{"level_0": [NaN, 0]}']
)
def test_a_broken_file_of_predictions_is_one_line(ready: Lab, broken: str) -> None:
    path = run_log.LOG.with_name("predictions.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(broken, encoding="utf-8")
    for call in (lambda: check_level("level_0"), lambda: record_prediction("level_0", 0.5)):
        with pytest.raises(UserError, match=r"predictions.json: expected levels and probabilities, got: .*; delete it"):
            call()
    del ready


def test_the_check_records_a_prediction_and_shows_a_step(ready: Lab) -> None:
    done = ready("check", "level_3", "--predict", "0.25")
    assert (done.status, done.err) == (0, "")
    assert json.loads(run_log.LOG.with_name("predictions.json").read_bytes()) == {"level_3": [0.25, 0]}
    for step in ("build", "predict", "sabotage", "reflect", "repair"):
        shown = ready("check", "level_3", "--id", step)
        assert "python3 -m c" in shown.out
        assert shown.status == 0
    assert ready("check", "level_3").out.endswith("next: python3 -m check level_3 --id build\n")
    assert ready("check", "level_3", "--predict", "0.5").status == 0
    assert "--no-baseline" in ready("check", "level_3", "--id", "sabotage").out
    for wrong in ("1.5", "-1", "nan", "often"):
        ready.refused("check", "level_3", "--predict", wrong)


def test_every_level_is_whole_and_its_commands_take_its_steps_names() -> None:
    raw = tomllib.loads((ROOT / "data" / "levels.toml").read_text(encoding="utf-8"))
    assert [*raw] == [*LEVELS] == [f"level_{i}" for i in range(4)]
    for name, level in LEVELS.items():
        assert 0 < level["points"] <= 100
        for step in ("build", "sabotage", "repair"):
            words = shlex.split(level[step])
            assert words[words.index("--change") + 1] == f"{name} {step}"
            assert not set(level[step]) & set("|&;><$`'\\%")
        assert level["build"].split()[0] == level["sabotage"].split()[0] == level["repair"].split()[0]
        assert re.search(r"^## " + name, (ROOT / "notes" / "levels.md").read_text(encoding="utf-8"), re.MULTILINE)


OUTCOMES = {"level_0": True, "level_1": True, "level_2": True, "level_3": False}


@pytest.mark.parametrize(
    "name", [name if name != "level_1" else pytest.param(name, marks=pytest.mark.slow) for name in LEVELS]
)
def test_a_level_as_it_is_shown(ready: Lab, name: str) -> None:
    """Its commands are typed, and its event comes about or not as the teacher knows."""
    shutil.copytree(ROOT / "data", ready.folder / "data")
    shutil.copytree(ROOT / "exercises", ready.folder / "exercises", dirs_exist_ok=True)
    level = LEVELS[name]
    solved = (ROOT / "teacher" / "solutions" / "exercises" / "pick_best.py").read_text(encoding="utf-8")
    ready.write("exercises/pick_best.py", solved)

    def type_(step: str) -> None:
        command, *words = shlex.split(level[step])
        assert ready(command.removeprefix("course."), *words).status == (name == "level_0" and step == "reflect")

    type_("build")
    record_prediction(name, 0.5)
    if name == "level_0":
        exec((ROOT / "exercises" / "tamper.py").read_text(encoding="utf-8"), {})
    if name == "level_2":
        ready.picker(LONGEST)
    type_("sabotage")
    if name != "level_3":  # a thousand runs
        type_("reflect")
    ready.write("exercises/pick_best.py", solved)
    Path("exercises/tampered.jsonl").unlink(missing_ok=True)
    type_("repair")
    event = f"It {'came about' if OUTCOMES[name] else 'did not come about'}: "
    assert event in explain(name)
    assert check_level(name)[:2] == ("started", "4 of 5 steps")
    assert "Next: reflect." in explain(name)
