#include <cblas.h>
#include <fmt/format.h>

#include <pantile/core/thread_pool.h>
#include <pantile/graph/generate.h>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <mutex>

#include "graph/state.h"

namespace pantile {
namespace {

constexpr int64_t kRowBlock = 256, kColumnBlock = 1024;  // scores of one block: 1 MiB
constexpr size_t kFewCandidates = 64;

// OpenBLAS would start a thread team of its own inside each of our threads, and split sums by their number.
void one_blas_thread() {
  static std::once_flag once;
  std::call_once(once, [] { openblas_set_num_threads(1); });
}

/// The rows, scaled so that neither squares nor their sums can overflow or vanish, in float for scores and with exact
/// norms.
struct Points {
  int64_t count = 0, width = 0;
  Array<float> x;  // [count, width]; cosine: rows of norm 1 (or 0); Euclidean: all divided by the largest value
  std::vector<double> scale;  // [count] of the original row
  std::vector<float> square;  // [count] squared norm of x
  double largest_norm = 0;
};

Result<Points> load(ConstMatrix m, Metric metric) {
  Points p;
  p.count = m.rows;
  p.width = m.cols;
  PANTILE_TRY(const int64_t values, checked_multiply(m.rows, m.cols));
  PANTILE_TRY(p.x, Array<float>::allocate(values));
  p.scale.resize(static_cast<size_t>(m.rows));
  p.square.resize(static_cast<size_t>(m.rows));
  const auto row = [&](int64_t i) { return m.as<float>() + i * m.row_stride; };
  std::vector<double> most(static_cast<size_t>(m.rows)), norm(static_cast<size_t>(m.rows));
  std::atomic<bool> finite{true};
  parallel_for(m.rows, kRowBlock, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      double sum = 0, top = 0;
      for (int64_t c = 0; c < m.cols; ++c) {
        const double v = static_cast<double>(row(i)[c]);
        sum += v * v;
        top = std::max(top, std::abs(v));
      }
      norm[static_cast<size_t>(i)] = std::sqrt(sum);
      most[static_cast<size_t>(i)] = top;
      if (!std::isfinite(sum)) finite.store(false, std::memory_order_relaxed);
    }
  });
  if (!finite) {
    for (int64_t i = 0; i < m.rows; ++i) {
      for (int64_t c = 0; c < m.cols; ++c) {
        if (std::isfinite(row(i)[c])) continue;
        return fail(ErrorCode::invalid_argument,
                    fmt::format("x[{}, {}] is {}; nearest neighbours need finite values", i, c, row(i)[c]),
                    {{"row", std::to_string(i)}, {"column", std::to_string(c)}});
      }
    }
  }
  const double largest = most.empty() ? 0 : *std::max_element(most.begin(), most.end());
  std::vector<double> norms(static_cast<size_t>(m.rows));
  parallel_for(m.rows, kRowBlock, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const double s = metric == Metric::cosine ? norm[static_cast<size_t>(i)] : largest;
      p.scale[static_cast<size_t>(i)] = s;
      double square = 0;
      for (int64_t c = 0; c < m.cols; ++c) {
        const float v = s > 0 ? static_cast<float>(static_cast<double>(row(i)[c]) / s) : 0.0f;
        p.x[i * m.cols + c] = v;
        square += static_cast<double>(v) * static_cast<double>(v);
      }
      p.square[static_cast<size_t>(i)] = static_cast<float>(square);
      norms[static_cast<size_t>(i)] = std::sqrt(square);
    }
  });
  p.largest_norm = norms.empty() ? 0 : *std::max_element(norms.begin(), norms.end());
  return p;
}

