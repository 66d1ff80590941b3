#pragma once

#include <pantile/core/dtype.h>
#include <cstdint>

namespace pantile::sparse {

/// Borrowed values of the edges, in CSR order of the graph (whatever the direction of the operator): [edges, heads],
/// dense. dtype: f32, or f64 when the features are f64. data == nullptr means "no values": every weight is 1.
struct EdgeValues {
  const void* data = nullptr;
  DType dtype = DType::f32;
  int64_t heads = 1;
  template <class T>
  const T* as() const {
    return static_cast<const T*>(data);
  }
};

}  // namespace pantile::sparse
