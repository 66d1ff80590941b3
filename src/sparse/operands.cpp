#include <fmt/format.h>

#include <functional>

#include "sparse/operands.h"

namespace pantile::sparse {

Status check_matrix(std::string_view what, const ConstMatrix& m, int64_t rows, int64_t cols) {
  if (!is_floating(m.dtype))
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} has dtype {}; use float32, float64, bfloat16 or float16", what, name(m.dtype)));
  if (m.rows != rows || m.cols != cols)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is {} x {}, expected {} x {}", what, m.rows, m.cols, rows, cols));
  if (rows > 1 && m.row_stride < cols)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} has a row stride of {} elements, less than its {} columns", what, m.row_stride, cols));
  if (m.data == nullptr && rows > 0 && cols > 0)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} is {} x {} but has no data (null pointer)", what, rows, cols));
  return {};
}

Status check_same_dtype(std::string_view what, DType dtype, std::string_view of, DType reference) {
  if (dtype == reference) return {};
  return fail(ErrorCode::invalid_argument, fmt::format("{} has dtype {}, but {} has {}; convert one of them", what,
                                                       name(dtype), of, name(reference)));
}

Status check_edge_values(const EdgeValues& w, DType features, int64_t width) {
  if (w.heads < 1)
    return fail(ErrorCode::invalid_argument, fmt::format("edge values have {} heads, at least 1 is needed", w.heads));
  if (width % w.heads != 0)
    return fail(ErrorCode::invalid_argument,
                fmt::format("{} heads do not divide the feature width {}", w.heads, width));
  if (w.data != nullptr && w.dtype != accumulator_of(features))
    return fail(ErrorCode::invalid_argument,
                fmt::format("edge values have dtype {}; {} features need {}", name(w.dtype), name(features),
                            name(accumulator_of(features))));
  return {};
}

Status check_apart(std::string_view written_name, const ConstMatrix& written, std::string_view read_name,
                   const ConstMatrix& read) {
  const auto end = [](const ConstMatrix& m) {
    const int64_t elements = m.rows <= 0 || m.cols <= 0 ? 0 : (m.rows - 1) * (m.rows > 1 ? m.row_stride : 0) + m.cols;
    return static_cast<const char*>(m.data) + elements * static_cast<int64_t>(size_of(m.dtype));
  };
  const std::less<const char*> before;
  const char *w = static_cast<const char*>(written.data), *r = static_cast<const char*>(read.data);
  if (!before(w, end(read)) || !before(r, end(written)) || w == end(written) || r == end(read)) return {};
  return fail(
      ErrorCode::invalid_argument,
      fmt::format("{} overlaps {} in memory; rows still to be read would be overwritten", written_name, read_name));
}

}  // namespace pantile::sparse
