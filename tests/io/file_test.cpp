#include <gtest/gtest.h>
#include <pantile/io/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;
using test::gzipped;
using test::TemporaryFolder;

Result<std::vector<std::string>> lines_of(const Input& input, int64_t longest = 1 << 20) {
  PANTILE_TRY(LineReader reader, LineReader::open(input, longest));
  std::vector<std::string> lines;
  for (std::string_view line;;) {
    PANTILE_TRY(const bool there, reader.next(line));
    if (!there) return lines;
    lines.emplace_back(line);
    EXPECT_EQ(reader.line_number(), static_cast<int64_t>(lines.size()));
  }
}

TEST(AtomicFile, ReplacesTheOldFileOnlyAtCommit) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.txt";
  ASSERT_TRUE(write_text(path, "old"));
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write(std::string(3 << 20, 'x')));
    EXPECT_EQ(*read_text(path), "old");
  }
  EXPECT_EQ(*read_text(path), "old");
  EXPECT_EQ(folder.files(), 1) << "a temporary file stayed behind";
  ASSERT_TRUE(write_text(path, "new"));
  EXPECT_EQ(*read_text(path), "new");
  EXPECT_EQ(folder.files(), 1);
}

TEST(AtomicFile, KeepsBytesInOrderAcrossItsBuffer) {
  const TemporaryFolder folder;
  std::string expected;
  auto file = AtomicFile::create(folder / "b");
  for (int i = 0; i < 300; ++i) {
    const std::string piece(static_cast<size_t>(i * 97 % 20000), static_cast<char>('a' + i % 26));
    ASSERT_TRUE(file->write(piece));
    expected += piece;
    EXPECT_EQ(file->position(), static_cast<int64_t>(expected.size()));
  }
  ASSERT_TRUE(file->align(64));
  expected.resize((expected.size() + 63) / 64 * 64, '\0');
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(*read_text(folder / "b"), expected);
  EXPECT_FALSE(file->write("more"));
}

TEST(AtomicFile, RefusesFoldersMissingFoldersAndEmptyNames) {
  const TemporaryFolder folder;
  EXPECT_TRUE(fails_with(AtomicFile::create(folder.path()), ErrorCode::io, {folder.path(), "folder"}));
  EXPECT_TRUE(fails_with(AtomicFile::create(folder / "none/x"), ErrorCode::io, {"none/x", "No such file"}));
  EXPECT_TRUE(fails_with(AtomicFile::create(""), ErrorCode::invalid_argument, {"name"}));
}

TEST(Input, FoldersPipesAndMissingFilesAreRefusedAtOnce) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  EXPECT_TRUE(fails_with(read_text(folder.path()), ErrorCode::io, {"folder"}));
  EXPECT_TRUE(fails_with(read_text(folder / "pipe"), ErrorCode::io, {"pipe"}));
  EXPECT_TRUE(fails_with(read_text(folder / "none"), ErrorCode::io, {"none", "No such file"}));
  EXPECT_TRUE(fails_with(LineReader::open(folder / "pipe"), ErrorCode::io, {"pipe"}));
  EXPECT_TRUE(fails_with(MappedFile::open(folder / "pipe"), ErrorCode::io, {"regular"}));
}

TEST(ReadText, RefusesMoreThanItsLimit) {
  EXPECT_TRUE(fails_with(read_text(Input::memory("abcd", "m"), 3), ErrorCode::invalid_argument, {"m", "4 bytes", "3"}));
  EXPECT_EQ(*read_text(Input::memory("abc"), 3), "abc");
}

TEST(MappedFile, ShowsTheBytesAndMoves) {
  const TemporaryFolder folder;
  ASSERT_TRUE(write_text(folder / "m", "hello"));
  auto mapped = MappedFile::open(folder / "m");
  ASSERT_TRUE(mapped);
  const MappedFile moved = std::move(*mapped);
  EXPECT_EQ(moved.text(), "hello");
  ASSERT_TRUE(write_text(folder / "empty", ""));
  EXPECT_EQ(MappedFile::open(folder / "empty")->size(), 0u);
}

TEST(LineReader, TakesEveryKindOfLineEnd) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(*lines_of(Input::memory("")), Lines{});
  EXPECT_EQ(*lines_of(Input::memory("\n")), Lines{""});
  EXPECT_EQ(*lines_of(Input::memory("a\nb")), (Lines{"a", "b"}));
  EXPECT_EQ(*lines_of(Input::memory("a\r\n\r\nb\r\n")), (Lines{"a", "", "b"}));
  EXPECT_EQ(*lines_of(Input::memory("\xef\xbb\xbf"
                                    "a\n")),
            Lines{"a"});
}

TEST(LineReader, JoinsLinesAcrossBlocksPlainAndPacked) {
  std::string text;
  std::vector<std::string> expected;
  for (int i = 0; i < 3000; ++i) {
    expected.push_back(std::string(static_cast<size_t>(i * 131 % 1700), static_cast<char>('a' + i % 26)));
    text += expected.back() + "\n";
  }
  expected.push_back(std::string(700'000, 'z'));  // longer than a block
  text += expected.back();
  EXPECT_EQ(*lines_of(Input::memory(text)), expected);
  EXPECT_EQ(*lines_of(Input::memory(gzipped(text))), expected);
  const TemporaryFolder folder;
  ASSERT_TRUE(write_text(folder / "t", gzipped(text)));
  EXPECT_EQ(*lines_of(folder / "t"), expected);
}

TEST(LineReader, ReadsGzipFilesOfSeveralMembersAndZeroPadding) {
  const std::string packed = gzipped("a\nb") + gzipped("") + gzipped("c\n") + std::string(100, '\0');
  EXPECT_EQ(*lines_of(Input::memory(packed)), (std::vector<std::string>{"a", "bc"}));
}

TEST(LineReader, EveryTruncationOfGzipDataIsAnError) {
  const std::string packed = gzipped("1 2\n3 4\n5 6\n");
  for (size_t n = 2; n < packed.size(); ++n) EXPECT_FALSE(lines_of(Input::memory(packed.substr(0, n)))) << n;
  EXPECT_TRUE(fails_with(lines_of(Input::memory(packed.substr(0, packed.size() - 1), "t.gz")), ErrorCode::corrupt,
                         {"t.gz:", "truncated"}));
  EXPECT_TRUE(
      fails_with(lines_of(Input::memory(packed + "garbage", "t.gz")), ErrorCode::corrupt, {"t.gz:", "broken gzip"}));
  std::string damaged = packed;
  damaged[packed.size() - 6] ^= 1;  // the checksum
  EXPECT_TRUE(fails_with(lines_of(Input::memory(damaged)), ErrorCode::corrupt, {"broken gzip"}));
}

TEST(LineReader, AGzipBombWithoutLineEndsIsStoppedEarly) {
  const std::string bomb = gzipped(std::string(64 << 20, '0'));
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(fails_with(lines_of(Input::memory(bomb)), ErrorCode::corrupt, {"longer than"}));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
}

TEST(LineReader, TheLongestLineIsAllowedAndOneMoreIsNot) {
  EXPECT_TRUE(lines_of(Input::memory("12345\n"), 5));
  EXPECT_TRUE(fails_with(lines_of(Input::memory("1\n123456\n", "x"), 5), ErrorCode::corrupt, {"x:2:"}));
}

}  // namespace
}  // namespace pantile
