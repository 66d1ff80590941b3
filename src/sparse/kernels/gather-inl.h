// The walk that SpMM, GCN and their gradients share: rows of a unit, panels of vectors held in registers, prefetch
// ahead. What differs is told by three small types: Op (how values are combined), W (the weight of an edge), Finish
// (what becomes of a finished row). Included once per target by each kernel file.
#if defined(PANTILE_SPARSE_GATHER_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef PANTILE_SPARSE_GATHER_INL_H
#undef PANTILE_SPARSE_GATHER_INL_H
#else
#define PANTILE_SPARSE_GATHER_INL_H
#endif

#include <algorithm>
#include <limits>

#include "sparse/kernels/spmm.h"
#include "sparse/kernels/tail-inl.h"
#include "sparse/schedule.h"

HWY_BEFORE_NAMESPACE();
namespace pantile::sparse::HWY_NAMESPACE {

/// Edges between a row and the column ids and weights prefetched beside it.
inline constexpr int64_t kStreamAhead = 1024;

/// Vectors per panel: 8 accumulators and their operands fit 16 registers; 12 gained nothing beyond noise.
inline constexpr int kPanel = 8;

/// Where the NV vectors of a panel lie in a row of features. The last vector of a row that is no multiple of the vector
/// length starts early, at width - lanes, and computes some features twice: whole loads and stores, no masks, the same
/// bits. Only rows shorter than one vector are partial: `count` lanes.
struct Place {
  size_t first = 0, last = 0, count = 0;
};
template <int NV, class D>
HWY_INLINE size_t offset(const Place& p, int j) {
  return j == NV - 1 ? p.last - p.first : static_cast<size_t>(j) * hn::Lanes(D());
}

/// Independent chains of a narrow panel, so that the latency of an addition does not bound it.
constexpr int chains(int nv) { return nv == 1 ? 4 : nv <= 3 ? 2 : 1; }

struct Sum {
  template <class D>
  static HWY_INLINE hn::Vec<D> start(D d) {
    return hn::Zero(d);
  }
  template <class D, class V>
  static HWY_INLINE V step(D, V acc, V x) {
    return hn::Add(acc, x);
  }
  template <class D, class V>
  static HWY_INLINE V step(D, V acc, V w, V x) {
    return hn::MulAdd(w, x, acc);
  }
};
/// NaN wins: it replaces any number and nothing replaces it. Of equal values the first stays.
template <bool kMax>
struct Extreme {
  template <class D>
  static HWY_INLINE hn::Vec<D> start(D d) {
    using A = hn::TFromD<D>;
    return hn::Set(d, kMax ? -std::numeric_limits<A>::infinity() : std::numeric_limits<A>::infinity());
  }
  template <class D, class V>
  static HWY_INLINE V step(D, V acc, V x) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
    const V best =
        kMax ? hn::Max(x, acc) : hn::Min(x, acc);  // the instruction gives its second operand, acc, when one is NaN
    return hn::IfThenElse(hn::IsNaN(x), x, best);
#else
    const auto better = kMax ? hn::Gt(x, acc) : hn::Lt(x, acc);
    return hn::IfThenElse(hn::Or(better, hn::IsNaN(x)), x, acc);
#endif
  }
  template <class D, class V>
  static HWY_INLINE V step(D d, V acc, V w, V x) {
    return step(d, acc, hn::Mul(w, x));
  }
};

/// Asks for the cache lines of values that are due a unit later. Rows of a unit are walked by degree, so its column ids
/// and weights are read in short jumps that the hardware does not foresee.
HWY_INLINE void fetch_stream(const void* from, size_t bytes) {
  const char* p = static_cast<const char*>(from);
  for (size_t byte = 0; byte < bytes; byte += 64) hwy::Prefetch(p + byte);
  asm volatile("");  // GCC 12 would delete a function that only prefetches
}

