#pragma once

#include <pantile/core/error.h>
#include <pantile/core/matrix.h>
#include <pantile/sparse/edge_values.h>
#include <pantile/sparse/plan.h>
#include <string_view>

namespace pantile::sparse {

/// The checks that every operator makes once, at its border. `what` names the operand in the message.

/// A floating matrix of exactly this shape, with a sane stride and data unless it is empty.
Status check_matrix(std::string_view what, const ConstMatrix& m, int64_t rows, int64_t cols);
/// The same dtype as `reference`, named `of`.
Status check_same_dtype(std::string_view what, DType dtype, std::string_view of, DType reference);
/// Edge values fit features of `dtype` and `width`: accumulator type, heads >= 1 that divide the width.
Status check_edge_values(const EdgeValues& w, DType features, int64_t width);
/// The memory that `written` covers does not meet that of `read`.
Status check_apart(std::string_view written_name, const ConstMatrix& written, std::string_view read_name,
                   const ConstMatrix& read);

}  // namespace pantile::sparse
