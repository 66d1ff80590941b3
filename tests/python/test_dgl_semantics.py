"""DGL's gspmm, gsddmm and edge_softmax, written out in NumPy; DGL itself as well where it is installed."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_edges

import pantile

torch = pytest.importorskip("torch")
ROWS, COLS, EDGES = 23, 31, 140


@pytest.fixture
def bipartite():
    e = np.stack([random_edges(ROWS, COLS, EDGES, 3)[0], random_edges(ROWS, COLS, EDGES, 4)[1]])
    return e, pantile.Graph.from_edge_index(e, (COLS, ROWS))


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "dot", "copy_lhs", "copy_rhs"])
@pytest.mark.parametrize("lhs_on", ["u", "v", "e"])
@pytest.mark.parametrize("rhs_on", ["u", "v", "e"])
def test_gsddmm_with_every_pair_of_targets(bipartite, op, lhs_on, rhs_on):
    e, g = bipartite
    rng = np.random.default_rng(1)
    count = {"u": COLS, "v": ROWS, "e": EDGES}
    at = {"u": e[0], "v": e[1], "e": np.arange(EDGES)}
    lhs = rng.standard_normal((count[lhs_on], 6))
    rhs = rng.standard_normal((count[rhs_on], 6)) + 3
    left, right = lhs[at[lhs_on]], rhs[at[rhs_on]]
    want = {
        "add": left + right,
        "sub": left - right,
        "mul": left * right,
        "div": left / right,
        "dot": (left * right).reshape(EDGES, 2, 3).sum(2),
        "copy_lhs": left,
        "copy_rhs": right,
    }[op]
    heads = 2 if op == "dot" else 1
    got = pantile.sddmm(g, lhs, rhs, op, lhs_on=lhs_on, rhs_on=rhs_on, heads=heads)
    np.testing.assert_allclose(got, want, rtol=1e-12)
    single = pantile.sddmm(
        g, torch.from_numpy(lhs).float(), torch.from_numpy(rhs).float(), op, lhs_on=lhs_on, rhs_on=rhs_on, heads=heads
    )
    np.testing.assert_allclose(single.numpy(), want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div"])
def test_gsddmm_broadcasts_one_column_and_one_per_head(bipartite, op):
    e, g = bipartite
    rng = np.random.default_rng(2)
    apply = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}[op]
    full = rng.standard_normal((ROWS, 6))
    one, two = rng.random((COLS, 1)) + 1, rng.random((COLS, 2)) + 1
    np.testing.assert_allclose(pantile.sddmm(g, full, one, op), apply(full[e[1]], one[e[0]]), rtol=1e-12)
    np.testing.assert_allclose(
        pantile.sddmm(g, full, two, op, heads=2), apply(full[e[1]], np.repeat(two[e[0]], 3, axis=1)), rtol=1e-12
    )


@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min"])
@pytest.mark.parametrize("message", ["copy_u", "u_mul_e", "copy_e"])
def test_gspmm(bipartite, reduce, message):
    e, g = bipartite
    rng = np.random.default_rng(3)
    u, w = rng.standard_normal((COLS, 7)), rng.standard_normal(EDGES)
    edge = rng.standard_normal((EDGES, 7))
    m = {"copy_u": u[e[0]], "u_mul_e": u[e[0]] * w[:, None], "copy_e": edge}[message]
    want = np.zeros((ROWS, 7))
    for i in range(ROWS):
        if (e[1] == i).any():
            want[i] = getattr(np, reduce)(m[e[1] == i], axis=0)
    if message == "copy_e":
        # The edges of a row are a segment of the edge values in CSR order.
        order = g.order if g.order.size else np.arange(EDGES)
        got = pantile.segment_reduce(edge[order], g.ptr, reduce)
    else:
        got = pantile.spmm(g, u, w if message == "u_mul_e" else None, reduce)
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("by", ["dst", "src"])
@pytest.mark.parametrize("heads", [1, 3, 8, 9])
def test_edge_softmax_normalises_by_either_end(bipartite, by, heads):
    e, g = bipartite
    z = np.random.default_rng(4).standard_normal((EDGES, heads)) * 5
    p = pantile.edge_softmax(g, z, by)
    key = e[1] if by == "dst" else e[0]
    want = np.zeros_like(z)
    for i in np.unique(key):
        t = np.exp(z[key == i] - z[key == i].max(0))
        want[key == i] = t / t.sum(0)
    np.testing.assert_allclose(p, want, rtol=1e-10)
    np.testing.assert_allclose(pantile.edge_softmax(g, torch.from_numpy(z), by).numpy(), want, rtol=1e-10)


def test_dgl_itself_where_it_is_installed(bipartite):
    e, _ = bipartite
    try:
        import dgl
        import dgl.function as fn
    except Exception as missing:  # DGL's wheels refuse other torch versions in many ways
        print(f"dgl is not usable here: {missing}")
        return
    d = dgl.heterograph({("s", "e", "t"): (torch.from_numpy(e[0]), torch.from_numpy(e[1]))}, {"s": COLS, "t": ROWS})
    x = torch.randn(COLS, 5)
    d.nodes["s"].data["x"] = x
    d.update_all(fn.copy_u("x", "m"), fn.max("m", "y"))
    torch.testing.assert_close(pantile.spmm(d, x, reduce="max"), d.nodes["t"].data["y"])
