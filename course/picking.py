"""Machinery: the rule by which Loop B chooses: the course's own rule, or a student's, whose choice is checked.

Covered
    A missing or broken file, an exception, an exit, a choice that is none of the samples, a different choice when asked
    again: each becomes one line that names the student's file and line. The rule gets copies of the samples, so it
    cannot change the originals with which its choice is compared.
Not covered
    Code that means harm: the rule runs in the command's own process, with the student's own rights. If the rule calls
    ``os._exit``, the command ends without a run; a rule that never returns is ended with Ctrl-C. What pick_best reads
    besides the modules that it imports is not in its fingerprint. The rule may remember earlier prompts: each prompt is
    asked twice in a row, so only a choice that changes at once is noticed.
"""

import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from course.child_main import list_module_files
from course.errors import UserError
from course.faults import type_name
from course.own_code import digest_of_code, read_code
from course.text import describe_error, quote, visible

COURSE_RULE = "first_of_best"


class Sample(Struct, frozen=True, gc=False):
    """One of N completions of a prompt: its place among them, its text, and its reward."""

    index: int
    completion: str
    reward: float


Pick = Callable[[list[Sample]], Sample]


def first_of_best(samples: list[Sample]) -> Sample:
    """The course's own rule: the first drawn of the samples with the highest reward."""
    return min(samples, key=lambda sample: (-sample.reward, sample.index))


class NotWritten(UserError):
    """The student's function raises NotImplementedError, as the stub does."""


class Picker:
    """``Picker("mine.py:pick_best").choose(samples, "q1")``; ``Picker()`` chooses by the course's own rule.

    ``place``: FILE:FUNCTION. Raises UserError if there is no such function. ``name``: without the folder.
    ``source``: the bytes of its file, as they run; empty for the course's own rule.
    """

    def __init__(self, place: str | None = None) -> None:
        self.name = COURSE_RULE
        self.source = b""
        self._path: Path | None = None
        if place is None:
            return
        file, _, function = place.rpartition(":")
        if not file or not function.isidentifier():
            expected = "expected a file and its function, such as exercises/pick_best.py:pick_best"
            raise UserError(f"--pick: {expected}, got {quote(place)}")
        self._path = Path(file)
        self.name = visible(f"{self._path.name}:{function}")
        self._function = function
        self.source = read_code(self._path)
        self._pick: Pick = self._load()

    def choose(self, samples: Sequence[Sample], prompt_id: str) -> int:
        """The chosen index; the rule is asked twice. Raises UserError if it makes no choice, or two different ones."""
        if self._path is None:
            return first_of_best([*samples]).index
        first = self._choose_once(samples, prompt_id)
        second = self._choose_once(samples, prompt_id)
        if first != second:
            raise UserError(
                f"{self._place}: expected the same choice for {quote(prompt_id)} each time, got sample {first}, then "
                f"sample {second}; seed any randomness from the samples themselves, and remember nothing"
            )
        return first

    def settings(self) -> dict[str, str]:
        """What a manifest says about the rule; empty for the course's own rule. Ask when every choice was made.

        ``pick_sha256``: of the file that ran, and of the student's own modules that it imported.
        """
        if self._path is None:
            return {}
        return {"pick": self.name, "pick_sha256": digest_of_code(self._path, self.source, list_module_files())}

    def _load(self) -> Pick:
        path = str(self._path)
        module = ModuleType(self._function)
        module.__file__ = path
        namespace = vars(module)
        try:
            code = compile(self.source, path, "exec")
        except SyntaxError as error:
            raise UserError(f"{path}:{error.lineno or 1} has a syntax error: {quote(error.msg)}") from None
        except (ValueError, RecursionError, MemoryError) as error:  # a null byte, or brackets nested too deep
            raise UserError(f"{path}:1 cannot be compiled: {describe_error(error)}") from None
        known = sys.modules.setdefault(self._function, module)  # where a dataclass looks up what its annotations name
        try:
            self._run_code(exec, (code, namespace), "while it was loaded")
        finally:
            if known is module:
                del sys.modules[self._function]
        pick: Pick | None = namespace.get(self._function)
        if not callable(pick):
            raise UserError(f"{path}: this file has no function {self._function}(samples)")
        return pick

    def _choose_once(self, samples: Sequence[Sample], prompt_id: str) -> int:
        copies = [replace(sample) for sample in samples]
        choice = self._run_code(self._pick, (copies,), f"on {quote(prompt_id)}")
        if type(choice) is Sample and choice in samples:
            return choice.index
        got = quote(type_name(choice))
        if type(choice) is str:
            got = f"the text {quote(choice)!r}"
        expected = f"expected one of the {len(samples)} samples of {quote(prompt_id)}"
        raise UserError(f"{self._place}: {expected}, got {got}; return the sample itself")

    @property
    def _place(self) -> str:
        line = 1
        if type(self._pick) is FunctionType:
            line = self._pick.__code__.co_firstlineno
        return f"{self._path}:{line} {self._function}"

    def _run_code(self, code: Callable[..., Any], arguments: tuple[object, ...], when: str) -> object:
        """Run code of the student's. Raises UserError if the code raises; Ctrl-C is passed on."""
        try:
            with redirect_stdout(sys.stderr):  # its output does not belong to the command's
                return code(*arguments)
        except KeyboardInterrupt:
            raise
        except NotImplementedError:
            raise NotWritten(
                f"{self._path}: the function {self._function} is still to be written; write your rule there"
            ) from None
        except BaseException as error:  # an exit is also a choice that was not made
            import traceback

            frames = traceback.walk_tb(sys.exc_info()[2])  # the error's own attributes may be anything
            lines = [line for frame, line in frames if frame.f_code.co_filename == str(self._path)]
            where = f"{self._path}:{lines[-1] if lines else 1} {self._function}"
            raise UserError(f"{where}: this code raised an exception {when}: {describe_error(error)}") from None


def choose_from_file(path: str, group: Sequence[tuple[int, str, float]]) -> int:
    """The index that the pick_best of this file chooses from these samples. ``Child`` calls it in its own process."""
    samples = [Sample(index, completion, reward) for index, completion, reward in group]
    return _open_once(path).choose(samples, "a group")


@cache
def _open_once(path: str) -> Picker:
    return Picker(f"{path}:pick_best")
