"""Bad input: the class, the place, the range, the advice; never a crash and never a silently wrong number."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pantile

torch = pytest.importorskip("torch")


def test_every_error_is_also_a_builtin():
    pairs = {
        pantile.InvalidArgument: ValueError,
        pantile.OutOfRange: IndexError,
        pantile.Corrupt: ValueError,
        pantile.IoError: OSError,
        pantile.OutOfMemory: MemoryError,
        pantile.Unsupported: RuntimeError,
        pantile.Internal: RuntimeError,
    }
    for ours, builtin in pairs.items():
        assert issubclass(ours, pantile.Error) and issubclass(ours, builtin)
        assert str(ours("what and where")) == "what and where"


def test_out_of_range_names_edge_id_and_range():
    src = np.zeros(40, np.int64)
    src[17] = 5000
    with pytest.raises(pantile.OutOfRange, match=r"17.*5000.*2708"):
        pantile.Graph.from_edges(src, np.zeros(40, np.int64), 2708)
    with pytest.raises(IndexError, match=r"3.*-1"):
        pantile.Graph.from_edges([0, 0, 0, -1], [0, 0, 0, 0], 5)


@pytest.mark.parametrize(
    ("edge_index", "message"),
    [
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "float64.*2\\^24"),
        (np.array([[0.0, np.nan], [1.0, 0.0]]), "NaN at position 1"),
        (np.array([[True, False], [False, True]]), "bool"),
        (np.array([["a", "b"], ["c", "d"]]), "integers"),
        (np.zeros((5, 2), np.int64), r"\[2, E\].*edge_index\.T"),
        (np.zeros((3, 4), np.int64), r"\(3, 4\)"),
        (np.zeros(6, np.int64), r"\(6,\)"),
    ],
)
def test_edge_index_of_the_wrong_kind_has_its_own_message(edge_index, message):
    with pytest.raises(ValueError, match=message):
        pantile.Graph.from_edge_index(edge_index, 6)


def test_unequal_lengths():
    with pytest.raises(ValueError, match=r"3 source ids but 2"):
        pantile.Graph.from_edges([0, 1, 2], [0, 1], 3)


def test_node_count_is_an_argument():
    with pytest.raises(ValueError, match="num_nodes"):
        pantile.convert(np.array([[0, 1], [1, 0]]))
    assert pantile.Graph.from_edge_index(np.array([[0, 4], [1, 0]]), -1).rows == 5


@pytest.mark.parametrize(
    ("ptr", "col"),
    [([0, 2, 1], [0, 1]), ([1, 2], [0, 1]), ([0, 3], [0, 1]), ([0, 2], [0, 7]), ([0, 2], [0, -1])],
)
def test_malformed_csr(ptr, col):
    with pytest.raises((ValueError, IndexError)):
        pantile.Graph.from_csr(ptr, col, (len(ptr) - 1, 3))


def test_wrong_number_of_rows(graph):
    for x in (np.zeros((36, 4), np.float32), torch.zeros(38, 4)):
        with pytest.raises(ValueError, match="37"):
            pantile.spmm(graph, x)


def test_wrong_number_of_weights(graph, features):
    with pytest.raises(ValueError, match="211"):
        pantile.spmm(graph, features, np.ones(210, np.float32))
    with pytest.raises(ValueError, match="211"):
        pantile.spmm(graph, torch.from_numpy(features), torch.ones(212))


def test_heads_must_divide_the_width(graph, features):
    with pytest.raises(ValueError, match="19"):
        pantile.spmm(graph, torch.from_numpy(features), torch.ones(211, 2))
    with pytest.raises(ValueError, match="19"):
        pantile.gat(graph, torch.zeros(37, 2), torch.zeros(37, 2), torch.from_numpy(features), heads=2)


def test_integer_features_are_refused(graph):
    with pytest.raises(ValueError, match="floating"):
        pantile.spmm(graph, np.ones((37, 3), np.int64))
    with pytest.raises(ValueError, match="floating"):
        pantile.spmm(graph, torch.ones(37, 3, dtype=torch.int32))


def test_unknown_options_list_the_known(graph, features):
    with pytest.raises(ValueError, match="sum, mean, min, max"):
        pantile.spmm(graph, features, reduce="median")
    with pytest.raises(ValueError, match="sum, mean, min, max"):
        pantile.spmm(graph, torch.from_numpy(features), reduce="median")
    with pytest.raises(ValueError, match="dot"):
        pantile.sddmm(graph, features, features, "cross")
    with pytest.raises(ValueError, match="not a graph"):
        pantile.spmm("cora", features)


def test_different_dtypes_of_two_operands(graph, features):
    x = torch.from_numpy(features)
    with pytest.raises(ValueError, match="float64"):
        pantile.sddmm(graph, x, x.double())


def test_files_that_are_missing_truncated_or_garbage(graph, tmp_path):
    start = time.monotonic()
    with pytest.raises(OSError, match="nowhere"):
        pantile.read_graph(tmp_path / "nowhere.mtx")
    path = tmp_path / "g.pantile"
    pantile.write_graph(path, graph)
    whole = path.read_bytes()
    for cut in (0, 3, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:cut])
        with pytest.raises(pantile.Error):
            pantile.read_graph(path)
    (tmp_path / "g.mtx").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(ValueError, match=r"g\.mtx"):
        pantile.read_graph(tmp_path / "g.mtx")
    assert time.monotonic() - start < 5


def test_a_failed_write_leaves_nothing(graph, tmp_path):
    with pytest.raises(OSError):
        pantile.write_graph(tmp_path / "no" / "such" / "g.mtx", graph)
    assert list(tmp_path.iterdir()) == []


def test_data_sets_name_what_is_missing(tmp_path):
    path = tmp_path / "d.npz"
    np.savez(path, edge_index=np.zeros((2, 3), np.int64), x=np.zeros((4, 2), np.float32))
    with pytest.raises(ValueError, match="'y' is missing"):
        pantile.data.load_npz(path)
    np.savez(path, edge_index=np.zeros((2, 3), np.int64), x=np.zeros((4, 2), np.float32), y=np.zeros(3, np.int64))
    with pytest.raises(ValueError, match=r"y has shape \(3,\)"):
        pantile.data.load_npz(path)
    path.write_bytes(b"not a zip")
    with pytest.raises(ValueError, match="npz"):
        pantile.data.load_npz(path)
    with pytest.raises(OSError, match="no such file"):
        pantile.data.load_npz(tmp_path / "none.npz")
    data = pantile.data.NodeDataset(
        np.array([[0, 1], [1, 0]]), np.ones((2, 3), np.float32), np.array([0, 1]), train_mask=np.array([True, False])
    )
    pantile.data.save_npz(path, data)
    again = pantile.data.load_npz(path)
    assert again.num_classes == 2 and again.test_mask is None and again.graph().edges == 2
    np.testing.assert_array_equal(again.train_mask, data.train_mask)
