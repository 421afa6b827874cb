"""Imports point one way, and no command loads a heavy library before it needs one.

An example: if ``course/stats.py`` imported ``course.show.tables``, which comes after it in ``ORDER``, the first test
would name the file and the import.
"""

import ast
import subprocess
import sys
from pathlib import Path

from conftest import COMMANDS, ROOT

# Each part imports only parts that stand before it. What computes stands before what prints.
ORDER = [
    "faults",
    "errors",
    "stats",
    "text",
    "score",
    "datasets",
    "limited_process",
    "picking",
    "asking",
    "starting",
    "rubrics",
    "guest",
    "policies",
    "artifacts",
    "show",
    "command",
    "jobs",
    "search",
    "attack_worker",
    "score_files",
    "text of a command",
    "pages",
    "experiments",
    "a command",
    "a check",
    "report of a check",
    "check",
    "teacher",
]
PRINTS = {"show", "text of a command", "pages"}  # not for a check, which computes though it stands behind them
COMPOSITIONS = {  # a command that is made of another one, and says so
    ("course/policy_gradient_demo.py", "course.bandit_train"),
    ("course/policy_improvement_demo.py", "course.selection_demo"),
}
HEAVY = {"distributed", "matplotlib", "numpy", "rich", "scipy", "splintr"}


def part_of(module: str) -> str:
    """The part of the lab that a module belongs to, as ``ORDER`` names it: course.datasets.jsonl -> datasets."""
    package, *names = module.split(".")
    part = names[0] if package == "course" and names else package
    if part.endswith("_text"):
        return "text of a command"
    if package == "check" and names and names[0] != "__main__":
        return "report of a check" if names[0].startswith("report") else "a check"
    return part if part in ORDER else "a command"


def imported_modules(path: Path) -> set[str]:
    """The modules of the lab that a file imports, also inside functions."""
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides what is imported"
            module = node.module or ""
            if module in ("course", "check"):
                modules.update(f"{module}.{alias.name}" for alias in node.names)
            else:
                modules.add(module)
    return {name for name in modules if name.split(".")[0] in ("course", "check", "teacher") and name != "course"}


def test_imports_point_one_way() -> None:
    against: list[tuple[str, str]] = []
    for package in ("course", "check", "teacher"):
        for path in sorted((ROOT / package).rglob("*.py")):
            name = path.relative_to(ROOT)
            module = ".".join(name.with_suffix("").parts)
            part = part_of(module)
            for other in sorted(imported_modules(path)):
                earlier = ORDER.index(part_of(other)) < ORDER.index(part)
                same_part = part_of(other) == part and part != "a command"
                if not earlier and not same_part and (name.as_posix(), other) not in COMPOSITIONS:
                    against.append((name.as_posix(), other))
    assert against == []


def test_a_check_computes_and_imports_nothing_that_prints() -> None:
    against: list[tuple[str, str]] = []
    for path in sorted((ROOT / "check").glob("*.py")):
        if part_of(f"check.{path.stem}") == "a check":
            against += [(path.name, module) for module in imported_modules(path) if part_of(module) in PRINTS]
    assert against == []


def test_what_is_slow_to_import_is_imported_where_it_is_needed() -> None:
    imports = "; ".join(f"import course.{name}" for name in COMMANDS)
    line = [sys.executable, "-c", f"import sys; {imports}; print(*sys.modules)"]
    loaded = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    assert "course.toy_mdp" in loaded
    assert HEAVY & set(loaded) == set()