/// No weights.
template <class T>
struct NoWeight {
  static constexpr bool kNone = true, kUniform = true;  ///< kUniform: one weight for all lanes of a row
  NoWeight(const SpmmArgs&, const Place&) {}
  HWY_INLINE void fetch(int64_t, size_t) const {}  ///< the weights of edges that are due later
  HWY_INLINE int at(int64_t) const { return 0; }
};
/// One weight per edge, in the order walked: the fast path.
template <class T>
struct EdgeWeight {
  static constexpr bool kNone = false, kUniform = true;
  using V = hn::Vec<Tag<T>>;
  EdgeWeight(const SpmmArgs& a, const Place&) : w(static_cast<const Accumulator<T>*>(a.w)) {}
  HWY_INLINE void fetch(int64_t k, size_t n) const { fetch_stream(w + k, n * sizeof *w); }
  HWY_INLINE V at(int64_t k) const { return hn::Set(Tag<T>(), w[k]); }
  HWY_INLINE V vector(V state, int) const { return state; }
  const Accumulator<T>* w;
};
/// One number per edge: its weight, or 1, looked up through perm if there is one, times the scale of its column if
/// there is one.
template <class T>
struct ScaledWeight {
  static constexpr bool kNone = false, kUniform = true;
  using A = Accumulator<T>;
  using V = hn::Vec<Tag<T>>;
  ScaledWeight(const SpmmArgs& a, const Place&)
      : w(static_cast<const A*>(a.w)), scale(static_cast<const A*>(a.source_scale)), col(a.csr.col), perm(a.perm) {}
  HWY_INLINE void fetch(int64_t k, size_t n) const {
    if (perm != nullptr)
      fetch_stream(perm + k, n * sizeof *perm);
    else if (w != nullptr)
      fetch_stream(w + k, n * sizeof *w);
  }
  HWY_INLINE V at(int64_t k) const {
    const A s = scale == nullptr ? A{1} : scale[col[k]];
    return hn::Set(Tag<T>(), w == nullptr ? s : s * w[perm == nullptr ? k : perm[k]]);
  }
  HWY_INLINE V vector(V state, int) const { return state; }
  const A *w, *scale;
  const int32_t* col;
  const int64_t* perm;
};
/// Everything: one weight per edge and head, perm, scale. The weights that a vector of features needs are permuted to
/// its lanes from one load: of the whole row of heads when it fits a vector, else of the heads from `base` on.
template <class T, int NV>
struct HeadWeight {
  static constexpr bool kNone = false, kUniform = false;
  using A = Accumulator<T>;
  using D = Tag<T>;
  using V = hn::Vec<D>;
  using Index = std::conditional_t<sizeof(A) == 8, int64_t, int32_t>;
  struct State {
    V row, scale;
    const A* at;
  };
  HeadWeight(const SpmmArgs& a, const Place& p)
      : w(static_cast<const A*>(a.w)),
        scale(static_cast<const A*>(a.source_scale)),
        col(a.csr.col),
        perm(a.perm),
        heads(static_cast<size_t>(a.heads)),
        wide(heads > hn::Lanes(D())) {
    const size_t lanes = hn::Lanes(D()), dim = static_cast<size_t>(a.width / a.heads);
    for (int j = 0; j < NV; ++j) {
      HWY_ALIGN Index index[HWY_MAX_BYTES / sizeof(A)];
      const size_t feature = p.first + offset<NV, D>(p, j);
      base[j] = wide ? std::min(feature / dim, heads - lanes) : 0;
      for (size_t i = 0; i < lanes; ++i)
        index[i] = static_cast<Index>(std::min((feature + i) / dim, heads - 1) - base[j]);
      table[j] = hn::SetTableIndices(D(), index);
    }
  }
  HWY_INLINE void fetch(int64_t k, size_t n) const {
    if (perm != nullptr)
      fetch_stream(perm + k, n * sizeof *perm);
    else
      fetch_stream(w + static_cast<size_t>(k) * heads, n * heads * sizeof *w);
  }
  HWY_INLINE State at(int64_t k) const {
    const D d;
    State s{hn::Zero(d), hn::Set(d, scale == nullptr ? A{1} : scale[col[k]]),
            w + static_cast<size_t>(perm == nullptr ? k : perm[k]) * heads};
    if (!wide) s.row = hn::Mul(heads < hn::Lanes(d) ? load_partial(d, s.at, heads) : hn::LoadU(d, s.at), s.scale);
    return s;
  }
  HWY_INLINE V vector(const State& s, int j) const {
    if (!wide) return hn::TableLookupLanes(s.row, table[j]);
    return hn::Mul(hn::TableLookupLanes(hn::LoadU(D(), s.at + base[j]), table[j]), s.scale);
  }
  const A *w, *scale;
  const int32_t* col;
  const int64_t* perm;
  size_t heads;
  bool wide;
  size_t base[NV];
  decltype(hn::SetTableIndices(D(), static_cast<const Index*>(nullptr))) table[NV];
};

