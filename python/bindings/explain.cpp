#include <pantile/sparse/explain.h>

#include "bindings.h"
#include "sparse/kernels/roofline.h"

namespace pantile::python {
namespace {

using sparse::Forecast;

MachinePeaks peaks_of(const nb::dict& d) {
  const auto number = [&d](const char* key) { return nb::cast<double>(d[key]); };
  return {number("copy_gb_per_s"), number("gather_gb_per_s"), number("gather_cached_gb_per_s"), number("gflop_per_s")};
}

nb::dict dict_of(const Forecast& f) {
  nb::dict d;
  d["op"] = f.op;
  d["width"] = f.width;
  d["dtype"] = std::string(name(f.dtype));
  d["bytes"] = f.bytes;
  d["bound"] = f.bound;
  d["path"] = f.path;
  d["reason"] = f.reason;
  d["predicted_seconds"] = f.predicted_seconds;
  d["measured_seconds"] = f.measured_seconds;
  d["roofline_seconds"] = f.roofline_seconds;
  return d;
}

}  // namespace

void bind_explain(nb::module_& m) {
  nb::class_<Forecast>(m, "Forecast").def("as_dict", &dict_of);
  m.def("forecast",
        [](const PyGraph& g, const std::string& op, int64_t width, int dtype, const nb::dict& peaks, int threads) {
          return sparse::forecast(g.plan, op, width, static_cast<DType>(dtype), peaks_of(peaks),
                                  threads > 0 ? threads : num_threads());
        });
  m.def("measure", [](const PyGraph& g, const Forecast& f, double budget_seconds) {
    return *run(0, [&] { return sparse::measure(g.plan, f, budget_seconds); });
  });
  m.def("explain", [](const PyGraph& g, const std::vector<Forecast>& f) { return sparse::explain(g.plan, f); });
  m.def("plan_json", [](const PyGraph& g, const std::vector<Forecast>& f) { return sparse::to_json(g.plan, f); });
  m.def(
      "gather_roofline",
      [](const PyGraph& g, const nb::tuple& x, int threads) {
        const Matrix xm = matrix(x);
        return *run(threads, [&] { return sparse::gather_roofline(g.graph.csr(), xm); });
      },
      nb::arg("graph"), nb::arg("x"), nb::arg("threads") = 0);
  m.def("plan_summary", [](const PyGraph& g) {
    const sparse::Schedule& s = g.plan.schedule(sparse::Direction::by_row);
    nb::dict d;
    d["units"] = s.units.size();
    d["hubs"] = s.hubs.size();
    d["slots"] = s.slots;
    d["build_seconds"] = g.plan.build_seconds();
    return d;
  });
}

}  // namespace pantile::python
