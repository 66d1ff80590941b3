#include <fmt/format.h>
#include <pantile/io/edge_list.h>

#include <algorithm>
#include <cmath>

#include "io/npz_archive.h"
#include "io/text_writer.h"

namespace pantile {
namespace {

Status check(const std::string& path, const EdgeListView& e) {
  if (e.src.size() != e.dst.size() || (!e.weights.empty() && e.weights.size() != e.src.size())) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot write '{}': {} sources, {} destinations and {} weights; the lengths must agree",
                            path, e.src.size(), e.dst.size(), e.weights.size()));
  }
  for (size_t k = 0; k < e.src.size(); ++k) {
    const bool source = e.src[k] < 0 || e.src[k] >= e.num_src;
    if (source || e.dst[k] < 0 || e.dst[k] >= e.num_dst) {
      return fail(ErrorCode::out_of_range, fmt::format("cannot write '{}': edge {}: {} {} is outside [0, {})", path, k,
                                                       source ? "source" : "destination", source ? e.src[k] : e.dst[k],
                                                       source ? e.num_src : e.num_dst));
    }
    if (!e.weights.empty() && !std::isfinite(e.weights[k])) {
      return fail(ErrorCode::invalid_argument,
                  fmt::format("cannot write '{}': edge {}: weight {} is not finite", path, k, e.weights[k]));
    }
  }
  return {};
}

/// Edges by destination, in their order within each: entry k of the rows is edge order[k].
struct Rows {
  Array<int64_t> starts, order;
};

Result<Rows> rows_of(const EdgeListView& e) {
  Rows rows;
  const int64_t count = static_cast<int64_t>(e.dst.size());
  PANTILE_TRY(rows.starts, Array<int64_t>::allocate(e.num_dst + 1));
  PANTILE_TRY(rows.order, Array<int64_t>::allocate(count));
  PANTILE_TRY(auto next, Array<int64_t>::allocate(e.num_dst + 1));
  std::fill(rows.starts.begin(), rows.starts.end(), 0);
  for (const int64_t d : e.dst) ++rows.starts[d + 1];
  for (int64_t i = 0; i < e.num_dst; ++i) rows.starts[i + 1] += rows.starts[i];
  std::copy(rows.starts.begin(), rows.starts.end(), next.begin());
  for (int64_t k = 0; k < count; ++k) rows.order[next[e.dst[static_cast<size_t>(k)]]++] = k;
  return rows;
}

int64_t source(const EdgeListView& e, int64_t k) { return e.src[static_cast<size_t>(k)]; }
float weight(const EdgeListView& e, int64_t k) { return e.weights.empty() ? 1.0f : e.weights[static_cast<size_t>(k)]; }

/// What METIS's format cannot hold: loops, duplicates, one-way edges, weights that are no positive integers. Sorts each
/// row by source.
Status check_metis(const std::string& path, const EdgeListView& e, Rows& rows) {
  const auto refuse = [&](int64_t k, const std::string& why) {
    return fail(ErrorCode::invalid_argument, fmt::format("cannot write '{}': edge {} ({} -> {}) {}; METIS files hold "
                                                         "simple symmetric graphs with positive integer weights",
                                                         path, k, source(e, k), e.dst[static_cast<size_t>(k)], why));
  };
  if (e.num_src != e.num_dst)
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot write '{}': {} x {}; METIS files hold square graphs", path, e.num_dst, e.num_src));
  for (int64_t i = 0; i < e.num_dst; ++i) {
    int64_t* const first = rows.order.data() + rows.starts[i];
    int64_t* const last = rows.order.data() + rows.starts[i + 1];
    std::sort(first, last,
              [&](int64_t a, int64_t b) { return std::pair(source(e, a), a) < std::pair(source(e, b), b); });
    for (const int64_t* p = first; p != last; ++p) {
      if (source(e, *p) == i) return refuse(*p, "is a self-loop");
      if (p != first && source(e, *p) == source(e, *(p - 1))) return refuse(*p, "is a duplicate");
      const float w = weight(e, *p);
      if (w < 1 || w > 2147483648.0f || w != std::floor(w)) return refuse(*p, fmt::format("has weight {}", w));
    }
  }
  for (int64_t i = 0; i < e.num_dst; ++i) {
    for (int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
      const int64_t k = rows.order[p], other = source(e, k);
      const int64_t* const first = rows.order.data() + rows.starts[other];
      const int64_t* const last = rows.order.data() + rows.starts[other + 1];
      const int64_t* const back =
          std::lower_bound(first, last, i, [&](int64_t a, int64_t node) { return source(e, a) < node; });
      if (back == last || source(e, *back) != i) return refuse(k, "has no edge back");
      if (weight(e, *back) != weight(e, k)) return refuse(k, "has another weight than the edge back");
    }
  }
  return {};
}

}  // namespace

