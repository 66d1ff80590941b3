#include <pantile/graph/coalesce.h>
#include <pantile/graph/graph.h>
#include <pantile/graph/read.h>
#include <pantile/graph/reorder.h>

#include <cstring>

#include "bindings.h"

namespace pantile::python {
namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class T>
std::span<const T> span_of(const Vector<T>& v) {
  return {v.data(), v.size()};
}

PyGraph wrap(Graph graph, bool identity = false) {
  sparse::Plan plan = sparse::Plan::of(graph);
  return {std::move(graph), std::move(plan), nullptr, identity};
}

/// Builds without the GIL, then wraps.
template <class Build>
PyGraph build(Build&& make, bool identity = false) {
  auto result = [&] {
    nb::gil_scoped_release release;
    return make();
  }();
  return wrap(value_or_raise(std::move(result)), identity);
}

template <class T>
PyGraph from_edges(Vector<T> src, Vector<T> dst, int64_t num_dst, int64_t num_src) {
  return build([&] { return Graph::from_edges(span_of(src), span_of(dst), num_dst, num_src); });
}

template <class T>
PyGraph from_csr(int64_t rows, int64_t cols, Vector<int64_t> ptr, Vector<T> col) {
  return build([&] { return Graph::from_csr(rows, cols, span_of(ptr), span_of(col)); });
}

/// A view of `count` elements at `data` that keeps `owner` alive.
template <class T>
nb::ndarray<nb::numpy, const T> view(const T* data, int64_t count, nb::handle owner) {
  const size_t shape[1] = {static_cast<size_t>(count)};
  return nb::ndarray<nb::numpy, const T>(data, 1, shape, owner);
}

template <class T>
nb::object owned(Array<T> array) {
  auto* kept = new Array<T>(std::move(array));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Array<T>*>(p); });
  const size_t shape[1] = {static_cast<size_t>(kept->size())};
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), 1, shape, owner));
}

nb::object owned(const std::vector<int64_t>& values) {
  auto array = value_or_raise(Array<int64_t>::allocate(static_cast<int64_t>(values.size())));
  if (!values.empty()) std::memcpy(array.data(), values.data(), values.size() * sizeof(int64_t));
  return owned(std::move(array));
}

/// For each edge of a changed graph, the caller's edge number in the graph it came from; new edges count on from
/// edges().
nb::object origin(const PyGraph& from, const Graph& changed) {
  auto array = value_or_raise(Array<int64_t>::allocate(changed.edges()));
  const auto id = changed.edge_id();
  const auto order = from.order();
  for (int64_t k = 0; k < changed.edges(); ++k) {
    const int64_t position = id.empty() ? k : id[static_cast<size_t>(k)];
    const bool old = position < from.graph.edges() && !order.empty();
    array[k] = old ? order[static_cast<size_t>(position)] : position;
  }
  return owned(std::move(array));
}

/// (graph in CSR order, origin)
nb::tuple changed(const PyGraph& from, Result<Graph> (Graph::*change)() const) {
  PyGraph made = build([&] { return (from.graph.*change)(); }, true);
  nb::object map = origin(from, made.graph);
  return nb::make_tuple(std::move(made), std::move(map));
}

nb::dict profile(const PyGraph& g) {
  const GraphProfile* p = nullptr;
  {
    nb::gil_scoped_release release;
    p = &g.graph.profile();
  }
  nb::dict d;
  d["rows"] = p->rows;
  d["cols"] = p->cols;
  d["edges"] = p->edges;
  d["empty_rows"] = p->empty_rows;
  d["empty_cols"] = p->empty_cols;
  d["self_loops"] = p->self_loops;
  d["duplicates"] = p->duplicates;
  d["max_degree"] = p->max_degree;
  d["median_degree"] = p->median_degree;
  d["p99_degree"] = p->p99_degree;
  d["max_out_degree"] = p->max_out_degree;
  d["mean_degree"] = p->mean_degree;
  d["degree_cv"] = p->degree_cv;
  d["symmetric"] = p->symmetric;
  d["mean_column_gap"] = p->mean_column_gap;
  d["distinct_per_8_rows"] = p->distinct_per_8_rows;
  d["bytes"] = p->bytes;
  return d;
}

nb::tuple file_parts(GraphFile file) {
  nb::object weights = file.weights.empty() ? nb::none() : owned(std::move(file.weights));
  return nb::make_tuple(wrap(std::move(file.graph), true), std::move(weights));
}

void bind_files(nb::module_& m) {
  m.def("read_graph",
        [](const std::string& path, const std::string& format, int64_t num_nodes, bool undirected, int64_t base) {
          return file_parts(*run(0, [&] { return read_graph(path, {format, num_nodes, undirected, base}); }));
        });
  m.def("map_graph", [](const std::string& path) { return file_parts(*run(0, [&] { return map_graph(path); })); });
  m.def(
      "write_graph",
      [](const std::string& path, const PyGraph& g, const nb::object& weights, const std::string& format) {
        const Matrix w = matrix_or_none(weights);
        run(0, [&]() -> Status {
          PANTILE_TRY(const EdgeInput in, EdgeInput::make(g, w));
          const auto count = static_cast<size_t>(w.data == nullptr ? 0 : w.rows);
          return write_graph(path, g.graph, {in.csr().as<float>(), count}, format);
        });
      },
      nb::arg("path"), nb::arg("graph"), nb::arg("weights").none(), nb::arg("format"));
}

