"""What a process refuses once a stranger's code is to run in it, by whatever name a file is asked for."""

import os
from pathlib import Path

import pytest

from course.datasets.files import LAB
from course.isolation import keep_out


def test_what_is_closed_is_known_by_any_of_its_names_and_moved_by_none(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(LAB / "data")
    hook, key = keep_out("this is mine", ["data"]), str(LAB / "data" / "README.md")
    refused: list[tuple[str, tuple[object, ...]]] = [
        *(("open", (path, "r", 0)) for path in (key, key.encode(), Path(key), str(tmp_path / "link" / "README.md"))),
        *(("open", (str(folder), None, 0)) for folder in (tmp_path, LAB, "/")),  # in a folder, a path is not known
        *((event, (str(one), "new", -1, -1)) for event in ("os.link", "os.rename") for one in (key, LAB, "/")),
        ("os.symlink", (os.path.relpath(key, tmp_path), str(tmp_path / "new"), -1)),
        *((event, ()) for event in ("subprocess.Popen", "os.system", "os.forkpty", "os.posix_spawn")),
    ]
    for event, arguments in refused:
        with pytest.raises((PermissionError, IsADirectoryError), match="this is mine, not "):
            hook(event, arguments)
    for path in (tmp_path / "mine.txt", LAB / "course" / "score.py", Path(pytest.__file__), 3):
        hook("open", (path if isinstance(path, int) else str(path), "r", 0))
        hook("os.link", (str(path), "new", -1, -1))
