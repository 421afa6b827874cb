"""The report on other verifiers: what its page shows is what the attack would say of these texts.

No network: what the attack printed stands on the page. Its texts are sorted again, each has to be of the kind that its
row names.
"""

import ast
import re
import shlex
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

from course.rubrics.forms import parse_form
from course.rubrics.kinds import Kind, kind_of

FIELD = ROOT / "benchmarks" / "field"
PAGE = (ROOT / "docs" / "reference" / "how_verifiers_fail.md").read_text(encoding="utf-8")
KINDS = {"wrong value": Kind.WRONG, "several answers": Kind.SEVERAL, "other form": Kind.OTHER_FORM}


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(FIELD))
    monkeypatch.delitem(sys.modules, "make", raising=False)
    return import_module("make")


def attacks(make: Any) -> list[tuple[str, str]]:
    """Each command of the page with its output, on one line."""
    return [(command, " ".join(output.split())) for command, output in make._RUN.findall(PAGE)]


def test_every_text_on_the_page_is_of_the_kind_that_its_row_names(make: Any) -> None:
    rows = 0
    for command, output in attacks(make):
        form = parse_form(shlex.split(command)[3])
        for name, text, answer in re.findall(r"(\w+ \w+), paid '(.*?)' where (-?\d+) is right: reward", output):
            completion = text.replace("<U+000A LINE FEED>", "\n")
            assert kind_of(int(answer), completion, form) == KINDS[name], (command, text)
            rows += 1
    assert rows >= 30


def test_every_verifier_has_a_section_that_names_its_pinned_version(make: Any) -> None:
    tree = ast.parse((FIELD / "adapters.py").read_text(encoding="utf-8"))
    adapters = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"}
    headings = {}
    for section in make._SECTION.finditer(PAGE):
        for command, _ in make._RUN.findall(section[0]):
            headings[make.function_of(command)] = section[1]
    pinned: dict[str, str] = {}
    for library in make.read_libraries():
        pins = [*library.get("no_deps", []), *library["install"]]
        assert all("==" in pin for pin in pins)
        pinned |= dict.fromkeys(library["functions"], f"{library['name']} {pins[0].rpartition('==')[2]} ")
    assert adapters == set(headings) == set(pinned)
    assert {name: headings[name].startswith(start) for name, start in pinned.items()} == dict.fromkeys(pinned, True)


def test_the_table_follows_from_the_outputs(make: Any) -> None:
    table = make._TABLE.search(PAGE)[0]
    seconds = {}
    for section, row in zip(make._SECTION.finditer(PAGE), table.split("\n")[2:], strict=False):
        seconds[make.function_of(make._RUN.search(section[0])[1])] = float(row.split("|")[2])
    assert make.table_of(PAGE, seconds) == table


def test_a_page_is_filled_with_what_the_attack_prints(make: Any) -> None:
    command = "attack-verifier benchmarks/field/adapters.py:f --form '#### …'"
    page = """|verifier|seconds|wrong value|
|---|---|---|
|old|1|no|

### lib 1.0 `f`

Prose.

```bash example
{command}
```

```text example
old
```

```bash example
{command} --try '7'
```

```text example
```

## End
"""
    printed = "FAILED\n  wrong value, paid      '7' …\n  several answers, paid  none\n  right line, refused     none\n"

    def attack(words: str) -> Any:
        return make.Run(r"text '\d'" + "\n", 9.0) if "--try" in words else make.Run(printed, 2.4)

    filled = make.fill_page(page.replace("{command}", command), attack)
    assert "|lib 1.0 `f`|2|yes|no|no|\n\n### lib" in filled
    assert f"{command}\n```\n\n```text example\n{printed}```\n" in filled
    assert f"{command} --try '7'\n```\n\n```text example\ntext '\\d'\n```\n\n## End" in filled
    assert "old" not in filled


def test_the_outputs_have_no_path_of_a_machine(make: Any) -> None:
    assert not [output for _, output in attacks(make) if str(Path.home()) in output or "/tmp/" in output]
