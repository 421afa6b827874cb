"""The house of floors: what imports what, how long a file is, and what a command costs before it works.

An example: ``course/stats.py`` stands on the ground floor. If it imported ``course.reports.tables``, two floors up,
the first test below would name it.
"""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from course.starting import PYTHON

COURSE = ROOT / "course"
FILES = sorted(COURSE.rglob("*.py"))
COMMANDS = [
    *("eval", "eval_shards", "gate", "inspect_run", "validate_scorer", "attack", "selection_demo"),
    *("policy_gradient_demo", "bandit_train", "toy_mdp", "kl_tradeoff_demo", "policy_improvement_demo"),
    *("token_inspect", "token_train", "sample_rollouts", "goodhart_demo", "distribution_shift_demo"),
    *("pass_at_k_demo", "sweep_demo", "check", "report"),
]
GROUND = {"errors", "text", "faults", "score", "stats", "datasets"}
FLOORS = {  # a part of the course -> what of the course it may import, besides itself
    "errors": set[str](),
    "faults": set[str](),
    "text": {"faults"},
    "score": {"faults", "text"},
    "stats": set[str](),
    "datasets": {"errors", "text", "faults", "score"},
    "process": {"text"},
    "asking": {"errors"},
    "starting": {"datasets", "process", "text"},
    "command": {"asking", "errors", "process", "starting", "text", "artifacts"},  # the last for --version
    "rubrics": GROUND,
    "policies": GROUND | {"rubrics"},
    "artifacts": GROUND | {"rubrics", "policies"},
    "reports": GROUND | {"asking", "rubrics", "policies", "artifacts"},
    "publishing": GROUND | {"artifacts", "reports", "starting"},
    "cluster": {"errors", "text", "process", "artifacts"},
    "jobs": {"errors", "process", "cluster"},
    "shards": GROUND | {"artifacts", "publishing", "eval"},  # it is course.eval, many times over
    "sweep": GROUND | {"rubrics", "policies", "artifacts", "reports"},
    "exercises": GROUND | {"rubrics", "policies", "starting", "process", "artifacts", "reports", "publishing"},
}
EVERYTHING = set(FLOORS)
FLOORS["report"] = EVERYTHING | {"gate"}  # of two runs it shows what the gate finds out, without a verdict
HEAVY = {"distributed", "rich", "numpy", "matplotlib", "scipy", "splintr"}
PACKAGES = {"splintr-rs": "splintr"}  # distribution -> what is imported, where the names differ


def part_of(path: Path) -> str:
    return path.relative_to(COURSE).parts[0].removesuffix(".py")


