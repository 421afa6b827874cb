"""A function of somebody's own, loaded and called; every fault is one line: file, line, function, which call, what.

    OwnRubric("exercises/my_score.py:score")      FILE:FUNCTION, or a method of an object in it, FILE:checker.verify
    OwnPick("package.module:function")            from a module that this Python finds
    OwnRubric("suffix")                           a rubric of the course
    OwnUpdate(…), Guest(…)                        of --update; of ``check``, with any arguments

The code is its owner's and runs in the command's own process: ``print`` goes to standard error, ``breakpoint()`` and
Ctrl-C work, and nothing is forbidden. A fault ends the command without a run, and is never a reward of 0.

Covered
    An exception, ``sys.exit``, an answer of a wrong type, None, inf and nan. A function that changes its arguments,
    because each call gets its own. Random draws, clocks and memory: the first 32 calls are made again, in reverse.
    ``os._exit`` and a crash of Python end the command, and no run is left.
Not covered
    A function that changes after 32 calls. A file of data that it reads. What a program prints that it starts.
"""

import bdb
import hashlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from copy import deepcopy
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple

from course.datasets.files import LAB, open_regular, way_to
from course.datasets.records import Task
from course.errors import UserError, reason
from course.faults import type_name
from course.picking import Sample
from course.rubrics.calling import NAMES, SHAPES, bindings_of, find_arguments
from course.rubrics.hackable import RUBRICS
from course.text import clipped, describe_error, did_you_mean, quote, shell_word, visible, visible_path

Where = Callable[[], str]  # says which call it is, once a fault has to say so
LARGEST = 1e300  # a sum of larger numbers could overflow
_NOT_OWN = {"course", "check", "teacher", "__main__", "__mp_main__"} | sys.stdlib_module_names  # first parts of names
_folders = {LAB / "exercises"}  # and of the guests that were loaded in this process
_known: set[Path] = set()  # the files of these guests, and those that they imported while they were loaded


class GuestError(UserError):
    """A fault of a guest. ``what`` happened, without the place; ``raised``: the exception, if there was one."""

    def __init__(self, message: str, what: str, raised: BaseException | None = None) -> None:
        super().__init__(message)
        self.what = what
        self.raised = raised


