#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <pantile/io/file.h>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/announce.h"
#include "cli/console.h"
#include "cli/manifest.h"
#include "cli/verbs.h"

namespace pantile::cli {
namespace {

namespace fs = std::filesystem;

/// A folder of its own for the replayed outputs, removed at the end unless the user named it.
class Folder {
 public:
  static Result<Folder> make(const std::string& wanted) {
    std::error_code failed;
    if (!wanted.empty()) {
      fs::create_directories(wanted, failed);
      if (failed) return fail(ErrorCode::io, fmt::format("--keep {}: {}", wanted, failed.message()));
      return Folder(fs::absolute(wanted, failed).string(), false);
    }
    std::string name = (fs::temp_directory_path(failed) / "pantile-rerun-XXXXXX").string();
    if (failed || mkdtemp(name.data()) == nullptr) {
      return fail(ErrorCode::io, fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)));
    }
    return Folder(name, true);
  }
  Folder(Folder&& other) noexcept : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, false)) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    std::error_code ignored;
    if (temporary_) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  Folder(std::string path, bool temporary) : path_(std::move(path)), temporary_(temporary) {}
  std::string path_;
  bool temporary_;
};

std::string replayed_path(const Folder& folder, const Manifest& manifest, size_t output) {
  return fmt::format("{}/{}-{}", folder.path(), output, fs::path(manifest.outputs[output].path).filename().string());
}

/// The recorded arguments with every output sent to `folder`, so that the files of the first run stay as they are.
std::vector<std::string> replay_arguments(const Manifest& manifest, const Folder& folder) {
  std::vector<std::string> argv;
  for (size_t i = 0; i < manifest.argv.size(); ++i) {
    std::string argument = manifest.argv[i];
    if (argument == "--manifest") {
      ++i;
      continue;
    }
    if (argument.starts_with("--manifest=")) continue;
    for (size_t output = 0; output < manifest.outputs.size(); ++output) {
      const std::string& path = manifest.outputs[output].path;
      if (argument == path)
        argument = replayed_path(folder, manifest, output);
      else if (argument.starts_with("--") && argument.ends_with("=" + path)) {
        argument = argument.substr(0, argument.size() - path.size()) + replayed_path(folder, manifest, output);
      }
    }
    argv.push_back(std::move(argument));
  }
  argv.insert(argv.end(), {"--manifest", folder.path() + "/replay.json"});
  return argv;
}

/// Exit code of this program started with `argv` in `directory`, its stdout thrown away.
Result<int> start_again(const std::vector<std::string>& argv, const std::string& directory) {
  std::vector<std::string> words = {"pantile"};
  words.insert(words.end(), argv.begin(), argv.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
  pid_t child = -1;
  const int failed = posix_spawn(&child, "/proc/self/exe", &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return fail(ErrorCode::io, fmt::format("cannot start the replay in {}: {}", directory, std::strerror(failed)));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status))
    return fail(ErrorCode::internal, fmt::format("the replay ended by signal {}", WTERMSIG(status)));
  return WEXITSTATUS(status);
}

struct Difference {
  std::string what, recorded, now;
};

void compare(std::vector<Difference>* differences, const std::string& what, const std::string& recorded,
             const std::string& now) {
  if (recorded != now) differences->push_back({what, recorded, now});
}

std::vector<Difference> changed_inputs(const Manifest& manifest) {
  std::vector<Difference> changed;
  for (const Manifest::File& file : manifest.inputs) {
    const std::string path = fs::path(file.path).is_absolute() ? file.path : manifest.folder + "/" + file.path;
    const auto hash = content_hash(path);
    compare(&changed, "input " + file.path, file.hash, hash ? *hash : hash.error().message);
  }
  return changed;
}

Result<std::vector<Difference>> changed_outputs(const Manifest& manifest, const Manifest& replay) {
  std::vector<Difference> changed;
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    const std::string now = i < replay.outputs.size() ? replay.outputs[i].hash : "not written";
    compare(&changed, "output " + manifest.outputs[i].path, manifest.outputs[i].hash, now);
  }
  for (const auto& [name, value] : manifest.results.fields()) {
    compare(&changed, "result " + name, value.text(), replay.results[name].text());
  }
  return changed;
}

Value to_value(const std::vector<Difference>& differences) {
  Value all = Value::array();
  for (const Difference& d : differences) {
    all.add(Value::object().set("what", d.what).set("recorded", d.recorded).set("now", d.now));
  }
  return all;
}

std::string command_text(const std::vector<std::string>& argv) {
  std::string text = "pantile";
  for (const std::string& word : argv) {
    text += word.find_first_of(" '\"$") == std::string::npos && !word.empty() ? " " + word : fmt::format(" '{}'", word);
  }
  return text;
}

}  // namespace

int run_rerun(const RerunOptions& options, const GlobalOptions& global) {
  const auto manifest = read_manifest(options.manifest);
  if (!manifest) return print_error(global, manifest.error());
  if (manifest->argv.front() == "rerun") {
    return print_error(global, {ErrorCode::invalid_argument,
                                options.manifest + ": is the manifest of a rerun; replay the first run's"});
  }
  if (!manifest->folder.empty() && !folder_exists(manifest->folder)) {
    return print_error(global, {ErrorCode::io, fmt::format("{}: the folder of that run, {}, is gone", options.manifest,
                                                           manifest->folder)});
  }
  const std::string command = command_text(manifest->argv);
  if (global.dry_run) {
    return print_result(global, Value::object().set("command", command).set("folder", manifest->folder),
                        fmt::format("would run in {}:\n  {}", manifest->folder, command));
  }
  const auto folder = Folder::make(options.keep);
  if (!folder) return print_error(global, folder.error());
  print_note(global, command);
  std::vector<Difference> differences = changed_inputs(*manifest);
  const auto code = start_again(replay_arguments(*manifest, *folder), manifest->folder);
  if (!code) return print_error(global, code.error());
  compare(&differences, "exit code", std::to_string(manifest->exit_code), std::to_string(*code));
  if (*code == 0 || *code == 1) {
    const auto replay = read_manifest(folder->path() + "/replay.json");
    if (!replay) return print_error(global, replay.error());
    const auto changed = changed_outputs(*manifest, *replay);
    if (!changed) return print_error(global, changed.error());
    differences.insert(differences.end(), changed->begin(), changed->end());
  }
  const bool same = differences.empty();
  const size_t compared = manifest->outputs.size() + manifest->results.fields().size();
  std::string text =
      same ? fmt::format("{}: {} outputs and results, all as recorded\n", marked(global, Mark::good, "same"), compared)
           : fmt::format("{}\n", marked(global, Mark::bad, "different"));
  for (const Difference& d : differences)
    text += fmt::format("  {}\n    recorded  {}\n    now       {}\n", d.what, d.recorded, d.now);
  const Value json = Value::object()
                         .set("command", command)
                         .set("same", same)
                         .set("compared", static_cast<int64_t>(compared))
                         .set("differences", to_value(differences));
  const int printed = print_result(global, json, text);
  return printed != 0 ? printed : same ? 0 : 1;
}

}  // namespace pantile::cli
