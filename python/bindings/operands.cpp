#include <cstring>

#include "bindings.h"

namespace pantile::python {

void raise(const Error& error) {
  nb::dict details;
  for (const ErrorDetail& d : error.details) details[d.key.c_str()] = d.value;
  nb::object made = nb::module_::import_("pantile.errors").attr("make")(name(error.code), error.message, details);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  throw nb::python_error();
}

Matrix matrix(const nb::tuple& operand) {
  PyObject* t = operand.ptr();
  const auto item = [t](Py_ssize_t i) { return PyLong_AsLongLong(PyTuple_GET_ITEM(t, i)); };
  if (PyTuple_GET_SIZE(t) != 5) throw nb::value_error("an operand is (address, dtype, rows, cols, row stride)");
  return {reinterpret_cast<void*>(static_cast<uintptr_t>(item(0))), static_cast<DType>(item(1)), item(2), item(3),
          item(4)};
}

Matrix matrix_or_none(const nb::object& operand) {
  return operand.is_none() ? Matrix{} : matrix(nb::cast<nb::tuple>(operand));
}

namespace {

constexpr int64_t kEdgesPerChunk = 16384;

/// to[k] = from[order[k]] (gather) or to[order[k]] = from[k], row by row; order empty means the identity.
template <bool kGather>
void move_rows(std::span<const int64_t> order, ConstMatrix from, Matrix to) {
  const size_t row_bytes = static_cast<size_t>(to.cols) * size_of(to.dtype);
  const size_t from_step = static_cast<size_t>(from.row_stride) * size_of(from.dtype);
  const size_t to_step = static_cast<size_t>(to.row_stride) * size_of(to.dtype);
  const char* source = from.as<char>();
  char* target = to.as<char>();
  parallel_for(to.rows, kEdgesPerChunk, [&](int64_t begin, int64_t end) {
    const auto move = [&](auto copy) {
      for (int64_t k = begin; k < end; ++k) {
        const size_t other = static_cast<size_t>(order.empty() ? k : order[static_cast<size_t>(k)]);
        const size_t at = static_cast<size_t>(k);
        copy(target + (kGather ? at : other) * to_step, source + (kGather ? other : at) * from_step);
      }
    };
    if (row_bytes == 4) {
      move([](char* t, const char* s) { std::memcpy(t, s, 4); });
    } else if (row_bytes == 8) {
      move([](char* t, const char* s) { std::memcpy(t, s, 8); });
    } else {
      move([row_bytes](char* t, const char* s) { std::memcpy(t, s, row_bytes); });
    }
  });
}

bool dense(const ConstMatrix& m) { return m.rows <= 1 || m.row_stride == m.cols; }

}  // namespace

Result<EdgeInput> EdgeInput::make(const PyGraph& g, ConstMatrix values) {
  EdgeInput in;
  in.csr_ = values;
  // Sizes are the kernels' to judge; what does not fit the graph is passed on as it is, to be refused there.
  if (values.data == nullptr || values.rows != g.graph.edges() || (g.order().empty() && dense(values))) return in;
  PANTILE_TRY(const int64_t count, checked_multiply(values.rows, values.cols));
  PANTILE_TRY(in.storage_, Buffer::allocate_elements(count, size_of(values.dtype)));
  const Matrix csr{in.storage_.data(), values.dtype, values.rows, values.cols, values.cols};
  move_rows<true>(g.order(), values, csr);
  in.csr_ = csr;
  return in;
}

EdgeInput EdgeInput::borrow(ConstMatrix values) {
  EdgeInput in;
  in.csr_ = values;
  return in;
}

Result<EdgeOutput> EdgeOutput::make(const PyGraph& g, Matrix target) {
  EdgeOutput out;
  out.csr_ = out.target_ = target;
  if (target.data == nullptr || target.rows != g.graph.edges() || g.order().empty()) return out;
  PANTILE_TRY(const int64_t count, checked_multiply(target.rows, target.cols));
  PANTILE_TRY(out.storage_, Buffer::allocate_elements(count, size_of(target.dtype)));
  out.csr_ = {out.storage_.data(), target.dtype, target.rows, target.cols, target.cols};
  return out;
}

void EdgeOutput::finish(const PyGraph& g) const {
  if (csr_.data != target_.data) move_rows<false>(g.order(), csr_, target_);
}

}  // namespace pantile::python
