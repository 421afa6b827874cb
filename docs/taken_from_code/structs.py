"""The fields of a record type: name, type, and what the source says of each, in a comment or in the docstring."""

import ast
import inspect
import io
import re
import sys
import textwrap
import tokenize
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from docs.taken_from_code.markdown import code, paragraph, table


class Field(NamedTuple):
    name: str
    type: str
    said: str  # by the source; empty where it says nothing


Meanings = Mapping[str, Mapping[str, str]]  # record type -> field -> its meaning


def fields_of(record: type) -> list[Field]:
    """The fields that this type adds to those of the type below it, in their order."""
    source = textwrap.dedent(inspect.getsource(record))
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    comments = {token.start[0]: token.string.lstrip("# ") for token in tokens if token.type == tokenize.COMMENT}
    described = phrases(ast.get_docstring(tree) or "")
    found = []
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and "ClassVar" not in source_of(node):
            name = node.target.id
            said = [text for text in (comments.get(node.lineno), described.get(name)) if text]
            found.append(Field(name, in_words(ast.unparse(node.annotation)), "; ".join(said)))
    return found


def source_of(node: ast.AnnAssign) -> str:
    return ast.unparse(node.annotation)


def phrases(docstring: str) -> dict[str, str]:
    """What a docstring says of fields: "``split``: of the prompt." The first sentence of each."""
    flat = " ".join(docstring.split())
    found = re.finditer(r"(?:``\w+``, )*``\w+``: (.*?)(?=(?: ``\w+``(?:, ``\w+``)*: )|$)", flat)
    said = {}
    for phrase in found:
        names = re.findall(r"``(\w+)``", phrase[0].split(": ")[0])
        sentence = re.split(r"(?<=\w)[.] (?=[A-Z`])", phrase[1])[0].rstrip(".;")
        said.update(dict.fromkeys(names, sentence))
    return said


def in_words(annotation: str) -> str:
    """A type of Python as a file has it: ``str | None`` is text or null."""
    inner = re.sub(r"Annotated\[(\w+(?:\[\w+\])?), Meta\([^)]*\)\]", r"\1", annotation)
    inner = re.sub(r"Annotated\[(\w+), Meta\(.*\)\]", r"\1", inner)
    inner = re.sub(r"Literal\[([^]]*)\]", lambda one: one[1].replace("'", '"').replace(", ", " or "), inner)
    inner = re.sub(r"\bId\b", "str", inner)
    return inner.replace(" | None", " or null").replace(" | UnsetType", ", may be absent")


def fields_table(record: type, meanings: Meanings) -> str:
    """The table of a record's own fields. Raises KeyError where nobody says what a field means."""
    return table(("field", "type", "meaning"), [*field_rows(record, meanings)])


def field_rows(record: type, meanings: Meanings) -> Iterator[tuple[str, str, str]]:
    given = dict(meanings.get(record.__name__, {}))
    for name, type_, said in fields_of(record):
        meant = given.pop(name, "")
        if not (said or meant):
            raise KeyError(f"{record.__name__}.{name}: nobody says what it means")
        text = "; ".join(part for part in (meant, re.sub(r"\bNone\b", "null", said)) if part)
        yield code(name), code(type_), re.sub(r"``([^`]+)``", r"`\1`", text)
    if given:
        raise KeyError(f"{record.__name__} has no {', '.join(given)}")


def about(record: type) -> str:
    """The first sentence of its docstring, and where it stands."""
    docstring = " ".join((record.__doc__ or "").split())
    sentence = re.split(r"(?<=[.:]) (?=[A-Z`]|advantage|return_)", docstring)[0]
    place = f"{record.__module__.replace('.', '/')}.py"
    sentence = re.sub(r"``([^`]+)``", r"`\1`", sentence).rstrip(":.")
    return paragraph(f"{sentence}. `{record.__name__}` in [{place}](../../{place}).")


def all_records(module: str) -> set[type]:
    """The msgspec types that a module defines."""
    from msgspec import Struct

    defined = vars(sys.modules[module]).values()
    return {one for one in defined if isinstance(one, type) and issubclass(one, Struct) and one.__module__ == module}
