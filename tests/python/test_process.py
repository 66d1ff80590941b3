"""Threads, forks, and life without torch."""

from __future__ import annotations

import ast
import inspect
import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from conftest import run_python

import pantile
from pantile import _core

PACKAGE = Path(pantile.__file__).parent
WITHOUT_TORCH = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name == "torch" or name.startswith("torch."):
            raise ImportError("torch is blocked")
sys.meta_path.insert(0, Blocker())
import numpy as np
import pantile
g = pantile.Graph.from_edge_index(np.array([[0, 1], [1, 0]]), 2)
assert pantile.spmm(g, np.eye(2, dtype=np.float32)).tolist() == [[0, 1], [1, 0]]
for name in ("torch", "nn"):
    try:
        getattr(pantile, name)
    except ImportError as error:
        assert "pip install torch" in str(error), error
    else:
        raise AssertionError(name)
assert "torch" not in sys.modules
"""


def test_the_package_works_without_torch_and_says_how_to_get_it():
    run_python(WITHOUT_TORCH)


def test_importing_the_package_does_not_import_torch():
    run_python("import sys, pantile; sys.exit('torch' in sys.modules)")


def test_a_forked_child_computes_the_same():
    torch = pytest.importorskip("torch")
    g = pantile.generate.rmat(9, 8)
    x = torch.randn(g.rows, 32)
    want = pantile.spmm(g, x)
    pid = os.fork()
    if pid == 0:
        os._exit(0 if torch.equal(pantile.spmm(g, x), want) else 1)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_many_threads_may_call_at_once():
    torch = pytest.importorskip("torch")
    g = pantile.generate.rmat(9, 8)
    x = torch.randn(g.rows, 16)
    want, soft = pantile.spmm(g, x), pantile.edge_softmax(g, torch.ones(g.edges))
    wrong = []

    def work():
        fresh = pantile.Graph.from_edge_index(g.edge_index, g.rows)
        for _ in range(20):
            if not torch.equal(pantile.spmm(fresh, x), want) or not torch.equal(
                pantile.edge_softmax(g, torch.ones(g.edges)), soft
            ):
                wrong.append(1)

    workers = [threading.Thread(target=work) for _ in range(6)]
    for w in workers:
        w.start()
    for w in workers:
        w.join(60)
    assert not wrong and not any(w.is_alive() for w in workers)


def test_the_number_of_threads_follows_torch_unless_fixed():
    torch = pytest.importorskip("torch")
    g = pantile.Graph.from_edge_index(np.array([[0], [0]]), 1)
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        pantile.spmm(g, torch.ones(1, 1))
        assert pantile.num_threads() == 3
        pantile.set_num_threads(2)
        pantile.spmm(g, torch.ones(1, 1))
        assert pantile.num_threads() == 2
    finally:
        torch.set_num_threads(before)
        pantile.set_num_threads(0)


def test_the_program_is_started_or_its_absence_explained(tmp_path):
    program = tmp_path / "pantile"
    program.write_text("#!/bin/sh\necho started $1\nexit 1\n")
    program.chmod(0o755)
    environment = os.environ | {"PANTILE_PROGRAM": str(program), "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, "-m", "pantile", "doctor"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.stdout, done.returncode) == ("started doctor\n", 1)
    environment["PANTILE_PROGRAM"] = str(tmp_path / "nowhere")
    done = subprocess.run(
        [sys.executable, "-m", "pantile"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 3 and "cannot start" in done.stderr


def test_the_stub_names_what_the_extension_has():
    declared = {
        node.name
        for node in ast.parse((PACKAGE / "_core.pyi").read_text()).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }
    assert declared == {name for name in dir(_core) if not name.startswith("_")}
    graph = next(
        n
        for n in ast.parse((PACKAGE / "_core.pyi").read_text()).body
        if isinstance(n, ast.ClassDef) and n.name == "Graph"
    )
    methods = {node.name for node in graph.body if isinstance(node, ast.FunctionDef)}
    assert methods == {name for name in dir(_core.Graph) if not name.startswith("_")}
    assert (PACKAGE / "py.typed").exists()


def test_public_functions_are_documented_and_typed():
    for name in pantile.__all__:
        if name in ("torch", "nn"):
            continue
        value = getattr(pantile, name)
        assert inspect.ismodule(value) or value.__doc__, name
        if inspect.isfunction(value):
            assert "return" in value.__annotations__, name


BESIDE_TORCH = """
import os, sys
import torch
import pantile, pantile.torch
torch.set_num_threads(2)
g = pantile.generate.rmat(14, 8)
x = torch.randn(g.rows, 64)
torch.set_num_threads(1)
want = pantile.spmm(g, x)
torch.set_num_threads(2)
torch.randn(4000, 400) @ torch.randn(400, 400)  # torch's threads start
before = len(os.listdir("/proc/self/task"))
for _ in range(5):
    assert torch.equal(pantile.spmm(g, x), want)
assert len(os.listdir("/proc/self/task")) == before, "a second pool was started beside torch's"
bits = want.numpy().tobytes()
pid = os.fork()
if pid == 0:
    os._exit(0 if pantile.spmm(g, x).numpy().tobytes() == bits else 1)  # torch's own operators hang in a forked child
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
assert torch.equal(pantile.spmm(g, x), want)
"""


def test_shares_run_on_the_threads_of_torch_and_a_forked_child_on_its_own():
    pytest.importorskip("torch")
    assert _core.borrow_openmp_threads(), "the pinned torch brings libgomp; a torch with another runtime keeps our pool"
    run_python(BESIDE_TORCH)
