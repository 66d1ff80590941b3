#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "graph/graph_cases.h"
#include "pantile/graph/coalesce.h"

namespace pantile {
namespace {

/// Multigraphs with duplicates, loops, isolated nodes, zero edges and zero nodes.
Edges any_edges(bool square) {
  Edges e;
  e.rows = *rc::gen::inRange<int64_t>(0, 12);
  e.cols = square ? e.rows : *rc::gen::inRange<int64_t>(0, 40);
  if (e.rows == 0 || e.cols == 0) return e;
  const auto pairs = *rc::gen::container<std::vector<std::pair<int64_t, int64_t>>>(
      rc::gen::pair(rc::gen::inRange<int64_t>(0, e.cols), rc::gen::inRange<int64_t>(0, e.rows)));
  for (const auto& [s, d] : pairs) {
    e.src.push_back(s);
    e.dst.push_back(d);
  }
  return e;
}

using Pairs = std::multiset<std::pair<int64_t, int64_t>>;  // (row, col)
Pairs pairs_of(const Csr& a) {
  Pairs pairs;
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) pairs.emplace(r, a.col[k]);
  }
  return pairs;
}

void assert_valid(const Graph& g) {
  const Csr a = g.csr();
  RC_ASSERT(a.ptr[0] == 0);
  for (int64_t r = 0; r < a.rows; ++r) {
    RC_ASSERT(a.ptr[r] <= a.ptr[r + 1]);
    for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) {
      RC_ASSERT((a.col[k] >= 0 && a.col[k] < a.cols));
      RC_ASSERT((k == a.ptr[r] || a.col[k - 1] <= a.col[k]));
    }
  }
  RC_ASSERT((g.edge_id().empty() || static_cast<int64_t>(g.edge_id().size()) == g.edges()));
}

/// Edges of a changed graph that stem from `before` must join the same ends; the others are numbered on in row order.
void assert_ids_refer_to(const Graph& changed, const Graph& before) {
  const auto ids = ids_of(changed);
  std::vector<std::pair<int64_t, int64_t>> ends;
  const Csr a = before.csr(), c = changed.csr();
  for (int64_t r = 0; r < a.rows; ++r) {
    for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) ends.emplace_back(r, a.col[k]);
  }
  int64_t next_new = before.edges();
  std::set<int64_t> seen;
  for (int64_t r = 0; r < c.rows; ++r) {
    for (int64_t k = c.ptr[r]; k < c.ptr[r + 1]; ++k) {
      const int64_t id = ids[static_cast<size_t>(k)];
      RC_ASSERT(seen.insert(id).second);
      if (id < before.edges()) {
        RC_ASSERT((ends[static_cast<size_t>(id)] == std::pair<int64_t, int64_t>(r, c.col[k])));
      } else {
        RC_ASSERT(id == next_new);
        ++next_new;
      }
    }
  }
}

// RC_ASSERT takes its expression apart and evaluates both sides of && and ||; hence the second pair of parentheses
// above.
#define EXPECT_HOLDS(...) EXPECT_TRUE(rc::check(__VA_ARGS__))

TEST(GraphProperties, BuilderEqualsStableSort) {
  EXPECT_HOLDS([] {
    const Edges e = any_edges(false);
    const Graph g = graph_of(e);
    const NaiveGraph naive(e);
    assert_valid(g);
    RC_ASSERT(copy(g.ptr()) == naive.ptr);
    RC_ASSERT(copy(g.col()) == naive.col);
    RC_ASSERT(ids_of(g) == naive.order);
  });
}

TEST(GraphProperties, CsrRoundTripKeepsThePattern) {
  EXPECT_HOLDS([] {
    const Graph g = graph_of(any_edges(false));
    const Graph again = *Graph::from_csr(g.rows(), g.cols(), g.ptr(), g.col());
    RC_ASSERT(again.fingerprint() == g.fingerprint());
    RC_ASSERT(again.edge_id().empty());
  });
}

TEST(GraphProperties, TransposedPermutationAscendsInsideRowsAndPointsAtTheSameEdge) {
  EXPECT_HOLDS([] {
    const Graph g = graph_of(any_edges(false));
    const Transposed& t = g.transposed();
    RC_ASSERT((t.csr.rows == g.cols() && t.csr.cols == g.rows() && t.csr.edges() == g.edges()));
    for (int64_t j = 0; j < t.csr.rows; ++j) {
      for (int64_t k = t.csr.ptr[j]; k < t.csr.ptr[j + 1]; ++k) {
        const int64_t p = t.perm[k];
        const int64_t row = t.csr.col[k];
        RC_ASSERT((g.csr().col[p] == j && g.csr().ptr[row] <= p && p < g.csr().ptr[row + 1]));
        RC_ASSERT((k == t.csr.ptr[j] || t.perm[k - 1] < p));
      }
    }
  });
}

TEST(GraphProperties, ReversedTwiceIsTheGraphItself) {
  EXPECT_HOLDS([] {
    const Graph g = graph_of(any_edges(false));
    const Graph r = *g.reversed();
    assert_valid(r);
    RC_ASSERT((same_graph(*r.reversed()->reversed(), r) || !r.edge_id().empty()));
    RC_ASSERT(r.reversed()->fingerprint() == g.fingerprint());
    Pairs exchanged;
    for (const auto& [a, b] : pairs_of(g.csr())) exchanged.emplace(b, a);
    RC_ASSERT(pairs_of(r.csr()) == exchanged);
  });
}

