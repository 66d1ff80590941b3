#include <pantile/sparse/attention.h>

#include <algorithm>
#include <cmath>

#include "bindings.h"
#include "sparse/kernels/attention.h"

namespace pantile::python {
namespace {

/// (probability, seed)
sparse::AttentionDropout dropout(const std::tuple<double, uint64_t>& d) { return {std::get<0>(d), std::get<1>(d)}; }
using Dropout = std::tuple<double, uint64_t>;

void gat(const PyGraph& g, const nb::tuple& a_src, const nb::tuple& a_dst, const nb::object& a_edge, const nb::tuple& v,
         int64_t heads, double slope, const Dropout& drop, const nb::tuple& y, const nb::tuple& lse, int threads) {
  const Matrix edge = matrix_or_none(a_edge), ym = matrix(y), lm = matrix(lse);
  sparse::GatInputs in{matrix(a_src), matrix(a_dst), {}, matrix(v), heads, slope, dropout(drop)};
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput e, EdgeInput::make(g, edge));
    in.a_edge = e.csr();
    return sparse::gat(g.plan, in, ym, lm);
  });
}

void gat_grad(const PyGraph& g, const nb::tuple& a_src, const nb::tuple& a_dst, const nb::object& a_edge,
              const nb::tuple& v, int64_t heads, double slope, const Dropout& drop, const nb::tuple& y,
              const nb::tuple& lse, const nb::tuple& dy, const nb::tuple& da_src, const nb::tuple& da_dst,
              const nb::object& da_edge, const nb::tuple& dv, int threads) {
  const Matrix edge = matrix_or_none(a_edge), ym = matrix(y), lm = matrix(lse), gm = matrix(dy),
               dem = matrix_or_none(da_edge);
  sparse::GatInputs in{matrix(a_src), matrix(a_dst), {}, matrix(v), heads, slope, dropout(drop)};
  sparse::GatGradients out{matrix(da_src), matrix(da_dst), {}, matrix(dv)};
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput e, EdgeInput::make(g, edge));
    PANTILE_TRY(const EdgeOutput de, EdgeOutput::make(g, dem));
    in.a_edge = e.csr();
    out.a_edge = de.csr();
    PANTILE_CHECK(sparse::gat_grad(g.plan, in, ym, lm, gm, out));
    de.finish(g);
    return {};
  });
}

void gatv2(const PyGraph& g, const nb::tuple& l, const nb::tuple& r, const nb::object& e, const nb::tuple& a,
           int64_t heads, double slope, const Dropout& drop, const nb::tuple& y, const nb::tuple& lse, int threads) {
  const Matrix em = matrix_or_none(e), ym = matrix(y), lm = matrix(lse);
  sparse::Gatv2Inputs in{matrix(l), matrix(r), {}, matrix(a), heads, slope, dropout(drop)};
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput edge, EdgeInput::make(g, em));
    in.e = edge.csr();
    return sparse::gatv2(g.plan, in, ym, lm);
  });
}

void gatv2_grad(const PyGraph& g, const nb::tuple& l, const nb::tuple& r, const nb::object& e, const nb::tuple& a,
                int64_t heads, double slope, const Dropout& drop, const nb::tuple& y, const nb::tuple& lse,
                const nb::tuple& dy, const nb::tuple& dl, const nb::tuple& dr, const nb::object& de,
                const nb::tuple& da, int threads) {
  const Matrix em = matrix_or_none(e), ym = matrix(y), lm = matrix(lse), gm = matrix(dy), dem = matrix_or_none(de);
  sparse::Gatv2Inputs in{matrix(l), matrix(r), {}, matrix(a), heads, slope, dropout(drop)};
  sparse::Gatv2Gradients out{matrix(dl), matrix(dr), {}, matrix(da)};
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput edge, EdgeInput::make(g, em));
    PANTILE_TRY(const EdgeOutput edge_gradient, EdgeOutput::make(g, dem));
    in.e = edge.csr();
    out.e = edge_gradient.csr();
    PANTILE_CHECK(sparse::gatv2_grad(g.plan, in, ym, lm, gm, out));
    edge_gradient.finish(g);
    return {};
  });
}

void transformer(const PyGraph& g, const nb::tuple& q, const nb::tuple& k, const nb::tuple& v, const nb::object& e,
                 int64_t heads, const Dropout& drop, const nb::tuple& y, const nb::tuple& lse, int threads) {
  const Matrix em = matrix_or_none(e), ym = matrix(y), lm = matrix(lse);
  sparse::TransformerInputs in{matrix(q), matrix(k), matrix(v), {}, heads, dropout(drop)};
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput edge, EdgeInput::make(g, em));
    in.e = edge.csr();
    return sparse::transformer(g.plan, in, ym, lm);
  });
}

void transformer_grad(const PyGraph& g, const nb::tuple& q, const nb::tuple& k, const nb::tuple& v, const nb::object& e,
                      int64_t heads, const Dropout& drop, const nb::tuple& y, const nb::tuple& lse, const nb::tuple& dy,
                      const nb::tuple& dq, const nb::tuple& dk, const nb::tuple& dv, const nb::object& de,
                      int threads) {
  const Matrix em = matrix_or_none(e), ym = matrix(y), lm = matrix(lse), gm = matrix(dy), dem = matrix_or_none(de);
  sparse::TransformerInputs in{matrix(q), matrix(k), matrix(v), {}, heads, dropout(drop)};
  sparse::TransformerGradients out{matrix(dq), matrix(dk), matrix(dv), {}};
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput edge, EdgeInput::make(g, em));
    PANTILE_TRY(const EdgeOutput edge_gradient, EdgeOutput::make(g, dem));
    in.e = edge.csr();
    out.e = edge_gradient.csr();
    PANTILE_CHECK(sparse::transformer_grad(g.plan, in, ym, lm, gm, out));
    edge_gradient.finish(g);
    return {};
  });
}

