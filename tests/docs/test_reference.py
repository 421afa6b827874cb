"""Every command and every record that a run holds is in the reference, which Sphinx fills from the source.

An example: a command is added, and docs/reference/commands.md does not have it. The test names the command.
"""

import re
from importlib import import_module

from conftest import COMMANDS, ROOT, module_of
from msgspec import Struct

REFERENCE = ROOT / "docs" / "reference"
MODULES = (
    "course.artifacts.records",
    "course.artifacts.learning_rows",
    "course.artifacts.token_rows",
    "course.artifacts.run_log",
)


def test_every_command_is_shown_with_its_help() -> None:
    page = (REFERENCE / "commands.md").read_text(encoding="utf-8")
    shown = re.findall(r"^### `([\w.]+)`\n\n```\{help\}\npython3 -m ([\w.]+) --help\n```$", page, re.MULTILINE)
    assert [heading for heading, command in shown if heading != command] == []
    assert {command for _, command in shown} >= {module_of(name) for name in [*COMMANDS, "check"]}


def test_every_record_of_a_run_is_shown_with_its_fields() -> None:
    page = (REFERENCE / "artifacts.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"^\.\. autoclass:: ([\w.]+)\(\)$", page, re.MULTILINE))
    records = {
        f"{name}.{value.__name__}"
        for name in MODULES
        for value in vars(import_module(name)).values()
        if isinstance(value, type) and issubclass(value, Struct) and value.__module__ == name
    }
    assert records - shown == set()
