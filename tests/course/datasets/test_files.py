"""Where a file is expected, what is none is refused at once: nothing is waited for, nothing endless is begun.

An example: a named pipe that nobody writes to. To open it would wait for ever; it is refused as "a pipe, not a file".
"""

import hashlib
import os
import socket
import sys
from pathlib import Path

import pytest
from conftest import Lab

from course.datasets import files
from course.datasets.files import blocks_of_lines, open_regular
from course.errors import reason

posix = pytest.mark.skipif(os.name != "posix", reason="needs pipes and devices in the file system")


def test_a_file_is_opened_to_read_its_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"a\r\nb\xff")
    (tmp_path / "empty").write_bytes(b"")
    for name, content in (("file", b"a\r\nb\xff"), ("empty", b"")):
        with open_regular(tmp_path / name) as file:
            assert file.read() == content


def refusal(path: Path) -> str:
    with pytest.raises(OSError, match=r".") as refused:
        open_regular(path)
    assert refused.value.filename in (path, str(path))
    return reason(refused.value)


def test_a_folder_and_nothing_at_all_are_said_to_be_there(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "a folder, not a file"
    assert refusal(tmp_path / "missing") == "no such file or directory"


def test_what_is_missing_here_but_lies_in_the_labs_folder_says_where_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "LAB", tmp_path / "a lab")
    (tmp_path / "a lab" / "data").mkdir(parents=True)
    place = f"'{tmp_path}/a lab'" if os.name == "posix" else f'"{tmp_path}\\a lab"'
    assert refusal(Path("data")) == f"no such file or directory; this path exists in the lab's folder: cd {place}"
    assert refusal(Path("dat")) == refusal(tmp_path / "data") == "no such file or directory"


@posix
def test_pipes_sockets_devices_and_links_to_them_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path is short
    os.mkfifo("pipe")
    Path("link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        unix.bind("socket")
        assert refusal(Path("socket")) == "a socket, not a file"
    assert refusal(Path("pipe")) == refusal(Path("link")) == "a pipe, not a file"
    assert refusal(Path("/dev/zero")) == refusal(Path("/dev/null")) == "a device, not a file"


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("place", ["/dev/zero", "/dev/full", "/dev/null", "pipe", "folder"])
def test_a_command_says_in_one_line_what_is_no_file(lab: Lab, place: str) -> None:
    os.mkfifo("pipe")
    Path("folder").mkdir()
    dataset = lab.dataset([1])
    completions = lab.completions(["Final: 1"])
    said = lab.refused("sample_rollouts", "--dataset", dataset, "--policy", place)
    assert f"{place}: expected a policy" in said
    for message in (
        lab.refused("eval", "--dataset", place, "--completions", completions),
        lab.refused("eval", "--dataset", dataset, "--completions", place),
        lab.refused("selection_demo", "--dataset", dataset, "--samples", place, "--n", 1),
        lab.refused("validate_scorer", "--golden", place),
    ):
        assert f"{place}: cannot read this file: " in message
        assert ", not a file" in message


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/stdin leads to the file itself on Linux")
def test_the_standard_input_is_a_file_where_a_file_was_given_and_else_it_is_not(lab: Lab) -> None:
    options = ["--dataset", "/dev/stdin", "--completions", lab.completions(["Final: 1"])]
    with lab.dataset([1]).open("rb") as file:
        assert lab.process("eval", *options, stdin=file).status == 0
    read, write = os.pipe()
    done = lab.process("eval", *options, stdin=read)
    os.close(read)
    os.close(write)
    assert done.err == "error: /dev/stdin: cannot read this file: a pipe, not a file\n"


@pytest.mark.parametrize("read", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    "content",
    [b"", b"\n", b"a", b"a\n", b"\n\na\r\n\nbcd\n", b"ab\ncdefghijk\nl", b"abcdefghijklmnop", b"a\n\x0b\x1c\n"],
)
def test_lines_come_whole_wherever_a_read_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: int, content: bytes
) -> None:
    monkeypatch.setattr(files, "_READ_BYTES", read)
    (tmp_path / "file").write_bytes(content)
    digest = hashlib.sha256()
    blocks = list(blocks_of_lines(tmp_path / "file", digest))
    assert b"".join(blocks) == content
    assert all(block.endswith(b"\n") for block in blocks[:-1])
    assert all(blocks)
    if b"\n" in content and not content.endswith(b"\n"):  # what is left over stands alone
        assert blocks[-1] == content.rpartition(b"\n")[2]
    assert digest.hexdigest() == hashlib.sha256(content).hexdigest()
    assert list(blocks_of_lines(tmp_path / "file")) == blocks


def test_a_line_that_is_too_long_is_an_error_of_the_file_as_soon_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_LINE_BYTES", 1 << 20)
    monkeypatch.setattr(files, "_READ_BYTES", 1 << 10)
    path = tmp_path / "file"
    path.write_bytes(b"short\n" + b"x" * (1 << 20) + b"\nlast")
    assert b"".join(blocks_of_lines(path)) == path.read_bytes()
    path.write_bytes(b"short\n" + b"x" * (1 << 22))
    blocks = blocks_of_lines(path)
    assert next(blocks) == b"short\n"
    with pytest.raises(OSError, match=r".") as refused:
        next(blocks)
    assert reason(refused.value) == "a line of more than 1 MB"
    assert refused.value.filename == str(path)