void agnn(const PyGraph& g, const nb::tuple& x, double beta, const nb::tuple& y, const nb::tuple& lse, int threads) {
  const Matrix ym = matrix(y), lm = matrix(lse);
  const sparse::AgnnInputs in{matrix(x), beta};
  run(threads, [&] { return sparse::agnn(g.plan, in, ym, lm); });
}

double agnn_grad(const PyGraph& g, const nb::tuple& x, double beta, const nb::tuple& y, const nb::tuple& lse,
                 const nb::tuple& dy, const nb::tuple& dx, int threads) {
  const Matrix ym = matrix(y), lm = matrix(lse), gm = matrix(dy);
  const sparse::AgnnInputs in{matrix(x), beta};
  double dbeta = 0;
  const sparse::AgnnGradients out{matrix(dx), &dbeta};
  run(threads, [&] { return sparse::agnn_grad(g.plan, in, ym, lm, gm, out); });
  return dbeta;
}

/// The factors that the fused kernels regenerate, written out: [edges, heads] in the caller's order, 0 or 1 / (1 - p).
void dropout_factors(const PyGraph& g, double p, uint64_t seed, const nb::tuple& out) {
  const Matrix target = matrix(out);
  const sparse::Heads shape = sparse::make_heads(target.cols, 0);
  const auto threshold = static_cast<uint64_t>(std::llround(p * 0x1p32));
  const auto ids = g.graph.edge_id();
  run(0, [&]() -> Status {
    PANTILE_TRY(const EdgeOutput edges, EdgeOutput::make(g, target));
    parallel_for(target.rows, sparse::kChunk, [&](int64_t begin, int64_t end) {
      int64_t edge[sparse::kChunk];
      std::vector<float> factors(static_cast<size_t>(shape.chunk_values()));
      for (int64_t k = begin; k < end; ++k) edge[k - begin] = ids.empty() ? k : ids[static_cast<size_t>(k)];
      const auto n = static_cast<int>(end - begin);
      sparse::dropout_factors(seed, threshold, static_cast<float>(1 / (1 - p)), edge, n, shape, factors.data());
      for (int64_t k = begin; k < end; ++k) {
        std::copy_n(factors.data() + (k - begin) * shape.padded, shape.heads,
                    edges.csr().as<float>() + k * edges.csr().row_stride);
      }
    });
    edges.finish(g);
    return {};
  });
}

}  // namespace

void bind_attention(nb::module_& m) {
  m.def("gat", &gat, nb::arg("graph"), nb::arg("a_src"), nb::arg("a_dst"), nb::arg("a_edge").none(), nb::arg("v"),
        nb::arg("heads"), nb::arg("slope"), nb::arg("dropout"), nb::arg("y"), nb::arg("lse"), nb::arg("threads") = 0);
  m.def("gat_grad", &gat_grad, nb::arg("graph"), nb::arg("a_src"), nb::arg("a_dst"), nb::arg("a_edge").none(),
        nb::arg("v"), nb::arg("heads"), nb::arg("slope"), nb::arg("dropout"), nb::arg("y"), nb::arg("lse"),
        nb::arg("dy"), nb::arg("da_src"), nb::arg("da_dst"), nb::arg("da_edge").none(), nb::arg("dv"),
        nb::arg("threads") = 0);
  m.def("gatv2", &gatv2, nb::arg("graph"), nb::arg("l"), nb::arg("r"), nb::arg("e").none(), nb::arg("a"),
        nb::arg("heads"), nb::arg("slope"), nb::arg("dropout"), nb::arg("y"), nb::arg("lse"), nb::arg("threads") = 0);
  m.def("gatv2_grad", &gatv2_grad, nb::arg("graph"), nb::arg("l"), nb::arg("r"), nb::arg("e").none(), nb::arg("a"),
        nb::arg("heads"), nb::arg("slope"), nb::arg("dropout"), nb::arg("y"), nb::arg("lse"), nb::arg("dy"),
        nb::arg("dl"), nb::arg("dr"), nb::arg("de").none(), nb::arg("da"), nb::arg("threads") = 0);
  m.def("transformer", &transformer, nb::arg("graph"), nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("e").none(),
        nb::arg("heads"), nb::arg("dropout"), nb::arg("y"), nb::arg("lse"), nb::arg("threads") = 0);
  m.def("transformer_grad", &transformer_grad, nb::arg("graph"), nb::arg("q"), nb::arg("k"), nb::arg("v"),
        nb::arg("e").none(), nb::arg("heads"), nb::arg("dropout"), nb::arg("y"), nb::arg("lse"), nb::arg("dy"),
        nb::arg("dq"), nb::arg("dk"), nb::arg("dv"), nb::arg("de").none(), nb::arg("threads") = 0);
  m.def("dropout_factors", &dropout_factors, nb::arg("graph"), nb::arg("p"), nb::arg("seed"), nb::arg("out"));
  m.def("agnn", &agnn, nb::arg("graph"), nb::arg("x"), nb::arg("beta"), nb::arg("y"), nb::arg("lse"),
        nb::arg("threads") = 0);
  m.def("agnn_grad", &agnn_grad, nb::arg("graph"), nb::arg("x"), nb::arg("beta"), nb::arg("y"), nb::arg("lse"),
        nb::arg("dy"), nb::arg("dx"), nb::arg("threads") = 0);
}

}  // namespace pantile::python
