"""What is handed in is read, and refused in one sentence where it means harm.

An example worked by hand: a zip with ``../course/score.py`` in it would, unpacked by name, replace the scorer beside
the folder it was unpacked in. It is refused, and the sentence shows the name.
"""

import os
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from handed_in import laid_out, zipped

from course.errors import UserError
from teacher import submissions
from teacher.submissions import Refused, find_submissions, read_submission

RIGHT = {"exercises/pick_best.py": b"best", "notes/map.md": b"map", "runs/log.jsonl": b"{}\n"}
posix = pytest.mark.skipif(os.name != "posix", reason="Windows has none, or asks for rights")


@pytest.mark.parametrize("start", ["", "lab/"])
def test_a_folder_and_a_zip_of_the_same_files_are_the_same_submission(tmp_path: Path, start: str) -> None:
    others = {
        "course/score.py": b"paid",
        "tests/test_score.py": b"",
        ".venv/bin/x": b"",
        "exercises/__pycache__/a": b"",
    }
    files = {f"{start}{name}": content for name, content in (RIGHT | others).items()}
    mac = {"__MACOSX/exercises/x": b""} if start else {}
    archive = zipped(tmp_path / "anna.zip", [*(files | mac).items()])
    folder = laid_out(tmp_path / "anna", files)
    assert read_submission(archive) == read_submission(folder) == RIGHT


def test_names_as_some_windows_programs_write_them_are_read(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("x")
    info.filename = "lab\\exercises\\pick_best.py"
    assert read_submission(zipped(tmp_path / "a.zip", [(info, b"best")])) == {"exercises/pick_best.py": b"best"}


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("exercises/../../course/score.py", "inside the zip's folder"),
        ("/etc/cron.d/x", "inside the zip's folder"),
        ("C:\\exercises\\x.py", "inside the zip's folder"),
        ("exercises\\..\\x.py", "inside the zip's folder"),
        (link("exercises/pick_best.py"), "a link or a device"),
        ("exercises/con.py", "every system takes"),
        ("exercises/COM1", "every system takes"),
        ("exercises/a.", "every system takes"),
        ("exercises/a:b", "every system takes"),
        ("exercises//a", "every system takes"),
        ("exercises/\x1b[2Ja", "can be seen"),
        ("exercises/\u202egpj.py", "can be seen"),
        (f"exercises/{'a' * 200}", "200 characters"),
        ("exercises/PICK_BEST.py", "each name once"),
    ],
    ids=ascii,
)
def test_a_name_that_means_harm_is_refused(tmp_path: Path, name: str | zipfile.ZipInfo, said: str) -> None:
    members: list[tuple[str | zipfile.ZipInfo, bytes]] = [(name, b"x")]
    if said == "each name once":
        members.append(("exercises/pick_best.py", b"y"))
    with pytest.raises(Refused, match=said) as refused:
        read_submission(zipped(tmp_path / "mal.zip", members))
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 200
    assert [*tmp_path.rglob("*")] == [tmp_path / "mal.zip"]


def test_one_name_in_two_spellings_of_its_letters_is_refused(tmp_path: Path) -> None:
    members = [("notes/caf\u00e9.md", b"1"), ("notes/cafe\u0301.md", b"2")]
    with pytest.raises(Refused, match="each name once"):
        read_submission(zipped(tmp_path / "a.zip", members))


def test_a_bomb_is_unpacked_no_further_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submissions, "BYTES", 1 << 20)
    bomb = zipped(tmp_path / "bomb.zip", [(f"runs/{i}", bytes(600_000)) for i in range(50)])
    assert bomb.stat().st_size < 40_000
    with pytest.raises(Refused, match="4000 files and 1 MB unpacked"):
        read_submission(bomb)
    tall = zipped(tmp_path / "tall.zip", [("runs/0", bytes(32 << 20))])
    tracemalloc.start()
    with pytest.raises(Refused, match="1 MB unpacked"):
        read_submission(tall)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 << 20


