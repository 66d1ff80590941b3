"""Graphs that the tests share: odd sizes, duplicates, loops, empty rows, hubs; never a power of two."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import pantile

try:
    import torch
except ImportError:  # the tests that need it skip themselves
    torch = None


def random_edges(rows: int, cols: int, edges: int, seed: int) -> np.ndarray:
    """[2, edges] with duplicates and, for square graphs, loops; the first and last rows stay empty where there is
    room."""
    rng = np.random.default_rng(seed)
    low, high = (1, rows - 1) if rows > 4 else (0, rows)
    src = rng.integers(0, cols, edges) if cols else np.zeros(0, int)
    dst = rng.integers(low, high, edges) if rows else np.zeros(0, int)
    if edges > 8:
        src[1], dst[1] = src[0], dst[0]
        if rows == cols:
            src[2] = dst[2]
    return np.stack([src, dst]).astype(np.int64)


def dense_of(edge_index: np.ndarray, rows: int, cols: int, w: np.ndarray | None = None) -> sp.csr_matrix:
    """float64 scipy matrix; duplicates add up."""
    values = np.ones(edge_index.shape[1]) if w is None else np.asarray(w, np.float64)
    return sp.coo_matrix((values, (edge_index[1], edge_index[0])), shape=(rows, cols)).tocsr()


def run_python(code: str) -> None:
    """Runs code in a new interpreter that finds the package where this one found it."""
    environment = os.environ | {"PYTHONPATH": str(Path(pantile.__file__).parent.parent)}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=environment)


@pytest.fixture(autouse=True, scope="session")
def one_torch_thread() -> None:
    """Torch's own threads spin while they wait: on a busy machine that makes tiny operators 50 times slower. Tests
    that are about threads set their number themselves."""
    if torch is not None:
        torch.set_num_threads(1)


@pytest.fixture
def edge_index() -> np.ndarray:
    return random_edges(37, 37, 211, 1)


@pytest.fixture
def graph(edge_index: np.ndarray) -> pantile.Graph:
    return pantile.Graph.from_edge_index(edge_index, 37)


@pytest.fixture
def features() -> np.ndarray:
    return np.random.default_rng(2).standard_normal((37, 19)).astype(np.float32)


def real_graphs() -> Path | None:
    """The folder of real graphs under PANTILE_DATA, or None."""
    root = os.environ.get("PANTILE_DATA")
    folder = Path(root) / "data" / "graphs" if root else None
    return folder if folder is not None and folder.is_dir() else None


@pytest.fixture(scope="session")
def graph_files() -> Path:
    return real_graphs()


def pytest_report_header() -> str:
    return f"real graphs: {real_graphs() or 'none (PANTILE_DATA is not set); tests on them are left out'}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without PANTILE_DATA the tests on real graphs do not exist."""
    if real_graphs() is None:
        absent = [item for item in items if "graph_files" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=absent)
        items[:] = [item for item in items if item not in absent]
