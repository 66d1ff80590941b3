#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "cli/command_tree.h"

namespace pantile::cli {
namespace {

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  std::iota(previous.begin(), previous.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

/// " ; did you mean ...?" for the names near `word`, or "" when none is.
std::string did_you_mean(std::string_view word, const std::vector<std::string>& names) {
  const size_t tolerance = std::max<size_t>(1, word.size() / 3);
  size_t best = tolerance + 1;
  std::vector<std::string> nearest;
  for (const std::string& name : names) {
    const bool begins = word.size() >= 3 && name.starts_with(word);
    const size_t d = begins ? 1 : distance(word, name);
    if (d < best) nearest.clear();
    if (d <= best && d <= tolerance) {
      best = d;
      nearest.push_back(name);
    }
  }
  if (nearest.empty()) return "";
  std::string text = "; did you mean ";
  for (size_t i = 0; i < nearest.size(); ++i) text += fmt::format("{}'{}'", i == 0 ? "" : " or ", nearest[i]);
  return text + "?";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

const OptionInfo* option_named(const std::vector<const Command*>& path, std::string_view name) {
  for (const Command* command : path) {
    for (const OptionInfo& option : command->options) {
      if (!option.positional && std::find(option.names.begin(), option.names.end(), name) != option.names.end())
        return &option;
    }
  }
  return nullptr;
}

std::vector<std::string> long_names(const std::vector<const Command*>& path) {
  std::vector<std::string> names;
  for (const Command* command : path) {
    for (const OptionInfo& option : command->options) {
      for (const std::string& name : option.names) {
        if (name.starts_with("--")) names.push_back(name);
      }
    }
  }
  return names;
}

/// Where the word stands: "pantile graph: ", nothing for the program itself.
std::string prefix(const Command& command) {
  return command.path.find(' ') == std::string::npos ? "" : command.path + ": ";
}

}  // namespace

std::string unknown_word(const Command& root, const std::vector<std::string>& arguments) {
  std::vector<const Command*> path = {&root};
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") return "";
    if (word.size() > 1 && word[0] == '-') {
      const bool is_long = word.starts_with("--");
      const std::string name = is_long ? word.substr(0, word.find('=')) : word.substr(0, 2);
      const OptionInfo* option = option_named(path, name);
      if (option == nullptr) {
        return fmt::format("{}unknown option '{}'{}", prefix(*path.back()), name,
                           is_long ? did_you_mean(name, long_names(path)) : "");
      }
      const bool value_attached = word.size() > name.size();
      if (!option->value.empty() && !value_attached) ++i;
      continue;
    }
    if (path.back()->commands.empty()) continue;
    std::vector<std::string> names;
    const Command* next = nullptr;
    for (const Command& command : path.back()->commands) {
      names.push_back(command.name);
      if (command.name == word) next = &command;
    }
    if (next == nullptr) {
      const std::string nearest = did_you_mean(word, names);
      return fmt::format("{}unknown command '{}'{}", prefix(*path.back()), word,
                         nearest.empty() ? "; there are: " + listed(names) : nearest);
    }
    path.push_back(next);
  }
  return "";
}

}  // namespace pantile::cli
