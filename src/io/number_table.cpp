#include <fmt/format.h>
#include <pantile/io/ogb.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "io/fields.h"
#include "io/growing_array.h"

namespace pantile {
namespace {

constexpr int64_t kLongestLine = int64_t{16} << 20;

Status read_row(const LineReader& reader, std::string_view line, bool allow_nan, io::GrowingArray<float>& values,
                int64_t& columns) {
  io::FieldCursor at(line);
  for (columns = 0; !at.at_end() || at.trailing_separator(); ++columns) {
    float value = std::numeric_limits<float>::quiet_NaN();
    const bool empty = at.at_empty_field();
    if (empty && at.at_end()) {  // "1,2," ends in an empty field
      ++columns;
      if (!allow_nan) return tl::unexpected(reader.error(fmt::format("column {}: the field is empty", at.column())));
      return values.push(value);
    }
    const io::FieldCursor before = at;
    if (empty) at.skip();
    const bool taken =
        empty ? allow_nan : at.take_number(value) && (std::isfinite(value) || (allow_nan && std::isnan(value)));
    if (!taken) {
      return tl::unexpected(
          reader.error(fmt::format("column {}: {} is not a number ({}float32)", before.column(),
                                   io::quoted(before.field()), allow_nan ? "finite or nan, " : "finite ")));
    }
    PANTILE_CHECK(values.push(value));
  }
  return {};
}

}  // namespace

Result<Tensor> read_number_table(const Input& input, const NumberTableOptions& options) {
  PANTILE_TRY(LineReader reader, LineReader::open(input, kLongestLine));
  io::GrowingArray<float> values;
  int64_t rows = 0, cols = options.cols;
  for (std::string_view line;;) {
    PANTILE_TRY(const bool there, reader.next(line));
    if (!there) break;
    if (line.empty()) continue;
    int64_t columns = 0;
    PANTILE_CHECK(read_row(reader, line, options.allow_nan, values, columns));
    if (cols < 0) cols = columns;
    if (columns != cols) return tl::unexpected(reader.error(fmt::format("{} columns; {} are expected", columns, cols)));
    if (++rows > options.rows && options.rows >= 0)
      return tl::unexpected(reader.error(fmt::format("more than the {} rows expected", options.rows)));
  }
  if (options.rows >= 0 && rows != options.rows) {
    return tl::unexpected(reader.error(fmt::format("the file ends after {} of {} rows", rows, options.rows)));
  }
  PANTILE_TRY(Tensor table, Tensor::allocate(DType::f32, {rows, std::max<int64_t>(cols, 0)}));
  PANTILE_TRY(const auto joined, values.join());
  if (!joined.empty()) std::memcpy(table.buffer.data(), joined.data(), table.buffer.bytes());
  return table;
}

}  // namespace pantile
