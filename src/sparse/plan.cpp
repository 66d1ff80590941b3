#include <pantile/sparse/plan.h>
#include <chrono>
#include <mutex>

namespace pantile::sparse {

/// Lives in the graph's slot. It must not hold the graph itself: the two would keep each other alive for ever.
struct Plan::State {
  Schedule by_row, by_column;
  double build_seconds = 0;
  std::once_flag column_once;
};

Plan Plan::of(const Graph& g) {
  auto state = g.attached<State>([&] {
    auto made = std::make_shared<State>();
    const auto start = std::chrono::steady_clock::now();
    made->by_row = make_schedule(g.csr());
    made->build_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return made;
  });
  return Plan(g, std::move(state));
}

const Graph& Plan::graph() const { return graph_; }

Csr Plan::csr(Direction d) const { return d == Direction::by_row ? graph_.csr() : graph_.transposed().csr; }

const int64_t* Plan::perm(Direction d) const { return d == Direction::by_row ? nullptr : graph_.transposed().perm; }

const Schedule& Plan::schedule(Direction d) const {
  if (d == Direction::by_row) return state_->by_row;
  std::call_once(state_->column_once, [&] { state_->by_column = make_schedule(graph_.transposed().csr); });
  return state_->by_column;
}

double Plan::build_seconds() const { return state_->build_seconds; }

}  // namespace pantile::sparse
