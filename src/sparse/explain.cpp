#include <fmt/format.h>

#include <pantile/sparse/explain.h>
#include <nlohmann/json.hpp>

namespace pantile::sparse {
namespace {

std::string time_text(double seconds) {
  if (seconds < 0) return "-";
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

nlohmann::json null_unless(bool known, double value) { return known ? nlohmann::json(value) : nlohmann::json(nullptr); }

}  // namespace

std::string to_json(const Plan& plan, const std::vector<Forecast>& forecasts) {
  const GraphProfile& p = plan.graph().profile();
  const Schedule& s = plan.schedule(Direction::by_row);
  nlohmann::json j;
  j["fingerprint"] = plan.graph().fingerprint().hex();
  j["graph"] = {{"rows", p.rows},
                {"cols", p.cols},
                {"edges", p.edges},
                {"mean_degree", p.mean_degree},
                {"max_degree", p.max_degree},
                {"empty_rows", p.empty_rows}};
  j["schedule"] = {{"units", s.units.size()},
                   {"hubs", s.hubs.size()},
                   {"segments", s.slots},
                   {"build_seconds", plan.build_seconds()}};
  j["operators"] = nlohmann::json::array();
  for (const Forecast& f : forecasts) {
    const bool measured = f.measured_seconds >= 0, bounded = measured && f.roofline_seconds >= 0;
    j["operators"].push_back({
        {"op", f.op},
        {"width", f.width},
        {"dtype", std::string(name(f.dtype))},
        {"bytes", f.bytes},
        {"bound", f.bound},
        {"path", f.path},
        {"reason", f.reason},
        {"predicted_seconds", f.predicted_seconds},
        {"measured_seconds", null_unless(measured, f.measured_seconds)},
        {"roofline_seconds", null_unless(bounded, f.roofline_seconds)},
        {"roofline_share", null_unless(bounded && f.measured_seconds > 0, f.roofline_seconds / f.measured_seconds)},
    });
  }
  return j.dump(2);
}

std::string explain(const Plan& plan, const std::vector<Forecast>& forecasts) {
  const GraphProfile& p = plan.graph().profile();
  const Schedule& s = plan.schedule(Direction::by_row);
  std::string text = fmt::format("graph     {} x {}, {} edges, {:.1f} a row (median {}, most {}), {} empty rows\n",
                                 p.rows, p.cols, p.edges, p.mean_degree, p.median_degree, p.max_degree, p.empty_rows);
  text += fmt::format("schedule  {} units of about 512 edges, {} hub rows in {} segments, made in {}\n", s.units.size(),
                      s.hubs.size(), s.slots, time_text(plan.build_seconds()));
  for (const Forecast& f : forecasts) {
    text += fmt::format("\n{} at width {}, {}\n", f.op, f.width, name(f.dtype));
    text += fmt::format("  moves      {:.1f} MB\n  bound by   {}: {}\n  path       {}\n  predicted  {}\n",
                        static_cast<double>(f.bytes) / 1e6, f.bound, f.reason, f.path, time_text(f.predicted_seconds));
    if (f.measured_seconds < 0) continue;
    text += fmt::format("  measured   {}, {:.2f} of the prediction\n", time_text(f.measured_seconds),
                        f.predicted_seconds > 0 ? f.measured_seconds / f.predicted_seconds : 0);
    if (f.roofline_seconds >= 0 && f.measured_seconds > 0)
      text += fmt::format("  roofline   {}: {:.0f} % of the gather bound reached\n", time_text(f.roofline_seconds),
                          100 * f.roofline_seconds / f.measured_seconds);
  }
  return text;
}

}  // namespace pantile::sparse