/// Similarity in double, the larger the nearer; the same from both ends, so that equal rows are equally near.
double exact_score(ConstMatrix m, const Points& p, Metric metric, int64_t i, int64_t j) {
  const float *a = m.as<float>() + i * m.row_stride, *b = m.as<float>() + j * m.row_stride;
  double sum[4] = {};
  const auto add = [&](int64_t c, double& s) {
    const double u = static_cast<double>(a[c]), v = static_cast<double>(b[c]);
    s += metric == Metric::cosine ? u * v : (u - v) * (u - v);
  };
  int64_t c = 0;
  for (; c + 4 <= m.cols; c += 4) {
    for (int64_t l = 0; l < 4; ++l) add(c + l, sum[l]);
  }
  for (; c < m.cols; ++c) add(c, sum[0]);
  const double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  if (metric == Metric::euclidean) return -total;
  const double scale = p.scale[static_cast<size_t>(i)] * p.scale[static_cast<size_t>(j)];
  return scale > 0 ? total / scale : 0;
}

template <class Score>
struct Candidate {
  Score score;
  int32_t id;
};
template <class Score>
bool nearer(const Candidate<Score>& a, const Candidate<Score>& b) {
  return a.score != b.score ? a.score > b.score : a.id < b.id;
}

/// What a row has met so far: every id whose rounded score could still belong to the k nearest.
/// Invariant: an id is dropped only when at least k others beat it by more than rounding can explain.
class Shortlist {
 public:
  void reset(size_t k, float margin) {
    k_ = k;
    margin_ = margin;
    floor_ = -INFINITY;
    limit_ = std::max(kFewCandidates, 4 * k);
    candidates_.clear();
  }
  float floor() const { return floor_; }
  void add(float score, int32_t id) {
    candidates_.push_back({score, id});
    if (candidates_.size() >= limit_) prune();
  }
  void prune() {
    if (candidates_.size() <= k_) return;
    const auto kth = candidates_.begin() + static_cast<std::ptrdiff_t>(k_) - 1;
    std::nth_element(candidates_.begin(), kth, candidates_.end(), nearer<float>);
    floor_ = kth->score - margin_;
    std::erase_if(candidates_, [&](const Candidate<float>& c) { return c.score < floor_; });
    limit_ = std::max(limit_,
                      2 * candidates_.size());  // many rows at one distance: the list may grow, pruning must not repeat
  }
  const std::vector<Candidate<float>>& candidates() const { return candidates_; }

 private:
  size_t k_ = 0, limit_ = 0;
  float margin_ = 0, floor_ = 0;
  std::vector<Candidate<float>> candidates_;
};

/// Finds the k nearest of rows [begin, end) and writes their ids, ascending, to nearest[i * k ...].
void search_block(ConstMatrix m, const Points& p, Metric metric, int64_t k, int64_t begin, int64_t end,
                  Array<float>& scores, std::vector<Shortlist>& lists, Array<int32_t>& nearest) {
  // A product of n terms is off by at most n 2^-24 |a||b|, plus a few roundings of norms; both sides of a comparison
  // may be off.
  const double unit = (static_cast<double>(p.width) + 8) * 0x1p-24 * p.largest_norm * p.largest_norm;
  const float margin = static_cast<float>((metric == Metric::cosine ? 4 : 8) * unit);
  for (int64_t i = begin; i < end; ++i) lists[static_cast<size_t>(i - begin)].reset(static_cast<size_t>(k), margin);
  for (int64_t from = 0; from < p.count; from += kColumnBlock) {
    const int64_t columns = std::min(kColumnBlock, p.count - from);
    if (p.width > 0) {
      const auto width = static_cast<blasint>(p.width);
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<blasint>(end - begin),
                  static_cast<blasint>(columns), width, 1.0f, p.x.data() + begin * p.width, width,
                  p.x.data() + from * p.width, width, 0.0f, scores.data(), static_cast<blasint>(kColumnBlock));
    } else {
      std::fill(scores.begin(), scores.end(), 0.0f);
    }
    for (int64_t i = begin; i < end; ++i) {
      Shortlist& list = lists[static_cast<size_t>(i - begin)];
      const float* const dot = scores.data() + (i - begin) * kColumnBlock;
      float floor = list.floor();
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t j = from + c;
        const float score = metric == Metric::cosine ? dot[c] : 2 * dot[c] - p.square[static_cast<size_t>(j)];
        if (score < floor || j == i) continue;
        list.add(score, static_cast<int32_t>(j));
        floor = list.floor();
      }
    }
  }
  std::vector<Candidate<double>> exact;
  for (int64_t i = begin; i < end; ++i) {
    Shortlist& list = lists[static_cast<size_t>(i - begin)];
    list.prune();
    exact.clear();
    for (const Candidate<float>& c : list.candidates()) exact.push_back({exact_score(m, p, metric, i, c.id), c.id});
    std::partial_sort(exact.begin(), exact.begin() + k, exact.end(), nearer<double>);
    int32_t* const out = nearest.data() + i * k;
    for (int64_t r = 0; r < k; ++r) out[r] = exact[static_cast<size_t>(r)].id;
    std::sort(out, out + k);
  }
}

