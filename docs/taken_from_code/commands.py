"""docs/reference/commands_*.md: every command from its own parser, in the groups of ``python3 -m course``."""

import argparse
import importlib
import inspect
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple
from unittest.mock import patch

from course.__main__ import MAP
from course.command import EXIT_STATUSES, Parser
from docs.taken_from_code.markdown import code, fence, page, paragraph, table

Action = argparse.Action
HEAD = """\
# Commands, {title}

This page is taken from the parsers of the commands: `docs/make_reference.py` writes it. Every command has
`--help`, which says the same. `python3 -m course` prints all of them, by loop. On Windows type `py` for `python3`."""

# Page -> its title, and its commands: those of these lines of the map, from one place to another.
PAGES = {
    "commands_a": ("Loop A: measure", "Loop A", slice(None)),
    "commands_b": ("Loop B: choose", "Loop B", slice(None)),
    "commands_c": ("Loop C: learn", "Loop C", slice(0, 7)),
    "commands_more": ("experiments of Loop C, and your own work", "Loop C", slice(7, None)),
}
OTHER_PAGES = "The others: {}. What the files of a run hold: [artifacts](artifacts.md)."

# A command whose ``main`` returns a status of its own -> what the statuses besides 0 mean there.
STATUSES: dict[str, dict[int, str]] = {
    "eval": {1: "a case of `--golden` fails, and nothing is scored; or the pass rate is below `--fail-under`, and the "
                "run is left all the same"},
    "inspect_run": {1: "`--verify` found that the run is not what it claims to be"},
    "gate": {1: "REJECT", 3: "INCONCLUSIVE ([all reasons](gate.md))"},
    "validate_scorer": {1: "a golden case fails, or no golden exploit shows that a rule matters"},
    "attack": {1: "a text whose reward is not the spec's was found, or the one of `--try` is such a text",
               3: "none was found before the time ran out"},
    "selection_demo": {},
    "token_train": {130: "Ctrl-C ended the training (143: SIGTERM); a run of what was learned is left"},
    "check": {1: "something of it is not done yet"},
}  # fmt: skip

# Where the example of a command needs something first: the sentence about it, and what is typed before.
EVAL = "python3 -m course.eval --dataset data/datasets/math_dev.jsonl --completions "
FIRST: dict[str, tuple[str, Sequence[str]]] = {
    "inspect_run": ("Of the run that the example above left:", ()),
    "gate": (
        "The same file is measured twice, and a rise of 0 is less than 0.02: REJECT, status 1.",
        [f"{EVAL}data/rollouts/frozen_rollouts_dev.jsonl --outdir runs/run_002"],
    ),
    "attack": ("The text earns a reward that the spec does not give, so this ends with status 1:", ()),
    "sample_rollouts": (
        "The first line trains a policy, far too briefly to be of use:",
        ["python3 -m course.token_train --sft-steps 20 --steps 5 --outdir runs/run_001"],
    ),
    "check": ("In a fresh copy nothing is done yet, so this ends with status 1:", ()),
    "eval_shards": ("With a folder `pairs` of your own, which holds the shards:", ()),
}
ENDS_WITH = {"gate": 1, "attack": 1, "check": 1}
LONG = ("token_train", "goodhart_demo", "distribution_shift_demo", "pass_at_k_demo", "sweep_demo")
YOUR_FILES = ("eval_shards",)  # its example takes files that nobody ships


class Command(NamedTuple):
    """One command: its line in the map, and its parser as it is when it parses."""

    name: str
    group: str
    what: str
    parser: Parser


def commands() -> list[Command]:
    """Every command, in the order of the map."""
    found, group = [], ""
    for line in MAP.split("\n"):
        if heading := re.match(r"(Loop [ABC])\b|Your own work", line):
            group = heading[1] or heading[0]
        elif entry := re.fullmatch(r"  \{python\} -m course\.(\w+)  +(\S.*)", line):
            found.append(Command(entry[1], group, entry[2], parser_of(entry[1])))
    return found


class _Parsed(Exception):
    pass


def parser_of(command: str) -> Parser:
    """The parser of a command, all its options in it."""
    module = importlib.import_module(f"course.{command}")
    with patch.object(Parser, "parse_args", autospec=True, side_effect=_Parsed) as parse_args:
        try:
            module.main()
        except _Parsed:
            parser: Parser = parse_args.call_args.args[0]
            return parser
    raise AssertionError(f"course.{command} parses no arguments")


def shared_options() -> dict[str, Action]:
    """What ``Parser`` itself can add to a command: the option -> its action."""
    every = Parser("course", "all that commands share")
    every.add_run_options()
    every.add_split_option()
    every.add_slow_option()
    every.add_seed_options()
    return {action.option_strings[0]: action for action in every._actions if action.option_strings}


def is_shared(action: Action, shared: dict[str, Action]) -> bool:
    other = shared.get(action.option_strings[0]) if action.option_strings else None
    return other is not None and other.help == action.help


