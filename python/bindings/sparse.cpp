#include <pantile/sparse/gcn.h>
#include <pantile/sparse/segment.h>
#include <pantile/sparse/spmm.h>

#include "bindings.h"

namespace pantile::python {
namespace {

using sparse::Activation;
using sparse::Direction;
using sparse::GcnCoefficients;
using sparse::GcnNorm;
using sparse::Reduce;

Direction direction(bool by_column) { return by_column ? Direction::by_column : Direction::by_row; }

/// Weights as Python hands them over: (address, dtype, edges, heads, stride) or None. Their number is checked here
/// because the core borrows them without a length.
Result<EdgeInput> edge_weights(const PyGraph& g, ConstMatrix w) {
  if (w.data != nullptr && w.rows != g.graph.edges()) {
    return fail(ErrorCode::invalid_argument, "edge weights have " + std::to_string(w.rows) +
                                                 " rows, but the graph has " + std::to_string(g.graph.edges()) +
                                                 " edges; pass one weight (row) per edge");
  }
  return EdgeInput::make(g, w);
}

void spmm(const PyGraph& g, bool by_column, int reduce, const nb::tuple& x, const nb::object& w, const nb::tuple& y,
          int threads) {
  const Matrix xm = matrix(x), wm = matrix_or_none(w), ym = matrix(y);
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput weights, edge_weights(g, wm));
    return sparse::spmm(g.plan, direction(by_column), static_cast<Reduce>(reduce), xm, weights.values(), ym);
  });
}

void spmm_arg(const PyGraph& g, int reduce, const nb::tuple& x, const nb::object& w, const nb::tuple& y,
              const nb::tuple& arg, int threads) {
  const Matrix xm = matrix(x), wm = matrix_or_none(w), ym = matrix(y), am = matrix(arg);
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput weights, edge_weights(g, wm));
    return sparse::spmm_arg(g.plan, static_cast<Reduce>(reduce), xm, weights.values(), ym, am.as<int64_t>());
  });
}

/// dx and dw of spmm; either may be None. arg is None for sum and mean.
void spmm_grad(const PyGraph& g, int reduce, const nb::object& x, const nb::object& w, const nb::tuple& dy,
               const nb::object& arg, const nb::object& dx, const nb::object& dw, int threads) {
  const Matrix xm = matrix_or_none(x), wm = matrix_or_none(w), gm = matrix(dy), am = matrix_or_none(arg),
               dxm = matrix_or_none(dx), dwm = matrix_or_none(dw);
  const auto how = static_cast<Reduce>(reduce);
  run(threads, [&]() -> Status {
    if (!dx.is_none()) {
      PANTILE_TRY(const EdgeInput weights, edge_weights(g, wm));
      PANTILE_CHECK(sparse::spmm_grad_x(g.plan, how, weights.values(), gm, am.as<int64_t>(), dxm));
    }
    if (!dw.is_none()) {
      PANTILE_TRY(const EdgeOutput out, EdgeOutput::make(g, dwm));
      PANTILE_CHECK(sparse::spmm_grad_w(g.plan, how, xm, gm, am.as<int64_t>(), dwm.cols, out.csr().data));
      out.finish(g);
    }
    return {};
  });
}

void segment_reduce(uintptr_t ptr, int64_t segments, int reduce, const nb::tuple& x, const nb::tuple& y, int threads) {
  const Matrix xm = matrix(x), ym = matrix(y);
  const std::span<const int64_t> offsets(reinterpret_cast<const int64_t*>(ptr), static_cast<size_t>(segments + 1));
  run(threads, [&] { return sparse::segment_reduce(offsets, nullptr, static_cast<Reduce>(reduce), xm, ym); });
}

