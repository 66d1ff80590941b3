#include "cli/libraries.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

namespace pantile::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> split(const char* text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text == nullptr ? "" : text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

std::string on_path(const std::string& program, const std::vector<std::string>& more_folders = {}) {
  std::vector<std::string> folders = split(std::getenv("PATH"), ':');
  folders.insert(folders.end(), more_folders.begin(), more_folders.end());
  for (const std::string& folder : folders) {
    const std::string path = folder + "/" + program;
    if (access(path.c_str(), X_OK) == 0) return path;
  }
  return "";
}

/// Standard output of a program, or "" when it does not start or does not finish in `seconds`.
std::string output_of(std::vector<std::string> argv, int seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return "";
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::vector<char*> arguments;
  for (std::string& argument : argv) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  pid_t child = -1;
  const bool started = posix_spawn(&child, argv[0].c_str(), &actions, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  bool finished = false;
  for (int waited = 0; started && waited < seconds * 10 && !finished;) {
    pollfd ready{ends[0], POLLIN, 0};
    if (poll(&ready, 1, 100) == 0) {
      ++waited;
      continue;
    }
    char bytes[4096];
    const ssize_t n = read(ends[0], bytes, sizeof bytes);
    if (n > 0) text.append(bytes, static_cast<size_t>(n));
    finished = n <= 0;
  }
  close(ends[0]);
  if (started) {
    if (!finished) kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return finished ? text : "";
}

std::string python_program() {
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv != nullptr && *venv != '\0') {
    const std::string python = std::string(venv) + "/bin/python";
    if (access(python.c_str(), X_OK) == 0) return python;
  }
  return on_path("python3");
}

/// Versions of the installed distributions among those asked for, read from their metadata without importing them.
std::map<std::string, std::string> python_versions(const std::string& python, const std::vector<std::string>& names) {
  if (python.empty()) return {};
  std::string program = "import importlib.metadata as m\nfor n in (";
  for (const std::string& name : names) program += fmt::format("'{}',", name);
  program += "):\n try: print(n, m.version(n))\n except m.PackageNotFoundError: pass\n";
  std::istringstream lines(output_of({python, "-c", program}, 2));
  std::map<std::string, std::string> versions;
  for (std::string name, version; lines >> name >> version;) versions[name] = version;
  return versions;
}

/// The folders where the loader looks: LD_LIBRARY_PATH, ld.so.conf.d and the defaults.
std::vector<std::string> library_folders() {
  std::vector<std::string> folders = split(std::getenv("LD_LIBRARY_PATH"), ':');
  std::error_code ignored;
  for (fs::directory_iterator at("/etc/ld.so.conf.d", ignored), end; !ignored && at != end; at.increment(ignored)) {
    std::ifstream file(at->path());
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('/')) folders.push_back(line);
    }
  }
  for (const char* folder : {"/usr/local/lib", "/usr/lib", "/lib", "/usr/lib64", "/lib64"})
    folders.emplace_back(folder);
  return folders;
}

/// Path of the first lib<name>.so or lib<name>.so.<n> in the loader's folders.
std::string shared_library(const std::vector<std::string>& folders, const std::string& name) {
  const std::string stem = "lib" + name + ".so";
  for (const std::string& folder : folders) {
    std::error_code ignored;
    for (fs::directory_iterator at(folder, ignored), end; !ignored && at != end; at.increment(ignored)) {
      const std::string file = at->path().filename().string();
      if (file == stem || file.starts_with(stem + ".")) return at->path().string();
    }
  }
  return "";
}

/// "/usr/lib/libmetis.so.5.1.0" -> "5.1.0"
std::string version_in_name(const std::string& path) {
  std::error_code ignored;
  const std::string real = fs::canonical(path, ignored).string();
  const size_t at = real.rfind(".so.");
  return at == std::string::npos ? "" : real.substr(at + 4);
}

struct PythonPackage {
  const char* name;
  const char* purpose;
  const char* install;
};
constexpr PythonPackage kPythonPackages[] = {
    {"numpy", "arrays in Python", "pip install numpy"},
    {"scipy", "scipy.sparse inputs, test oracle", "pip install scipy"},
    {"torch", "pantile.torch and pantile.nn", "pip install torch --index-url https://download.pytorch.org/whl/cpu"},
    {"torch_geometric", "PyG graphs, rival in benchmarks", "pip install torch_geometric"},
    {"dgl", "DGL graphs, rival in benchmarks", "pip install dgl"},
};

struct NativeLibrary {
  const char* name;
  const char* library;
  const char* purpose;
  const char* install;
};
constexpr NativeLibrary kNativeLibraries[] = {
    {"METIS", "metis", "graph partitioning", "apt install libmetis-dev"},
    {"UCX", "ucp", "transport between machines", "apt install libucx-dev"},
    {"OpenMPI", "mpi", "start of processes on many machines", "apt install libopenmpi-dev openmpi-bin"},
    {"CUDA runtime", "cudart", "GPU kernels", "apt install nvidia-cuda-toolkit"},
};

std::string nvcc_version(const std::string& nvcc) {
  const std::string text = output_of({nvcc, "--version"}, 2);
  const size_t at = text.find("release ");
  return at == std::string::npos ? "" : text.substr(at + 8, text.find(',', at) - at - 8);
}

}  // namespace

std::vector<Library> find_libraries() {
  std::vector<Library> all;
  const std::string python = python_program();
  all.push_back({"python", "the pantile package", !python.empty(), "", python, "apt install python3 python3-venv"});
  std::vector<std::string> names;
  for (const PythonPackage& package : kPythonPackages) names.emplace_back(package.name);
  const std::map<std::string, std::string> versions = python_versions(python, names);
  for (const PythonPackage& package : kPythonPackages) {
    const auto at = versions.find(package.name);
    const bool found = at != versions.end();
    all.push_back(
        {package.name, package.purpose, found, found ? at->second : "", found ? python : "", package.install});
  }
  const std::vector<std::string> folders = library_folders();
  for (const NativeLibrary& native : kNativeLibraries) {
    const std::string path = shared_library(folders, native.library);
    all.push_back(
        {native.name, native.purpose, !path.empty(), path.empty() ? "" : version_in_name(path), path, native.install});
  }
  const std::string nvcc = on_path("nvcc", {"/usr/local/cuda/bin"});
  all.push_back({"nvcc", "compiler of the GPU kernels", !nvcc.empty(), nvcc.empty() ? "" : nvcc_version(nvcc), nvcc,
                 "apt install nvidia-cuda-toolkit"});
  const bool driver = access("/proc/driver/nvidia/version", R_OK) == 0;
  all.push_back({"NVIDIA driver", "running GPU kernels", driver, "", driver ? "/proc/driver/nvidia/version" : "",
                 "apt install nvidia-driver"});
  return all;
}

}  // namespace pantile::cli