Status write_matrix_market(const std::string& path, const EdgeListView& edges) {
  PANTILE_CHECK(check(path, edges));
  PANTILE_TRY(io::TextWriter out, io::TextWriter::create(path));
  out.print("%%MatrixMarket matrix coordinate {} general\n{} {} {}\n", edges.weights.empty() ? "pattern" : "real",
            edges.num_dst, edges.num_src, edges.src.size());
  for (size_t k = 0; k < edges.src.size(); ++k) {
    if (edges.weights.empty()) {
      out.print("{} {}\n", edges.dst[k] + 1, edges.src[k] + 1);
    } else {
      out.print("{} {} {}\n", edges.dst[k] + 1, edges.src[k] + 1, edges.weights[k]);
    }
    PANTILE_CHECK(out.flush_if_full());
  }
  return out.commit();
}

Status write_csv_edges(const std::string& path, const EdgeListView& edges) {
  PANTILE_CHECK(check(path, edges));
  if (edges.num_src != edges.num_dst) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("cannot write '{}': {} x {}; an edge list has one set of nodes (write .mtx or .npz)", path,
                            edges.num_dst, edges.num_src));
  }
  PANTILE_TRY(io::TextWriter out, io::TextWriter::create(path));
  out.print("# directed, 0-based; n={} m={}\n", edges.num_src, edges.src.size());
  for (size_t k = 0; k < edges.src.size(); ++k) {
    if (edges.weights.empty()) {
      out.print("{},{}\n", edges.src[k], edges.dst[k]);
    } else {
      out.print("{},{},{}\n", edges.src[k], edges.dst[k], edges.weights[k]);
    }
    PANTILE_CHECK(out.flush_if_full());
  }
  return out.commit();
}

Status write_metis(const std::string& path, const EdgeListView& edges) {
  PANTILE_CHECK(check(path, edges));
  PANTILE_TRY(Rows rows, rows_of(edges));
  PANTILE_CHECK(check_metis(path, edges, rows));
  PANTILE_TRY(io::TextWriter out, io::TextWriter::create(path));
  out.print("{} {}{}\n", edges.num_dst, edges.src.size() / 2, edges.weights.empty() ? "" : " 001");
  for (int64_t i = 0; i < edges.num_dst; ++i) {
    for (int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
      const char* const gap = p == rows.starts[i] ? "" : " ";
      out.print("{}{}", gap, source(edges, rows.order[p]) + 1);
      if (!edges.weights.empty()) out.print(" {}", static_cast<int64_t>(weight(edges, rows.order[p])));
    }
    out.print("\n");
    PANTILE_CHECK(out.flush_if_full());
  }
  return out.commit();
}

Status write_scipy_npz(const std::string& path, const EdgeListView& edges, bool compress) {
  PANTILE_CHECK(check(path, edges));
  PANTILE_TRY(const Rows rows, rows_of(edges));
  const int64_t count = static_cast<int64_t>(edges.src.size()), shape[2] = {edges.num_dst, edges.num_src};
  // scipy takes 32-bit indices wherever they suffice, and both arrays in one type.
  const bool narrow = std::max({count, shape[0], shape[1]}) < (int64_t{1} << 31);
  const DType index = narrow ? DType::i32 : DType::i64;
  PANTILE_TRY(Tensor indptr, Tensor::allocate(index, {edges.num_dst + 1}));
  PANTILE_TRY(Tensor indices, Tensor::allocate(index, {count}));
  PANTILE_TRY(Tensor data, Tensor::allocate(DType::f32, {count}));
  const auto set = [&](Tensor& t, int64_t i, int64_t value) {
    narrow ? void(t.as<int32_t>()[i] = static_cast<int32_t>(value)) : void(t.as<int64_t>()[i] = value);
  };
  for (int64_t i = 0; i <= edges.num_dst; ++i) set(indptr, i, rows.starts[i]);
  for (int64_t p = 0; p < count; ++p) {
    set(indices, p, source(edges, rows.order[p]));
    data.as<float>()[p] = weight(edges, rows.order[p]);
  }
  PANTILE_TRY(io::NpzWriter out, io::NpzWriter::create(path, compress));
  PANTILE_CHECK(out.add("indices", indices.view()));
  PANTILE_CHECK(out.add("indptr", indptr.view()));
  PANTILE_CHECK(out.add_text("format", "csr"));
  PANTILE_CHECK(out.add("shape", {shape, DType::i64, {2}}));
  PANTILE_CHECK(out.add("data", data.view()));
  return out.commit();
}

}  // namespace pantile
