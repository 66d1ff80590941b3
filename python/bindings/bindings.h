#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <pantile/core/buffer.h>
#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/core/thread_pool.h>
#include <pantile/graph/graph.h>
#include <pantile/sparse/edge_values.h>
#include <pantile/sparse/plan.h>
#include <memory>
#include <optional>
#include <span>
#include <utility>

/// What the files of the extension share: errors become exceptions here and nowhere else, dense operands cross as
/// (address, dtype, rows, cols, row stride) from Python code that keeps them alive, and the GIL is released around
/// kernels.
namespace pantile::python {

namespace nb = nanobind;

/// Throws the exception class of pantile.errors that belongs to the error's code. Needs the GIL.
[[noreturn]] void raise(const Error& error);

template <class T>
T value_or_raise(Result<T> result) {
  if (!result) raise(result.error());
  return std::move(*result);
}
inline void check_or_raise(const Status& status) {
  if (!status) raise(status.error());
}

/// Runs `work` (returning Status or Result) without the GIL. threads > 0 is the caller's torch.get_num_threads(), which
/// counts unless pantile.set_num_threads fixed a number.
void adopt_threads(int threads);
template <class Work>
auto run(int threads, Work&& work) {
  adopt_threads(threads);
  auto result = [&] {
    nb::gil_scoped_release release;
    return work();
  }();
  if (!result) raise(result.error());
  return result;
}

/// A graph as Python holds it: the handle, its plan, and the caller's edge order.
/// Invariant: order is empty when the caller's edge k is CSR position k, else order[position] = caller's edge number.
struct PyGraph {
  Graph graph;
  sparse::Plan plan;
  std::shared_ptr<const Array<int64_t>> own_order;  ///< set when the order is not the graph's own edge_id
  bool identity = false;                            ///< the caller's order is CSR order, whatever edge_id says

  std::span<const int64_t> order() const {
    if (identity) return {};
    return own_order ? own_order->span() : graph.edge_id();
  }
};

/// The matrix behind (address, dtype, rows, cols, row stride).
Matrix matrix(const nb::tuple& operand);
/// The same for None, as data == nullptr.
Matrix matrix_or_none(const nb::object& operand);

/// Edge values on their way from the caller's order to CSR order; borrows when no step is needed.
class EdgeInput {
 public:
  static Result<EdgeInput> make(const PyGraph& g, ConstMatrix values);
  /// Values that are in CSR order, or no edge values at all.
  static EdgeInput borrow(ConstMatrix values);
  const ConstMatrix& csr() const { return csr_; }
  sparse::EdgeValues values() const { return {csr_.data, csr_.dtype, csr_.data == nullptr ? 1 : csr_.cols}; }

 private:
  Buffer storage_;
  ConstMatrix csr_;
};

/// Edge values on their way back: kernels write csr(), finish() puts them into the caller's order.
class EdgeOutput {
 public:
  static Result<EdgeOutput> make(const PyGraph& g, Matrix target);
  const Matrix& csr() const { return csr_; }
  void finish(const PyGraph& g) const;

 private:
  Buffer storage_;
  Matrix csr_, target_;
};

void bind_core(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_generate(nb::module_& m);
void bind_sparse(nb::module_& m);
void bind_edges(nb::module_& m);
void bind_attention(nb::module_& m);
void bind_explain(nb::module_& m);

}  // namespace pantile::python