TEST(GraphProperties, SymmetrisedIsTheUnionWithTheTransposeWithoutDuplicates) {
  EXPECT_HOLDS([] {
    const Graph g = graph_of(any_edges(true));
    const Graph s = *g.symmetrised();
    assert_valid(s);
    assert_ids_refer_to(s, g);
    std::set<std::pair<int64_t, int64_t>> expected;
    for (const auto& [a, b] : pairs_of(g.csr())) expected.insert({{a, b}, {b, a}});
    RC_ASSERT(pairs_of(s.csr()) == Pairs(expected.begin(), expected.end()));
    RC_ASSERT(s.profile().symmetric);
    RC_ASSERT(s.profile().duplicates == 0);
  });
}

TEST(GraphProperties, SelfLoopFunctionsAddAndRemoveExactlyLoops) {
  EXPECT_HOLDS([] {
    const Graph g = graph_of(any_edges(true));
    const Graph with = *g.with_self_loops(), rest = *g.with_remaining_self_loops(), without = *g.without_self_loops();
    for (const Graph* changed : {&with, &rest, &without}) {
      assert_valid(*changed);
      assert_ids_refer_to(*changed, g);
    }
    const Pairs before = pairs_of(g.csr());
    Pairs expect_with = before, expect_rest = before, expect_without;
    for (int64_t i = 0; i < g.rows(); ++i) {
      expect_with.emplace(i, i);
      if (!before.contains({i, i})) expect_rest.emplace(i, i);
    }
    for (const auto& p : before) {
      if (p.first != p.second) expect_without.insert(p);
    }
    RC_ASSERT(pairs_of(with.csr()) == expect_with);
    RC_ASSERT(pairs_of(rest.csr()) == expect_rest);
    RC_ASSERT(pairs_of(without.csr()) == expect_without);
    RC_ASSERT(without.profile().self_loops == 0);
    RC_ASSERT(without.with_self_loops()->fingerprint() == without.with_remaining_self_loops()->fingerprint());
  });
}

TEST(GraphProperties, CoalesceFoldsEachPairOnce) {
  EXPECT_HOLDS([] {
    const Graph g = graph_of(any_edges(false));
    std::vector<float> w(static_cast<size_t>(g.edges()));
    for (float& x : w) x = static_cast<float>(*rc::gen::inRange(-9, 10));
    std::map<std::pair<int64_t, int64_t>, std::vector<float>> groups;
    const Csr a = g.csr();
    for (int64_t r = 0; r < a.rows; ++r) {
      for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; ++k) groups[{r, a.col[k]}].push_back(w[static_cast<size_t>(k)]);
    }
    for (const Coalesce how : {Coalesce::sum, Coalesce::mean, Coalesce::min, Coalesce::max, Coalesce::first}) {
      const Coalesced c = *coalesce(g, w, how);
      assert_valid(c.graph);
      RC_ASSERT(c.graph.edges() == static_cast<int64_t>(groups.size()));
      RC_ASSERT(c.graph.edge_id().empty());
      int64_t k = 0;
      for (const auto& [pair, members] : groups) {
        const double sum = std::accumulate(members.begin(), members.end(), 0.0);
        const double expected = how == Coalesce::sum    ? sum
                                : how == Coalesce::mean ? sum / static_cast<double>(members.size())
                                : how == Coalesce::min  ? *std::min_element(members.begin(), members.end())
                                : how == Coalesce::max  ? *std::max_element(members.begin(), members.end())
                                                        : members.front();
        RC_ASSERT(c.graph.col()[static_cast<size_t>(k)] == pair.second);
        RC_ASSERT(c.weights[k] == static_cast<float>(expected));
        ++k;
      }
    }
  });
}

TEST(GraphProperties, ProfileCountsMatchTheNaiveOnes) {
  EXPECT_HOLDS([] {
    const Edges e = any_edges(*rc::gen::arbitrary<bool>());
    const Graph g = graph_of(e);
    const GraphProfile& p = g.profile();
    std::vector<int64_t> in(static_cast<size_t>(e.rows)), out(static_cast<size_t>(e.cols));
    std::set<std::pair<int64_t, int64_t>> distinct;
    int64_t loops = 0;
    for (size_t i = 0; i < e.src.size(); ++i) {
      ++in[static_cast<size_t>(e.dst[i])];
      ++out[static_cast<size_t>(e.src[i])];
      distinct.emplace(e.dst[i], e.src[i]);
      loops += e.src[i] == e.dst[i];
    }
    const Pairs pairs = pairs_of(g.csr());
    Pairs exchanged;
    for (const auto& [a, b] : pairs) exchanged.emplace(b, a);
    std::sort(in.begin(), in.end());
    RC_ASSERT(p.empty_rows == std::count(in.begin(), in.end(), 0));
    RC_ASSERT(p.empty_cols == std::count(out.begin(), out.end(), 0));
    RC_ASSERT(p.self_loops == (e.rows == e.cols ? loops : 0));
    RC_ASSERT(p.duplicates == g.edges() - static_cast<int64_t>(distinct.size()));
    RC_ASSERT(p.max_degree == (in.empty() ? 0 : in.back()));
    RC_ASSERT(p.median_degree == (in.empty() ? 0 : in[(in.size() - 1) / 2]));
    RC_ASSERT((p.symmetric == (e.rows == e.cols && pairs == exchanged)));
  });
}

TEST(GraphProperties, EqualPatternsHaveEqualFingerprintsAndOthersDiffer) {
  EXPECT_HOLDS([] {
    const Edges e = any_edges(false), f = any_edges(false);
    const Graph g = graph_of(e), h = graph_of(f);
    const bool same = g.rows() == h.rows() && g.cols() == h.cols() && std::ranges::equal(g.ptr(), h.ptr()) &&
                      std::ranges::equal(g.col(), h.col());
    RC_ASSERT(same == (g.fingerprint() == h.fingerprint()));
  });
}

}  // namespace
}  // namespace pantile