/// The weights above as templates of the panel's width alone, the form in which run_units takes them.
template <class T>
struct Weights {
  template <int NV>
  using None = NoWeight<T>;
  template <int NV>
  using Edge = EdgeWeight<T>;
  template <int NV>
  using Scaled = ScaledWeight<T>;
  template <int NV>
  using Heads = HeadWeight<T, NV>;
};

/// Writes a finished row as it is.
template <class T>
struct Store {
  static constexpr bool kBegins = false;  ///< true: begin(place, i, acc) says what row i starts from, instead of 0
  using V = hn::Vec<Tag<T>>;
  Store(const SpmmArgs&, const Place&) {}
  HWY_INLINE void ahead(int64_t, size_t, size_t) const {
  }  ///< some rows before row i is due: the panel's first feature and bytes
  HWY_INLINE V row(int64_t, int64_t) const { return hn::Zero(Tag<T>()); }  ///< per row: what `finish` needs
  template <int NV, bool kPartial>
  HWY_INLINE void finish(const Place&, V, V*) const {}
};
/// Divides by the number of edges.
template <class T>
struct StoreMean {
  static constexpr bool kBegins = false;
  using A = Accumulator<T>;
  using V = hn::Vec<Tag<T>>;
  StoreMean(const SpmmArgs&, const Place&) {}
  HWY_INLINE void ahead(int64_t, size_t, size_t) const {}
  HWY_INLINE V row(int64_t, int64_t degree) const {
    return hn::Set(Tag<T>(), A{1} / static_cast<A>(std::max<int64_t>(degree, 1)));
  }
  template <int NV, bool kPartial>
  HWY_INLINE void finish(const Place&, V inverse, V* acc) const {
    for (int j = 0; j < NV; ++j) acc[j] = hn::Mul(acc[j], inverse);
  }
};

/// Divides by the number of edges if the reduction is a mean: one multiplication a row too many for half the code.
template <class T>
struct StoreEither : StoreMean<T> {
  StoreEither(const SpmmArgs& a, const Place& p) : StoreMean<T>(a, p), mean(a.reduce == Reduce::mean) {}
  HWY_INLINE hn::Vec<Tag<T>> row(int64_t i, int64_t degree) const { return StoreMean<T>::row(i, mean ? degree : 1); }
  bool mean;
};

template <bool kPartial, class D, class T>
HWY_INLINE hn::Vec<D> load_lanes(D d, const T* p, size_t count) {
  if constexpr (kPartial) return load_partial(d, p, count);
  return load(d, p);
}
template <bool kPartial, class D, class T>
HWY_INLINE void store_lanes(D d, hn::Vec<D> v, T* p, size_t count) {
  if constexpr (kPartial) return store_partial(d, v, p, count);
  store(d, v, p);
}

/// bf16 rows are read two vectors of floats at a time: a shift leaves the even elements of a whole load, a mask the odd
/// ones, where widening in order would cost a shuffle for every vector. Accumulators 2j and 2j + 1 of such a panel hold
/// the even and the odd lanes of pair j until the row is done. Pair j begins here; the last one ends with the row, so a
/// row must have two vectors at least.
template <class T, int NV, bool kPartial, class W, class Finish>
inline constexpr bool kPairs = HWY_TARGET != HWY_SCALAR&& std::is_same_v<T, BFloat16>&& NV % 2 == 0 && !kPartial &&
                               W::kUniform && !Finish::kBegins;
template <int NV, class D>
HWY_INLINE ptrdiff_t pair_offset(const Place& p, int j) {
  const ptrdiff_t lanes = static_cast<ptrdiff_t>(hn::Lanes(D()));
  return j == NV / 2 - 1 ? static_cast<ptrdiff_t>(p.last) - static_cast<ptrdiff_t>(p.first) - lanes : 2 * j * lanes;
}

