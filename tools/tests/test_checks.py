"""Each house check catches the fault it is for, and is silent on a clean tree."""

import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).resolve().parents[1] / "check"
sys.path.insert(0, str(CHECK))

import docstrings  # noqa: E402
import documents  # noqa: E402
import formatting  # noqa: E402
import headers  # noqa: E402
import ladder  # noqa: E402
import leftovers  # noqa: E402

CLEAN = {
    "include/pantile/core/error.h": "#pragma once\n/// What went wrong.\nstruct Error {\n  int code = 0;\n};\n",
    "include/pantile/graph/graph.h": "#pragma once\n#include <pantile/core/error.h>\n\n/// Makes one.\nError make_graph();\n",
    "src/graph/graph.cpp": '#include <pantile/graph/graph.h>\n#include "graph/state.h"\nError make_graph() { return {}; }\n',
    "src/graph/state.h": "#pragma once\n#include <pantile/core/error.h>\n",
    "python/pantile/__init__.py": '"""The package."""\n\n\ndef read():\n    """Reads."""\n',
    "README.md": "# Title\n\nSee [the part](docs/page.md#a-part) and run `./dev test`.\n",
    "docs/page.md": "# Page\n\n## A part\n",
    "tools/dev/__main__.py": '"""x"""\n@command("test", "y")\ndef _test():\n    pass\n',
}


def tree(tmp_path: Path, changes: dict) -> Path:
    """A small project with some files replaced or added. Each test has a root of its own, so caches cannot mix."""
    for name, text in {**CLEAN, **changes}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def messages(findings) -> list:
    return [finding.message for finding in findings if not finding.warning]


@pytest.mark.parametrize(
    "check",
    [ladder.check, headers.check, docstrings.check_headers, docstrings.check_python, leftovers.check, leftovers.check_sizes]
    + [documents.check_links, documents.check_commands, documents.check_examples, documents.check_dependencies],
)
def test_a_clean_tree_has_no_findings(tmp_path, check):
    assert messages(check(tree(tmp_path, {}))) == []


@pytest.mark.parametrize(
    "name, text, word",
    [
        ("include/pantile/core/climb.h", "#include <pantile/graph/graph.h>\n", "does not stand below"),
        ("src/zk/proof.cpp", "#include <pantile/graph/graph.h>\n", "does not stand below"),
        ("src/embedding/table.cpp", '#include "sparse/plan.h"\n', "does not stand below"),
        ("src/novel/thing.cpp", "int x;\n", "not on the ladder"),
        ("include/pantile/graph/simd.h", "#include <immintrin.h>\n", "public header"),
        ("include/pantile/graph/json.h", "#include <nlohmann/json.hpp>\n", "public header"),
        ("include/pantile/graph/private.h", '#include "state.h"\n', "not installed"),
        ("cli/verb.cpp", "#include <CLI/CLI.hpp>\n", "only cli/main.cpp"),
    ],
)
def test_the_ladder_check_catches_includes_that_climb(tmp_path, name, text, word):
    found = messages(ladder.check(tree(tmp_path, {name: text})))
    assert len(found) == 1 and word in found[0]


def test_what_stands_below_may_be_included_through_several_steps(tmp_path):
    text = "#include <pantile/core/error.h>\n#include <pantile/io/npy.h>\n#include <pantile/simt/warp.h>\n"
    assert messages(ladder.check(tree(tmp_path, {"src/fullgraph/halo.cpp": text}))) == []


def test_the_header_check_catches_a_header_that_needs_another_first(tmp_path):
    root = tree(tmp_path, {"include/pantile/core/needy.h": "#pragma once\n/// x\nstd::string f();\n"})
    found = list(headers.check(root))
    assert [finding.path.name for finding in found] == ["needy.h"]
    (root / "include/pantile/core/needy.h").write_text("#pragma once\n#include <string>\n/// x\nstd::string f();\n", encoding="utf-8")
    leftovers.read.cache_clear()
    assert messages(headers.check(root)) == []


@pytest.mark.parametrize(
    "text",
    [
        "/// A.\nvoid f();\n\nvoid g();\n",
        "namespace pantile {\n/// A.\nstruct S {\n  int x;\n};\n\nenum class Kind { a, b };\n}\n",
        "/// A.\nint f() { return 1; }\n\ninline int g(int x) {\n  return x;\n}\n",
        "/// A.\nusing X = int;\n\ntemplate <class T>\nclass Holder {\n  T x;\n};\n",
    ],
)
def test_the_docstring_check_catches_one_undocumented_declaration(tmp_path, text):
    assert len(list(docstrings.check_headers(tree(tmp_path, {"include/pantile/core/new.h": text})))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "/// Both.\nvoid f();\nvoid g();\n",
        "namespace a::b {\nclass Forward;\n/// A \"{\" in words.\nstruct S {\n  S() : x{1} {}\n  int x;\n};\n}  // namespace a::b\n",
        "#define MACRO(x) \\\n  do { x; } while (false)\n",
        "extern template class Adam;\n",
        "int count = 3;  ///< how many\n",
    ],
)
def test_the_docstring_check_accepts_documented_groups(tmp_path, text):
    assert list(docstrings.check_headers(tree(tmp_path, {"include/pantile/core/new.h": text}))) == []