def imported(tree: ast.AST) -> set[str]:
    """Every module that a piece of source imports, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import hides which floor it reaches"
            assert node.module is not None
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def parts_imported(path: Path) -> set[str]:
    """The other parts of the course that a file imports."""
    names = (name.split(".") for name in imported(parsed(path)))
    return {name[1] for name in names if name[0] == "course"} - {part_of(path)}


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_imports_go_downward_only() -> None:
    # A command, or the package itself, may import all that is no command.
    upward = {name_of(path): parts_imported(path) - FLOORS.get(part_of(path), EVERYTHING) for path in FILES}
    assert {name: parts for name, parts in upward.items() if parts} == {}


def test_every_part_of_the_course_has_its_floor_or_is_a_command() -> None:
    assert {part_of(path) for path in FILES} == EVERYTHING | {*COMMANDS, "__init__", "__main__"}


def test_the_course_imports_nothing_that_is_not_installed_with_it() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = project.partition("dependencies")[2].partition("]")[0]
    declared = {PACKAGES.get(name, name) for name in re.findall(r'^    "([a-z-]+)>', lines, re.MULTILINE)}
    assert declared == {"jiter", "msgspec", "rich", "matplotlib", "numpy", "splintr"}
    tops = {name_of(path): {name.split(".")[0] for name in imported(parsed(path))} for path in FILES}
    installed = declared | sys.stdlib_module_names | {"course"}
    assert tops["course/cluster.py"] - installed == {"distributed"}  # the extra, and one line where it is lacking
    installed |= {"distributed"}
    assert {name: found - installed for name, found in tops.items() if found - installed} == {}


@pytest.mark.medium
def test_what_is_slow_to_import_is_imported_where_it_is_needed() -> None:
    code = f"import sys; {'; '.join(f'import course.{name}' for name in COMMANDS)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "course.toy_mdp" in loaded
    assert not HEAVY & set(loaded)


TOP = [ROOT / "lab.py", ROOT / "lab_jobs.py", ROOT / "lab_setup.py"]
SOURCES = [*FILES, *TOP, *sorted((ROOT / "data").glob("*.py")), *sorted((ROOT / "benchmarks").rglob("*.py"))]


def lines_in(path: Path) -> int:
    return path.read_bytes().count(b"\n")


def test_no_file_is_longer_than_250_lines() -> None:
    assert {name_of(path): lines_in(path) for path in SOURCES if lines_in(path) > 250} == {}


def options_of(path: Path) -> set[str]:
    """The options that a command adds to its parser."""
    found: set[str] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
            words = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
            found.update(word for word in words if word.startswith("-"))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_a_help_that_names_its_options(lab: Lab, command: str) -> None:
    done = lab(command, "--help")
    assert (done.status, done.err) == (0, "")
    assert f"usage: {PYTHON} -m course.{command} " in done.out
    options = options_of(COURSE / f"{command}.py")
    for option in options | {"--help"}:
        assert re.search(rf"^ .*{option}\b", done.out, re.MULTILINE)


def test_the_map_names_every_command(lab: Lab) -> None:
    out = lab("__main__").out
    assert [command for command in COMMANDS if f"{PYTHON} -m course.{command} " not in out] == []
    assert max(map(len, out.split("\n"))) <= 80
    assert lab.process("__main__").out == out


@pytest.mark.parametrize(
    "commands", [["eval", "gate", "token_train"], pytest.param(COMMANDS, marks=pytest.mark.slow)], ids=["some", "all"]
)
def test_each_real_command_answers(lab: Lab, commands: list[str]) -> None:
    statuses = {command: lab.process(command, "--help").status for command in commands}
    assert statuses == dict.fromkeys(commands, 0)


def test_the_map_in_the_package_names_every_part() -> None:
    said = ast.get_docstring(parsed(COURSE / "__init__.py")) or ""
    for part in {part_of(path) for path in FILES} - set(COMMANDS) - {"__init__", "__main__"}:
        assert part in said, part


READING_PATH = re.findall(r"^    ([a-z_/]+\.py)", ast.get_docstring(parsed(COURSE / "__init__.py")) or "", re.MULTILINE)


def test_the_reading_path_is_a_dozen_files_of_at_most_1400_lines() -> None:
    assert 10 <= len(READING_PATH) <= 12
    assert len(set(READING_PATH)) == len(READING_PATH)
    assert sum(lines_in(COURSE / name) for name in READING_PATH) <= 1_400


def test_what_is_not_on_the_reading_path_says_in_its_first_line_that_it_is_machinery() -> None:
    first_lines = {
        path.relative_to(COURSE).as_posix(): (ast.get_docstring(parsed(path)) or "").split("\n")[0] for path in FILES
    }
    assert [name for name, line in first_lines.items() if not line] == []
    said = {name for name, line in first_lines.items() if line.startswith("Machinery: ")}
    assert said ^ (first_lines.keys() - {*READING_PATH, "__init__.py"}) == set()


SHARED_REPORTS = {"tables", "terminal", "figures", "updates", "measurement", "run_page", "check_tests"}
PAGES = {"pages", "page_tables", "learning_page", "comparison_page"}  # what a run's page shows, as data


def test_a_report_is_found_by_its_command() -> None:
    reports = {path.stem.removesuffix("_figure") for path in (COURSE / "reports").glob("*.py")}
    assert reports - {*COMMANDS, *SHARED_REPORTS, *PAGES, "__init__"} == set()


def test_every_module_has_a_test_file_of_its_own_name() -> None:
    modules = [path.relative_to(COURSE) for path in FILES if path.stem not in ("__init__", "__main__", "errors")]
    if not (ROOT / "teacher").exists():  # a student's copy has no tests of the checks: they hold right solutions
        modules = [module for module in modules if module.parts[0] != "exercises"]
    wanted = {path.parent / f"test_{path.name}" for path in modules}
    tests = ROOT / "tests" / "course"
    assert {path.as_posix() for path in wanted if not (tests / path).exists()} == set()


def called(tree: ast.AST) -> set[str]:
    """The names of all functions and methods that a piece of source calls."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "") for func in calls}


def callers(files: list[Path], functions: set[str]) -> dict[str, set[str]]:
    """Which of these files call which of these functions."""
    found = {name_of(path): called(parsed(path)) & functions for path in files}
    return {name: calls for name, calls in found.items() if calls}


def test_a_run_is_put_together_in_one_place() -> None:
    others = [path for path in FILES if part_of(path) != "publishing" and path.name != "writing.py"]
    assert callers(others, {"seal", "manifest_of", "run_page", "Manifest", "LogLine", "locked"}) == {}


def test_no_report_writes() -> None:
    reports = [path for path in FILES if part_of(path) == "reports"]
    writers = {"write_rows", "append_rows", "write_bytes", "write_json", "write_text", "open"}
    assert callers(reports, writers) == {}


PRINTED_OR_HANDED_OUT = {"Numbers", "Finding", "Sample", "_About"}  # the gate's answer, what pick_best gets, a header


def structs_in(path: Path) -> set[str]:
    classes = (node for node in ast.walk(parsed(path)) if isinstance(node, ast.ClassDef))
    return {node.name for node in classes if any("Struct" in ast.unparse(base) for base in node.bases)}


def test_a_row_that_is_written_is_defined_in_artifacts_or_datasets() -> None:
    elsewhere = {
        name_of(path): structs_in(path) - PRINTED_OR_HANDED_OUT
        for path in FILES
        if part_of(path) not in ("artifacts", "datasets")
    }
    assert {name: structs for name, structs in elsewhere.items() if structs} == {}


def test_the_course_is_small() -> None:
    assert sum(map(lines_in, FILES)) <= 13_557


def test_the_pages_have_one_script_and_one_style_sheet_which_are_small() -> None:
    parts = sorted((ROOT / "course" / "reports" / "page").iterdir())
    assert [path.name for path in parts] == ["lab.css", "lab.js"]
    assert sum(map(lines_in, parts)) < 1_500
