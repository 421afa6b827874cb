"""Machinery: the process in which a stranger's file is loaded and its functions are called, over a pipe of JSON lines.

``course.child`` starts it as a file, so that nothing of the course is loaded in it; it imports the standard library
only. ``check.rubric_plugin`` takes its pipe in the same way.

Covered
    What the code prints goes to standard error, and what it reads is empty: neither is a part of the pipe. The process
    ends within half a second of whoever started it, and its group with it.
Not covered
    Code that means harm: it can find the pipe and write an answer of its own. ``course.limited_process``.
    Of what is forbidden by ``forbid_course``: a copy of the course elsewhere, a program that the code starts, a file
    that C code opens (ctypes), code that replaces what Python's own modules do, and what an allowed module's functions
    still hold. ``check.own_work`` reads the text for some of these.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

_LAB = Path(__file__).resolve().parents[1]
_PACKAGES = ("course", "check", "teacher")
_CLOSED_FOLDERS = tuple(str(_LAB / name) + os.sep for name in (*_PACKAGES, "data", "runs"))  # folders that hold answers
_ABOVE = tuple(str(folder) for folder in (_LAB, *_LAB.parents))  # from these, too, a path leads to the answers
_OPENING = ("open", "os.link", "os.rename")  # audit events: a file under a second name is not below its folder
_WORDS = 200  # characters of what an exception says


def take_pipe() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output. From here on the first is empty, and what is written to the second is printed.

    From here on the process also ends with its parent. (On Windows it would end by itself.)
    """
    end_with_parent()
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return questions, answers


def end_with_parent() -> None:
    """From here on this process ends within half a second of its parent."""
    threading.Thread(target=_exit_when_orphaned, args=(os.getppid(),), daemon=True).start()


def _exit_when_orphaned(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    if os.name == "posix" and os.getsid(0) == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def forbid_course(allowed: Sequence[str] = ()) -> None:
    """From here on the lab's packages cannot be imported and the files of its answers cannot be opened.

    ``allowed``: modules that may be imported all the same. They are loaded here, and what they imported is taken away.
    """
    if allowed:
        sys.path.append(str(_LAB))
        for name in allowed:
            import_module(name)
        sys.path.remove(str(_LAB))
    kept = {name[:end] for name in allowed for end in range(1, len(name) + 1) if name[end : end + 1] in ("", ".")}
    for name in list(sys.modules):
        if name.partition(".")[0] in _PACKAGES and name not in kept:
            package, _, module = name.rpartition(".")
            if package in sys.modules:
                vars(sys.modules[package]).pop(module, None)
            del sys.modules[name]
    sys.meta_path.insert(0, _Forbidden())
    close_for_good()


class _Forbidden(MetaPathFinder):
    def find_spec(self, fullname: str, *_: object) -> None:
        if fullname.partition(".")[0] in _PACKAGES:  # it is asked for modules that are not loaded
            raise ModuleNotFoundError(f"cannot import {fullname}: the work is to be your own")


def _make_switch() -> tuple[Callable[[bool], bool], Callable[[], None]]:
    """``close_answers`` and ``close_for_good``.

    Their state stands in no object that has a name, and what they call is bound now: code that is loaded later cannot
    open the answers by setting an attribute.
    """
    realpath = os.path.realpath
    relpath = os.path.relpath
    fsdecode = os.fsdecode
    folders = _CLOSED_FOLDERS
    above = _ABOVE
    events = _OPENING
    are_closed = False
    are_watched = False
    is_for_good = False

    def close_answers(closed: bool) -> bool:
        """Refuse, or no longer refuse, to open the course's own files, its data and the runs.

        Returns how it was before.
        """
        nonlocal are_closed, are_watched
        if not are_watched:
            sys.addaudithook(refuse_answers)  # Python has no way to take it away again
            are_watched = True
        before = are_closed
        are_closed = closed or is_for_good
        return before

    def close_for_good() -> None:
        """Refuse from here on, whatever ``close_answers`` is told."""
        nonlocal is_for_good
        is_for_good = True
        close_answers(True)

    def refuse_answers(event: str, arguments: tuple[Any, ...]) -> None:
        if not are_closed or event not in events or not isinstance(arguments[0], str | bytes | os.PathLike):
            return
        path = realpath(fsdecode(arguments[0]))
        # The folder itself is refused, too: a file can be opened by its name and its opened folder.
        if f"{path}{os.sep}".startswith(folders) or path in above:
            raise PermissionError(f"cannot open {relpath(path, _LAB)}: the work is to be your own")

    return close_answers, close_for_good


close_answers, close_for_good = _make_switch()


def list_module_files() -> list[str]:
    """Of the modules that are loaded in this process, as far as they come from files."""
    modules = [module for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    return [file for module in modules if isinstance(file := vars(module).get("__file__"), str)]


def message_of(error: BaseException) -> str:
    """What an exception says; it may be anything's, so that even to ask it may raise."""
    try:
        return str.__getitem__(str(error), slice(_WORDS))
    except BaseException:
        return "an exception without words"


def main() -> None:
    """Load the file's source, which is the first line, then answer each line, call by call, with numbered lines.

    ``isolated`` and modules after it: of the lab only these can be imported.
    """
    path = Path(sys.argv[1])
    questions, answers = take_pipe()
    source = json.loads(questions.readline()).encode("latin-1")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules.setdefault(path.stem, module)  # where a dataclass looks up what its annotations name
    sys.path.insert(0, str(path.parent))
    if sys.argv[2:3] == ["isolated"]:
        forbid_course(sys.argv[3:])
    else:
        sys.path += [str(_LAB), str(Path.cwd())]
    loading = _answer(path, _load, [path, source, vars(module)])
    load_error = loading[0]
    process = os.getpid()
    number = 0
    for line in questions:
        question, calls = json.loads(line)
        for arguments in calls:
            result = loading
            if load_error is None:
                result = _answer(path, _call, [vars(module), question, arguments])
            if os.getpid() != process:  # a copy that the file has forked: one of them answers
                os._exit(0)
            answers.write(json.dumps([number, *result]).encode("ascii") + b"\n")
            answers.flush()
            number += 1


def _load(path: Path, source: bytes, namespace: dict[str, Any]) -> None:
    exec(compile(source, str(path), "exec"), namespace)


def _call(namespace: dict[str, Any], question: str, arguments: list[Any] | dict[str, Any]) -> Any:
    """What a function returns for a list of arguments, or what an expression gives with these names bound."""
    value = eval(question, namespace | arguments) if isinstance(arguments, dict) else namespace[question](*arguments)
    if hasattr(value, "tolist"):  # an array of NumPy's
        value = value.tolist()
    json.dumps(value)  # raises for what JSON cannot hold
    return value


def _answer(path: Path, function: Callable[..., Any], arguments: list[Any]) -> tuple[str | None, Any]:
    """``(None, value)``, or the type of an exception with its words and its line in the file."""
    try:
        return None, function(*arguments)
    except BaseException as error:
        frames = traceback.walk_tb(error.__traceback__)
        lines: list[int | None] = [line for frame, line in frames if frame.f_code.co_filename == str(path)]
        if isinstance(error, SyntaxError) and error.filename == str(path):
            lines.append(error.lineno)
        return type(error).__name__, (message_of(error), lines[-1] if lines else None)


if __name__ == "__main__":
    main()
