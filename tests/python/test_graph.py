"""Building, changing and converting graphs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import dense_of, random_edges
from hypothesis import given, settings
from hypothesis import strategies as st

import pantile


@st.composite
def edge_lists(draw):
    rows, cols = draw(st.integers(0, 23)), draw(st.integers(0, 23))
    count = draw(st.integers(0, 60)) if rows and cols else 0
    src = draw(st.lists(st.integers(0, max(cols - 1, 0)), min_size=count, max_size=count))
    dst = draw(st.lists(st.integers(0, max(rows - 1, 0)), min_size=count, max_size=count))
    return rows, cols, np.array([src, dst], np.int64).reshape(2, count)


@settings(max_examples=60, deadline=None)
@given(edge_lists())
def test_every_edge_is_kept_once_and_in_a_stable_order(case):
    rows, cols, edge_index = case
    g = pantile.Graph.from_edge_index(edge_index, (cols, rows))
    assert (g.rows, g.cols, g.edges) == (rows, cols, edge_index.shape[1])
    by_row = np.lexsort((edge_index[0], edge_index[1]))
    np.testing.assert_array_equal(g.col, edge_index[0][by_row])
    np.testing.assert_array_equal(g.ptr, np.concatenate([[0], np.cumsum(np.bincount(edge_index[1], minlength=rows))]))
    order = g.order if g.order.size else np.arange(g.edges)
    np.testing.assert_array_equal(order, by_row)
    np.testing.assert_array_equal(g.edge_index, edge_index)


def test_views_are_read_only_and_outlive_the_graph(edge_index):
    ptr = pantile.Graph.from_edge_index(edge_index, 37).ptr
    assert ptr[-1] == 211
    with pytest.raises(ValueError, match="read-only"):
        ptr[0] = 1


def test_sorted_edges_need_no_order():
    g = pantile.Graph.from_edge_index(np.array([[1, 2, 0], [0, 0, 2]]), 3)
    assert g.order.size == 0


def test_unsorted_csr_columns_keep_the_callers_order():
    g = pantile.Graph.from_csr([0, 3, 3], [2, 0, 1], (2, 3))
    np.testing.assert_array_equal(g.col, [0, 1, 2])
    np.testing.assert_array_equal(g.order, [1, 2, 0])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_scipy_matrices_keep_pattern_and_values(edge_index, form):
    w = np.arange(1, 212, dtype=np.float32)
    a = dense_of(edge_index, 37, 37, w).asformat(form)
    x = np.random.default_rng(0).standard_normal((37, 5)).astype(np.float32)
    np.testing.assert_allclose(pantile.spmm(a, x), a @ x.astype(np.float64), rtol=2e-5, atol=1e-4)


def test_pickle_keeps_pattern_and_order(graph):
    again = pickle.loads(pickle.dumps(graph))
    np.testing.assert_array_equal(again.edge_index, graph.edge_index)
    assert again.fingerprint() == graph.fingerprint()


def test_self_loops_carry_edge_values_through_origin(graph, edge_index):
    w = np.random.default_rng(3).random(211)
    loops = int((edge_index[0] == edge_index[1]).sum())
    assert loops > 0
    looped = graph.with_self_loops()
    values = np.concatenate([w, np.full(37, 9.0)])[looped.origin]
    want = dense_of(edge_index, 37, 37, w).toarray() + 9 * np.eye(37)
    got = dense_of(looped.edge_index, 37, 37, values).toarray()
    np.testing.assert_allclose(got, want)
    bare = graph.without_self_loops()
    assert bare.edges == 211 - loops
    np.testing.assert_allclose(
        dense_of(bare.edge_index, 37, 37, w[bare.origin]).toarray(),
        dense_of(edge_index[:, edge_index[0] != edge_index[1]], 37, 37, w[edge_index[0] != edge_index[1]]).toarray(),
    )
    assert graph.with_remaining_self_loops().profile()["self_loops"] == 37 + loops - len(
        np.unique(edge_index[0][edge_index[0] == edge_index[1]])
    )


def test_reversed_is_the_transpose(graph, edge_index):
    w = np.arange(211.0)
    back = graph.reversed()
    np.testing.assert_allclose(
        dense_of(back.edge_index, 37, 37, w[back.origin]).toarray(), dense_of(edge_index, 37, 37, w).toarray().T
    )


def test_coalesce_says_that_it_sums(graph, edge_index):
    w = np.random.default_rng(4).random(211).astype(np.float32)
    merged, values = graph.coalesce(w, "sum")
    assert merged.profile()["duplicates"] == 0
    np.testing.assert_allclose(
        dense_of(merged.edge_index, 37, 37, values).toarray(), dense_of(edge_index, 37, 37, w).toarray(), rtol=1e-5
    )


@pytest.mark.parametrize("how", ["degree", "bfs", "rcm", "community"])
def test_reorder_renames_nodes(graph, edge_index, how):
    made, new_of_old = graph.reorder(how)
    np.testing.assert_array_equal(np.sort(new_of_old), np.arange(37))
    renamed = new_of_old[edge_index]
    assert (dense_of(made.edge_index, 37, 37) != dense_of(renamed, 37, 37)).nnz == 0


def test_profile_counts(graph, edge_index):
    p = graph.profile()
    pairs = np.unique(edge_index, axis=1).shape[1]
    assert p["duplicates"] == 211 - pairs
    assert p["empty_rows"] == 37 - len(np.unique(edge_index[1]))
    assert p["max_degree"] == np.bincount(edge_index[1]).max()


def test_equal_patterns_have_equal_fingerprints(edge_index):
    one = pantile.Graph.from_edge_index(edge_index, 37)
    two = pantile.Graph.from_edge_index(edge_index[:, ::-1].copy(), 37)
    assert one.fingerprint() == two.fingerprint()
    assert one.fingerprint() != pantile.Graph.from_edge_index(edge_index, 38).fingerprint()


@pytest.mark.parametrize("suffix", ["pantile", "mtx", "npz", "csv"])
def test_files_give_back_what_was_written(graph, edge_index, tmp_path, suffix):
    w = np.random.default_rng(5).random(211).astype(np.float32)
    path = tmp_path / f"g.{suffix}"
    pantile.write_graph(path, graph, w)
    again, values = pantile.read_graph(path, num_nodes=37)
    np.testing.assert_allclose(
        dense_of(again.edge_index, 37, 37, values).toarray(), dense_of(edge_index, 37, 37, w).toarray(), rtol=1e-6
    )


def test_generators_depend_on_the_seed_alone():
    assert pantile.generate.rmat(9, 4, seed=7).fingerprint() == pantile.generate.rmat(9, 4, seed=7).fingerprint()
    assert pantile.generate.rmat(9, 4, seed=7).fingerprint() != pantile.generate.rmat(9, 4, seed=8).fingerprint()
    g, labels = pantile.generate.sbm(500, 5, seed=1)
    assert g.rows == 500 and labels.shape == (500,) and labels.max() == 4
    assert pantile.generate.grid(7, 5).edges == 2 * (6 * 5 + 7 * 4)


def test_nearest_neighbours_against_brute_force():
    x = np.random.default_rng(6).standard_normal((60, 7)).astype(np.float32)
    g = pantile.generate.nearest_neighbours(x, 3, "euclidean", symmetric=False)
    distance = ((x[:, None] - x[None]) ** 2).sum(2)
    np.fill_diagonal(distance, np.inf)
    want = np.sort(np.argsort(distance, axis=1)[:, :3], axis=1)
    np.testing.assert_array_equal(np.sort(g.col.reshape(60, 3), axis=1), want)


def test_plan_and_explain_name_their_reasons(graph):
    peaks = {"copy_gb_per_s": 10.0, "gather_gb_per_s": 8.0, "gather_cached_gb_per_s": 30.0, "gflop_per_s": 50.0}
    made = pantile.plan(graph, ("spmm", "sddmm"), (16, 64), peaks=peaks)
    assert [f["op"] for f in made.forecasts] == ["spmm", "spmm", "sddmm", "sddmm"]
    assert all(f["predicted_seconds"] > 0 and f["reason"] and f["path"] for f in made.forecasts)
    assert made == pantile.plan(graph, ("spmm", "sddmm"), (16, 64), peaks=peaks)
    measured = made.measured(0.01)
    assert all(f["measured_seconds"] > 0 for f in measured.forecasts)
    assert "spmm" in measured.explain() and isinstance(measured.as_dict(), dict)


def test_chesapeake_is_read_without_inventing_duplicates(graph_files):
    for threads in (1, 2, 3, 7, 8, 16, 64):
        pantile.set_num_threads(threads)
        g, _ = pantile.read_graph(graph_files / "networkit" / "chesapeake.mtx")
        p = g.profile()
        assert (g.rows, g.edges, p["duplicates"], p["self_loops"]) == (39, 340, 0, 0)
    pantile.set_num_threads(0)


class _Dgl:
    """A DGLGraph as far as Pantile looks at one."""

    def __init__(self, src, dst, n):
        self._edges, self._n = (src, dst), n

    def edges(self):
        return self._edges

    def num_nodes(self):
        return self._n


def test_foreign_graphs_by_duck_typing(edge_index):
    import torch
    from torch_geometric import EdgeIndex
    from torch_geometric.data import Data

    x = np.random.default_rng(7).standard_normal((37, 4)).astype(np.float32)
    want = dense_of(edge_index, 37, 37) @ x.astype(np.float64)
    tensor = torch.from_numpy(edge_index)
    a = dense_of(edge_index, 37, 37)
    csr = torch.sparse_csr_tensor(
        torch.from_numpy(a.indptr), torch.from_numpy(a.indices), torch.from_numpy(a.data.astype(np.float32)), (37, 37)
    )
    forms = [
        _Dgl(tensor[0], tensor[1], 37),
        Data(edge_index=tensor, num_nodes=37),
        EdgeIndex(tensor, sparse_size=(37, 37)),
        csr,
        csr.to_sparse_coo(),
        sp.csr_array(a),
        tensor,
        edge_index,
    ]
    for form in forms:
        got = pantile.spmm(form, torch.from_numpy(x))
        np.testing.assert_allclose(got.numpy(), want, rtol=1e-5, atol=1e-5, err_msg=type(form).__name__)


def test_random_edges_has_what_the_tests_rely_on():
    e = random_edges(37, 37, 211, 1)
    assert (e[:, 0] == e[:, 1]).all() and (e[0] == e[1]).any() and 0 not in e[1] and 36 not in e[1]
