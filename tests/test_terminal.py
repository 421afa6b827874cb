"""What a person sees: every command in a real pseudo-terminal of 80 x 24 and of 40 x 20, and every --help.

An example: ``course.gate`` prints its numbers and then "REJECT: …". When it has ended, that verdict stands on the
screen; were it printed first, with forty lines below it, this test would look for it in vain.
"""

import argparse
import importlib
import os
import re
import shlex
import sys
from pathlib import Path

import pytest
from conftest import COMMANDS, ROOT, Done, Lab, module_of
from doc_pages import briefly
from terminals import screen

from course.command import EXIT_STATUSES, Parser

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals of this kind")
EVERY = [*COMMANDS, "check"]
TRAINED = ("--preset", "memorise", "--steps", "6", "--sft-steps", "20", "--eval-every", "2")
MATH = ("--dataset", "data/datasets/math_dev.jsonl")
PACK = (*MATH, "--samples", "data/rollouts/selection_pack_dev.jsonl", "--n")
ANSWERS = {  # command -> how it is called, and what has to stand on the screen when it has ended
    "eval": ([*MATH, "--completions", "data/rollouts/frozen_rollouts_dev.jsonl"], "passed 34 of 80: 42.5 %"),
    "check": ([], "next: python3 -m course.eval"),
    "gate": (["--baseline", "n1", "--candidate", "n4", "--min-delta", "0.02"], "REJECT: locked room"),
    "report": (["n1", "--out", "{columns}.html"], "report: "),
    "inspect_run": (["--run", "n1", "--only-fails"], "n1: Loop B, passed 27 of 80"),
    "validate_scorer": ([], "golden sets passed"),
    "attack": (["--rubric", "suffix"], "FAILED suffix: the verifier pays a wrong value, 'Final: 8' where -8 is right"),
    "selection_demo": ([*PACK, "4"], "67 of 80 passed (95 % interval 74.2 to 90.3 %)"),
    "policy_gradient_demo": (["--fast", "--summary"], "after 8 steps"),
    "bandit_train": (["--steps", "30"], "expected reward 0.250 -> "),
    "toy_mdp": (["--episodes", "50"], "expected return 0.250 -> "),
    "policy_improvement_demo": (["--updates", "1"], "of equally many samples"),
    "late_reward": (["--seeds", "2"], "first reward"),
    "kl_tradeoff_demo": ([], "careless judge overrates wins"),
    "token_inspect": ([], "'Final: 323' +1.0 +ok"),
    "token_train": ([*TRAINED, "--slow", "1"], "strict, training prompts (n = 75): "),
    "sample_rollouts": (["--policy", "t/policy.npz", *MATH[:1], "data/datasets/two_digit_sums_dev.jsonl"], "dev-0003"),
    "experiment goodhart": (
        ["--steps", "1", "--seeds", "1", "--rubrics", "score", "anywhere", "--kl-coef", "0.1"],
        r"diverged in at least one seed on \d +of 1",
    ),
    "experiment shift": (["--steps", "1"], "completions frozen at step 0: "),
    "experiment pass_at_k": (["--steps", "1", "--seeds", "1", "--presets", "memorise"], "crossing"),
    "experiment coverage": (["--steps", "1", "--seeds", "1", "--values", "10"], "holdout +95 % interval"),
    "experiment noise": (["--steps", "1", "--seeds", "1"], "true reward before learning: "),
}
QUICK = ("eval", "gate", "inspect_run", "token_train")
LONG = ("attack", *(name for name in ANSWERS if name.startswith("experiment")))  # tried on the wide terminal only
NAMES = re.compile(r"(run|digest|read|report|next|page): |\s+--|/|\\$")  # to be pasted: a terminal wraps them itself


def in_terminal(lab: Lab, command: str, *arguments: str, columns: int, env: dict[str, str] | None = None) -> Done:
    """The command as a process whose output and errors go to one pseudo-terminal; what stood there is ``out``."""
    import pty
    import subprocess

    reader, writer = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "NO_COLOR", "LINES")}
    environment |= {"TERM": "xterm", "COLUMNS": str(columns)} | lab.path() | (env or {})
    line = [sys.executable, "-m", module_of(command), *arguments]
    process = subprocess.Popen(
        line, cwd=lab.folder, env=environment, stdin=subprocess.DEVNULL, stdout=writer, stderr=writer
    )
    os.close(writer)
    printed = b""
    while True:
        try:
            block = os.read(reader, 1 << 16)
        except OSError:  # the other side is closed
            break
        if not block:
            break
        printed += block
    os.close(reader)
    return Done(process.wait(), printed.decode(), "")


@pytest.fixture
def ready(lab: Lab) -> Lab:
    """A lab with the shipped data and with two runs, n1 and n4."""
    for name in ("data", "exercises"):
        (lab.folder / name).symlink_to(ROOT / name, target_is_directory=True)
    for n in (1, 4):
        assert lab("selection_demo", *PACK, n, "--outdir", f"n{n}").status == 0
    lab.path()
    return lab