/// One edge into the accumulators s. `next` is the column whose row is prefetched: only this panel's lines. The
/// prefetch stands beside a real effect, because GCC 12 takes a function that does nothing else for a pure one and
/// deletes it.
template <class Op, int NV, bool kPartial, bool kPaired, class T, class W>
HWY_INLINE void add_edge(const T* x, size_t stride, const Place& p, const W& w, int64_t k, int32_t column, int32_t next,
                         hn::Vec<Tag<T>>* s) {
  const Tag<T> d;
  const char* ahead = reinterpret_cast<const char*>(x + static_cast<size_t>(next) * stride);
  for (size_t byte = 0; byte < NV * hn::Lanes(d) * sizeof(T); byte += 64) hwy::Prefetch(ahead + byte);
  const T* row = x + static_cast<size_t>(column) * stride;
  [[maybe_unused]] const auto state = w.at(k);
  const auto add = [&](int j, hn::Vec<Tag<T>> v) HWY_ATTR {
    if constexpr (W::kNone) {
      s[j] = Op::step(d, s[j], v);
    } else {
      s[j] = Op::step(d, s[j], w.vector(state, j), v);
    }
  };
  if constexpr (kPaired) {
    for (int j = 0; j < NV / 2; ++j) {
      hn::Vec<Tag<T>> even, odd;
      load_pair(d, row + pair_offset<NV, Tag<T>>(p, j), even, odd);
      add(2 * j, even);
      add(2 * j + 1, odd);
    }
  } else {
    for (int j = 0; j < NV; ++j) add(j, load_lanes<kPartial>(d, row + offset<NV, Tag<T>>(p, j), p.count));
  }
}

/// The edges [b, e) into acc[0 .. NV), which holds what to begin with when kBegun. ahead[t] is the column prefetched
/// beside edge b + t.
template <class Op, int NV, bool kPartial, bool kBegun, bool kPaired, class T, class W>
HWY_INLINE void gather(const T* x, size_t stride, const Place& p, const W& w, const int32_t* col, const int32_t* ahead,
                       int64_t b, int64_t e, hn::Vec<Tag<T>>* acc) {
  constexpr int kChains = chains(NV);
  const Tag<T> d;
  hn::Vec<Tag<T>> s[kChains][NV];
  for (int u = 0; u < kChains; ++u)
    for (int j = 0; j < NV; ++j) s[u][j] = kBegun && u == 0 ? acc[j] : Op::start(d);
  int64_t k = b;
  for (; k + kChains <= e; k += kChains)
    for (int u = 0; u < kChains; ++u)
      add_edge<Op, NV, kPartial, kPaired>(x, stride, p, w, k + u, col[k + u], ahead[k + u - b], s[u]);
  if constexpr (kChains > 1)
    for (; k < e; ++k) add_edge<Op, NV, kPartial, kPaired>(x, stride, p, w, k, col[k], ahead[k - b], s[0]);
  for (int j = 0; j < NV; ++j) {  // a fixed tree: the sum depends on the row and the width only
    acc[j] = s[0][j];
    if constexpr (kChains == 2) acc[j] = Op::step(d, s[0][j], s[1][j]);
    if constexpr (kChains == 4) acc[j] = Op::step(d, Op::step(d, s[0][j], s[1][j]), Op::step(d, s[2][j], s[3][j]));
  }
}

template <int NV, bool kPartial, bool kPaired = false, class T, class Finish>
HWY_INLINE void finish_row(const Finish& finish, const Place& p, int64_t i, int64_t degree, hn::Vec<Tag<T>>* acc,
                           T* y) {
  const Tag<T> d;
  finish.template finish<NV, kPartial>(p, finish.row(i, degree), acc);
  if constexpr (kPaired) {
    for (int j = 0; j < NV / 2; ++j)
      store_pair(d, acc[2 * j], acc[2 * j + 1], y + p.first + pair_offset<NV, Tag<T>>(p, j));
    return;
  }
  for (int j = 0; j < NV; ++j) store_lanes<kPartial>(d, acc[j], y + p.first + offset<NV, Tag<T>>(p, j), p.count);
}