def test_a_size_that_lies_is_not_believed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sizes in both headers say ten bytes; three megabytes come out."""
    monkeypatch.setattr(submissions, "BYTES", 1 << 20)
    bomb = zipped(tmp_path / "bomb.zip", [("runs/0", bytes(3 << 20))])
    bomb.write_bytes(bomb.read_bytes().replace(struct.pack("<I", 3 << 20), struct.pack("<I", 10)))
    with pytest.raises(Refused):
        read_submission(bomb)


def test_thousands_of_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match="at most 4000 files"):
        read_submission(zipped(tmp_path / "a.zip", [(f"runs/{i}", b"") for i in range(4_001)]))


def test_a_list_of_files_that_would_fill_the_memory_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = zipped(tmp_path / "a.zip", [(f"x/{i:090}", b"") for i in range(100)])
    monkeypatch.setattr(submissions, "_DIRECTORY_BYTES", 10_000)
    with pytest.raises(Refused, match="too many files"):
        read_submission(archive)


@pytest.mark.parametrize("kind", ["text", "cut", "broken", "encrypted", "lzma", "empty", "zip64"])
def test_what_is_no_ordinary_zip_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.zip"
    if kind == "lzma":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
            archive.writestr("exercises/a.py", b"x")
    else:
        zipped(path, [("exercises/a.py", b"x" * 100)])
    data = path.read_bytes()
    made = {
        "text": b"exercises/a.py",
        "cut": data[:-30],
        "broken": data.replace(b"exercises", b"exer\xffises", 1),
        "encrypted": data.replace(b"PK\1\2\x14\3\x14\0\0\0", b"PK\1\2\x14\3\x14\0\1\0"),
        "empty": b"",
        "zip64": data[:-22] + b"PK\6\7" + bytes(16) + data[-22:],
    }
    assert kind == "lzma" or made[kind] != data
    path.write_bytes(made.get(kind, data))
    with pytest.raises(Refused) as refused:
        read_submission(path)
    assert str(refused.value).startswith("expected ")


def test_another_kind_of_file_is_refused_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "anna.rar").write_bytes(b"Rar!")
    with pytest.raises(Refused, match=r"got anna\.rar"):
        read_submission(tmp_path / "anna.rar")


def linked(folder: Path) -> None:
    (folder / "exercises" / "key.py").symlink_to("/etc/passwd")


def linked_folder(folder: Path) -> None:
    (folder / "notes").symlink_to("/etc", target_is_directory=True)


def piped(folder: Path) -> None:
    os.mkfifo(folder / "exercises" / "pipe")


@posix
@pytest.mark.parametrize("change", [linked, linked_folder, piped])
def test_a_folder_with_what_is_no_file_is_refused(tmp_path: Path, change: Callable[[Path], None]) -> None:
    laid_out(tmp_path / "mal", {"exercises/a.py": b"x"})
    change(tmp_path / "mal")
    with pytest.raises(Refused, match="got a link"):
        read_submission(tmp_path / "mal")


@posix
def test_a_link_in_place_of_a_submission_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mal").symlink_to("/etc", target_is_directory=True)
    with pytest.raises(Refused, match="got a link"):
        read_submission(tmp_path / "mal")


def test_a_student_is_found_once(tmp_path: Path) -> None:
    laid_out(tmp_path / "in", {"anna/exercises/a.py": b"", "Ben.zip": b"", ".DS_Store": b"", "carl.rar": b""})
    assert [*find_submissions(tmp_path / "in")] == ["Ben", "anna", "carl.rar"]
    (tmp_path / "in" / "anna.zip").write_bytes(b"")
    with pytest.raises(UserError, match=r"got anna and anna\.zip"):
        find_submissions(tmp_path / "in")


def test_no_class_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="expected a folder of submissions"):
        find_submissions(tmp_path / "nowhere")
    with pytest.raises(UserError, match="got an empty folder"):
        find_submissions(tmp_path)
