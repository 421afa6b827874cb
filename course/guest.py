"""A function of somebody's own: loaded, called as the names of its parameters say, its faults in one wording.

    Guest("exercises/reinforce.py:advantage")      FILE:FUNCTION, or a method of an object in it, FILE:checker.verify
    Guest("package.module:function")               from a module that this Python finds
    OwnRubric("suffix")                            a rubric of the course
    OwnRubric(…), OwnPick(…), OwnUpdate(…)         what --rubric, --pick and --update name

The code is its owner's and runs in the command's own process, as any code of theirs would: ``print`` goes to standard
error, ``breakpoint()`` and Ctrl-C work, and nothing is forbidden. A fault is one line: file, line, function, which
call, and what happened. It ends the command without a run, and is never a reward of 0.

Covered
    An exception, ``sys.exit``, an answer of a wrong type, None, inf and nan. A function that changes its arguments:
    each call gets its own. Draws, clocks and memory: the first 32 calls are made again, in reverse.
Not covered
    ``os._exit`` and a crash of Python end the command, and no run is left. A function that changes after 32 calls. A
    file of data that it reads. What it prints without Python, as a program that it starts does.
"""

import hashlib
import inspect
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from importlib import invalidate_caches
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from course.datasets.files import LAB, open_regular, way_to
from course.datasets.records import Task
from course.errors import UserError, reason
from course.faults import type_name
from course.picking import Sample
from course.rubrics.calling import NAMES, SHAPES, bindings_of, find_arguments
from course.rubrics.hackable import RUBRICS
from course.text import clipped, describe_error, did_you_mean, quote, shell_word, visible, visible_path

REPEATED = 32  # calls that are made twice
LARGEST = 1e300  # reward or logit; a sum of larger ones could overflow
_KEYS = ("reward", "score")  # of a returned dict; the first of these keys counts
_NOT_OWN = tuple(
    folder.resolve() for folder in (LAB / "course", LAB / "check", LAB / "teacher", Path(sysconfig.get_path("stdlib")))
)
_FOLDERS: set[Path] = set()  # of the guests that were loaded in this process


class GuestError(UserError):
    """A fault of a guest. ``what``: happened, without the place. ``kind``: the type of its exception, else empty."""

    def __init__(self, message: str, what: str, kind: str = "") -> None:
        super().__init__(message)
        self.what = what
        self.kind = kind


class Call(NamedTuple):
    """One call. ``values``: what the arguments are made of, made anew each time. ``read``: gives the answer, or raises
    ValueError for what is none. ``name``: which call it is, in words.
    """

    values: Callable[[], Mapping[str, Any]]
    read: Callable[[Any], Any]
    name: Callable[[], str]


