"""The NumPy operators against float64 oracles, on random graphs with duplicates, loops, isolated nodes, none at all."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import dense_of
from hypothesis import given, settings
from hypothesis import strategies as st
from test_graph import edge_lists

import pantile


def _reduced(edge_index, rows, x, w, reduce):
    """float64, by a loop over the edges."""
    message = x[edge_index[0]] * (1.0 if w is None else np.repeat(w, x.shape[1] // w.shape[1], axis=1))
    out = np.zeros((rows, x.shape[1]))
    for i in range(rows):
        mine = message[edge_index[1] == i]
        if len(mine):
            out[i] = {"sum": np.sum, "mean": np.mean, "min": np.min, "max": np.max}[reduce](mine, axis=0)
    return out


@settings(max_examples=80, deadline=None)
@given(
    edge_lists(),
    st.sampled_from(["sum", "mean", "min", "max"]),
    st.sampled_from([0, 1, 2, 3]),
    st.sampled_from([1, 3, 7, 16, 41]),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 2**31),
)
def test_spmm_on_any_graph(case, reduce, heads, width, dtype, seed):
    rows, cols, edge_index = case
    rng = np.random.default_rng(seed)
    features = width * max(heads, 1)
    x = rng.standard_normal((cols, features)).astype(dtype)
    w = None if heads == 0 else rng.standard_normal((edge_index.shape[1], heads)).astype(dtype)
    g = pantile.Graph.from_edge_index(edge_index, (cols, rows))
    want = _reduced(edge_index, rows, x.astype(np.float64), None if w is None else w.astype(np.float64), reduce)
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(pantile.spmm(g, x, w, reduce), want, rtol=tolerance, atol=tolerance * 10)
    if reduce in ("min", "max"):
        y, arg = pantile.spmm_arg(g, x, w, reduce)
        np.testing.assert_array_equal(y, pantile.spmm(g, x, w, reduce))
        for i, f in zip(*np.nonzero(arg >= 0), strict=True):
            k = arg[i, f]
            factor = 1 if w is None else w[k, f // width]
            assert edge_index[1, k] == i
            np.testing.assert_allclose(y[i, f], factor * x[edge_index[0, k], f], rtol=1e-6)
        assert (arg < 0).all(axis=1).tolist() == (
            np.bincount(edge_index[1], minlength=rows) == 0
        ).tolist() or not features


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_features_with_trailing_dimensions_keep_them(graph, edge_index, reduce):
    x = np.random.default_rng(0).standard_normal((37, 3, 5)).astype(np.float32)
    w = np.random.default_rng(1).standard_normal((211, 3)).astype(np.float32)
    y = pantile.spmm(graph, x, w, reduce)
    assert y.shape == (37, 3, 5)
    want = _reduced(edge_index, 37, x.reshape(37, 15).astype(np.float64), w.astype(np.float64), reduce)
    np.testing.assert_allclose(y.reshape(37, 15), want, rtol=1e-5, atol=1e-5)


def test_ties_go_to_the_first_edge():
    g = pantile.Graph.from_edges([2, 1, 0, 1], [0, 0, 0, 0], 3)
    y, arg = pantile.spmm_arg(g, np.ones((3, 2), np.float32))
    assert y[0].tolist() == [1, 1] and arg[0].tolist() == [2, 2] and arg[1].tolist() == [-1, -1]


@pytest.mark.parametrize("norm", ["pyg", "both", "left", "right", "none"])
@pytest.mark.parametrize("activation", ["none", "relu", "elu", "leaky_relu"])
def test_gcn_layer_against_the_written_out_formula(graph, edge_index, features, norm, activation):
    weighted = norm in ("pyg", "none")
    w = np.random.default_rng(3).random(211) if weighted else np.ones(211)
    given = w if weighted else None
    bias = np.random.default_rng(4).standard_normal(19)
    loop = norm == "pyg"
    if loop:
        # Of several loops on one node the last counts, as in torch-geometric.
        loops = np.flatnonzero(edge_index[0] == edge_index[1])
        last = {edge_index[0, k]: k for k in loops}
        w = np.where(np.isin(np.arange(211), loops) & ~np.isin(np.arange(211), list(last.values())), 0, w)
    a = dense_of(edge_index, 37, 37, w).toarray()
    if loop:
        has = np.zeros(37, bool)
        has[edge_index[0][edge_index[0] == edge_index[1]]] = True
        a = a + np.diag(~has * 1.0)
    counts = dense_of(edge_index, 37, 37).toarray()
    into, out = np.maximum(counts.sum(1), 1), np.maximum(counts.sum(0), 1)
    if norm == "pyg":
        s = a.sum(1)
        s = np.where(s > 0, 1 / np.sqrt(np.where(s > 0, s, 1)), 0)
        a = s[:, None] * a * s[None]
    elif norm == "both":
        a = a / np.sqrt(into)[:, None] / np.sqrt(out)[None]
    elif norm == "left":
        a = a / out[None]
    elif norm == "right":
        a = a / into[:, None]
    y = a @ features.astype(np.float64) + bias
    y = {
        "none": lambda t: t,
        "relu": lambda t: np.maximum(t, 0),
        "elu": lambda t: np.where(t > 0, t, np.expm1(np.minimum(t, 0))),
        "leaky_relu": lambda t: np.where(t > 0, t, 0.1 * t),
    }[activation](y)
    got = pantile.gcn(
        graph,
        features,
        given,
        bias,
        norm=norm,
        loop_weight=1.0 if loop else 0.0,
        activation=activation,
        negative_slope=0.1,
    )
    np.testing.assert_allclose(got, y, rtol=2e-5, atol=2e-5)


def _softmax(edge_index, n, z, by=1):
    p = np.zeros_like(z)
    for i in range(n):
        mine = edge_index[by] == i
        if mine.any():
            e = np.exp(z[mine] - z[mine].max(0))
            p[mine] = e / e.sum(0)
    return p


def test_attentions_against_written_out_formulas(graph, edge_index):
    rng = np.random.default_rng(5)
    heads, width = 3, 5
    src, dst = edge_index
    leaky = lambda t: np.where(t > 0, t, 0.2 * t)  # noqa: E731
    v = rng.standard_normal((37, heads * width))
    per = v.reshape(37, heads, width)

    def combine(z, values):
        p = _softmax(edge_index, 37, z)
        y = np.zeros((37, heads, width))
        np.add.at(y, dst, p[:, :, None] * values)
        return y.reshape(37, -1)

    a_src, a_dst, a_edge = rng.standard_normal((37, 3)), rng.standard_normal((37, 3)), rng.standard_normal((211, 3))
    want = combine(leaky(a_src[src] + a_dst[dst] + a_edge), per[src])
    np.testing.assert_allclose(pantile.gat(graph, a_src, a_dst, v, a_edge, heads=3), want, rtol=1e-9, atol=1e-12)
    single = pantile.gat(graph, a_src.astype("f4"), a_dst.astype("f4"), v.astype("f4"), a_edge.astype("f4"), heads=3)
    np.testing.assert_allclose(single, want, rtol=1e-4, atol=1e-5)

    r, e, att = rng.standard_normal((37, 15)), rng.standard_normal((211, 15)), rng.standard_normal((3, 5))
    q = leaky(v[src] + r[dst] + e).reshape(211, 3, 5)
    want = combine((q * att).sum(2), per[src])
    np.testing.assert_allclose(pantile.gatv2(graph, v, r, att, e, heads=3), want, rtol=1e-9, atol=1e-12)

    k = rng.standard_normal((37, 15))
    edge = e.reshape(211, 3, 5)
    z = (r.reshape(37, 3, 5)[dst] * (k.reshape(37, 3, 5)[src] + edge)).sum(2) / np.sqrt(5)
    want = combine(z, per[src] + edge)
    np.testing.assert_allclose(pantile.transformer_attn(graph, r, k, v, e, heads=3), want, rtol=1e-9, atol=1e-12)

    heads, width = 1, 15
    per = v.reshape(37, 1, 15)
    unit = v / np.linalg.norm(v, axis=1, keepdims=True)
    want = combine(0.7 * (unit[src] * unit[dst]).sum(1, keepdims=True), per[src])
    np.testing.assert_allclose(pantile.agnn(graph, v, 0.7), want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max", "softmax"])
def test_segments(reduce):
    x = np.random.default_rng(6).standard_normal((20, 3))
    ptr = np.array([0, 0, 5, 6, 6, 20])
    got = pantile.segment_reduce(x, ptr, reduce)
    for i in range(5):
        part = x[ptr[i] : ptr[i + 1]]
        if reduce == "softmax":
            if len(part):
                e = np.exp(part - part.max(0))
                np.testing.assert_allclose(got[ptr[i] : ptr[i + 1]], e / e.sum(0), rtol=1e-12)
        else:
            want = getattr(np, reduce)(part, axis=0) if len(part) else np.zeros(3)
            np.testing.assert_allclose(got[i], want, rtol=1e-12)


def test_edge_softmax_of_minus_infinity_is_zero_and_nan_stays_in_its_row():
    g = pantile.Graph.from_edges([0, 1, 0, 1], [0, 0, 1, 2], 3)
    p = pantile.edge_softmax(g, np.array([-np.inf, -np.inf, np.nan, 3.0], np.float32))
    assert p[:2].tolist() == [0, 0] and np.isnan(p[2]) and p[3] == 1