class Guest:
    """A function that was found and loaded. Raises UserError where there is none.

    ``arguments``: of each call, an expression of the values that ``ask`` is given. ``name``: file and function, without
    the folder. ``source``: the bytes that run. ``hint``: ends each fault. ``repeated``: calls that are made twice.
    """

    repeated = 32

    def __init__(self, place: str, arguments: str = "") -> None:
        self.path, spec, self.function = find_function(place)
        self.name = visible(f"{self.path.name}:{self.function}")
        self.source = _read(self.path)
        self.hint = ""
        self._first: list[tuple[Any, ...]] | None = []  # calls that are still to be made again
        self._module = module_from_spec(spec)
        self.target: Any = self._module
        self._load(spec.name)
        self._imports = self._own_files()
        _known.update(self._imports.values(), [self.path.resolve()])
        for part in self.function.split("."):
            self.target = getattr(self.target, part, None)
        if not callable(self.target):
            raise UserError(f"{visible_path(self.path)}: this file has no function {quote(self.function)}")
        if inspect.iscoroutinefunction(self.target):
            plain = f"name a plain one that returns asyncio.run({self.function}(…))"
            raise self.fault("", f"expected a function, got an async one; {plain}")
        self.set_arguments(arguments)

    def _load(self, name: str) -> None:
        """Run the bytes that were read. Its folder and the caller's are first on the path meanwhile and last from then
        on, so that a ``random.py`` in them never stands in for Python's in the lab.
        """
        for module in _own_modules(_folders):  # what an earlier guest imported may be another file by now
            del sys.modules[module]
        if name in sys.modules or name in sys.stdlib_module_names:
            name = f"{name} of a guest"
        self._module.__name__ = name
        sys.modules[name] = self._module  # where a dataclass looks up what its annotations name
        sys.dont_write_bytecode = True  # else a file that changed within a second would be read from its .pyc
        _folders.add(self.path.resolve().parent)
        folders = [str(self.path.resolve().parent), str(Path.cwd())]
        kept = self.path.resolve().with_name(f"{self.path.stem}_imports")
        if kept.is_dir():  # the file is one that a run kept, and this is what it imported then
            folders.insert(0, str(kept))
        sys.path[:0] = folders
        try:
            self._run(lambda: "while it was loaded", self._execute)
        finally:
            for folder in folders:
                sys.path.remove(folder)
                if folder not in sys.path:
                    sys.path.append(folder)

    def _execute(self) -> None:
        exec(compile(self.source, str(self.path), "exec"), vars(self._module))

    def set_arguments(self, arguments: str) -> None:
        """Raises SyntaxError or ValueError for what is no expression."""
        self.call = f"{self.function}({arguments})"
        self._code = compile(f"guest({arguments})", "--call", "eval")

    def ask(self, where: Where, read: Callable[[Any], Any], values: Mapping[str, Any]) -> Any:
        """One call. ``where``: says which call it is, for a fault. ``read``: raises ValueError for what is no answer.
        ``values``: the function's own, which may change them.

        Raises GuestError; at Ctrl-C a KeyboardInterrupt that says where it was.
        """
        names = {**vars(self._module), "guest": self.target, **values}
        value = self._run(where, lambda: eval(self._code, names))
        try:
            return read(value)
        except ValueError as wrong:
            raise self.fault(where(), str(wrong)) from None

    def answer(self, where: Where, read: Callable[[Any], Any], values: Mapping[str, Any]) -> Any:
        """The same. The first calls are kept, and made again once there are enough of them."""
        if self._first is None:
            return self.ask(where, read, values)
        kept = deepcopy(values)
        answer = self.ask(where, read, values)
        self._first.append((where, read, kept, answer))
        if len(self._first) == self.repeated:
            self.ask_again()
        return answer

    def ask_again(self) -> None:
        """Make the first calls again, in reverse. Raises GuestError where an answer differs."""
        first, self._first = self._first or [], None
        for where, read, values, answer in reversed(first):
            again = self.ask(where, read, values)
            if again != answer:
                hint = "let only the arguments decide: no random draw, no clock, no memory"
                raise self.fault(where(), f"expected the same answer each time, got {answer}, then {again}; {hint}")

    def keep(self, option: str, write: Callable[[str, bytes], object]) -> dict[str, str]:
        """Write the file that ran and those of its owner's that it imported; returns what a manifest says of it."""
        self.ask_again()
        write(f"{option}.py", self.source)
        for name, source in self._imported_files().items():
            write(f"{option}_imports/{visible(name)}", source)
        return self.settings(option)

    def settings(self, option: str) -> dict[str, str]:
        """``…_sha256``: of the file that ran. If it imported files of its owner's, that of a sorted line for each file:
        its SHA-256, a space, its path. ``…_version``: what the file calls its VERSION, if it does.
        """
        digest = hashlib.sha256(self.source).hexdigest()
        if imported := self._imported_files():
            files = {self.path.name: self.source} | imported
            lines = sorted(f"{hashlib.sha256(source).hexdigest()} {name}" for name, source in files.items())
            digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
        settings = {option: self.name, f"{option}_sha256": digest}
        if hasattr(self._module, "VERSION"):
            settings[f"{option}_version"] = clipped(str(self._module.VERSION), 80)
        return settings

    def _imported_files(self) -> dict[str, bytes]:
        """What it imported while it was loaded, and since then what no guest had imported before."""
        late = {name: file for name, file in self._own_files().items() if file not in _known}
        return {name: _read(file) for name, file in (self._imports | late).items()}

    def _own_files(self) -> dict[str, Path]:
        """Of the modules that are loaded by now, those from the file's own folder or the caller's."""
        found = {}
        folders = (self.path.resolve().parent, Path.cwd())
        for file in _own_modules(folders).values():
            if file != self.path.resolve():
                folder = next(filter(file.is_relative_to, folders))
                found[file.relative_to(folder).as_posix()] = file
        return found

    def _run(self, where: Where, code: Callable[[], Any]) -> Any:
        try:
            with redirect_stdout(sys.stderr):
                return code()
        except (KeyboardInterrupt, bdb.BdbQuit):  # the latter is the debugger's q
            self._first = None  # what did not end is not asked again
            raise KeyboardInterrupt(", ".join(filter(None, (self.name, where())))) from None
        except BaseException as error:
            lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if self._is_in_file(frame.f_code)]
            if isinstance(error, SyntaxError) and error.filename == str(self.path):
                lines.append(error.lineno or 1)
            what = describe_error(error)
            if isinstance(error, ModuleNotFoundError) and error.name:
                package = quote(error.name.partition(".")[0])
                what += f"; if it is a package: {shell_word(Path(sys.executable))} -m pip install {package}"
            raise self.fault(where(), what, lines, error) from None

    def fault(
        self, where: str, what: str, lines: Sequence[int] = (), raised: BaseException | None = None
    ) -> GuestError:
        """``lines``: of the file, the last one counts; without any, the function's first one."""
        code = getattr(self.target, "__code__", None)
        first = code.co_firstlineno if code and self._is_in_file(code) else 1
        place = f"{visible_path(self.path)}:{lines[-1] if lines else first} {self.function}"
        return GuestError(": ".join(filter(None, (place, where, f"{what}{self.hint}"))), what, raised)

    def _is_in_file(self, code: CodeType) -> bool:
        return code.co_filename == str(self.path)


