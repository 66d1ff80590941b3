#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pantile/io/npy.h>
#include <zlib.h>

#include "io/files.h"
#include "io/npz_archive.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::le;

std::string npy_of(const std::string& type, const std::string& shape, const std::string& elements) {
  const std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\0", 8) + le(header.size(), 2) + header + elements;
}

/// One stored member of an archive put together by hand; every field can be made to lie.
struct Member {
  std::string name = "a.npy", local_name = "a.npy", data;
  uint64_t flags = 0, method = 0, crc = 0, packed = 0, unpacked = 0, offset = 0;
  std::string extra;

  static Member of(const std::string& name, const std::string& data) {
    Member m;
    m.name = m.local_name = name;
    m.data = data;
    m.crc = crc32(0, reinterpret_cast<const Bytef*>(data.data()), static_cast<uInt>(data.size()));
    m.packed = m.unpacked = data.size();
    return m;
  }
  std::string fields() const {
    return le(20, 2) + le(flags, 2) + le(method, 2) + le(0, 4) + le(crc, 4) + le(packed, 4) + le(unpacked, 4);
  }
  std::string local() const {
    return le(0x04034b50, 4) + fields() + le(local_name.size(), 2) + le(0, 2) + local_name + data;
  }
  std::string central() const {
    return le(0x02014b50, 4) + le(20, 2) + fields() + le(name.size(), 2) + le(extra.size(), 2) + le(0, 8) + le(0, 2) +
           le(offset, 4) + name + extra;
  }
};

std::string end_record(uint64_t entries, uint64_t bytes, uint64_t offset) {
  return le(0x06054b50, 4) + le(0, 4) + le(entries, 2) + le(entries, 2) + le(bytes, 4) + le(offset, 4) + le(0, 2);
}

/// The archive; offsets are filled in unless a member has one already.
std::string archive(std::vector<Member> members, uint64_t lie_about_entries = 0) {
  std::string body, directory;
  for (Member& m : members) {
    if (m.offset == 0) m.offset = body.size();
    body += m.local();
  }
  for (const Member& m : members) directory += m.central();
  return body + directory +
         end_record(lie_about_entries > 0 ? lie_about_entries : members.size(), directory.size(), body.size());
}

Result<std::map<std::string, Tensor>> read(const std::string& bytes, std::vector<std::string>* left_out = nullptr) {
  return read_npz(Input::memory(bytes, "x.npz"), left_out);
}

const std::string kSmall = npy_of("|u1", "(3,)", "abc");

TEST(Npz, ReadsAnArchivePutTogetherByHand) {
  const auto arrays = read(archive({Member::of("a.npy", kSmall), Member::of("b.npy", kSmall)}));
  ASSERT_TRUE(arrays) << arrays.error().message;
  EXPECT_EQ(arrays->size(), 2u);
  EXPECT_EQ(arrays->at("b").as<char>()[2], 'c');
  EXPECT_TRUE(read(archive({})));
}

TEST(Npz, FindsTheEndRecordBehindAComment) {
  std::string bytes = archive({Member::of("a.npy", kSmall)});
  bytes.replace(bytes.size() - 2, 2, le(5, 2));
  EXPECT_TRUE(read(bytes + "hello"));
  EXPECT_FALSE(read(bytes + "hell"));
}

TEST(Npz, LeavesOutTextAndSaysSo) {
  std::vector<std::string> left_out;
  const auto arrays =
      read(archive({Member::of("a.npy", kSmall), Member::of("names.npy", npy_of("<U2", "(1,)", "a\0\0\0b\0\0\0"))}),
           &left_out);
  ASSERT_TRUE(arrays);
  EXPECT_EQ(arrays->size(), 1u);
  EXPECT_EQ(left_out, std::vector<std::string>{"names"});
}

TEST(Npz, RefusesPickledObjectsByName) {
  EXPECT_TRUE(fails_with(read(archive({Member::of("evil.npy", npy_of("|O", "(1,)", "cos\nsystem"))})),
                         ErrorCode::unsupported, {"x.npz", "'evil'", "pickled"}));
}

TEST(Npz, RefusesArchivesThatLie) {
  const auto altered = [](auto change) {
    Member m = Member::of("a.npy", kSmall);
    change(m);
    return archive({m});
  };
  const std::vector<std::pair<std::string, std::string>> corrupt = {
      {altered([](Member& m) { m.crc ^= 1; }), "checksum"},
      {altered([](Member& m) { m.unpacked += 1; }), "impossible"},
      {altered([](Member& m) { m.packed = m.unpacked = 1 << 20; }), "impossible"},
      {altered([](Member& m) { m.packed = m.unpacked = m.data.size() + 40; }), "directory"},
      {altered([](Member& m) { m.local_name = "b.npy"; }), "disagrees"},
      {altered([](Member& m) { m.offset = 7; }), "disagrees"},
      {altered([](Member& m) { m.packed = 0xffffffff; }), "impossible"},
      {altered([](Member& m) {
         m.packed = 0xffffffff;
         m.extra = le(1, 2) + le(0, 2);
       }),
       "zip64 sizes are missing"},
      {altered([](Member& m) {
         m.method = 8;
         m.unpacked = 1 << 30;
       }),
       "impossible"},
      {altered([](Member& m) { m.method = 8; }), "compressed data"},
      {altered([](Member& m) { m.extra = le(7, 2) + le(9, 2); }), "extra field"},
      {altered([](Member& m) { m.name = m.local_name = "a.txt"; }), "not an .npy"},
      {archive({Member::of("a.npy", kSmall), Member::of("a.npy", kSmall)}), "twice"},
      {archive({Member::of("a.npy", kSmall)}, 60000), "60000 entries"},
      {"PK", "not a zip"},
      {"", "not a zip"}};
  for (const auto& [bytes, part] : corrupt) EXPECT_TRUE(fails_with(read(bytes), ErrorCode::corrupt, {"x.npz", part}));
  EXPECT_TRUE(
      fails_with(read(altered([](Member& m) { m.flags = 1; })), ErrorCode::unsupported, {"'a.npy'", "encrypted"}));
  EXPECT_TRUE(fails_with(read(altered([](Member& m) { m.method = 14; })), ErrorCode::unsupported, {"method 14"}));
}