/// One panel of one unit.
template <class Op, class Finish, int NV, bool kPartial, class T, class W>
HWY_NOINLINE void run_panel(const SpmmArgs& a, const Unit& u, const Place p) {
  using A = Accumulator<T>;
  const Tag<T> d;
  const W w(a, p);
  const Finish finish(a, p);
  const T* const x = static_cast<const T*>(a.x) + p.first;
  T* const y = static_cast<T*>(a.y);
  const size_t x_stride = static_cast<size_t>(a.x_stride), y_stride = static_cast<size_t>(a.y_stride);
  const int64_t* const ptr = a.csr.ptr;
  const int32_t* const col = a.csr.col;
  const int64_t edges = ptr[a.csr.rows], distance = a.prefetch;
  constexpr bool kPaired = kPairs<T, NV, kPartial, W, Finish>;
  hn::Vec<Tag<T>> acc[NV];
  if (u.slot >= 0) {
    const int64_t ahead = std::min(u.edge + distance, edges - (u.edge_end - u.edge));
    gather<Op, NV, kPartial, false, kPaired>(x, x_stride, p, w, col, col + ahead, u.edge, u.edge_end, acc);
    A* const part = static_cast<A*>(a.part) + static_cast<size_t>(u.slot) * static_cast<size_t>(a.width);
    if constexpr (kPaired) {
      for (int j = 0; j < NV / 2; ++j)
        hn::StoreInterleaved2(acc[2 * j], acc[2 * j + 1], d, part + p.first + pair_offset<NV, Tag<T>>(p, j));
    } else {
      for (int j = 0; j < NV; ++j) store_lanes<kPartial>(d, acc[j], part + p.first + offset<NV, Tag<T>>(p, j), p.count);
    }
    return;
  }
  const int32_t* const order = a.schedule->order.data();
  int64_t s = u.row;
  for (; s < u.row_end && ptr[order[s] + 1] == ptr[order[s]]; ++s) {  // an empty row gives 0 for every reduction
    for (int j = 0; j < NV; ++j) acc[j] = hn::Zero(d);
    if constexpr (Finish::kBegins) finish.template begin<NV, kPartial>(p, order[s], acc);
    finish_row<NV, kPartial>(finish, p, order[s], 0, acc, y + static_cast<size_t>(order[s]) * y_stride);
  }
  // Rows sorted by degree look ahead by rows, since the next row in this order is as long as this one; else by edges.
  const bool sorted = sorted_by_degree(u);
  const int64_t rows_ahead =
      std::max<int64_t>(1, distance * (u.row_end - s) / std::max<int64_t>(1, u.edge_end - u.edge));
  int64_t stream = u.edge + kStreamAhead;
  for (; s < u.row_end; ++s) {
    const int64_t i = order[s], b = ptr[i], e = ptr[i + 1];
    const int64_t due = std::min(stream, edges - (e - b));
    fetch_stream(col + due, static_cast<size_t>(e - b) * sizeof *col);
    w.fetch(due, static_cast<size_t>(e - b));
    stream += e - b;
    const int64_t next = order[std::min(s + rows_ahead, a.csr.rows - 1)], ahead = sorted ? ptr[next] : b + distance;
    finish.ahead(next, p.first, NV * hn::Lanes(d) * sizeof(T));
    if constexpr (Finish::kBegins) finish.template begin<NV, kPartial>(p, i, acc);
    gather<Op, NV, kPartial, Finish::kBegins, kPaired>(x, x_stride, p, w, col, col + std::min(ahead, edges - (e - b)),
                                                       b, e, acc);
    finish_row<NV, kPartial, kPaired>(finish, p, i, e - b, acc, y + static_cast<size_t>(i) * y_stride);
  }
}

