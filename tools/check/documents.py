"""Documents tell the truth: links lead somewhere, commands exist, code blocks are the example files, dependencies are listed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator, Set

from tree import Finding, files, read

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
EXAMPLE = re.compile(r"<!-- (examples/\S+) -->\n```\w*\n(.*?)```", re.DOTALL)
DEV_COMMAND = re.compile(r"\./dev ([a-z][a-z-]*)")
PROGRAM_COMMAND = re.compile(r"^\s*(?:\$ )?pantile ([a-z]+)(?: ([a-z]+)(?=\s|$))?(?=.*\n?(.*))", re.MULTILINE)


def _anchors(text: str) -> Set[str]:
    """Anchors that GitHub and mkdocs make of headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in HEADING.findall(text)}


def _prose(text: str) -> str:
    """The text with code blocks blanked, line numbers kept."""
    return re.sub(r"^```.*?^```", lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.DOTALL | re.MULTILINE)


def check_links(root: Path) -> Iterator[Finding]:
    """Relative links and their anchors; pages that mkdocs.yml names."""
    for path in files(root, (".md",)):
        text = _prose(read(path))
        for match in LINK.finditer(text):
            target, line = match.group(1), text.count("\n", 0, match.start()) + 1
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            other = (path.parent / name).resolve() if name else path
            if not other.exists():
                yield Finding(path, line, f"the link {target} leads nowhere")
            elif anchor and other.suffix == ".md" and anchor not in _anchors(read(other)):
                yield Finding(path, line, f"{other.name} has no heading #{anchor}")
    config = root / "mkdocs.yml"
    if config.exists():
        for number, line in enumerate(read(config).splitlines(), 1):
            match = re.search(r":\s*([\w/.-]+\.md)\s*$", line)
            if match and not (root / "docs" / match.group(1)).exists():
                yield Finding(config, number, f"docs/{match.group(1)} does not exist")


def check_commands(root: Path) -> Iterator[Finding]:
    """`./dev X` and `pantile a b` in documents must exist in the programs."""
    dev = root / "tools" / "dev" / "__main__.py"
    known_dev = set(re.findall(r'command\(\s*"([a-z-]+)"', read(dev))) | {"help"} if dev.exists() else set()
    program = root / "cli" / "main.cpp"
    known_verbs = set(re.findall(r'"([a-z]+)"', read(program))) if program.exists() else None
    for path in files(root, (".md",)):
        text = read(path)
        for match in DEV_COMMAND.finditer(text):
            if known_dev and match.group(1) not in known_dev:
                yield Finding(path, text.count("\n", 0, match.start()) + 1, f"./dev has no command {match.group(1)}")
        for match in PROGRAM_COMMAND.finditer(text):
            if "unknown command" in match.group(3):  # a page that shows the program's answer to a wrong one
                continue
            for verb in filter(None, match.groups()[:2]):
                if known_verbs is not None and verb not in known_verbs:
                    yield Finding(path, text.count("\n", 0, match.start()) + 1, f"pantile has no verb {verb}")


def check_examples(root: Path) -> Iterator[Finding]:
    """A block under `<!-- examples/x -->` holds lines of that file, in order, and examples stay short."""
    for path in files(root, (".md",)):
        text = read(path)
        for match in EXAMPLE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            example = root / match.group(1)
            if not example.exists():
                yield Finding(path, line, f"{match.group(1)} does not exist")
            elif match.group(2).strip() not in read(example):
                yield Finding(path, line, f"the block differs from {match.group(1)}: copy it again")
    for path in files(root, (".cpp", ".py", ".sh"), ("examples",)):
        lines = read(path).count("\n")
        if path.parent == root / "examples" and lines > 60:
            yield Finding(path, 0, f"{lines} lines: an example has at most 60")


def check_dependencies(root: Path) -> Iterator[Finding]:
    """Everything that the build or a requirements list names has its line in docs/dependencies.md."""
    page = root / "docs" / "dependencies.md"
    text = read(page) if page.exists() else ""
    for path in files(root, (".txt",), ("tools",)):
        if not path.name.startswith("requirements-"):
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            match = re.match(r"([A-Za-z][\w.-]*)", line)
            if match and not re.search(rf"(?<![\w-]){re.escape(match.group(1))}(?![\w-])", text):
                yield Finding(path, number, f"{match.group(1)} has no line in docs/dependencies.md")
    packages = root / "tools" / "dev" / "debian.py"
    if packages.exists():
        for name in sorted(set(re.findall(r"\b(lib[\w-]+-dev|[a-z0-9-]+3-dev)\b", read(packages)))):
            if name not in text and name != "python3-dev":
                yield Finding(packages, 0, f"{name} has no line in docs/dependencies.md")
