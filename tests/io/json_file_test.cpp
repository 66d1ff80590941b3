#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pantile/io/json_file.h>

#include <nlohmann/json.hpp>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::fails_with;

TEST(JsonFile, ReadsWhatItWrites) {
  const test::TemporaryFolder folder;
  const nlohmann::json value = {{"seed", 7}, {"layers", {16, 7}}, {"name", "gcn \"x\""}, {"rate", 0.01}};
  ASSERT_TRUE(write_json(folder / "a.json", value));
  EXPECT_EQ(*read_json(folder / "a.json"), value);
  EXPECT_EQ(read_text(folder / "a.json")->back(), '\n');
}

TEST(JsonFile, ErrorsNameLineAndColumn) {
  EXPECT_TRUE(fails_with(read_json(Input::memory("{\n  \"a\": 1,\n  \"b\": x\n}", "c.json")), ErrorCode::corrupt,
                         {"c.json:3:8"}));
  EXPECT_TRUE(fails_with(read_json(Input::memory("{\"a\": 1", "c.json")), ErrorCode::corrupt, {"c.json:1:"}));
  EXPECT_TRUE(fails_with(read_json(Input::memory("", "c.json")), ErrorCode::corrupt, {"c.json:1:1"}));
  EXPECT_TRUE(fails_with(read_json(Input::memory("[1e999]", "c.json")), ErrorCode::corrupt, {"c.json"}));
}

TEST(JsonFile, DepthAndSizeAreLimited) {
  EXPECT_TRUE(fails_with(read_json(Input::memory(std::string(1 << 20, '['))), ErrorCode::corrupt, {"128 levels"}));
  EXPECT_TRUE(read_json(Input::memory(std::string(128, '[') + std::string(128, ']'))));
  EXPECT_TRUE(read_json(Input::memory(fmt::format("\"{}\"", std::string(1000, '[')))));
  EXPECT_TRUE(fails_with(read_json(Input::memory("[1, 2]"), 3), ErrorCode::invalid_argument, {"6 bytes"}));
}

TEST(JsonFile, TextThatIsNotUtf8IsNotWritten) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(fails_with(write_json(folder / "a.json", "\xff"), ErrorCode::invalid_argument, {"a.json"}));
  EXPECT_EQ(folder.files(), 0);
}

}  // namespace
}  // namespace pantile