def spelled(action: Action) -> str:
    """The option as it is typed, with its value."""
    value = str(action.metavar or ("" if action.choices else action.dest.upper()))
    if action.choices and not action.metavar:
        value = " or ".join(map(str, action.choices))
    several = {"+": f"{value} …", "*": f"[{value} …]", "?": f"[{value}]", 0: ""}
    value = several.get(action.nargs, value) if action.nargs is not None else value
    names = ", ".join(code(f"{name} {value}".strip()) for name in action.option_strings)
    return names or code(value)


def help_and_default(action: Action) -> tuple[str, str]:
    """What an option does, and what holds where it is not given."""
    text = (action.help or "").removesuffix(" (default: %(default)s)").replace("%%", "%")
    said = re.search(r" ?\(default: ([^()]*)\)", text)
    if said:
        text = text.replace(said[0], "", 1)
    if action.required if action.option_strings else action.nargs not in ("?", "*"):
        return text, "required"
    default = "" if action.default in (None, False, [], argparse.SUPPRESS) else str(action.default)
    if action.nargs == 0:
        return text, "yes" if default == "True" else ""
    return text, said[1] if said else default


def options_table(actions: Sequence[Action]) -> str:
    rows = [(spelled(action), *map(escaped, help_and_default(action))) for action in actions]
    return table(("option", "what it does", "default"), rows)


def escaped(text: str) -> str:
    r"""Help is no Markdown: a backslash in it (``\n``) and a name in capitals stay what they are."""
    return re.sub(r"(?<![\w`])(--[a-z][a-z-]*|\\\w+)", r"`\1`", text.replace("\\\\", "a double backslash"))


def section(command: Command, shared: dict[str, Action]) -> Iterator[str]:
    module = importlib.import_module(f"course.{command.name}")
    opening = (module.__doc__ or "").split("\n\n")[0].removeprefix("Machinery: ")
    yield f"## `course.{command.name}`"
    yield paragraph(f"{opening[0].upper()}{opening[1:]}".replace("``", "`"))
    own = [one for one in command.parser._actions if not is_shared(one, shared)]
    if own:
        yield options_table(own)
    also = [code(one.option_strings[0]) for one in command.parser._actions if is_shared(one, shared)]
    if others := [name for name in also if name not in ("`-h`", "`--version`")]:
        yield paragraph(f"It also takes {', '.join(others)}: see [below](#options-that-many-commands-share).")
    for group in command.parser._mutually_exclusive_groups:
        names = [code(one.option_strings[0]) for one in group._group_actions]
        if not all(is_shared(one, shared) for one in group._group_actions):
            yield paragraph(f"Of {', '.join(names)} give one at most.")
    if returns_status(module.main):
        yield from (paragraph(f"Status {status}: {what}.") for status, what in STATUSES[command.name].items())
    yield from example(command)


def returns_status(main: Any) -> bool:
    return inspect.signature(main).return_annotation in (int, "int")


def example(command: Command) -> Iterator[str]:
    """The example of ``--help``, in one line as every system takes it."""
    module = importlib.import_module(f"course.{command.name}")
    shown = re.search(r"^    (python3 -m .*(?:\n        .*)*)", module.__doc__ or "", re.MULTILINE)
    assert shown is not None
    sentence, before = FIRST.get(command.name, ("", ()))
    if sentence:
        yield paragraph(sentence)
    kind = "text example" if command.name in YOUR_FILES else "bash"
    kind += " long" if command.name in LONG else ""
    kind += f" exit={ENDS_WITH[command.name]}" if command.name in ENDS_WITH else ""
    yield fence(kind, [*before, re.sub(r" \\\n +", " ", shown[1])])


def commands_page(name: str) -> str:
    title, group, place = PAGES[name]
    here = [command for command in commands() if command.group == group][place]
    if name == "commands_more":
        here += [command for command in commands() if command.group == "Your own work"]
    every = shared_options()
    used = {one.option_strings[0] for command in here for one in command.parser._actions if is_shared(one, every)}
    links = [f"[{title}]({other}.md)" for other, (title, *_) in PAGES.items() if other != name]
    parts = [HEAD.format(title=title), paragraph(OTHER_PAGES.format(", ".join(links)))]
    parts += [part for command in here for part in section(command, every)]
    parts += ["## Options that many commands share", "Every command has the first two."]
    parts += [options_table([one for key, one in every.items() if key in used])]
    parts += [f"## Exit statuses\n\n{statuses_table()}"]
    return page(parts)


def statuses_table() -> str:
    """The statuses that all commands have, as every ``--help`` ends with them."""
    parts = EXIT_STATUSES.removeprefix("exit status: ").split("; ")
    rows = [found.groups() for part in parts if (found := re.fullmatch(r"([0-9, ]+?) (\D.*)", part))]
    assert len(rows) == len(parts), parts
    return table(("status", "when"), rows)