/// Calls body.template operator()<NV, kPartial>(place) for every panel of a row of `width` features: panels of at most
/// kMax vectors, split evenly (13 = 7 + 6). Where vectors have one lane, only panels of 1 and kMax are compiled.
template <int kMax, class D, class Body>
HWY_INLINE void for_panels(D d, size_t width, Body& body) {
  const size_t lanes = hn::Lanes(d);
  if (width == 0) return;
  if (width < lanes) return body.template operator()<1, true>(Place{0, 0, width});
  const size_t vectors = (width + lanes - 1) / lanes, panels = (vectors + kMax - 1) / kMax, base = vectors / panels,
               more = vectors % panels;
  size_t v = 0;
#if HWY_TARGET == HWY_SCALAR
  for (; v + kMax <= vectors; v += kMax) body.template operator()<kMax, false>(Place{v, v + kMax - 1, 0});
  for (; v < vectors; ++v) body.template operator()<1, false>(Place{v, v, 0});
  static_cast<void>(base + more);
#else
  for (size_t q = 0; q < panels; ++q) {
    const size_t nv = base + (q < more ? 1 : 0);
    const Place p{v * lanes, std::min((v + nv - 1) * lanes, width - lanes), 0};
    switch (nv) {
      case 1:
        body.template operator()<1, false>(p);
        break;
      case 2:
        body.template operator()<2, false>(p);
        break;
      case 3:
        body.template operator()<3, false>(p);
        break;
      case 4:
        body.template operator()<4, false>(p);
        break;
      default:
        if constexpr (kMax > 4) {
          if (nv == 5) body.template operator()<5, false>(p);
          if (nv == 6) body.template operator()<6, false>(p);
          if (nv == 7) body.template operator()<7, false>(p);
          if (nv == 8) body.template operator()<8, false>(p);
        }
    }
    v += nv;
  }
#endif
}

template <class Op, class Finish, class T, template <int> class W>
struct UnitBody {
  const SpmmArgs& a;
  const Unit& u;
  template <int NV, bool kPartial>
  HWY_INLINE void operator()(const Place& p) {
    run_panel<Op, Finish, NV, kPartial, T, W<NV>>(a, u, p);
  }
};

/// The units [first, last). Panels lie inside the unit: its column indices stay in L1 and its pages in the TLB between
/// them.
template <class Op, class Finish, class T, template <int> class W, int kMax = kPanel>
void run_units(const SpmmArgs& a, int64_t first, int64_t last) {
  for (int64_t q = first; q < last; ++q) {
    UnitBody<Op, Finish, T, W> body{a, a.schedule->units[static_cast<size_t>(q)]};
    if constexpr (std::is_same_v<T, BFloat16>) {
      if (static_cast<size_t>(a.width) < 2 * hn::Lanes(Tag<T>())) {  // no room for a pair
        for_panels<1>(Tag<T>(), static_cast<size_t>(a.width), body);
        continue;
      }
    }
    for_panels<kMax>(Tag<T>(), static_cast<size_t>(a.width), body);
  }
}

template <class Op, class Finish, class T>
struct FoldBody {
  const SpmmArgs& a;
  const Hub& hub;
  template <int NV, bool kPartial>
  HWY_INLINE void operator()(const Place& p) {
    using A = Accumulator<T>;
    const Tag<T> d;
    const size_t width = static_cast<size_t>(a.width);
    const A* part = static_cast<const A*>(a.part) + static_cast<size_t>(hub.slot) * width + p.first;
    hn::Vec<Tag<T>> acc[NV];
    for (int j = 0; j < NV; ++j) acc[j] = load_lanes<kPartial>(d, part + offset<NV, Tag<T>>(p, j), p.count);
    for (int32_t s = 1; s < hub.count; ++s) {
      part += width;
      for (int j = 0; j < NV; ++j)
        acc[j] = Op::step(d, acc[j], load_lanes<kPartial>(d, part + offset<NV, Tag<T>>(p, j), p.count));
    }
    const Finish finish(a, p);
    if constexpr (Finish::kBegins) {
      hn::Vec<Tag<T>> begun[NV];
      finish.template begin<NV, kPartial>(p, hub.row, begun);
      for (int j = 0; j < NV; ++j) acc[j] = hn::Add(begun[j], acc[j]);
    }
    const int64_t degree = a.csr.ptr[hub.row + 1] - a.csr.ptr[hub.row];
    finish_row<NV, kPartial>(finish, p, hub.row, degree, acc,
                             static_cast<T*>(a.y) + static_cast<size_t>(hub.row) * static_cast<size_t>(a.y_stride));
  }
};
/// Adds up the partial rows of every hub in slot order.
template <class Op, class Finish, class T>
void fold_hubs(const SpmmArgs& a) {
  for (const Hub& hub : a.schedule->hubs) {
    FoldBody<Op, Finish, T> body{a, hub};
    for_panels<1>(Tag<T>(), static_cast<size_t>(a.width), body);
  }
}

}  // namespace pantile::sparse::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