def test_every_command_is_tried() -> None:
    assert {name.split()[0] for name in ANSWERS} == {*EVERY}


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in ANSWERS]
)
def test_the_answer_stands_on_the_screen_and_nothing_is_wider_than_it(ready: Lab, name: str) -> None:
    (command, *experiment), (arguments, answer) = name.split(), ANSWERS[name]
    if command == "sample_rollouts":
        assert ready("token_train", *TRAINED, "--outdir", "t").status == 0
    sizes = [(80, 24)] if name in LONG else [(80, 24), (40, 20)]
    for columns, rows in sizes:
        words = [argument.format(columns=columns) for argument in arguments]
        done = in_terminal(ready, command, *experiment, *words, columns=columns)
        assert done.status == {"attack": 1, "check": 1, "gate": 4}.get(command, 0), done.out
        seen = screen(done.out, columns)
        shown = "\n".join(seen.lines[-rows:])
        if columns == 80:
            literal = answer if " +" in answer else re.escape(answer)
            assert re.search(literal, shown), shown
        else:
            assert re.sub(r"\s+", " ", answer.split(" +")[0])[:12] in re.sub(r"\s+", " ", "\n".join(seen.lines))
        broken = [line for line in seen.wrapped if len(line.split()) > 1 and not NAMES.match(line)]
        assert broken == []


@pytest.mark.parametrize(
    ("env", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"TERM": ""}, True)]
)
def test_a_verdict_is_in_colour_on_a_terminal_that_has_it_and_always_a_word(
    ready: Lab, env: dict[str, str], coloured: bool
) -> None:
    arguments, _ = ANSWERS["gate"]
    out = in_terminal(ready, "gate", *arguments, columns=80, env=env).out
    assert "REJECT" in out
    assert ("\x1b[1;31mREJECT\x1b[0m: locked room" in out) == coloured
    assert "\x1b" in out or not coloured
    piped = ready.process("gate", *arguments, env={"TERM": "xterm"}).out
    assert "\x1b" not in piped
    assert screen(out, 80).lines[-len(piped.split("\n")) :] == piped.split("\n")


def test_rows_come_while_it_works_and_leave_nothing_of_the_progress_bar(ready: Lab) -> None:
    """And whoever ends the process while there is a bar gets the cursor back. A dumb terminal has no bar."""
    first, dumb = (
        in_terminal(ready, "token_train", *TRAINED, columns=80, env={"TERM": term, "NO_COLOR": "1"}).out
        for term in ("xterm", "dumb")
    )
    assert first.index("learning 0/4") < first.index("      2    0") < first.index("such as")
    assert "learning 0/4" not in "\n".join(screen(first, 80).lines)
    assert re.findall(r"\x1b\[\?25[lh]", first)[-1] == "\x1b[?25h"
    for hidden in re.findall(r"\x1b\[\?25l(.*?)\x1b\[\?25h", first, re.DOTALL):
        assert hidden.count("/") == 1  # no more than the first frame of a bar
    assert "learning " not in dumb
    assert "\x1b" not in dumb
    assert re.search("      0    .*\r\n      2    .*\r\n      4    .*\r\n      6    ", dumb)


# --- --help


def help_of(lab: Lab, command: str) -> str:
    done = lab(command, "--help")
    assert (done.status, done.err) == (0, "")
    return done.out


def example_in(text: str) -> list[str]:
    found = re.search(r"^example:\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    assert found, text
    words = shlex.split(found[1].replace("\\\n", " "))
    assert words[:2] == ["python3", "-m"]
    return words[2:]


def test_every_help_has_an_example_and_the_exit_statuses_in_eighty_columns(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command in EVERY:
        text = help_of(lab, command)
        assert example_in(text)[0] == module_of(command)
        assert " ".join(text.split()).endswith(EXIT_STATUSES)
        assert max(map(len, text.split("\n"))) <= 80, command


def test_every_default_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each option that has a value where none is given."""
    silent: list[str] = []

    class Told(Exception):
        pass

    def parse_args(parser: Parser, *_: object) -> None:
        valued = (one for one in parser._actions if one.default not in (None, False, [], argparse.SUPPRESS))
        silent.extend(f"{parser.prog} {one.dest}" for one in valued if "default" not in (one.help or ""))
        raise Told

    monkeypatch.setattr(Parser, "parse_args", parse_args)
    for command in EVERY:
        with pytest.raises(Told):
            importlib.import_module("check.__main__" if command == "check" else module_of(command)).main()
    assert silent == []


@pytest.mark.parametrize(
    "command",
    [pytest.param(name, marks=pytest.mark.slow) if name in ("experiment", "token_train") else name for name in EVERY],
)
def test_the_example_in_the_help_works_as_typed(ready: Lab, command: str) -> None:
    """``runs/run_001`` is the first run there is, of the kind that the command takes. Long work is done briefly."""
    module, *arguments = example_in(help_of(ready, command))
    if command == "sample_rollouts":
        assert ready("token_train", *TRAINED).status == 0
    if command in ("inspect_run", "report", "gate"):
        for n in (1, 1):
            assert ready("selection_demo", *PACK, n).status == 0
    done = ready.process(command, *arguments, *briefly(" ".join([module, *arguments])), stdin=-3)
    statuses = {"attack": 1, "check": 1, "gate": 3}  # one run twice shows no improvement, and no lack of one
    assert (done.status, done.err) == (statuses.get(command, 0), "")
    assert done.out
    assert any(place.exists() for place in (Path("runs"), ready.runs)) or command in (
        "validate_scorer",
        "attack",
        "check",
    )