def find_function(place: str) -> tuple[Path, ModuleSpec, str]:
    """The file and the module that a place names, and the function there. Raises UserError that names what is wrong."""
    file, _, function = place.rpartition(":")
    path = Path(file)
    if not file or not all(part.isidentifier() for part in function.split(".")):
        hint = did_you_mean(place, {name: name for name in RUBRICS})
        expected = f"such as mine.py:verify, or for a rubric one of {', '.join(RUBRICS)}"
        raise UserError(f"{hint}expected a file and its function, {expected}, got {visible(place) or 'nothing'}")
    if path.is_file():
        spec = spec_from_file_location(path.stem, path)
    else:
        spec = _find_module(file)
        path = Path(spec.origin or "") if spec else path
    if spec is None or not path.is_file():
        missing = f"there is no Python file or module {visible(file)}{way_to(path)}"
        raise UserError(f"{visible(place)}: expected a file and its function, but {missing}")
    return path, spec, function


def _find_module(name: str) -> ModuleSpec | None:
    """A module on the path or in the caller's folder. Raises UserError where a package around it does not load."""
    sys.path.append(str(Path.cwd()))
    try:
        with redirect_stdout(sys.stderr):
            return find_spec(name)
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and name.startswith(error.name or name):
            return None
        expected = f"expected a module, and importing {visible(name.partition('.')[0])} raised"
        raise UserError(f"{visible(name)}: {expected} {describe_error(error)}") from None


def _own_modules(folders: Iterable[Path]) -> dict[str, Path]:
    """Name -> file of the modules that are loaded from these folders, but for the lab's, Python's and packages."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = Path(str(getattr(module, "__file__", "")))
        if name.partition(".")[0] in _NOT_OWN or "site-packages" in file.parts or "dist-packages" in file.parts:
            continue
        if file.suffix == ".py" and any(map(file.resolve().is_relative_to, folders)):
            found[name] = file.resolve()
    return found


def _read(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError as error:
        raise UserError(f"{visible_path(path)}: cannot read this Python file: {reason(error)}") from None


class Answer(NamedTuple):
    """What a verifier gave for one text: a reward, or in ``failure`` what came in its place."""

    reward: float | None
    message: str = ""  # of its details
    failure: str = ""
    has_stopped: bool = False  # its process gave no answer at all: ``course.attack_worker``

    @property
    def is_paid(self) -> bool:
        return self.reward is not None and self.reward > 0


class OwnRubric(Guest):
    """A verifier, with the scorer's signature: ``rubric(example, completion)["reward"]``.

    ``place``: also the name of a rubric of the course. ``arguments``: where the names of the parameters do not say
    them. ``is_guess``: one of these names is not known. The function may return a number, a dict with ``reward`` or
    ``score``, or a list of one of these.
    """

    def __init__(self, place: str, arguments: str | None = None) -> None:
        if place in RUBRICS and arguments is not None:
            raise UserError(f"--call is for a FILE:FUNCTION of your own; how {place} is called is known")
        super().__init__(f"{RUBRICS[place].__module__}:{place}" if place in RUBRICS else place)
        if place in RUBRICS:
            self.name = place
        self.is_guess = False
        if arguments is None:
            self._find_arguments()
            return
        try:
            self.set_arguments(arguments)
        except (SyntaxError, ValueError) as error:
            expected = f"expected arguments that are expressions of {NAMES}, such as 'completion, int(answer)'"
            raise UserError(f"--call: {expected}, got '{quote(arguments)}': {describe_error(error)}") from None

    def __call__(self, example: Task, completion: str) -> dict[str, Any]:
        """Without the function's own details, which nobody reads here."""
        where = partial(_describe, example, completion)
        return {"reward": self.answer(where, read_reward, bindings_of(example, completion)), "details": {}}

    def answers(self, questions: Sequence[tuple[Task, str]], /) -> list[Answer]:
        """Each question once. A fault costs its own text only."""
        answers = []
        for example, completion in questions:
            try:
                where = partial(_describe, example, completion)
                answer = self.ask(where, read_answer, bindings_of(example, completion))
            except GuestError as error:
                answer = Answer(None, failure=error.what)
            answers.append(answer)
        return answers

    def settings(self, option: str = "rubric") -> dict[str, str]:
        return super().settings(option) | {f"{option}_call": self.call}

    def _find_arguments(self) -> None:
        """From the function's parameters. A chat replaces the text if only the text raises."""
        try:
            parameters = [*inspect.signature(self.target).parameters.values()]
        except (TypeError, ValueError):  # a function of Python's own that does not say
            parameters = []
        found = find_arguments(parameters)
        if found is None:
            got = quote(f"{self.function}({', '.join(parameter.name for parameter in parameters)})")
            raise self.fault("", f"expected one of the shapes {SHAPES}; got {got}")
        self.set_arguments(found.expression)
        if found.chat and self._raises():
            self.set_arguments(found.chat)
            if self._raises():
                self.set_arguments(found.expression)
        if found.is_guess:
            self.is_guess = True
            how = "give the arguments with --call 'completion, answer', or name the parameters as in"
            guessed = f"the call {quote(self.call)} was guessed: {how} verify(example, completion)"
            self.hint = f"; {guessed}"
            print(f"note: {self.name}: {guessed}", file=sys.stderr)

    def _raises(self) -> bool:
        """Whether the call ends in an exception for a right line."""
        values = bindings_of({"id": "trial", "prompt": "Compute 0 + 0.", "expected_answer": 0}, "Final: 0")
        try:
            self.ask(lambda: "a trial", bool, values)
        except GuestError as error:
            return error.raised is not None
        return False