class Guest:
    """A function that was found and loaded. Raises UserError where there is none.

    ``arguments``: of its call, an expression of the values of a ``Call``. ``name``: file and function, without the
    folder. ``source``: the bytes that run. ``mend``: is added to each fault.
    """

    def __init__(self, place: str, arguments: str = "") -> None:
        self.path, spec, self.function = find_function(place)
        self.name = visible(f"{self.path.name}:{self.function}")
        self.source = _read(self.path)
        self.mend = ""
        self._first: list[tuple[Call, Any]] | None = []  # calls that are still to be made again
        self._target: Any = None
        self._module = self._load(spec)
        self._target = self._find_target()
        self.set_arguments(arguments)

    def set_arguments(self, arguments: str) -> None:
        """Raises SyntaxError."""
        self.call = f"{self.function}({arguments})"
        self._code = compile(f"guest({arguments})", "--call", "eval")

    def ask(self, call: Call) -> Any:
        """The answer to one call. Raises GuestError; at Ctrl-C KeyboardInterrupt, which says where it was."""
        try:
            with redirect_stdout(sys.stderr):
                value = eval(self._code, {"guest": self._target, **call.values()})
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{self.name}, {call.name()}") from None
        except BaseException as error:
            raise self._raised(error, f"{call.name()}: ") from None
        try:
            return call.read(value)
        except ValueError as wrong:
            raise self.fault(str(wrong), f"{call.name()}: ") from None

    def answer(self, call: Call) -> Any:
        """The same. The first calls are kept, and made again once there are 32 of them."""
        answer = self.ask(call)
        if self._first is not None:
            self._first.append((call, answer))
            if len(self._first) == REPEATED:
                self.ask_again()
        return answer

    def ask_again(self) -> None:
        """Make the first calls again, in reverse. Raises GuestError where an answer differs."""
        first, self._first = self._first or [], None
        for call, answer in reversed(first):
            again = self.ask(call)
            if again != answer:
                mend = "let only the arguments decide: no random draw, no clock, no memory"
                raise self.fault(
                    f"expected the same answer each time, got {answer}, then {again}; {mend}", f"{call.name()}: "
                )

    def settings(self, option: str) -> dict[str, str]:
        """What a manifest says of it, once everything was asked. Raises GuestError as ``ask_again`` does.

        ``…_sha256``: of the file that ran. If it imported files of its owner's, that of a sorted line for each file:
        its SHA-256, a space, its path. ``…_version``: what the file calls its VERSION, if it does.
        """
        self.ask_again()
        files = {self.path.name: self.source} | self._imported_files()
        lines = sorted(f"{hashlib.sha256(source).hexdigest()} {name}" for name, source in files.items())
        digest = hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()
        if len(files) == 1:
            digest = hashlib.sha256(self.source).hexdigest()
        settings = {option: self.name, f"{option}_sha256": digest}
        if hasattr(self._module, "VERSION"):
            settings[f"{option}_version"] = clipped(str(self._module.VERSION), 80)
        return settings

    def keep(self, option: str, write: Callable[[str, bytes], object]) -> dict[str, str]:
        """``write`` the file that ran, and the files of its owner's that it imported; returns ``settings``."""
        settings = self.settings(option)
        write(f"{option}.py", self.source)
        for name, source in self._imported_files().items():
            write(f"{option}_imports/{visible(name)}", source)
        return settings

    def _imported_files(self) -> dict[str, bytes]:
        """Of the modules that are loaded by now, those from the caller's folder or the file's own."""
        folders = (Path.cwd(), self.path.resolve().parent)
        found = {}
        for name, file in _own_modules(folders).items():
            if sys.modules[name] is not self._module:
                owner = next(filter(file.is_relative_to, folders))
                found[file.relative_to(owner).as_posix()] = _read(file)
        return found

    def _load(self, spec: ModuleSpec) -> ModuleType:
        """Run the bytes that were read, as a module. Its folder is first on the path meanwhile and last from then on,
        so that a ``random.py`` in it never stands in for Python's in the lab.
        """
        for name in _own_modules(_FOLDERS):  # what an earlier guest imported may be another file by now
            del sys.modules[name]
        invalidate_caches()
        sys.dont_write_bytecode = True  # nor is a file that changed within a second read from its .pyc
        module = module_from_spec(spec)
        if spec.name in sys.modules or spec.name in sys.stdlib_module_names:
            module.__name__ = f"{spec.name} of a guest"
        sys.modules[module.__name__] = module  # where a dataclass looks up what its annotations name
        folder = self.path.resolve().parent
        _FOLDERS.add(folder)
        sys.path.insert(0, str(folder))
        try:
            with redirect_stdout(sys.stderr):
                exec(compile(self.source, str(self.path), "exec"), vars(module))
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{self.name}, while it was loaded") from None
        except BaseException as error:
            raise self._raised(error, "while it was loaded: ") from None
        finally:
            sys.path.remove(str(folder))
            if str(folder) not in sys.path:
                sys.path.append(str(folder))
        return module

    def _find_target(self) -> Any:
        target: Any = self._module
        for part in self.function.split("."):
            target = getattr(target, part, None)
        if not callable(target):
            raise UserError(f"{visible_path(self.path)}: this file has no function {quote(self.function)}")
        return target

    def fault(self, what: str, when: str = "", line: int = 0, kind: str = "") -> GuestError:
        """``when``: which call it was, with a colon. ``line``: of the file; without one, that of the function."""
        code = getattr(self._target, "__code__", None)
        if not line:
            line = code.co_firstlineno if code and code.co_filename == str(self.path) else 1
        place = f"{visible_path(self.path)}:{line} {self.function}"
        return GuestError(f"{place}: {when}{what}{self.mend}", what, kind)

    def _raised(self, error: BaseException, when: str) -> GuestError:
        kind = type_name(error)
        if isinstance(error, NotImplementedError):
            what = f"the function {self.function} is still to be written"
            return GuestError(f"{visible_path(self.path)}: {what}", what, kind)
        frames = traceback.walk_tb(error.__traceback__)
        lines = [line for frame, line in frames if frame.f_code.co_filename == str(self.path)]
        if isinstance(error, SyntaxError) and error.filename == str(self.path):
            lines.append(error.lineno or 1)
        what = describe_error(error)
        if isinstance(error, ModuleNotFoundError) and error.name:
            package = quote(error.name.partition(".")[0])
            what += f"; if it is a package: {shell_word(Path(sys.executable))} -m pip install {package}"
        return self.fault(what, when, lines[-1] if lines else 0, kind)


