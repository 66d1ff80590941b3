#include <gtest/gtest.h>
#include <pantile/io/safetensors.h>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::le;

Result<SafeTensors> read(const std::string& header, const std::string& data) {
  const std::string bytes = le(header.size(), 8) + header + data;
  return read_safetensors(Input::memory(bytes, "m.safetensors"));
}

TEST(SafeTensors, ReadsAFileWrittenByHand) {
  const auto s = read(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F32","shape":[1,2],"data_offsets":[2,10]},"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]}}  )",
      std::string("\x80\x3f", 2) + le(0x3f800000, 4) + le(0x40000000, 4));
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->metadata.at("format"), "pt");
  EXPECT_EQ(s->tensors.at("b").as<float>()[1], 2.0f);
  EXPECT_EQ(to_float(s->tensors.at("a").as<BFloat16>()[0]), 1.0f);
  EXPECT_TRUE(read("{}", ""));
}

TEST(SafeTensors, BrokenHeadersAreErrors) {
  const auto entry = [](const std::string& offsets, const std::string& shape = "[2]", const std::string& type = "U8") {
    return R"({"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  const std::vector<std::pair<std::string, std::string>> corrupt = {
      {R"({"a":)" + entry("[0,2]") + R"(,"b":)" + entry("[1,3]") + "}", "overlap"},
      {R"({"a":)" + entry("[0,2]") + R"(,"b":)" + entry("[2,5]", "[3]") + "}", "of 4"},
      {R"({"a":)" + entry("[0,2]") + "}", "end at byte 2 of 4"},
      {R"({"a":)" + entry("[2,4]") + "}", "holes"},
      {R"({"a":)" + entry("[0,4]") + "}", "do not hold"},
      {R"({"a":)" + entry("[4,0]") + "}", "do not hold"},
      {R"({"a":)" + entry("[0,4]", "[4611686018427387900,4]") + "}", "do not hold"},
      {R"({"a":)" + entry("[0,4]", "[99999999999999999999]") + "}", "number that is no integer"},
      {R"({"a":)" + entry("[0,4]", "[-4]") + "}", "negative"},
      {R"({"a":)" + entry("[0]", "[4]") + "}", "[begin, end]"},
      {R"({"a":)" + entry("[0,4]", "[[4]]") + "}", "list"},
      {R"({"a":)" + entry("[0,2]") + R"(,"a":)" + entry("[2,4]") + "}", "twice"},
      {R"({"a":{"dtype":"U8","shape":[4]}})", "lacks"},
      {R"({"a":{"dtype":"U8","shape":[4],"shape":[4],"data_offsets":[0,4]}})", "unexpected key 'shape'"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4],"x":{}}})", "unexpected key 'x'"},
      {R"({"__metadata__":{"a":1}})", "number"},
      {R"({"__metadata__":{"a":{"b":"c"}}})", "object"},
      {R"({"a":null})", "null"},
      {R"({"a":)", "JSON"},
      {R"([1])", "begin with"},
      {"", "begin with"}};
  for (const auto& [header, part] : corrupt)
    EXPECT_TRUE(fails_with(read(header, "abcd"), ErrorCode::corrupt, {"m.safetensors", part})) << header;
  EXPECT_TRUE(fails_with(read(R"({"a":)" + entry("[0,4]", "[4]", "F8_E4M3") + "}", "abcd"), ErrorCode::unsupported,
                         {"'a'", "F8_E4M3"}));
  EXPECT_TRUE(fails_with(read_safetensors(Input::memory(le(~uint64_t{0}, 8), "m")), ErrorCode::corrupt,
                         {"header of 18446744073709551615"}));
  EXPECT_TRUE(fails_with(read_safetensors(Input::memory("short", "m")), ErrorCode::corrupt, {"5 bytes"}));
}

TEST(SafeTensors, DeepOrLongHostileHeadersEndQuickly) {
  EXPECT_FALSE(read("{\"a\":" + std::string(1 << 20, '['), ""));
  EXPECT_FALSE(read("{\"a\":{\"shape\":[" + std::string(1 << 20, '1') + "]", ""));
  std::string many = "{\"a\":{\"shape\":[1";
  for (int i = 0; i < 100'000; ++i) many += ",1";
  EXPECT_TRUE(fails_with(read(many + "]}}", ""), ErrorCode::corrupt, {"64 extents"}));
}

TEST(SafeTensors, ReadsWhatItWrites) {
  const test::TemporaryFolder folder;
  const float w[6] = {1, 2, 3, 4, 5, 6};
  const BFloat16 b[3] = {{1}, {2}, {3}};
  ASSERT_TRUE(write_safetensors(
      folder / "s",
      {{"w", {w, DType::f32, {2, 3}}}, {"b", {b, DType::bf16, {3}}}, {"none", {nullptr, DType::i64, {0, 7}}}},
      {{"seed", "1\n\"2\""}}));
  const auto s = read_safetensors(folder / "s");
  ASSERT_TRUE(s) << s.error().message;
  EXPECT_EQ(s->metadata.at("seed"), "1\n\"2\"");
  EXPECT_EQ(s->tensors.at("w").shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(s->tensors.at("w").as<float>()[5], 6);
  EXPECT_EQ(s->tensors.at("b").as<BFloat16>()[2].bits, 3);
  EXPECT_EQ(s->tensors.at("none").shape, (std::vector<int64_t>{0, 7}));
  const std::string bytes = *read_text(folder / "s");
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]) % 8, 0) << "data must start aligned";
  EXPECT_TRUE(fails_with(write_safetensors(folder / "t", {{"\xff", {w, DType::f32, {1}}}}), ErrorCode::invalid_argument,
                         {"UTF-8"}));
  EXPECT_TRUE(fails_with(write_safetensors(folder / "t", {{"__metadata__", {w, DType::f32, {1}}}}),
                         ErrorCode::invalid_argument, {"__metadata__"}));
  EXPECT_EQ(folder.files(), 1);
}

}  // namespace
}  // namespace pantile
