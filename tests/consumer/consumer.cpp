#include <pantile/graph/graph.h>
#include <pantile/sparse/spmm.h>
#include <cstdint>
#include <cstdio>
#include <vector>

// Two edges into node 0 and one into node 2: sums that can be checked by eye.
int main() {
  const std::vector<int64_t> src = {1, 2, 0}, dst = {0, 0, 2};
  const auto graph = pantile::Graph::from_edges(src, dst, 3, 3);
  if (!graph) return std::puts(graph.error().message.c_str()), 1;
  std::vector<float> x = {1, 10, 100}, y(3, -1);
  using namespace pantile::sparse;
  const auto done = spmm(Plan::of(*graph), Direction::by_row, Reduce::sum, pantile::matrix_of(x.data(), 3, 1),
                         EdgeValues{}, pantile::matrix_of(y.data(), 3, 1));
  if (!done) return std::puts(done.error().message.c_str()), 1;
  std::printf("%g %g %g\n", y[0], y[1], y[2]);
  return y == std::vector<float>{110, 0, 1} ? 0 : 1;
}