def find_function(place: str) -> tuple[Path, ModuleSpec, str]:
    """The file and the module that a place names, and the function there. Raises UserError that names what is wrong."""
    file, _, function = place.rpartition(":")
    shown = visible(place) or "nothing"
    if Path(place).is_file():
        raise UserError(f"{shown}: expected a file and its function, such as {shown}:verify, got the file alone")
    if not file:
        mend = did_you_mean(place, {name: name for name in RUBRICS})
        expected = f"a file and its function, such as mine.py:verify, or for a rubric one of {', '.join(RUBRICS)}"
        raise UserError(f"{mend}expected {expected}, got {shown}")
    if not all(part.isidentifier() for part in function.split(".")):
        expected = "expected the name of a function after the colon, such as verify or checker.verify"
        raise UserError(f"{shown}: {expected}, got {quote(function) or 'nothing'}")
    path = Path(file)
    if path.is_file():
        spec = spec_from_file_location(path.stem, path, loader=SourceFileLoader(path.stem, file))
    else:
        spec = _find_module(file)
        path = Path(spec.origin or "") if spec else path
    if spec is None or not path.is_file():
        missing = f"the file {visible(file)} does not exist{way_to(path)}"
        raise UserError(f"{shown}: expected a file and its function, but {missing}")
    return path, spec, function


def _find_module(name: str) -> ModuleSpec | None:
    """A module on the path or in the caller's folder. None also where a package around it cannot be imported."""
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
    try:
        return find_spec(name)
    except (ImportError, ValueError):
        return None


