"""Troubles that users reported elsewhere, and the known defects of TC-GNN's code, as regressions. Both faces."""

from __future__ import annotations

import mmap

import numpy as np
import pytest
from conftest import dense_of, random_edges

import pantile

torch = pytest.importorskip("torch")


def graph(n, src, dst):
    return pantile.Graph.from_edges(np.array(src, np.int64), np.array(dst, np.int64), n)


def test_max_of_a_node_without_in_edges_is_zero_and_its_gradient_finite():
    g = graph(5, [0, 1, 2, 3], [1, 2, 3, 4])
    x = torch.tensor([[1.0], [-2], [3], [-4], [5]], requires_grad=True)
    y = pantile.spmm(g, x, reduce="max")
    assert y.flatten().tolist() == [0, 1, -2, 3, -4]
    y.sum().backward()
    assert x.grad.flatten().tolist() == [1, 1, 1, 1, 0]


@pytest.mark.parametrize("reduce", ["mean", "sum", "max", "min"])
@pytest.mark.parametrize("n", [2, 1, 0])
def test_reductions_over_a_graph_without_edges_are_zero(reduce, n):
    g = graph(n, [], [])
    x = torch.arange(1.0, 4 * n + 1).view(n, 4).requires_grad_()
    y = pantile.spmm(g, x, reduce=reduce)
    assert y.shape == (n, 4) and not y.any()
    y.sum().backward()
    assert x.grad.shape == (n, 4) and not x.grad.any()


def test_parallel_edges_are_kept():
    g = graph(11, [0, 1, 1, 3, 3, 5, 10], [0, 2, 2, 4, 4, 2, 5])
    assert g.edges == 7
    y = pantile.spmm(g, np.ones((11, 1), np.float32)).ravel()
    want = np.zeros(11)
    want[[0, 2, 4, 5]] = 1, 3, 2, 1
    np.testing.assert_array_equal(y, want)


def test_strided_and_transposed_features_are_read_by_their_strides():
    a = graph(2, [0, 1, 0, 1], [0, 0, 1, 1])
    w = [5.0, 7, 2, -3]
    c = torch.tensor([[1.0, 4], [6, 0]]).t()
    assert pantile.spmm(a, c, torch.tensor(w)).tolist() == [[33, 30], [-10, 12]]
    assert pantile.spmm(a, np.array([[1.0, 4], [6, 0]]).T, np.array(w)).tolist() == [[33, 30], [-10, 12]]
    b = graph(4, [0, 2, 3, 1], [0, 1, 1, 2])
    w = [2.0, 3, 1, 4]
    base = np.arange(40, dtype=np.float32).reshape(4, 5, 2)
    want = [[0, 4, 8, 12, 16], [90, 98, 106, 114, 122], [40, 48, 56, 64, 72], [0] * 5]
    assert pantile.spmm(b, base[:, :, 0], np.array(w)).tolist() == want
    x = torch.from_numpy(base)[:, :, 0].requires_grad_()
    values = torch.tensor(w, requires_grad=True)
    y = pantile.spmm(b, x, values)
    assert y.tolist() == want
    dy = torch.arange(20.0).view(5, 4).t()
    y.backward(dy)
    dense = torch.zeros(4, 4)
    dense[[0, 1, 1, 2], [0, 2, 3, 1]] = torch.tensor(w)
    torch.testing.assert_close(x.grad, dense.t() @ dy)
    torch.testing.assert_close(values.grad, (dy[[0, 1, 1, 2]] * x.detach()[[0, 2, 3, 1]]).sum(1))


@pytest.mark.parametrize("view", ["flip", "step", "column", "expand", "offset"])
def test_views_give_what_their_copy_gives(graph, view):
    base = torch.randn(74, 40)
    x = {
        "flip": lambda: base[:37].flip(1)[:, ::1],
        "step": lambda: base[::2, ::3],
        "column": lambda: base[:37, 3:4],
        "expand": lambda: base[:1].expand(37, 40),
        "offset": lambda: base[5:42, 7:30],
    }[view]()
    for reduce in ("sum", "max"):
        torch.testing.assert_close(
            pantile.spmm(graph, x, reduce=reduce), pantile.spmm(graph, x.clone(), reduce=reduce), rtol=0, atol=0
        )
    np.testing.assert_array_equal(pantile.spmm(graph, x.numpy()), pantile.spmm(graph, x.numpy().copy()))


