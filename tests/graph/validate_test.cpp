#include <gtest/gtest.h>

#include <limits>

#include "graph/edge_sort.h"
#include "graph/graph_cases.h"
#include "pantile/core/buffer.h"

namespace pantile {
namespace {

Error error_of(const Edges& e) {
  const auto g = Graph::from_edges(e.src, e.dst, e.rows, e.cols);
  return g ? Error{ErrorCode::internal, "no error", {}} : g.error();
}

TEST(GraphValidate, SourceOutsideItsRangeIsNamedWithItsEdge) {
  Edges e = random_edges(2708, 2708, 40, 1);
  e.src[17] = 5000;
  const Error error = error_of(e);
  EXPECT_EQ(error.code, ErrorCode::out_of_range);
  EXPECT_EQ(error.message, "edge 17: source 5000 is outside [0, 2708); pass num_nodes >= 5001 or drop it");
}

TEST(GraphValidate, DestinationOutsideItsRangeIsNamed) {
  Edges e = random_edges(10, 20, 300000, 1);
  e.dst[299999] = 10;
  EXPECT_EQ(error_of(e).message, "edge 299999: destination 10 is outside [0, 10); pass num_nodes >= 11 or drop it");
}

TEST(GraphValidate, NegativeIdIsNamed) {
  Edges e = random_edges(10, 10, 5, 1);
  e.dst[3] = -1;
  EXPECT_EQ(error_of(e).message,
            "edge 3: destination -1 is negative; ids must be in [0, 10); drop the edge or renumber");
  e.rows = e.cols = -1;
  EXPECT_EQ(error_of(e).code, ErrorCode::out_of_range);
  e.dst[3] = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(error_of(e).code, ErrorCode::out_of_range);
}

TEST(GraphValidate, IdsThatWouldWrapTo32BitsAreRefused) {
  Edges e{10, 10, {1, (int64_t{1} << 32) + 1}, {1, 2}};
  EXPECT_EQ(error_of(e).message,
            "edge 1: source 4294967297 is outside [0, 10); pass num_nodes >= 4294967298 or drop it");
  e.rows = e.cols = -1;
  EXPECT_EQ(error_of(e).code, ErrorCode::unsupported);
  EXPECT_NE(error_of(e).message.find("edge 1: source 4294967297"), std::string::npos);
  e.src[1] = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(error_of(e).code, ErrorCode::unsupported);
}

TEST(GraphValidate, MoreNodesThan32BitColumnsIsUnsupported) {
  const Edges e{10, int64_t{1} << 31, {1}, {1}};
  EXPECT_EQ(error_of(e).code, ErrorCode::unsupported);
  EXPECT_NE(error_of(e).message.find("2147483648 source nodes are more than 2147483647"), std::string::npos);
}

TEST(GraphValidate, UnequalLengthsAreRefused) {
  const Edges e{3, 3, {0, 1, 2}, {0, 1}};
  EXPECT_EQ(error_of(e).message, "there are 3 sources and 2 destinations; every edge needs one of each");
  const Edges negative{-5, 3, {}, {}};
  EXPECT_EQ(error_of(negative).code, ErrorCode::invalid_argument);
}

TEST(GraphValidate, WorkThatDoesNotFitMemoryIsRefusedWithTheNumbers) {
  if (const int64_t available = available_memory_bytes(); available >= 0) {
    const Status status = check_memory(int64_t{1} << 60, "building a graph of 5 rows and 9 edges");
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::out_of_memory);
    EXPECT_TRUE(status.error().message.starts_with("building a graph of 5 rows and 9 edges needs 1152921504.6 GB and "))
        << status.error().message;
  }
  EXPECT_TRUE(check_memory(1 << 20, "a small graph").has_value());
}

TEST(GraphValidate, CsrOffsetsAreChecked) {
  const auto message = [](int64_t rows, int64_t cols, std::vector<int64_t> ptr, std::vector<int64_t> col) {
    const auto g = Graph::from_csr(rows, cols, ptr, col);
    return g ? std::string("no error") : g.error().message;
  };
  EXPECT_EQ(message(2, 2, {0, 1}, {0}), "ptr has 2 entries; 2 rows need 3");
  EXPECT_EQ(message(1, 2, {1, 1}, {0}), "ptr[0] = 1; it must be 0");
  EXPECT_EQ(message(3, 2, {0, 2, 1, 2}, {0, 1}), "ptr[2] = 1 is below ptr[1] = 2; offsets must not decrease");
  EXPECT_EQ(message(2, 2, {0, 1, 3}, {0, 1}), "ptr[2] = 3, but there are 2 columns; the two must agree");
  EXPECT_EQ(message(2, 2, {0, 1, 2}, {0, 2}),
            "row 1: column 2 (position 1) is outside [0, 2); pass cols >= 3 or drop it");
  EXPECT_EQ(message(2, 2, {0, 1, 2}, {-3, 1}), "row 0: column -3 (position 0) is outside [0, 2); drop it");
  EXPECT_EQ(message(-1, 2, {}, {}), "a pattern of -1 x 2 is not possible; both must be >= 0");
  EXPECT_EQ(message(0, 0, {}, {}), "ptr has 0 entries; 0 rows need 1");
}

TEST(GraphValidate, BorrowedCsrMustBeSorted) {
  const std::vector<int64_t> ptr = {0, 2};
  const std::vector<int32_t> falling = {1, 0}, outside = {0, 7};
  EXPECT_EQ(Graph::borrow_csr(1, 2, ptr.data(), falling.data(), nullptr).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Graph::borrow_csr(1, 2, ptr.data(), outside.data(), nullptr).error().code, ErrorCode::out_of_range);
  EXPECT_EQ(Graph::borrow_csr(1, 2, nullptr, outside.data(), nullptr).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(Graph::borrow_csr(1, 2, ptr.data(), nullptr, nullptr).error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace pantile
