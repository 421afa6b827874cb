"""Machinery: the student's ``pick_best``, found, loaded, called, and not believed.

Covered
    A missing or broken file, an exception, an exit, a choice that is none of the samples, another choice when asked
    again: each becomes one line that names the student's file and line. The samples that a choice is held against are
    never in the student's hands.
Not covered
    Code that means harm: this is the student's own machine, and it runs with the student's own rights. What pick_best
    reads besides the modules it imports (a data file, say) is not in its fingerprint. It may remember prompts that came
    before: it is asked twice about each, one after the other.
"""

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from course.datasets.files import open_regular
from course.errors import UserError, reason
from course.faults import type_name
from course.text import describe_error, quote

PICK_BEST = Path("exercises") / "pick_best.py"
_NAME = "pick_best"


class Sample(Struct, frozen=True, gc=False):
    """One of N completions of a prompt: its place among them, its text, and what the scorer paid."""

    index: int
    completion: str
    reward: float


PickBest = Callable[[list[Sample]], Sample]


def course_rule(samples: list[Sample]) -> Sample:
    """The first drawn of the best, in place of a pick_best that is still to be written."""
    _say_once("note: the course's rule chooses here, for your pick_best is still to be written")
    return min(samples, key=lambda sample: (-sample.reward, sample.index))


@cache
def _say_once(note: str) -> None:
    print(note, file=sys.stderr)


def load_pick_best(path: Path = PICK_BEST) -> PickBest:
    """``pick_best`` of the student's file. Raises UserError where there is none to be had."""
    source = _read(path)
    namespace: dict[str, Any] = {"__name__": _NAME, "__file__": str(path)}
    try:
        code = compile(source, str(path), "exec")
    except SyntaxError as error:
        got = f"a syntax error: {quote(error.msg)}"
        raise UserError(f"{path}:{error.lineno or 1} expected Python, got {got}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # a null byte, or brackets nested too deep
        raise UserError(f"{path}:1 expected Python, got what cannot be compiled: {describe_error(error)}") from None
    _run_code(exec, (code, namespace), path, None)
    pick_best: PickBest | None = namespace.get(_NAME)
    if not callable(pick_best):
        raise UserError(f"{path}: expected a function {_NAME}(samples), got none in this file")
    return pick_best


def pick_best_fingerprint(path: Path = PICK_BEST) -> str:
    """The SHA-256 of the student's file. To be asked when every choice was made: it may import others at any time.

    If modules from the student's folder or from the working folder were imported, it is the SHA-256 over all of these
    files: one line for each, in order, of its SHA-256 and its path relative to the working folder.
    """
    digests = {file: hashlib.sha256(_read(file)).hexdigest() for file in sorted({path, *_find_imports(path)})}
    if len(digests) == 1:
        return digests[path]
    lines = sorted(f"{digest} {Path(os.path.relpath(file.resolve())).as_posix()}" for file, digest in digests.items())
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def choose(pick_best: PickBest, samples: Sequence[Sample], prompt_id: str, path: Path = PICK_BEST) -> int:
    """Let ``pick_best`` choose, and again, and return the index of its choice. Raises UserError where it made none."""
    first = _choose_once(pick_best, samples, prompt_id, path)
    second = _choose_once(pick_best, samples, prompt_id, path)
    if first != second:
        of = f"{quote(prompt_id)} whenever it is asked"
        raise UserError(
            f"{_place(pick_best, path)}: expected the same choice of {of}, got sample {first}, then sample {second}; "
            "seed what is random from the samples themselves, and remember nothing"
        )
    return first


def choose_from_file(path: str, group: Sequence[tuple[int, str, float]]) -> int:
    """The index that the pick_best of this file chooses from these samples. ``Child`` calls it in its own process."""
    samples = [Sample(index, completion, reward) for index, completion, reward in group]
    return choose(_load_once(Path(path)), samples, "a group", Path(path))


@cache
def _load_once(path: Path) -> PickBest:
    return load_pick_best(path)


def _choose_once(pick_best: PickBest, samples: Sequence[Sample], prompt_id: str, path: Path) -> int:
    copies = [replace(sample) for sample in samples]
    choice = _run_code(pick_best, (copies,), path, prompt_id)
    for sample in samples:
        if type(choice) is Sample and choice == sample:
            return sample.index
    got = quote(type_name(choice))
    if type(choice) is str:
        got = f"the text {quote(choice)!r}"
    expected = f"expected one of the {len(samples)} samples of {quote(prompt_id)}"
    raise UserError(f"{_place(pick_best, path)}: {expected}, got {got}; return the sample itself")


def _place(pick_best: PickBest, path: Path) -> str:
    line = pick_best.__code__.co_firstlineno if type(pick_best) is FunctionType else 1
    return f"{path}:{line} {_NAME}"


def _read(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError as error:
        expected = f"expected your {_NAME}" if path == PICK_BEST else f"expected what your {_NAME} imported"
        raise UserError(f"{path}: {expected}, got: {reason(error)}") from None


def _find_imports(path: Path) -> set[Path]:
    """The files of all modules from the student's folder or the working folder, but the course's and the packages'."""
    inside = [path.parent.resolve(), Path.cwd()]
    outside = [Path(__file__).resolve().parent, Path(os.__file__).resolve().parent]  # the course; Python's own
    files = [vars(module).get("__file__") for module in list(sys.modules.values()) if isinstance(module, ModuleType)]
    places = {Path(file).resolve() for file in files if isinstance(file, str)} - {path.resolve()}
    return {
        place
        for place in places
        if any(place.is_relative_to(folder) for folder in inside)
        and not any(place.is_relative_to(folder) for folder in outside)
        and not {"site-packages", "dist-packages"} & {*place.parts}
    }


def _run_code(code: Callable[..., Any], arguments: tuple[object, ...], path: Path, prompt_id: str | None) -> object:
    """Run code of the student's. Raises UserError where it raises; but Ctrl-C is not its fault."""
    try:
        return code(*arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an exit, too, is a choice that was not made
        import traceback

        frames = traceback.walk_tb(sys.exc_info()[2])  # what the error itself says of it may be anything
        lines = [line for frame, line in frames if frame.f_code.co_filename == str(path)]
        where = f"{path}:{lines[-1] if lines else 1} {_NAME}"
        when = "while it was loaded" if prompt_id is None else f"on {quote(prompt_id)}"
        got = f"an exception {when}: {describe_error(error)}"
        raise UserError(f"{where}: expected a choice, got {got}") from None