def _own_modules(folders: Iterable[Path]) -> dict[str, Path]:
    """Name -> file of the modules that are loaded from these folders, but for the lab's, Python's and packages."""
    found = {}
    for name, module in list(sys.modules.items()):
        file = Path(str(vars(module).get("__file__"))) if isinstance(module, ModuleType) else Path()
        is_installed = "site-packages" in file.parts or "dist-packages" in file.parts
        if is_installed or not any(map(file.is_relative_to, folders)) or any(map(file.is_relative_to, _NOT_OWN)):
            continue
        if file.suffix == ".py" and file.is_file():
            found[name] = file
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

    ``place``: also the name of a rubric of the course. ``call``: the arguments, where the names of the parameters do
    not say them. ``is_guess``: one of these names is not known. The function may return a number, a dict with
    ``reward`` or ``score``, or a list of one of these.
    """

    def __init__(self, place: str, call: str | None = None) -> None:
        if place in RUBRICS and call is not None:
            raise UserError(f"--call is for a FILE:FUNCTION of your own; how {place} is called is known")
        if place in RUBRICS:
            super().__init__(f"{RUBRICS[place].__code__.co_filename}:{place}")
            self.name = place
        else:
            super().__init__(place)
        self.is_guess = False
        if call is None:
            self._find_call()
        else:
            self._take_call(call)

    def __call__(self, example: Task, completion: str) -> dict[str, Any]:
        """Without the function's own details, which nobody reads here."""
        return {"reward": self.answer(self._call_on(example, completion, read_reward)), "details": {}}

    def answers(self, questions: Sequence[tuple[Task, str]], /) -> list[Answer]:
        """Each question once. A fault costs its own text only."""
        return [self._answer_once(*question) for question in questions]

    def settings(self, option: str = "rubric") -> dict[str, str]:
        return super().settings(option) | {f"{option}_call": self.call}

    def _call_on(self, example: Task, completion: str, read: Callable[[Any], Any]) -> Call:
        return Call(
            values=lambda: bindings_of(example, completion),
            read=read,
            name=lambda: f"{quote(example['id'])}, '{clipped(completion, 60)}'",
        )

    def _answer_once(self, example: Task, completion: str) -> Answer:
        try:
            answer: Answer = self.ask(self._call_on(example, completion, read_answer))
        except GuestError as error:
            return Answer(None, failure=error.what)
        return answer

    def _take_call(self, call: str) -> None:
        try:
            self.set_arguments(call)
        except (SyntaxError, ValueError) as error:
            expected = f"expected arguments that are expressions of {NAMES}, such as 'completion, int(answer)'"
            raise UserError(f"--call: {expected}, got '{quote(call)}': {describe_error(error)}") from None

    def _find_call(self) -> None:
        """Set the arguments from the function's parameters. A chat replaces the text if only the text raises."""
        parameters = [*inspect.signature(self._target).parameters.values()]
        found = find_arguments(parameters)
        if found is None:
            names = quote(", ".join(parameter.name for parameter in parameters))
            raise self.fault(f"expected one of the shapes {SHAPES}; got {quote(self.function)}({names})")
        self.set_arguments(found.expression)
        if found.chat and self._raises():
            self.set_arguments(found.chat)
            if self._raises():
                self.set_arguments(found.expression)
        self.is_guess = found.is_guess
        if self.is_guess:
            self.mend = (
                f"; the call {quote(self.call)} was guessed: give the arguments with --call 'completion, answer', or "
                "name the parameters as in verify(example, completion) or verify(completion, answer)"
            )

    def _raises(self) -> bool:
        """Whether the call ends in an exception for a right line."""
        try:
            self.ask(
                self._call_on({"id": "a trial", "prompt": "Compute 0 + 0.", "expected_answer": 0}, "Final: 0", bool)
            )
        except GuestError as error:
            return error.kind != ""
        return False


def read_reward(value: Any) -> float:
    """The reward that a returned value stands for. Raises ValueError for what is none."""
    value = _unwrap(value)
    if isinstance(value, dict):
        key = next((key for key in _KEYS if key in value), None)
        if key is None:
            keys = quote(", ".join(map(str, value)))
            raise ValueError(f"expected a number, or a dict with reward or score, got a dict with the keys {keys}")
        value = as_plain(value[key])
    if isinstance(value, int | float) and abs(value) <= LARGEST:
        return float(value) + 0.0  # of -0 it makes 0
    raise ValueError(f"expected a reward, which is a finite number, got {_shown(value)}")


def read_answer(value: Any) -> Answer:
    """The same, with the message of the details, if there is one."""
    result = _unwrap(value)
    details = result.get("details") if isinstance(result, dict) else None
    message = details.get("message") if isinstance(details, dict) else None
    return Answer(read_reward(value), clipped(str(message or ""), 300))


def _unwrap(value: Any) -> Any:
    value = as_plain(value)
    return as_plain(value[0]) if isinstance(value, list | tuple) and len(value) == 1 else value


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

        chosen: int = self.answer(Call(lambda: {"samples": list(samples)}, read, lambda: quote(id_)))
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
                if isinstance(logits, list | tuple) and len(logits) == len(theta) and all(map(_is_logit, logits)):
                    return [float(logit) for logit in logits]
            raise ValueError(f"expected a list of one list of {len(theta)} finite logits, got {_shown(value)}")

        def values() -> dict[str, Any]:
            return {"theta": [[*theta]], "actions": [action], "reward": reward, "baseline": baseline, "lr": lr}

        logits: list[float] = self.answer(Call(values, read, lambda: f"update {step}"))
        return logits


def _is_logit(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def as_plain(value: Any) -> Any:
    """An array or a number of NumPy's as Python's own; anything else unchanged."""
    return value.tolist() if hasattr(value, "tolist") else value


def _shown(value: object) -> str:
    return clipped(repr(value), 80)
