"""The lock file, the lists that lab.py installs from, and pyproject.toml say the same.

An example: a package is added to pyproject.toml and the lock is made anew, but requirements.txt is not: the list
and the lock differ, and a test says by which package.
"""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

LAB = Path(__file__).parents[1]
PROJECT = tomllib.loads((LAB / "pyproject.toml").read_text(encoding="utf-8"))
LOCK = tomllib.loads((LAB / "poetry.lock").read_text(encoding="utf-8"))
LISTS = ("requirements.txt", "requirements-dev.txt", "requirements-browser.txt")
GROUPS = ({"main", "test"}, {"main", "test", "dev"}, {"browser"})


def listed(name: str) -> dict[tuple[str, str], set[str]]:
    """(package, version) -> digests, as pip will be told."""
    packages: dict[tuple[str, str], set[str]] = {}
    for entry in (LAB / name).read_text(encoding="utf-8").replace("\\\n", " ").split("\n"):
        if match := re.match(r"([a-z0-9._-]+)==([^ ;]+)", entry):
            packages[match[1], match[2]] = set(re.findall(r"--hash=(sha256:[0-9a-f]{64})", entry))
    return packages


def locked() -> dict[tuple[str, str], tuple[set[str], set[str]]]:
    """(package, version) -> groups that always have it, digests. What only an extra asks for, nobody has unasked."""
    return {
        (package["name"], package["version"]): (
            {group for group in package["groups"] if "extra ==" not in condition(package, group)},
            {file["hash"] for file in package["files"]},
        )
        for package in LOCK["package"]
    }


def condition(package: dict[str, Any], group: str) -> str:
    """Under which a group has a package."""
    markers = package.get("markers", "")
    return str(markers.get(group, "") if isinstance(markers, dict) else markers)


@pytest.mark.parametrize(("name", "groups"), list(zip(LISTS, GROUPS, strict=True)))
def test_the_list_holds_just_the_locked_packages_of_its_groups_with_all_their_digests(
    name: str, groups: set[str]
) -> None:
    wanted = {package: digests for package, (of, digests) in locked().items() if of & groups}
    assert listed(name) == wanted


def test_poetry_install_and_lab_py_install_the_same_and_no_tools() -> None:
    """Poetry installs every group that is not optional, into .venv beside the package, where the commands look."""
    groups = PROJECT["tool"]["poetry"]["group"]
    default = {name for name, group in groups.items() if not group.get("optional", False)}
    assert default | {"main"} == GROUPS[0]
    tools = {"sphinx", "mypy", "scipy", "distributed", "playwright", "hypothesis", "pytest-xdist", "ruff"}
    assert tools & {package for package, _ in listed("requirements.txt")} == set()
    assert tomllib.loads((LAB / "poetry.toml").read_text(encoding="utf-8")) == {"virtualenvs": {"in-project": True}}


def test_a_students_own_tests_run_with_pytest_alone() -> None:
    line = [sys.executable, "-m", "pytest", "-p", "no:xdist", "-p", "no:cacheprovider", "tests/test_rubric.py"]
    done = subprocess.run(line, cwd=LAB, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode == 0, done.stdout


def test_actions_are_pinned_by_their_commit() -> None:
    for workflow in (LAB / ".github" / "workflows").glob("*.yml"):
        for action in re.findall(r"uses: *(\S+)", workflow.read_text(encoding="utf-8")):
            assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", action), (workflow.name, action)


@pytest.mark.parametrize("name", [*LISTS, "poetry.lock"])
def test_no_address_of_a_download_is_recorded(name: str) -> None:
    """A package's own sentence about itself may name a page; it is no place to download from."""
    text = re.sub(r"^description = .*", "", (LAB / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert "://" not in text


def test_every_direct_dependency_is_locked() -> None:
    wanted = list(PROJECT["project"]["dependencies"])
    for lines in PROJECT["project"]["optional-dependencies"].values():
        wanted += lines
    for group in PROJECT["tool"]["poetry"]["group"].values():
        wanted += group["dependencies"]
    direct = {re.split("[^a-z-]", line)[0] for line in wanted}
    assert direct - {name for name, _ in locked()} == set()
    assert LOCK["metadata"]["python-versions"] == PROJECT["project"]["requires-python"]


def test_npm_locks_what_is_wanted_by_its_digest_and_records_no_address_of_a_download() -> None:
    wanted, lock = (
        json.loads((LAB / "docs" / name).read_text("utf-8")) for name in ("package.json", "package-lock.json")
    )
    whole, *packages = lock["packages"].values()
    kinds = ("dependencies", "devDependencies")
    assert [whole[kind] for kind in kinds] == [wanted[kind] for kind in kinds]
    assert [package for package in packages if "resolved" in package or "integrity" not in package] == []
