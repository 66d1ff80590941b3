"""Public declarations say what they promise: `///` in include/, docstrings in python/pantile."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Iterator, List, Tuple

from tree import Finding, files, read

SKIPPED = re.compile(
    r"^(using namespace|static_assert|extern|namespace|template\s*<\s*>|friend"
    r"|(template\s*<[^<>]*>\s*)?(class|struct|enum|enum class|union)\s+\w+\s*(:\s*\w+\s*)?;|#)"
)


# Methods whose promise is torch's: a layer's class says what they compute.
INHERITED = {"forward", "reset_parameters", "initialize_parameters"}


def _blank_out(text: str) -> str:
    """The text with comments, strings, characters and preprocessor lines replaced by spaces; every character keeps its place."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.DOTALL | re.MULTILINE
    )
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def declarations(text: str) -> Iterator[Tuple[int, int, str]]:
    """(first line, last line, text) of each declaration at namespace scope; bodies of types and functions are left out."""
    code = _blank_out(text)
    scopes: List[bool] = []  # True for a namespace
    begin, start_of_body = 0, 0
    for at, character in enumerate(code):
        if character == "{":
            head = code[begin:at].strip()
            is_namespace = bool(re.match(r"(inline\s+)?namespace\b", head)) or head == "extern"
            if all(scopes) and not is_namespace:
                start_of_body = begin
            scopes.append(is_namespace)
            if is_namespace and all(scopes):
                begin = at + 1
        elif character == "}":
            if scopes and scopes.pop() and all(scopes):
                begin = at + 1
            elif all(scopes) and re.match(r"\s*(?:[;,)]|\w+\s*;|\s*=)", code[at + 1 : at + 40]) is None:
                yield _declaration(code, start_of_body, at)  # a function with its body
                begin = at + 1
        elif character == ";" and all(scopes):
            if code[begin:at].strip():
                yield _declaration(code, begin, at)
            begin = at + 1


def _declaration(code: str, begin: int, end: int) -> Tuple[int, int, str]:
    head = code[begin:end]
    first = begin + len(head) - len(head.lstrip())
    return code.count("\n", 0, first) + 1, code.count("\n", 0, end) + 1, " ".join(head.split())


def _documented(lines: List[str], first: int, last: int) -> bool:
    """A `///` in the paragraph above the declaration, or `///<` on its lines."""
    if any("///" in lines[number - 1] for number in range(first, last + 1)):
        return True
    number = first - 1
    while number >= 1 and lines[number - 1].strip():
        if "///" in lines[number - 1]:
            return True
        number -= 1
    return False


def check_headers(root: Path) -> Iterator[Finding]:
    """Public C++ declarations without `///`."""
    for path in files(root, (".h",), ("include",)):
        text = read(path)
        lines = text.splitlines()
        for first, last, head in declarations(text):
            if not SKIPPED.match(head + ";") and not _documented(lines, first, last):
                yield Finding(path, first, f"no /// above `{head[:70]}`")


def check_python(root: Path) -> Iterator[Finding]:
    """Public Python modules, classes, functions and methods without a docstring; a module of one class speaks through it."""

    def visit(path: Path, node: ast.AST, prefix: str) -> Iterator[Finding]:
        for child in getattr(node, "body", []):
            if not isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) or child.name.startswith("_"):
                continue
            if prefix and child.name in INHERITED:
                continue
            decorators = " ".join(ast.unparse(decorator) for decorator in child.decorator_list)
            if "overload" not in decorators and "setter" not in decorators and ast.get_docstring(child) is None:
                yield Finding(path, child.lineno, f"{prefix}{child.name} has no docstring")
            if isinstance(child, ast.ClassDef):
                yield from visit(path, child, f"{prefix}{child.name}.")

    for path in files(root, (".py",), ("python/pantile", "tools/dev", "tools/check")):
        try:
            module = ast.parse(read(path))
        except SyntaxError as error:
            yield Finding(path, error.lineno or 0, f"does not parse: {error.msg}")
            continue
        classes = [node for node in module.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_")]
        speaks = ast.get_docstring(module) is not None or (len(classes) == 1 and ast.get_docstring(classes[0]) is not None)
        if not speaks and module.body:
            yield Finding(path, 1, "the module has no docstring")
        if not path.name.startswith("_") or path.name in ("__init__.py", "__main__.py"):
            yield from visit(path, module, "")
