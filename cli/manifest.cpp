#include "cli/manifest.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <pantile/core/hash.h>
#include <pantile/io/file.h>
#include <algorithm>
#include <ctime>
#include <filesystem>

#include "cli/json.h"
#include "cli/machine.h"
#include "cli/run_record.h"

namespace pantile::cli {
namespace {

namespace fs = std::filesystem;
constexpr int64_t kFormat = 1;

Result<Hash128> file_digest(const std::string& path) {
  PANTILE_TRY(const MappedFile file, MappedFile::open(path));
  return hash_bytes(file.data(), file.size());
}

Result<Value> described(const std::vector<std::string>& paths) {
  Value files = Value::array();
  for (const std::string& path : paths) {
    PANTILE_TRY(const std::string hash, content_hash(path));
    const auto bytes = file_size(path);
    files.add(Value::object().set("path", path).set("bytes", bytes ? Value(*bytes) : Value()).set("hash", hash));
  }
  return files;
}

Status read_files(const Value& list, const std::string& what, std::vector<Manifest::File>* files) {
  for (const Value& item : list.items()) {
    files->push_back({item["path"].text(), item["hash"].text()});
    if (files->back().path.empty() || !files->back().hash.starts_with("xxh3-128:")) {
      return fail(ErrorCode::corrupt,
                  fmt::format("{}: entry {} needs a path and a hash \"xxh3-128:...\"", what, files->size() - 1));
    }
  }
  return {};
}

}  // namespace

Result<std::string> content_hash(const std::string& path) {
  Hash128 digest;
  if (folder_exists(path)) {
    std::vector<std::string> names;
    std::error_code failed;
    for (fs::recursive_directory_iterator at(path, failed), end; !failed && at != end; at.increment(failed)) {
      if (at->is_regular_file(failed)) names.push_back(at->path().string());
    }
    if (failed) return fail(ErrorCode::io, fmt::format("{}: {}", path, failed.message()));
    std::sort(names.begin(), names.end());
    for (const std::string& file : names) {
      PANTILE_TRY(const Hash128 content, file_digest(file));
      const std::string line = fmt::format("{} {}\n", fs::path(file).lexically_relative(path).string(), content.hex());
      digest = hash_bytes(line.data(), line.size(), digest);
    }
  } else {
    PANTILE_TRY(digest, file_digest(path));
  }
  return "xxh3-128:" + digest.hex();
}

Status write_manifest(const GlobalOptions& global, const std::vector<std::string>& argv, int exit_code,
                      double seconds) {
  Value arguments = Value::array();
  for (const std::string& argument : argv) arguments.add(argument);
  std::error_code ignored;
  PANTILE_TRY(Value inputs, described(global.record->inputs()));
  PANTILE_TRY(Value outputs, described(global.record->outputs()));
  const Value manifest = Value::object()
                             .set("pantile_manifest", kFormat)
                             .set("written", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))))
                             .set("versions", build_facts())
                             .set("argv", std::move(arguments))
                             .set("folder", fs::current_path(ignored).string())
                             .set("exit_code", exit_code)
                             .set("seconds", seconds)
                             .set("seed", global.seed_given ? Value(global.seed) : global.record->seed())
                             .set("inputs", std::move(inputs))
                             .set("outputs", std::move(outputs))
                             .set("results", global.record->results())
                             .set("timings", global.record->timings())
                             .set("plan", global.record->plan())
                             .set("machine", to_value(machine_facts(global)));
  return write_text(global.manifest, to_json_text(manifest) + "\n");
}

Result<Manifest> read_manifest(const std::string& path) {
  PANTILE_TRY(const std::string text, read_text(path));
  PANTILE_TRY(const Value json, parse_json(text, path));
  if (json["pantile_manifest"].integer() != kFormat) {
    return fail(ErrorCode::corrupt,
                fmt::format("{}: no manifest of a run (\"pantile_manifest\": {} is missing); one is written by "
                            "--manifest FILE before any verb",
                            path, kFormat));
  }
  Manifest manifest;
  for (const Value& argument : json["argv"].items()) manifest.argv.push_back(argument.text());
  if (manifest.argv.empty()) return fail(ErrorCode::corrupt, fmt::format("{}: \"argv\" is missing or empty", path));
  manifest.folder = json["folder"].text();
  manifest.exit_code = json["exit_code"].integer();
  PANTILE_CHECK(read_files(json["inputs"], path + ": inputs", &manifest.inputs));
  PANTILE_CHECK(read_files(json["outputs"], path + ": outputs", &manifest.outputs));
  manifest.results = json["results"];
  return manifest;
}

}  // namespace pantile::cli
