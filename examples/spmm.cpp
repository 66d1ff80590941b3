// Sums, means and their gradient on a graph of four nodes.
#include <pantile/graph/graph.h>
#include <pantile/sparse/spmm.h>

#include <cstdint>
#include <cstdio>
#include <vector>

using namespace pantile;
using sparse::Direction, sparse::EdgeValues, sparse::Plan, sparse::Reduce;

static Status run() {
  // Edges source -> target; row i of the result sums over the edges that end in node i.
  const std::vector<int64_t> source = {1, 2, 3, 0}, target = {0, 0, 0, 2};
  PANTILE_TRY(const Graph graph, Graph::from_edges(source, target, 4, 4));
  const Plan plan = Plan::of(graph);

  std::vector<float> x = {1, 1, 2, 2, 3, 3, 4, 4}, y(8);  // [4, 2] each
  PANTILE_CHECK(
      spmm(plan, Direction::by_row, Reduce::sum, matrix_of(x.data(), 4, 2), EdgeValues{}, matrix_of(y.data(), 4, 2)));
  std::printf("sum   node 0: %g %g   node 1, without edges: %g %g\n", y[0], y[1], y[2], y[3]);

  PANTILE_CHECK(
      spmm(plan, Direction::by_row, Reduce::mean, matrix_of(x.data(), 4, 2), EdgeValues{}, matrix_of(y.data(), 4, 2)));
  std::printf("mean  node 0: %g %g\n", y[0], y[1]);

  std::vector<float> dy(8, 1), dx(8);  // the gradient goes back along the edges
  PANTILE_CHECK(
      spmm_grad_x(plan, Reduce::sum, EdgeValues{}, matrix_of(dy.data(), 4, 2), nullptr, matrix_of(dx.data(), 4, 2)));
  std::printf("grad  node 3: %g %g\n", dx[6], dx[7]);

  // Bad input is an error with a place, not a crash.
  const std::vector<int64_t> wrong = {1, 2, 5000, 0};
  const auto refused = Graph::from_edges(wrong, target, 4, 4);
  std::printf("error %s\n", refused ? "none" : refused.error().message.c_str());
  return {};
}

int main() {
  const Status status = run();
  if (!status) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