def test_a_thousand_identical_products_between_empty_ones():
    eye, none = graph(2, [0, 1], [0, 1]), graph(2, [], [])
    b = torch.tensor([[2.0, 3], [0, 4]])
    for _ in range(1000):
        assert torch.equal(pantile.spmm(eye, b), b)
        assert not pantile.spmm(none, b).any()


@pytest.mark.parametrize(("rows", "cols", "width"), [(2, 4, 3), (0, 4, 3), (3, 0, 2), (2, 4, 0), (0, 0, 0)])
@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_empty_products_are_exact_zeros_even_in_poisoned_memory(rows, cols, width, reduce):
    g = pantile.Graph.from_csr(np.zeros(rows + 1, np.int64), np.zeros(0, np.int32), (rows, cols))
    out = torch.full((rows, width), float("nan"))
    assert pantile.torch.spmm(g, torch.randn(cols, width), reduce=reduce, out=out) is out
    assert not out.any()
    assert pantile.spmm(g, np.ones((cols, width), np.float32), reduce=reduce).shape == (rows, width)
    if width == 0 and cols:
        full = pantile.Graph.from_csr(np.array([0, 2] + [2] * (rows - 1)), np.array([0, 1], np.int32), (rows, cols))
        assert pantile.spmm(full, torch.randn(cols, 0), reduce=reduce).shape == (rows, 0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_sums_of_many_addends_are_exact(dtype):
    g = pantile.Graph.from_edges(np.arange(4096), np.zeros(4096, np.int64), (4096, 1))
    x = torch.ones(4096, 3, dtype=dtype)
    assert pantile.spmm(g, x).tolist() == [[4096.0] * 3]
    assert pantile.spmm(g, x, reduce="mean").tolist() == [[1.0] * 3]
    assert pantile.torch.segment_reduce(x, torch.tensor([0, 4096]), "mean").tolist() == [[1.0] * 3]


# -- TC-GNN


@pytest.mark.parametrize("n", [1, 5, 16, 17, 33, 250])
@pytest.mark.parametrize("width", [1, 3, 15, 16, 17, 40, 128, 129, 200, 500])
def test_weights_widths_and_node_counts_of_no_particular_multiple(n, width):
    e = random_edges(n, n, 4 * n, n * 1000 + width)
    rng = np.random.default_rng(n + width)
    w, x = rng.standard_normal(4 * n).astype(np.float32), rng.standard_normal((n, width)).astype(np.float32)
    g = pantile.Graph.from_edge_index(e, n)
    a = dense_of(e, n, n, w)
    bound = 2.0**-24 * 20 * (abs(a) @ abs(x.astype(np.float64))) + 1e-12
    assert (np.abs(pantile.spmm(g, x, w) - a @ x.astype(np.float64)) <= bound).all()
    plain = dense_of(e, n, n) @ x.astype(np.float64)
    np.testing.assert_allclose(pantile.spmm(g, x), plain, rtol=1e-5, atol=1e-5)


def test_windows_without_edges():
    e = np.array([[199, 3, 77], [0, 100, 199]])
    x = np.random.default_rng(0).standard_normal((200, 33)).astype(np.float32)
    y = pantile.spmm(pantile.Graph.from_edge_index(e, 200), x)
    want = np.zeros_like(x)
    want[[0, 100, 199]] = x[[199, 3, 77]]
    np.testing.assert_array_equal(y, want)


def test_backward_of_a_directed_graph_uses_the_transpose():
    g = graph(3, [0, 0, 1], [1, 2, 2])
    x = torch.zeros(3, 1, requires_grad=True)
    pantile.spmm(g, x).backward(torch.tensor([[1.0], [10], [100]]))
    assert x.grad.flatten().tolist() == [110, 100, 0]


def test_ids_beyond_two_to_the_24_are_exact():
    n = 2**24 + 3
    x = np.zeros((n, 1), np.float32)
    x[[n - 1, n - 2, 2**24]] = [[1], [2], [4]]
    g = pantile.Graph.from_edges([n - 1, n - 2, 2**24], [0, 1, 2], (n, 3))
    assert pantile.spmm(g, x).ravel().tolist() == [1, 2, 4]


def test_products_of_nodes_and_width_beyond_32_bits():
    rows, width = 140_000, 33_000
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # no memory is reserved; only touched pages exist
    memory = mmap.mmap(-1, rows * width * 4, flags=flags)
    x = np.frombuffer(memory, np.float32).reshape(rows, width)
    x[rows - 1, :] = np.arange(width)
    x[1, :] = 1
    g = pantile.Graph.from_edges([rows - 1, 1, rows - 1], [2, 0, 0], (rows, 3))
    y = pantile.spmm(g, x)
    np.testing.assert_array_equal(y[2], np.arange(width, dtype=np.float32))
    np.testing.assert_array_equal(y[0], np.arange(width, dtype=np.float32) + 1)
    assert not y[1].any()
    del x
    memory.close()


def test_a_stale_graph_is_never_used_after_an_edit_in_place():
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    x = torch.eye(3)
    first = pantile.torch.spmm(edge_index, x)
    assert torch.equal(pantile.torch.spmm(edge_index, x), first)
    edge_index[1, 0] = 0
    second = pantile.torch.spmm(edge_index, x)
    assert not torch.equal(first, second)
    want = torch.zeros(3, 3)
    want[edge_index[1], edge_index[0]] = 1
    assert torch.equal(second, want)


def test_memory_given_back_and_used_again_is_another_graph():
    x = torch.eye(50)
    for k in range(40):
        edge_index = torch.stack([torch.full((50,), k), torch.arange(50)])
        y = pantile.torch.spmm(edge_index, x)
        assert (y[:, k] == 1).all()
        del edge_index


def test_inference_tensors_have_no_version_and_still_work():
    with torch.inference_mode():
        edge_index = torch.tensor([[0, 1], [1, 0]])
        x = torch.randn(2, 3)
        assert torch.equal(pantile.torch.spmm(edge_index, x), x[[1, 0]])
        edge_index[1, 1] = 1
        assert torch.equal(pantile.torch.spmm(edge_index, x)[1], x[0] + x[1])


def test_results_do_not_depend_on_the_number_of_threads():
    g = pantile.generate.rmat(11, 8, seed=5)
    hub = pantile.Graph.from_edges(
        np.concatenate([g.edge_index[0], np.arange(20_000) % g.rows]),
        np.concatenate([g.edge_index[1], np.zeros(20_000, np.int64)]),
        g.rows,
    )
    x = torch.randn(g.rows, 33)
    w = torch.rand(hub.edges)
    results = []
    for threads in (1, 2, 4, 7):
        pantile.set_num_threads(threads)
        results.append(
            (
                pantile.spmm(hub, x, w),
                pantile.spmm(hub, x, reduce="mean"),
                pantile.sddmm(hub, x, x),
                pantile.edge_softmax(hub, w),
                pantile.gcn(hub, x, w.abs()),
                pantile.gat(hub, x[:, :3], x[:, 3:6], x, heads=3),
            )
        )
    pantile.set_num_threads(0)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            assert torch.equal(a, b)


def test_nan_and_infinity_stay_where_they_are():
    g = graph(4, [0, 1, 2], [1, 2, 3])
    x = torch.tensor([[float("nan")], [float("inf")], [3.4e38], [1.0]])
    y = pantile.spmm(g, x).flatten()
    assert y[0] == 0 and y[1].isnan() and y[2] == float("inf") and y[3] == 3.4e38
    assert pantile.spmm(g, x, reduce="max").flatten()[1].isnan()
