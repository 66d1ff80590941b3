#include <fmt/format.h>

#include <pantile/core/buffer.h>
#include <pantile/core/random.h>
#include <pantile/sparse/attention.h>
#include <pantile/sparse/explain.h>
#include <pantile/sparse/gcn.h>
#include <pantile/sparse/sddmm.h>
#include <pantile/sparse/spmm.h>
#include <algorithm>
#include <chrono>

#include "sparse/kernels/roofline.h"

namespace pantile::sparse {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// A dense matrix that owns its memory.
struct Owned {
  Buffer buffer;
  Matrix m;
  static Result<Owned> allocate(DType dtype, int64_t rows, int64_t cols) {
    PANTILE_TRY(const int64_t elements, checked_multiply(rows, cols));
    Owned o;
    PANTILE_TRY(o.buffer, Buffer::allocate_elements(elements, size_of(dtype)));
    o.m = {o.buffer.data(), dtype, rows, cols, cols};
    return o;
  }
  /// Values in [0, 1); what they are does not matter, only that none is NaN or subnormal.
  static Result<Owned> random(DType dtype, int64_t rows, int64_t cols) {
    PANTILE_TRY(Owned o, allocate(dtype, rows, cols));
    Random r(1);
    for (int64_t i = 0; i < rows * cols; ++i) {
      const float v = r.uniform() + 0x1p-10f;
      switch (dtype) {
        case DType::f64:
          o.m.as<double>()[i] = v;
          break;
        case DType::f32:
          o.m.as<float>()[i] = v;
          break;
        case DType::bf16:
          o.m.as<BFloat16>()[i] = to_bfloat16(v);
          break;
        default:
          o.m.as<Float16>()[i] = to_float16(v);
      }
    }
    return o;
  }
};

/// Two things timed in turns, so that both see the same machine: minima over as many rounds as the budget holds, three
/// at least.
template <class A, class B>
Status time_in_turns(double budget, A&& first, double& first_seconds, B&& second, double& second_seconds) {
  first_seconds = second_seconds = -1;
  const auto start = Clock::now();
  const auto take = [](auto&& body, double& best) -> Status {
    const auto begin = Clock::now();
    PANTILE_CHECK(body());
    const double t = seconds_since(begin);
    best = best < 0 ? t : std::min(best, t);
    return {};
  };
  for (int round = 0; round < 3 || (seconds_since(start) < budget && round < 10'000); ++round) {
    PANTILE_CHECK(take(first, first_seconds));
    PANTILE_CHECK(take(second, second_seconds));
  }
  return {};
}

}  // namespace

Result<Forecast> measure(const Plan& plan, Forecast f, double budget_seconds) {
  const Csr csr = plan.csr(Direction::by_row);
  const DType acc = accumulator_of(f.dtype);
  PANTILE_TRY(Owned x, Owned::random(f.dtype, csr.cols, f.width));
  PANTILE_TRY(Owned y, Owned::allocate(f.dtype, csr.rows, f.width));
  const bool bounded = f.dtype != DType::f64;  // a half moves as many bytes as a bf16
  ConstMatrix bytes_of_x = x.m;
  if (f.dtype == DType::f16) bytes_of_x.dtype = DType::bf16;
  volatile double checksum = 0;
  const auto roofline = [&]() -> Status {
    if (!bounded) return {};
    PANTILE_TRY(const double sum, gather_roofline(csr, bytes_of_x));
    checksum = sum;
    return {};
  };
  const auto run = [&](auto&& body) -> Status {
    PANTILE_CHECK(time_in_turns(budget_seconds, body, f.measured_seconds, roofline, f.roofline_seconds));
    if (!bounded) f.roofline_seconds = -1;
    return {};
  };

  if (f.op == "spmm") {
    PANTILE_CHECK(run([&] { return spmm(plan, Direction::by_row, Reduce::sum, x.m, {}, y.m); }));
  } else if (f.op == "spmm_weighted") {
    PANTILE_TRY(const Owned w, Owned::random(acc, csr.edges(), 1));
    PANTILE_CHECK(run([&] { return spmm(plan, Direction::by_row, Reduce::sum, x.m, {w.m.data, acc, 1}, y.m); }));
  } else if (f.op == "gcn") {
    const bool square = csr.rows == csr.cols;
    PANTILE_TRY(const auto c, gcn_coefficients(plan, square ? GcnNorm::pyg : GcnNorm::both, square ? 1 : 0, {}, acc));
    PANTILE_CHECK(run([&] { return gcn(plan, Direction::by_row, *c, x.m, nullptr, Activation::relu, 0, y.m); }));
  } else if (f.op == "sddmm") {
    PANTILE_TRY(const Owned u, Owned::random(f.dtype, csr.rows, f.width));
    PANTILE_TRY(const Owned e, Owned::allocate(f.dtype, csr.edges(), 1));
    PANTILE_CHECK(run([&] { return sddmm(plan, EdgeOp::dot, {Target::dst, u.m}, {Target::src, x.m}, 1, e.m); }));
  } else if (f.op == "gat") {
    PANTILE_TRY(const Owned a_src, Owned::random(acc, csr.cols, 1));
    PANTILE_TRY(const Owned a_dst, Owned::random(acc, csr.rows, 1));
    PANTILE_TRY(const Owned lse, Owned::allocate(acc, csr.rows, 1));
    GatInputs in;
    in.a_src = a_src.m;
    in.a_dst = a_dst.m;
    in.v = x.m;
    PANTILE_CHECK(run([&] { return gat(plan, in, y.m, lse.m); }));
  } else {
    return fail(ErrorCode::invalid_argument,
                fmt::format("\"{}\" cannot be measured; use spmm, spmm_weighted, gcn, sddmm or gat", f.op));
  }
  return f;
}

}  // namespace pantile::sparse
