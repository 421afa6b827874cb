"""The lock file, the lists that lab.py installs from, and pyproject.toml say the same.

An example: a package is added to pyproject.toml and the lock is made anew, but requirements.txt is not: the list
and the lock differ, and a test says by which package.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

LAB = Path(__file__).parents[1]
LOCK = tomllib.loads((LAB / "poetry.lock").read_text(encoding="utf-8"))
LISTS = ("requirements.txt", "requirements-dev.txt", "requirements-browser.txt")
GROUPS = ({"main"}, {"main", "dev"}, {"browser"})


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


def test_dask_is_there_for_those_who_ask_for_it_and_for_the_tests() -> None:
    found = {name: {package for package, _ in listed(name)} for name in LISTS}
    assert "distributed" not in found[LISTS[0]]
    assert "distributed" in found[LISTS[1]]
    assert LOCK["extras"] == {"cluster": ["distributed"]}


@pytest.mark.parametrize("name", [*LISTS, "poetry.lock"])
def test_no_address_of_a_download_is_recorded(name: str) -> None:
    """A package's own sentence about itself may name a page; it is no place to download from."""
    text = re.sub(r"^description = .*", "", (LAB / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert "://" not in text


def test_every_direct_dependency_is_locked() -> None:
    project = tomllib.loads((LAB / "pyproject.toml").read_text(encoding="utf-8"))
    direct = {re.match(r"[a-z-]+", line)[0] for line in project["project"]["dependencies"]}  # type: ignore[index]
    extras = project["project"]["optional-dependencies"]
    direct |= {re.match(r"[a-z-]+", line)[0] for lines in extras.values() for line in lines}  # type: ignore[index]
    direct |= {name for group in project["tool"]["poetry"]["group"].values() for name in group["dependencies"]}
    assert direct <= {name for name, _ in locked()}
    assert LOCK["metadata"]["python-versions"] == project["project"]["requires-python"]


def test_npm_locks_what_is_wanted_by_its_digest_and_records_no_address_of_a_download() -> None:
    wanted, lock = (
        json.loads((LAB / "docs" / name).read_text("utf-8")) for name in ("package.json", "package-lock.json")
    )
    whole, *packages = lock["packages"].values()
    kinds = ("dependencies", "devDependencies")
    assert [whole[kind] for kind in kinds] == [wanted[kind] for kind in kinds]
    assert [package for package in packages if "resolved" in package or "integrity" not in package] == []
