#include <gtest/gtest.h>

#include <pantile/sparse/explain.h>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "sparse/kernels/roofline.h"
#include "support/graphs.h"

namespace pantile::sparse {
namespace {

MachinePeaks peaks() { return {20, 10, 60, 50}; }

TEST(Forecast, CountsBytesAndNamesItsPath) {
  const Plan plan = Plan::of(test::random_graph(100, 100, 2000, 1));
  const Forecast f = forecast(plan, "spmm", 64, DType::f32, peaks(), 1);
  EXPECT_EQ(f.bytes, 2000 * 64 * 4 + 2000 * 4 + 100 * (64 * 4 + 8));
  EXPECT_GT(f.predicted_seconds, 0);
  EXPECT_EQ(f.measured_seconds, -1);
  EXPECT_NE(f.path.find("panels"), std::string::npos) << f.path;
  EXPECT_FALSE(f.reason.empty());
}

TEST(Forecast, WiderFeaturesAndMoreEdgesTakeLonger) {
  const Plan small = Plan::of(test::random_graph(1000, 1000, 5000, 1)),
             large = Plan::of(test::random_graph(1000, 1000, 50'000, 1));
  const auto seconds = [](const Plan& p, int64_t width) {
    return forecast(p, "spmm", width, DType::f32, peaks(), 1).predicted_seconds;
  };
  EXPECT_LT(seconds(small, 16), seconds(small, 64));
  EXPECT_LT(seconds(small, 64), seconds(large, 64));
}

TEST(Forecast, GraphsWithoutNodesOrEdgesHaveOne) {
  for (const auto& [name, g] : test::graph_zoo()) {
    const Forecast f = forecast(Plan::of(g), "spmm", 16, DType::f32, peaks(), 2);
    EXPECT_TRUE(f.predicted_seconds >= 0) << name;
  }
}

TEST(Measure, FillsTimesOfEveryOperatorItKnows) {
  const Plan plan = Plan::of(test::random_graph(200, 200, 3000, 1));
  for (const char* op : {"spmm", "spmm_weighted", "gcn", "sddmm", "gat"})
    for (const DType t : {DType::f32, DType::bf16}) {
      const auto f = measure(plan, forecast(plan, op, 32, t, peaks(), 1), 0.001);
      ASSERT_TRUE(f) << op << ": " << f.error().message;
      EXPECT_GE(f->measured_seconds, 0) << op;
      EXPECT_GE(f->roofline_seconds, 0) << op;
    }
  EXPECT_EQ(measure(plan, forecast(plan, "fft", 32, DType::f32, peaks(), 1), 0.001).error().code,
            ErrorCode::invalid_argument);
}

TEST(Explain, JsonAndTextHoldWhatWasForecastAndMeasured) {
  const Plan plan = Plan::of(test::random_graph(200, 200, 3000, 1));
  const Forecast guess = forecast(plan, "spmm", 32, DType::f32, peaks(), 1);
  const auto measured = measure(plan, guess, 0.001);
  ASSERT_TRUE(measured);
  const auto j = nlohmann::json::parse(to_json(plan, {guess, *measured}));
  EXPECT_EQ(j["graph"]["edges"], 3000);
  EXPECT_EQ(j["operators"].size(), 2u);
  EXPECT_TRUE(j["operators"][0]["measured_seconds"].is_null());
  EXPECT_TRUE(j["operators"][1]["roofline_share"].is_number());
  const std::string text = explain(plan, {*measured});
  for (const char* part : {"spmm at width 32", "bound by", "predicted", "measured", "roofline"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(Roofline, ChecksumIsTheSumOfFirstLanes) {
  const Graph g = test::graph_of({0, 1, 1}, {0, 0, 1}, 2, 2);
  const std::vector<float> x{3, 5};
  const auto sum = gather_roofline(g.csr(), matrix_of(x.data(), 2, 1));
  ASSERT_TRUE(sum);
  EXPECT_EQ(*sum, 13);
  EXPECT_EQ(gather_roofline(g.csr(), {x.data(), DType::f64, 2, 1, 1}).error().code, ErrorCode::invalid_argument);
}

// A static build without AES flags falls back to SSSE3 in silence; dispatch at run time must find what the CPU has.
TEST(Dispatch, UsesAvx2WhereTheCpuHasIt) {
  const CpuInfo cpu = cpu_info();
  const bool has = std::find(cpu.features.begin(), cpu.features.end(), "avx2") != cpu.features.end();
  if (has) {
    EXPECT_TRUE(cpu.simd_target.starts_with("AVX")) << cpu.simd_target;
  } else {
    EXPECT_FALSE(cpu.simd_target.empty());
  }
}

}  // namespace
}  // namespace pantile::sparse
