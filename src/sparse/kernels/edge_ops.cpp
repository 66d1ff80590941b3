#include "sparse/kernels/edge_chunk.h"

namespace pantile::sparse {
namespace {

const EdgeOpsTables& tables() {
  static const EdgeOpsTables made = [] {
    EdgeOpsTables t{};
    fill_edge_dot(t);
    fill_edge_dot_leaky(t);
    fill_edge_accumulate(t);
    fill_edge_softmax(t);
    fill_edge_gradient(t);
    return t;
  }();
  return made;
}

}  // namespace

template <>
const EdgeOps<double>& edge_ops<double>() {
  return tables().f64;
}
template <>
const EdgeOps<float>& edge_ops<float>() {
  return tables().f32;
}
template <>
const EdgeOps<BFloat16>& edge_ops<BFloat16>() {
  return tables().bf16;
}
template <>
const EdgeOps<Float16>& edge_ops<Float16>() {
  return tables().f16;
}

}  // namespace pantile::sparse
