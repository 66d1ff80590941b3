#include <gtest/gtest.h>
#include <pantile/io/npy.h>

#include <chrono>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::le;
using test::to_vector;

/// An .npy file by hand, so that reading is not checked against our own writer alone.
std::string npy(const std::string& dictionary, const std::string& elements, int version = 1) {
  std::string header = dictionary + "\n";
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' + le(header.size(), version == 1 ? 2 : 4) +
         header + elements;
}
std::string dictionary(const std::string& type, const std::string& shape, const char* fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}
Result<Tensor> read(const std::string& bytes) { return read_npy(Input::memory(bytes, "a.npy")); }

TEST(Npy, ReadsAllVersionsByteOrdersAndQuotes) {
  for (const int version : {1, 2, 3}) {
    const auto t = read(
        npy(dictionary("<i4", "(2, 3)"), le(1, 4) + le(2, 4) + le(3, 4) + le(4, 4) + le(5, 4) + le(6, 4), version));
    ASSERT_TRUE(t) << t.error().message;
    EXPECT_EQ(t->shape, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(to_vector(t->as<int32_t>(), 6), (std::vector<int32_t>{1, 2, 3, 4, 5, 6}));
  }
  EXPECT_EQ(read(npy(dictionary(">i2", "(1,)"), std::string("\x01\x02", 2)))->as<int16_t>()[0], 0x0102);
  EXPECT_EQ(read(npy("{\"shape\":(1L,),\"descr\":\"|u1\",\"fortran_order\":False}", "\x07"))->as<uint8_t>()[0], 7);
  EXPECT_EQ(read(npy(dictionary("<f8", "()"), std::string(8, '\0')))->size(), 1);
}

TEST(Npy, FortranOrderIsTransposed) {
  std::string elements;
  for (uint64_t i = 0; i < 24; ++i) elements += le(i, 8);
  const auto t = read(npy(dictionary("<i8", "(2, 3, 4)", "True"), elements));
  ASSERT_TRUE(t);
  for (int64_t a = 0; a < 2; ++a) {
    for (int64_t b = 0; b < 3; ++b) {
      for (int64_t c = 0; c < 4; ++c) EXPECT_EQ(t->as<int64_t>()[(a * 3 + b) * 4 + c], a + 2 * b + 6 * c);
    }
  }
  EXPECT_TRUE(read(npy(dictionary("<i8", "(0, 3)", "True"), "")));
}

TEST(Npy, AnyByteButZeroIsTrue) {
  const auto t = read(npy(dictionary("|b1", "(3,)"), std::string("\x00\x01\x80", 3)));
  EXPECT_EQ(to_vector(t->as<uint8_t>(), 3), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(Npy, WhatItDoesNotReadIsSaidClearly) {
  EXPECT_TRUE(fails_with(read(npy(dictionary("|O", "(1,)"), "x")), ErrorCode::unsupported, {"a.npy", "pickled"}));
  EXPECT_TRUE(fails_with(read(npy(dictionary("<c8", "(1,)"), "x")), ErrorCode::unsupported, {"'<c8'"}));
  EXPECT_TRUE(fails_with(read(npy(dictionary("<U3", "(1,)"), std::string(12, 'a'))), ErrorCode::unsupported, {"text"}));
  EXPECT_TRUE(fails_with(read(npy("{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,), }", "abcd")),
                         ErrorCode::unsupported, {"structured"}));
  EXPECT_TRUE(fails_with(read(npy(dictionary("|u1", "(1,)"), "x", 9)), ErrorCode::unsupported, {"version 9"}));
}

TEST(Npy, BrokenFilesAreErrors) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"", {"0 bytes"}},
      {"not an array at all", {"NUMPY"}},
      {npy(dictionary("<i4", "(2,)"), "1234567"), {"[2]", "8 bytes", "7 follow"}},
      {npy(dictionary("<i4", "(2,)"), "123456789"), {"8 bytes", "9 follow"}},
      {npy(dictionary("<i4", "(-2,)"), ""), {"extent"}},
      {npy(dictionary("<i4", "(4611686018427387903, 3)"), ""), {"more than 2^63"}},
      {npy(dictionary("<i4", "(99999999999999999999,)"), ""), {"extent"}},
      {npy("{'descr': '<i4'}", ""), {"must give"}},
      {npy("{'descr': '<i4', 'descr': '<i4', 'fortran_order': False, 'shape': ()}", "1234"), {"'descr'"}},
      {npy(dictionary("<i4", "()") + "x", "1234"), {"behind"}},
      {npy(dictionary("<i4", "()", "Maybe"), "1234"), {"True or False"}},
      {npy("{'descr': '<i4", ""), {"without end"}},
      {std::string("\x93NUMPY\x02\0", 8) + le(0xfffffff0, 4) + "xxxxxxxx", {"header of 4294967280 bytes"}}};
  for (const auto& [bytes, parts] : cases) EXPECT_TRUE(fails_with(read(bytes), ErrorCode::corrupt, parts)) << parts[0];
}

TEST(Npy, AHugeShapeInASmallFileAllocatesNothing) {
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(fails_with(read(npy(dictionary("<f8", "(1000000000000,)"), "12345678")), ErrorCode::corrupt,
                         {"8000000000000 bytes", "8 follow"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(Npy, EveryTruncationIsAnError) {
  const std::string whole = npy(dictionary("<i4", "(2,)"), "12345678");
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(read(whole.substr(0, n))) << n;
  EXPECT_TRUE(read(whole));
}

TEST(Npy, ReadsWhatItWritesForEveryType) {
  const test::TemporaryFolder folder;
  std::string bytes(3 * 5 * 8, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 2);
  for (const DType t : {DType::f64, DType::f32, DType::f16, DType::i64, DType::i32, DType::i16, DType::i8, DType::u8,
                        DType::u16, DType::u32, DType::u64, DType::boolean}) {
    for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3, 5}, {15}, {}, {0, 4}}) {
      const TensorView view{bytes.data(), t, shape};
      ASSERT_TRUE(write_npy(folder / "a.npy", view));
      EXPECT_EQ(*file_size(folder / "a.npy") % 64, static_cast<int64_t>(view.bytes() % 64));
      const auto back = read_npy(folder / "a.npy");
      ASSERT_TRUE(back) << back.error().message;
      EXPECT_EQ(back->dtype, t);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(std::string(back->as<char>(), back->buffer.bytes()), bytes.substr(0, view.bytes()));
    }
  }
  EXPECT_TRUE(
      fails_with(write_npy(folder / "b.npy", {bytes.data(), DType::bf16, {2}}), ErrorCode::unsupported, {"bfloat16"}));
  EXPECT_FALSE(file_exists(folder / "b.npy"));
}

}  // namespace
}  // namespace pantile
