#include <pantile/nn/features.h>

#include <pantile/core/thread_pool.h>

#include <algorithm>

namespace pantile::nn {

template <class T>
Status densify(const Features<T>& x, DenseMatrix<T>& out) {
  PANTILE_CHECK(out.resize(x.rows, x.width));
  parallel_for(x.rows, 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T* row = out.row(i);
      if (!x.is_sparse()) {
        std::copy_n(x.dense.template as<T>() + i * x.dense.row_stride, x.width, row);
        continue;
      }
      const Csr csr = x.pattern->csr(sparse::Direction::by_row);
      std::fill_n(row, x.width, T{0});
      for (int64_t k = csr.ptr[i]; k < csr.ptr[i + 1]; ++k) row[csr.col[k]] += x.values[k];
    }
  });
  return {};
}

template Status densify(const Features<float>&, DenseMatrix<float>&);
template Status densify(const Features<double>&, DenseMatrix<double>&);

}  // namespace pantile::nn
