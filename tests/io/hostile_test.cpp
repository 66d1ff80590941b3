// Every reader against every truncation and thousands of seeded mutations of valid files: each ends in a value or an
// error, soon.
#include <gtest/gtest.h>
#include <pantile/core/random.h>
#include <pantile/io/edge_list.h>
#include <pantile/io/json_file.h>
#include <pantile/io/npy.h>
#include <pantile/io/ogb.h>
#include <pantile/io/safetensors.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>

#include "io/files.h"
#include "support/temporary_folder.h"

namespace pantile {
namespace {

using test::gzipped;

struct Reader {
  const char* name;
  std::string valid;
  std::function<std::string(const Input&)> read;  ///< "" or the error's message
};

template <class R>
std::string outcome(const R& result) {
  return result ? "" : result.error().message;
}

std::string bytes_of(const std::function<Status(const std::string&)>& write) {
  const test::TemporaryFolder folder;
  EXPECT_TRUE(write(folder / "f"));
  return *read_text(folder / "f");
}

const std::vector<Reader>& readers() {
  static const std::vector<int64_t> src = {1, 0, 2, 1}, dst = {0, 1, 1, 2};
  static const std::vector<float> weights = {2, 2, 3, 3};
  static const EdgeListView edges{src, dst, weights, 3, 3};
  static const TensorView tensor{weights.data(), DType::f32, {2, 2}};
  static const std::vector<Reader> all = {
      {"csv", "# directed, 0-based; n=5 m=3\n0,1,2.5\n1,2,3\n4,0,1e-3\n",
       [](const Input& i) { return outcome(read_csv_edges(i)); }},
      {"csv.gz", gzipped("0 1\n1 2\n3 4\n"), [](const Input& i) { return outcome(read_csv_edges(i)); }},
      {"mtx", "%%MatrixMarket matrix coordinate real symmetric\n% c\n3 3 2\n2 1 5.5\n3 3 -1e5\n",
       [](const Input& i) { return outcome(read_matrix_market(i)); }},
      {"metis", "3 2 011\n1 2 5\n1 1 5 3 6\n1 2 6\n", [](const Input& i) { return outcome(read_metis(i)); }},
      {"npy", bytes_of([](const std::string& p) { return write_npy(p, tensor); }),
       [](const Input& i) { return outcome(read_npy(i)); }},
      {"npz", bytes_of([](const std::string& p) {
         return write_npz(p, {{"a", tensor}, {"b", tensor}}, true);
       }),
       [](const Input& i) { return outcome(read_npz(i)); }},
      {"scipy", bytes_of([](const std::string& p) { return write_scipy_npz(p, edges); }),
       [](const Input& i) { return outcome(read_scipy_npz(i)); }},
      {"safetensors", bytes_of([](const std::string& p) {
         return write_safetensors(p, {{"a", tensor}, {"b", tensor}}, {{"k", "v"}});
       }),
       [](const Input& i) { return outcome(read_safetensors(i)); }},
      {"json", R"({"a": [1, 2.5, "x\u00e9"], "b": {"c": null, "d": true}})",
       [](const Input& i) { return outcome(read_json(i)); }},
      {"table", "1,2.5,3\n4,,6\n", [](const Input& i) { return outcome(read_number_table(i, {.allow_nan = true})); }}};
  return all;
}

TEST(HostileInput, TheValidFilesAreValid) {
  for (const Reader& r : readers()) EXPECT_EQ(r.read(Input::memory(r.valid)), "") << r.name;
}

TEST(HostileInput, EveryTruncationOfABinaryFormatIsAnError) {
  for (const Reader& r : readers()) {
    const std::string name = r.name;
    const bool binary = name == "npy" || name == "npz" || name == "scipy" || name == "safetensors" || name == "csv.gz";
    for (size_t n = 0; n < r.valid.size(); ++n) {
      const std::string error = r.read(Input::memory(std::string_view(r.valid).substr(0, n), "cut-file"));
      if (!error.empty()) {
        EXPECT_NE(error.find("cut-file"), std::string::npos) << name << " " << n << ": " << error;
      } else {
        EXPECT_TRUE(!binary || (name == "csv.gz" && n < 2)) << name << " cut to " << n << " bytes was accepted";
      }
    }
  }
}

TEST(HostileInput, MutationsEndInAValueOrAnErrorSoon) {
  const auto start = std::chrono::steady_clock::now();
  Random random(20240607);
  int accepted = 0, refused = 0;
  for (const Reader& r : readers()) {
    for (int round = 0; round < 1500; ++round) {
      std::string bytes = r.valid;
      for (uint64_t change = 0, changes = 1 + random.below(4); change < changes; ++change) {
        const size_t at = random.below(bytes.size() + 1);
        const char byte = random.below(2) == 0 ? "0123456789 ,-.\n\t\xff\x00{}[]'\""[random.below(23)]
                                               : static_cast<char>(random.below(256));
        switch (random.below(4)) {
          case 0:
            bytes.insert(at, 1, byte);
            break;
          case 1:
            bytes.erase(at, 1 + random.below(4));
            break;
          case 2:
            bytes.insert(at, bytes.substr(random.below(bytes.size() + 1), random.below(30)));
            break;
          default:
            if (at < bytes.size()) bytes[at] = byte;
        }
      }
      (r.read(Input::memory(bytes)).empty() ? accepted : refused) += 1;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(refused, 5000);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

TEST(HostileInput, GarbageIsRefusedByEveryReader) {
  Random random(3);
  std::string garbage(200'000, '\0');
  for (char& c : garbage) c = static_cast<char>(random.below(256));
  garbage[0] = '\x01';  // no gzip header by chance
  for (const Reader& r : readers()) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NE(r.read(Input::memory(garbage)), "") << r.name;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1)) << r.name;
  }
}

TEST(HostileInput, MissingFilesAreNamedByEveryReader) {
  for (const Reader& r : readers())
    EXPECT_NE(r.read(Input("/nowhere/at/all")).find("/nowhere/at/all"), std::string::npos) << r.name;
}

}  // namespace
}  // namespace pantile