void bind_changes(nb::class_<PyGraph>& c) {
  c.def("with_self_loops", [](const PyGraph& g) { return changed(g, &Graph::with_self_loops); })
      .def("with_remaining_self_loops", [](const PyGraph& g) { return changed(g, &Graph::with_remaining_self_loops); })
      .def("without_self_loops", [](const PyGraph& g) { return changed(g, &Graph::without_self_loops); })
      .def("reversed", [](const PyGraph& g) { return changed(g, &Graph::reversed); })
      .def("symmetrised", [](const PyGraph& g) { return changed(g, &Graph::symmetrised); })
      .def(
          "coalesce",
          [](const PyGraph& g, const nb::object& weights, int how) {
            const Matrix w = matrix_or_none(weights);
            auto merged = run(0, [&]() -> Result<Coalesced> {
              PANTILE_TRY(const EdgeInput in, EdgeInput::make(g, w));
              const auto count = static_cast<size_t>(w.data == nullptr ? 0 : w.rows);
              return coalesce(g.graph, {in.csr().as<float>(), count}, static_cast<Coalesce>(how));
            });
            return nb::make_tuple(wrap(std::move(merged->graph), true), owned(std::move(merged->weights)));
          },
          nb::arg("weights").none(), nb::arg("how"))
      .def("reorder", [](const PyGraph& g, int how) {
        auto r = run(0, [&] { return reorder(g.graph, static_cast<Reordering>(how)); });
        nb::object map = origin(g, r->graph);
        return nb::make_tuple(wrap(std::move(r->graph), true), std::move(map), owned(r->new_of_old));
      });
}

}  // namespace

void bind_graph(nb::module_& m) {
  nb::class_<PyGraph> c(m, "Graph", nb::dynamic_attr(), nb::is_weak_referenceable());
  c.def_static("from_edges", &from_edges<int64_t>, nb::arg("src").noconvert(), nb::arg("dst").noconvert(),
               nb::arg("num_dst"), nb::arg("num_src"))
      .def_static("from_edges", &from_edges<int32_t>, nb::arg("src").noconvert(), nb::arg("dst").noconvert(),
                  nb::arg("num_dst"), nb::arg("num_src"))
      .def_static("from_csr", &from_csr<int64_t>, nb::arg("rows"), nb::arg("cols"), nb::arg("ptr").noconvert(),
                  nb::arg("col").noconvert())
      .def_static("from_csr", &from_csr<int32_t>, nb::arg("rows"), nb::arg("cols"), nb::arg("ptr").noconvert(),
                  nb::arg("col").noconvert())
      .def("set_order",
           [](PyGraph& g, const Vector<int64_t>& order) {
             if (order.size() != static_cast<size_t>(g.graph.edges()))
               throw nb::value_error("order must have one entry per edge");
             auto copy = value_or_raise(Array<int64_t>::allocate(g.graph.edges()));
             for (int64_t k = 0; k < copy.size(); ++k) {
               if (order(static_cast<size_t>(k)) < 0 || order(static_cast<size_t>(k)) >= copy.size()) {
                 throw nb::value_error("order must be a permutation of the edges");
               }
               copy[k] = order(static_cast<size_t>(k));
             }
             g.own_order = std::make_shared<const Array<int64_t>>(std::move(copy));
             g.identity = false;
           })
      .def_prop_ro("rows", [](const PyGraph& g) { return g.graph.rows(); })
      .def_prop_ro("cols", [](const PyGraph& g) { return g.graph.cols(); })
      .def_prop_ro("edges", [](const PyGraph& g) { return g.graph.edges(); })
      .def("ptr",
           [](nb::handle_t<PyGraph> self) {
             const auto& g = nb::cast<const PyGraph&>(self);
             return view(g.graph.ptr().data(), g.graph.rows() + 1, self);
           })
      .def("col",
           [](nb::handle_t<PyGraph> self) {
             const auto& g = nb::cast<const PyGraph&>(self);
             return view(g.graph.col().data(), g.graph.edges(), self);
           })
      .def("order",
           [](nb::handle_t<PyGraph> self) {
             const auto order = nb::cast<const PyGraph&>(self).order();
             return view(order.data(), static_cast<int64_t>(order.size()), self);
           })
      .def("transposed",
           [](nb::handle_t<PyGraph> self) {
             const auto& g = nb::cast<const PyGraph&>(self);
             const Transposed& t = g.graph.transposed();
             return nb::make_tuple(view(t.csr.ptr, t.csr.rows + 1, self), view(t.csr.col, g.graph.edges(), self),
                                   view(t.perm, g.graph.edges(), self));
           })
      .def("fingerprint", [](const PyGraph& g) { return g.graph.fingerprint().hex(); })
      .def("prepare",
           [](const PyGraph& g) {
             nb::gil_scoped_release release;
             g.plan.schedule(sparse::Direction::by_row);
             g.plan.schedule(sparse::Direction::by_column);
           })
      .def("profile", &profile);
  bind_changes(c);
  bind_files(m);
}

}  // namespace pantile::python