def _describe(example: Task, completion: str) -> str:
    return f"{quote(example['id'])}, '{clipped(completion, 60)}'"


def read_reward(value: Any) -> float:
    """The reward that a returned value stands for. Raises ValueError for what is none."""
    value = _unwrap(value)
    if isinstance(value, dict):
        value = as_plain(value.get("reward", value.get("score", value)))
    if isinstance(value, bool) or is_number(value):
        return float(value) + 0.0  # of -0 it makes 0
    raise ValueError(f"expected a finite number, or a dict with one under reward or score, got {_shown(value)}")


def read_answer(value: Any) -> Answer:
    """The same, with the message of the details, if there is one."""
    result = _unwrap(value)
    details = result.get("details") if isinstance(result, dict) else None
    message = details.get("message") if isinstance(details, dict) else None
    return Answer(read_reward(value), clipped(str(message or ""), 300))


class OwnPick(Guest):
    """A rule of Loop B: ``pick(samples, id)`` is the index of the sample that it chooses."""

    def __init__(self, place: str) -> None:
        super().__init__(place, "samples")

    def __call__(self, samples: Sequence[Sample], id_: str) -> int:
        def read(choice: object) -> int:
            if type(choice) is Sample and choice in samples:
                return choice.index
            got = f"the text '{quote(choice)}'" if isinstance(choice, str) else quote(type_name(choice))
            raise ValueError(f"expected one of the {len(samples)} samples, got {got}; return the sample itself")

        chosen: int = self.answer(lambda: quote(id_), read, {"samples": [*samples]})
        return chosen


class OwnUpdate(Guest):
    """A student's update of REINFORCE, of the shape of ``reinforce_step`` in ``exercises/reinforce.py``."""

    def __init__(self, place: str) -> None:
        super().__init__(place, "theta, actions, reward, baseline, lr")

    def __call__(
        self, step: int, theta: Sequence[float], action: int, reward: float, baseline: float, lr: float
    ) -> list[float]:
        """[K] the new logits after an episode of one step. ``step``: which update it is, from 1."""

        def read(value: Any) -> list[float]:
            value = as_plain(value)
            if isinstance(value, list | tuple) and len(value) == 1:
                logits = as_plain(value[0])
                if isinstance(logits, list | tuple) and len(logits) == len(theta) and all(map(is_number, logits)):
                    return [float(logit) for logit in logits]
            raise ValueError(f"expected a list of one list of {len(theta)} finite logits, got {_shown(value)}")

        values = {"theta": [[*theta]], "actions": [action], "reward": reward, "baseline": baseline, "lr": lr}
        logits: list[float] = self.answer(lambda: f"update {step}", read, values)
        return logits


def is_number(value: object) -> bool:
    """Whether this is a finite number, and no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def as_plain(value: Any) -> Any:
    """An array or a number of NumPy's as Python's own; anything else unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def _unwrap(value: Any) -> Any:
    """The one item of a list, or the value itself."""
    value = as_plain(value)
    return as_plain(value[0]) if isinstance(value, list | tuple) and len(value) == 1 else value


def _shown(value: object) -> str:
    return clipped(repr(value), 80)