/// Reduces edge features [edges, F] in the caller's order into rows (or columns) of the graph.
void edge_reduce(const PyGraph& g, bool by_column, int reduce, const nb::tuple& e, const nb::tuple& y, int threads) {
  const Matrix em = matrix(e), ym = matrix(y);
  run(threads, [&]() -> Status {
    const Direction d = direction(by_column);
    const Csr csr = g.plan.csr(d);
    const int64_t* perm = g.plan.perm(d);
    const auto order = g.order();
    Array<int64_t> composed;
    if (perm == nullptr) {
      perm = order.empty() ? nullptr : order.data();
    } else if (!order.empty()) {
      PANTILE_TRY(composed, Array<int64_t>::allocate(g.graph.edges()));
      parallel_for(g.graph.edges(), 16384, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) composed[k] = order[static_cast<size_t>(perm[k])];
      });
      perm = composed.data();
    }
    return sparse::segment_reduce({csr.ptr, static_cast<size_t>(csr.rows + 1)}, perm, static_cast<Reduce>(reduce), em,
                                  ym);
  });
}

struct Coefficients {
  std::shared_ptr<const GcnCoefficients> values;
};

Coefficients gcn_coefficients(const PyGraph& g, int norm, double loop_weight, const nb::object& w, int dtype,
                              int threads) {
  const Matrix wm = matrix_or_none(w);
  auto made = run(threads, [&]() -> Result<std::shared_ptr<const GcnCoefficients>> {
    PANTILE_TRY(const EdgeInput weights, edge_weights(g, wm));
    return sparse::gcn_coefficients(g.plan, static_cast<GcnNorm>(norm), loop_weight, weights.values(),
                                    static_cast<DType>(dtype));
  });
  return {*made};
}

void gcn(const PyGraph& g, bool by_column, const Coefficients& c, const nb::tuple& x, uintptr_t bias, int activation,
         double slope, const nb::tuple& y, int threads) {
  const Matrix xm = matrix(x), ym = matrix(y);
  run(threads, [&] {
    return sparse::gcn(g.plan, direction(by_column), *c.values, xm, reinterpret_cast<const void*>(bias),
                       static_cast<Activation>(activation), slope, ym);
  });
}

}  // namespace

void bind_sparse(nb::module_& m) {
  nb::class_<Coefficients>(m, "GcnCoefficients");
  m.def("spmm", &spmm, nb::arg("graph"), nb::arg("by_column"), nb::arg("reduce"), nb::arg("x"), nb::arg("w").none(),
        nb::arg("y"), nb::arg("threads") = 0);
  m.def("spmm_arg", &spmm_arg, nb::arg("graph"), nb::arg("reduce"), nb::arg("x"), nb::arg("w").none(), nb::arg("y"),
        nb::arg("arg"), nb::arg("threads") = 0);
  m.def("spmm_grad", &spmm_grad, nb::arg("graph"), nb::arg("reduce"), nb::arg("x").none(), nb::arg("w").none(),
        nb::arg("dy"), nb::arg("arg").none(), nb::arg("dx").none(), nb::arg("dw").none(), nb::arg("threads") = 0);
  m.def("segment_reduce", &segment_reduce, nb::arg("ptr"), nb::arg("segments"), nb::arg("reduce"), nb::arg("x"),
        nb::arg("y"), nb::arg("threads") = 0);
  m.def("edge_reduce", &edge_reduce, nb::arg("graph"), nb::arg("by_column"), nb::arg("reduce"), nb::arg("e"),
        nb::arg("y"), nb::arg("threads") = 0);
  m.def("gcn_coefficients", &gcn_coefficients, nb::arg("graph"), nb::arg("norm"), nb::arg("loop_weight"),
        nb::arg("w").none(), nb::arg("dtype"), nb::arg("threads") = 0);
  m.def("gcn", &gcn, nb::arg("graph"), nb::arg("by_column"), nb::arg("coefficients"), nb::arg("x"), nb::arg("bias"),
        nb::arg("activation"), nb::arg("slope"), nb::arg("y"), nb::arg("threads") = 0);
}

}  // namespace pantile::python