def test_the_python_docstring_check_looks_into_classes_but_not_at_private_names(tmp_path):
    text = '"""M."""\n\n\nclass A:\n    """A."""\n\n    def f(self):\n        pass\n\n    def _g(self):\n        pass\n'
    found = list(docstrings.check_python(tree(tmp_path, {"python/pantile/a.py": text})))
    assert [finding.message for finding in found] == ["A.f has no docstring"]


@pytest.mark.parametrize(
    "name, text, word",
    [
        ("src/graph/a.cpp", "// TO" + "DO later\n", "open mark"),
        ("src/graph/a.cpp", '#include "/ro' + 'ot/x.h"\n', "one machine"),
        ("src/graph/a.cpp", "#if 0\n#endif\n", "dead code"),
        ("src/graph/a.cpp", 'void f() { std::cout << "x"; }\n', "never prints"),
        ("src/graph/a.cpp", 'void f() { printf("x"); }\n', "never prints"),
        ("src/graph/a.cpp", "void f() { throw 1; }\n", "never throws"),
        ("src/graph/a.cpp", "void f() { std::abort(); }\n", "never throws"),
        ("python/pantile/a.py", '"""A."""\nprint(1)\n', "never prints"),
        ("tests/graph/a.cpp", "void f() { GTEST_SK" + "IP(); }\n", "may not run"),
        ("tests/python/test_a.py", "@pytest.mark.sk" + "ip\ndef test_a(): pass\n", "may not run"),
    ],
)
def test_the_leftover_check_catches(tmp_path, name, text, word):
    found = messages(leftovers.check(tree(tmp_path, {name: text})))
    assert len(found) == 1 and word in found[0]


def test_words_about_printing_are_not_printing(tmp_path):
    text = '// printf( would be wrong here\nconst char* k = "throw std::cout";\nint snprintf_like(int);\n'
    assert messages(leftovers.check(tree(tmp_path, {"src/graph/a.cpp": text}))) == []


def test_large_blobs_are_faults_and_long_files_warnings(tmp_path):
    root = tree(tmp_path, {"data.bin": "x" * 1_000_001, "src/graph/long.cpp": "int x;\n" * 400})
    found = list(leftovers.check_sizes(root))
    assert [(finding.path.name, finding.warning) for finding in found] == [("data.bin", False), ("long.cpp", True)]


def test_the_format_check_catches_an_unformatted_file(tmp_path):
    root = tree(tmp_path, {".clang-format": "BasedOnStyle: Google\n", "src/graph/bad.cpp": "int   f( ){return 1;}\n"})
    assert "bad.cpp" in [finding.path.name for finding in formatting.check_cpp(root)]


@pytest.mark.parametrize(
    "text, word",
    [
        ("[x](docs/gone.md)\n", "leads nowhere"),
        ("[x](docs/page.md#gone)\n", "no heading"),
    ],
)
def test_the_link_check_catches_links_that_lead_nowhere(tmp_path, text, word):
    found = messages(documents.check_links(tree(tmp_path, {"README.md": text})))
    assert len(found) == 1 and word in found[0]


def test_the_command_check_catches_commands_that_do_not_exist(tmp_path):
    changes = {"README.md": "Run `./dev fly`.\n\n    pantile graph fold x\n", "cli/main.cpp": 'add("graph"); add("info");\n'}
    assert messages(documents.check_commands(tree(tmp_path, changes))) == ["./dev has no command fly", "pantile has no verb fold"]


def test_the_example_check_catches_a_block_that_differs_from_its_file(tmp_path):
    block = "<!-- examples/a.py -->\n```python\nx = 1\n```\n"
    same = tree(tmp_path / "same", {"README.md": block, "examples/a.py": '"""A."""\nx = 1\n'})
    other = tree(tmp_path / "other", {"README.md": block, "examples/a.py": "x = 2\n" * 61})
    assert messages(documents.check_examples(same)) == []
    assert len(messages(documents.check_examples(other))) == 2


def test_the_dependency_check_catches_a_requirement_without_a_line(tmp_path):
    changes = {"tools/requirements-test.txt": "pytest>=8\nnovel>=1\n", "docs/dependencies.md": "| pytest | tests |\n"}
    found = messages(documents.check_dependencies(tree(tmp_path, changes)))
    assert found == ["novel has no line in docs/dependencies.md"]


def test_the_program_exits_with_1_on_a_fault_and_with_0_without(tmp_path):
    command = [sys.executable, "-B", str(CHECK), "ladder", "leftovers", "--root", str(tree(tmp_path, {}))]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    (tmp_path / "src/graph/graph.cpp").write_text("// FIX" + "ME\n", encoding="utf-8")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1 and "src/graph/graph.cpp:1:" in result.stdout