Status check_points(ConstMatrix x, int k) {
  if (x.dtype != DType::f32) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("nearest neighbours take float32 rows; x is {}", name(x.dtype)));
  }
  if (x.rows < 0 || x.cols < 0 || (x.rows > 1 && x.row_stride < x.cols)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("x of {} x {} with a row stride of {} is not possible", x.rows, x.cols, x.row_stride));
  }
  PANTILE_CHECK(check_node_counts(x.rows, x.rows));
  if (x.cols > std::numeric_limits<int32_t>::max()) {
    return fail(ErrorCode::unsupported, fmt::format("rows of {} values are too long for the matrix product", x.cols));
  }
  if (x.rows > 0 && (k < 1 || k >= x.rows)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("k is {}; {} rows have between 1 and {} neighbours", k, x.rows, x.rows - 1));
  }
  return {};
}

}  // namespace

Result<Graph> nearest_neighbours(ConstMatrix x, int k, Metric metric, bool symmetric, Progress* progress) {
  PANTILE_CHECK(check_points(x, k));
  const int64_t n = x.rows;
  if (n == 0) return Graph();
  one_blas_thread();
  PANTILE_TRY(const Points points, load(x, metric));
  SortedEdges out;
  PANTILE_TRY(const int64_t edges, checked_multiply(n, k));
  PANTILE_TRY(out.ptr, Array<int64_t>::allocate(n + 1));
  PANTILE_TRY(out.col, Array<int32_t>::allocate(edges));
  for (int64_t i = 0; i <= n; ++i) out.ptr[i] = i * k;

  if (progress != nullptr) progress->begin("nearest neighbours", n, "node");
  const int64_t blocks = (n - 1) / kRowBlock + 1;
  const int workers = static_cast<int>(std::min<int64_t>(num_threads(), blocks));
  std::vector<Array<float>> scores(static_cast<size_t>(workers));
  for (Array<float>& s : scores) {
    PANTILE_TRY(s, Array<float>::allocate(kRowBlock * kColumnBlock));
  }
  std::atomic<int64_t> next{
      0};  // blocks are claimed as threads come free; what a block computes does not depend on who takes it
  run_shares(workers, [&](int w) {
    std::vector<Shortlist> lists(static_cast<size_t>(kRowBlock));
    for (int64_t b = next.fetch_add(1); b < blocks; b = next.fetch_add(1)) {
      if (progress != nullptr && progress->cancelled()) return;
      const int64_t begin = b * kRowBlock, end = std::min(n, begin + kRowBlock);
      search_block(x, points, metric, k, begin, end, scores[static_cast<size_t>(w)], lists, out.col);
      if (progress != nullptr) progress->advance(end - begin);
    }
  });
  const bool stopped = progress != nullptr && progress->cancelled();
  if (progress != nullptr) progress->end();
  if (stopped) return fail(ErrorCode::unsupported, "nearest neighbours: stopped on request");

  Graph g = GraphAssembly::own(n, n, std::move(out));
  if (!symmetric) return g;
  PANTILE_TRY(g, g.symmetrised());
  return GraphAssembly::without_ids(g);
}

}  // namespace pantile
