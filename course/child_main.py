"""Machinery: the process in which a stranger's file is loaded and its functions are called, over a pipe of JSON lines.

``course.child`` starts it as a file, so that nothing of the course is loaded in it; it imports the standard library
only. ``check.rubric_plugin`` takes its pipe in the same way.

Covered
    What the code prints goes to standard error, and what it reads is empty: neither is a part of the pipe. The process
    ends within half a second of whoever started it, and its group with it.
Not covered
    Code that means harm: it can find the pipe and write an answer of its own. ``course.limited_process``.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

_LAB = Path(__file__).resolve().parents[1]
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
    """Load the file's source, which is the first line, then answer each line, call by call, with numbered lines."""
    path = Path(sys.argv[1])
    questions, answers = take_pipe()
    source = json.loads(questions.readline()).encode("latin-1")
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules.setdefault(path.stem, module)  # where a dataclass looks up what its annotations name
    sys.path.insert(0, str(path.parent))
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
