"""Machinery: whether a student's file borrows the course's own answer, as far as its text shows.

One rule for all files that are judged: my_score, pick_best, reinforce, patched_rubric and the tests. Nothing of course,
check or teacher is imported but the few names that the stubs import. A file that is judged also runs in a process in
which these packages cannot be imported and their files cannot be opened (``course.child_main.forbid_course``), so an
import that no reader finds fails there.

Covered
    Import statements, in the file and in the student's own modules that it imports; importlib and sys, also under a
    name of the student's; exec, eval, compile, __import__, runpy, ctypes and the process that asks (__main__).
Not covered
    Text that was copied out of the course: a person sees it. Names that are put together at run time, such as
    getattr(sys, "mod" + "ules"); most of them fail when the file runs. A second program that the file starts.
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
# Modules that find any module by a name, run a text, or reach into the process that asks. A rule needs none of them.
_CLOSED_MODULES = ("__main__", "_ctypes", "builtins", "child_main", "ctypes", "gc", "importlib", "picking", "runpy")
_RELOAD = "reload"  # of importlib: a test may load the student's own file anew
_CLOSED_OF_SYS = ("_getframe", "_current_frames", "meta_path", "modules", "path_hooks", "path_importer_cache")
# Wherever they stand, as a name or after a point.
_WAYS_AROUND = (
    "__builtins__",
    "__closure__",
    "__globals__",
    "__import__",
    "__loader__",
    "__subclasses__",
    "_getframe",
    "f_globals",
    "meta_path",
    "runpy",
)
_RUN_A_TEXT = ("compile", "eval", "exec")  # the functions; re.compile is a different one


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
        meanings = _meanings_of_names(nodes)
        for node in nodes:
            if _borrows(node, allowed, meanings):
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


def _meanings_of_names(nodes: Sequence[ast.AST]) -> dict[str, set[str]]:
    """Name -> what the file's import statements bind to this name: a module, or a module and its name."""
    meanings: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                meanings.setdefault(alias.asname or alias.name, set()).add(alias.name)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                meanings.setdefault(alias.asname or alias.name, set()).add(f"{node.module}.{alias.name}")
    return meanings


def _borrows(node: ast.AST, allowed: Mapping[str, Sequence[str]], meanings: Mapping[str, set[str]]) -> bool:
    if isinstance(node, ast.Import):
        return any(_is_closed(alias.name) and alias.name != "importlib" for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        names = [alias.name for alias in node.names]
        if module == "importlib":
            return names != [_RELOAD]
        if module == "sys":
            return any(name in _CLOSED_OF_SYS for name in names)
        return _is_closed(module) and any(name not in allowed.get(module, ()) for name in names)
    if isinstance(node, ast.Attribute):
        modules: set[str] = set()
        if isinstance(node.value, ast.Name):
            modules = {node.value.id, *meanings.get(node.value.id, ())}
        if "importlib" in modules and node.attr != _RELOAD:
            return True
        if "sys" in modules and node.attr in _CLOSED_OF_SYS:
            return True
        return node.attr in _WAYS_AROUND
    if isinstance(node, ast.Name):
        is_of_re = meanings.get(node.id) == {f"re.{node.id}"}
        return node.id in _WAYS_AROUND or (node.id in _RUN_A_TEXT and not is_of_re)
    return False


def _is_closed(module: str) -> bool:
    """Whether a module is the lab's, or a way to it."""
    return module.partition(".")[0] in (*_PACKAGES, *_CLOSED_MODULES)