TEST(Npz, RefusesMembersThatShareBytes) {
  // The quoting bomb: the second member's data holds the first one's header.
  const Member inner = Member::of("b.npy", kSmall);
  Member outer = Member::of("a.npy", kSmall + inner.local());
  const std::string body = outer.local();
  Member shared = inner;
  shared.offset = body.size() - inner.local().size();
  const std::string directory = outer.central() + shared.central();
  EXPECT_TRUE(fails_with(read(body + directory + end_record(2, directory.size(), body.size())), ErrorCode::corrupt,
                         {"overlap"}));
}

/// A deflated member that declares other content than it holds.
Member deflated(const std::string& held, size_t declared_bytes, const std::string& checked) {
  std::string packed(held.size() + 200, '\0');
  z_stream z = {};
  deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(held.data()));
  z.avail_in = static_cast<uInt>(held.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  deflate(&z, Z_FINISH);
  packed.resize(z.total_out);
  deflateEnd(&z);
  Member m = Member::of("a.npy", packed);
  m.method = 8;
  m.unpacked = declared_bytes;
  m.crc = crc32(0, reinterpret_cast<const Bytef*>(checked.data()), static_cast<uInt>(checked.size()));
  return m;
}

TEST(Npz, RefusesMoreDataThanDeclared) {
  EXPECT_TRUE(fails_with(read(archive({deflated(kSmall + "and more", kSmall.size(), kSmall)})), ErrorCode::corrupt,
                         {"more data"}));
  EXPECT_TRUE(read(archive({deflated(kSmall, kSmall.size(), kSmall)})));
}

TEST(Npz, RefusesLessDataThanDeclaredWhereverItEnds) {
  // 8 and 10 bytes are where the reader stops to look at what it has: an end just there once kept it waiting for ever.
  for (size_t held = 0; held < kSmall.size(); ++held) {
    EXPECT_TRUE(fails_with(read(archive({deflated(kSmall.substr(0, held), kSmall.size(), kSmall)})), ErrorCode::corrupt,
                           {"compressed data"}))
        << held;
  }
}

TEST(Npz, ReadsWhatItWritesStoredAndDeflated) {
  const test::TemporaryFolder folder;
  std::vector<float> x(70'000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 100) * 0.25f;
  const int64_t y[3] = {1, -2, 3};
  for (const bool compress : {false, true}) {
    const std::string path = folder / (compress ? "c.npz" : "s.npz");
    ASSERT_TRUE(write_npz(
        path,
        {{"x", {x.data(), DType::f32, {700, 100}}}, {"y", {y, DType::i64, {3}}}, {"none", {nullptr, DType::u8, {0}}}},
        compress));
    const auto back = read_npz(path);
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->size(), 3u);
    EXPECT_EQ(test::to_vector(back->at("x").as<float>(), 70'000), x);
    EXPECT_EQ(back->at("x").shape, (std::vector<int64_t>{700, 100}));
    EXPECT_EQ(back->at("y").as<int64_t>()[1], -2);
    EXPECT_TRUE(back->at("none").empty());
  }
  EXPECT_LT(*file_size(folder / "c.npz"), *file_size(folder / "s.npz") / 10);
  EXPECT_EQ(folder.files(), 2);
}

TEST(Npz, TheSameContentMakesTheSameBytes) {
  const test::TemporaryFolder folder;
  const float x = 1;
  ASSERT_TRUE(write_npz(folder / "a", {{"x", {&x, DType::f32, {}}}}));
  ASSERT_TRUE(write_npz(folder / "b", {{"x", {&x, DType::f32, {}}}}));
  EXPECT_EQ(*read_text(folder / "a"), *read_text(folder / "b"));
}

TEST(Npz, SeventyThousandEntriesNeedTheLargeDirectoryAndGetIt) {
  const test::TemporaryFolder folder;
  std::map<std::string, TensorView> arrays;
  const uint8_t value = 9;
  for (int i = 0; i < 70'000; ++i) arrays[fmt::format("a{}", i)] = {&value, DType::u8, {}};
  ASSERT_TRUE(write_npz(folder / "many.npz", arrays));
  const auto archive = io::NpzArchive::open(folder / "many.npz");
  ASSERT_TRUE(archive) << archive.error().message;
  EXPECT_EQ(archive->names().size(), 70'000u);
  EXPECT_EQ((**archive->read("a69999")).as<uint8_t>()[0], 9);
}

TEST(Npz, TextScalarsComeBack) {
  const test::TemporaryFolder folder;
  auto writer = io::NpzWriter::create(folder / "t.npz", false);
  ASSERT_TRUE(writer->add_text("format", "csr"));
  EXPECT_TRUE(fails_with(writer->add_text("format", "csr"), ErrorCode::invalid_argument, {"twice"}));
  ASSERT_TRUE(writer->commit());
  EXPECT_EQ(*io::NpzArchive::open(folder / "t.npz")->read_text("format"), "csr");
}

}  // namespace
}  // namespace pantile
