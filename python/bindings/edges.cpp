#include <pantile/sparse/sddmm.h>
#include <pantile/sparse/segment.h>

#include "bindings.h"

namespace pantile::python {
namespace {

using sparse::Direction;
using sparse::EdgeOp;
using sparse::Operand;
using sparse::Target;

/// A node operand as it is, an edge operand in CSR order.
Result<EdgeInput> operand(const PyGraph& g, Target target, ConstMatrix values) {
  return target == Target::edge ? EdgeInput::make(g, values) : EdgeInput::borrow(values);
}

void sddmm(const PyGraph& g, int op, int lhs_target, const nb::object& lhs, int rhs_target, const nb::object& rhs,
           int64_t heads, const nb::tuple& out, int threads) {
  const Matrix lm = matrix_or_none(lhs), rm = matrix_or_none(rhs), om = matrix(out);
  const auto lt = static_cast<Target>(lhs_target), rt = static_cast<Target>(rhs_target);
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput l, operand(g, lt, lm));
    PANTILE_TRY(const EdgeInput r, operand(g, rt, rm));
    PANTILE_TRY(const EdgeOutput o, EdgeOutput::make(g, om));
    PANTILE_CHECK(sparse::sddmm(g.plan, static_cast<EdgeOp>(op), {lt, l.csr()}, {rt, r.csr()}, heads, o.csr()));
    o.finish(g);
    return {};
  });
}

Direction direction(bool by_column) { return by_column ? Direction::by_column : Direction::by_row; }

void edge_softmax(const PyGraph& g, bool by_column, const nb::tuple& z, const nb::tuple& p, int threads) {
  const Matrix zm = matrix(z), pm = matrix(p);
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput in, EdgeInput::make(g, zm));
    PANTILE_TRY(const EdgeOutput out, EdgeOutput::make(g, pm));
    PANTILE_CHECK(sparse::edge_softmax(g.plan, direction(by_column), in.csr(), out.csr()));
    out.finish(g);
    return {};
  });
}

void edge_softmax_grad(const PyGraph& g, bool by_column, const nb::tuple& p, const nb::tuple& dp, const nb::tuple& dz,
                       int threads) {
  const Matrix pm = matrix(p), dpm = matrix(dp), dzm = matrix(dz);
  run(threads, [&]() -> Status {
    PANTILE_TRY(const EdgeInput in, EdgeInput::make(g, pm));
    PANTILE_TRY(const EdgeInput gradient, EdgeInput::make(g, dpm));
    PANTILE_TRY(const EdgeOutput out, EdgeOutput::make(g, dzm));
    PANTILE_CHECK(sparse::edge_softmax_grad(g.plan, direction(by_column), in.csr(), gradient.csr(), out.csr()));
    out.finish(g);
    return {};
  });
}

}  // namespace

void bind_edges(nb::module_& m) {
  m.def("sddmm", &sddmm, nb::arg("graph"), nb::arg("op"), nb::arg("lhs_target"), nb::arg("lhs").none(),
        nb::arg("rhs_target"), nb::arg("rhs").none(), nb::arg("heads"), nb::arg("out"), nb::arg("threads") = 0);
  m.def("edge_softmax", &edge_softmax, nb::arg("graph"), nb::arg("by_column"), nb::arg("z"), nb::arg("p"),
        nb::arg("threads") = 0);
  m.def("edge_softmax_grad", &edge_softmax_grad, nb::arg("graph"), nb::arg("by_column"), nb::arg("p"), nb::arg("dp"),
        nb::arg("dz"), nb::arg("threads") = 0);
}

}  // namespace pantile::python
