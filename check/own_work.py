"""Machinery: whether a student's file borrows the course's own answer, as far as its text shows.

One rule for all files that are judged: my_score, pick_best, reinforce, patched_rubric and the tests. Nothing of course,
check or teacher is imported but the few names that the stubs import. A file that is judged also runs in a process in
which these packages cannot be imported and their files cannot be opened (``course.child_main.forbid_course``), so an
import that no reader finds fails there.

Covered
    Import statements, in the file and in the student's own modules that it imports; importlib, __import__, runpy,
    sys.modules, and the globals of a function.
Not covered
    Text that was copied out of the course: a person sees it. Names that are put together at run time; most of them
    fail when the file runs.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_PACKAGES = ("course", "check", "teacher")
_SAMPLE = {"course.picking": ("Sample",)}
# file -> module -> the names that the file may import from it
ALLOWED: dict[str, Mapping[str, Sequence[str]]] = {
    "pick_best.py": _SAMPLE,
    "test_pick_best.py": _SAMPLE,
    "patched_rubric.py": {"course.faults": ("PREFIX",), "course.rubrics.hackable": ("GAPS",)},
}
_WAYS_AROUND = ("__import__", "__globals__", "__builtins__", "__loader__", "__subclasses__", "runpy")


def find_borrowed(name: str, source: bytes) -> str:
    """The part of a file that borrows, as Python writes it, and where it stands; an empty text if there is none.

    ``name``: of the file, without its folder. Modules beside it in ``exercises/`` are read as they are today.
    """
    allowed = ALLOWED.get(name, {})
    read: set[str] = set()
    waiting = [(name, source)]
    while waiting:
        file, text = waiting.pop()
        read.add(file)
        try:
            nodes = [*ast.walk(ast.parse(text))]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue  # it does not run, which its check says
        for node in nodes:
            if _borrows(node, allowed):
                place = "" if file == name else f" of {file}"
                return f"{ast.unparse(node).splitlines()[0]} (line {getattr(node, 'lineno', 1)}{place})"
            for module in _imported_modules(node):
                own = Path("exercises") / f"{module.removeprefix('exercises.').partition('.')[0]}.py"
                if own.name not in read and own.is_file():
                    waiting.append((own.name, own.read_bytes()))
    return ""


def _imported_modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name
    elif isinstance(node, ast.ImportFrom):
        yield node.module or ""
        for alias in node.names:
            yield f"{node.module or ''}.{alias.name}".lstrip(".")


def _borrows(node: ast.AST, allowed: Mapping[str, Sequence[str]]) -> bool:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
        return any(_is_closed(name) for name in names) or any(name.startswith("importlib.") for name in names)
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = [alias.name for alias in node.names]
        if module == "importlib":
            return names != ["reload"]
        if module == "sys":
            return "modules" in names
        return _is_closed(module) and any(name not in allowed.get(module, ()) for name in names)
    if isinstance(node, ast.Attribute):
        if isinstance(node.value, ast.Name) and node.value.id == "importlib":
            return node.attr != "reload"
        if isinstance(node.value, ast.Name) and node.value.id == "sys":
            return node.attr == "modules"
        return node.attr in _WAYS_AROUND
    return isinstance(node, ast.Name) and node.id in _WAYS_AROUND


def _is_closed(module: str) -> bool:
    """Whether a module is the lab's, or one that finds any module by a name."""
    return module.partition(".")[0] in (*_PACKAGES, "importlib", "runpy") and module != "importlib"
