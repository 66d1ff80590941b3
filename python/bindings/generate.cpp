#include <pantile/graph/generate.h>

#include <cstring>

#include "bindings.h"

namespace pantile::python {
namespace {

PyGraph wrap(Graph graph) {
  sparse::Plan plan = sparse::Plan::of(graph);
  return {std::move(graph), std::move(plan), nullptr, true};
}

}  // namespace

void bind_generate(nb::module_& m) {
  m.def("generate_rmat", [](int scale, int edge_factor, double a, double b, double c, bool simple, uint64_t seed) {
    return wrap(*run(0, [&] { return generate_rmat({scale, edge_factor, a, b, c, simple, seed}); }));
  });
  m.def("generate_community",
        [](int64_t nodes, int degree, int community, double inside, bool scramble, bool simple, uint64_t seed) {
          return wrap(*run(0, [&] {
            return generate_community({nodes, degree, community, inside, scramble, simple, seed});
          }));
        });
  m.def("generate_sbm", [](int64_t nodes, int blocks, double degree_in, double degree_out, uint64_t seed) {
    auto sbm = run(0, [&] { return generate_sbm({nodes, blocks, degree_in, degree_out, seed}); });
    return nb::make_tuple(wrap(std::move(sbm->graph)), std::move(sbm->labels));
  });
  m.def("generate_grid", [](int64_t width, int64_t height, int neighbours) {
    return wrap(*run(0, [&] { return generate_grid(width, height, neighbours); }));
  });
  m.def("nearest_neighbours", [](const nb::tuple& x, int k, int metric, bool symmetric, bool progress) {
    const Matrix points = matrix(x);
    const auto bar = make_progress(progress ? ProgressStyle::automatic : ProgressStyle::quiet);
    return wrap(
        *run(0, [&] { return nearest_neighbours(points, k, static_cast<Metric>(metric), symmetric, bar.get()); }));
  });
}

}  // namespace pantile::python
