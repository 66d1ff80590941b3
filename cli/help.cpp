#include <fmt/format.h>

#include <algorithm>

#include "cli/command_tree.h"

namespace pantile::cli {
namespace {

constexpr size_t kColumn = 26;
constexpr size_t kWidth = 100;

/// `text` broken at spaces so that lines end before kWidth, later lines indented by `indent`.
std::string wrapped(const std::string& text, size_t indent) {
  std::string out;
  size_t column = indent, at = 0;
  while (at < text.size()) {
    size_t end = text.find(' ', at);
    if (end == std::string::npos) end = text.size();
    const size_t length = end - at;
    if (column > indent && column + 1 + length > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > indent) {
      out += ' ';
      ++column;
    }
    out.append(text, at, length);
    column += length;
    at = end + 1;
  }
  return out;
}

std::string entry(const std::string& left, const std::string& right) {
  std::string line = "  " + left;
  line += line.size() + 2 > kColumn ? "\n" + std::string(kColumn, ' ') : std::string(kColumn - line.size(), ' ');
  return line + wrapped(right, kColumn) + "\n";
}

std::string describe(const OptionInfo& option) {
  std::string text = option.description;
  if (!option.choices.empty()) {
    text += " (";
    for (size_t i = 0; i < option.choices.size(); ++i) text += (i == 0 ? "" : ", ") + option.choices[i];
    text += ")";
  }
  if (!option.preset.empty()) text += fmt::format(" [{}]", option.preset);
  return text;
}

std::string option_entry(const OptionInfo& option) {
  std::string left;
  for (const std::string& name : option.names) left += (left.empty() ? "" : ", ") + name;
  // Options with only a long name stand in the same column as those with a short one.
  if (!option.positional && left.starts_with("--")) left = "    " + left;
  if (!option.positional && !option.value.empty()) left += " " + option.value;
  return entry(left, describe(option));
}

std::string usage(const Command& command) {
  std::string text = command.path;
  if (!command.commands.empty()) text += " COMMAND";
  for (const OptionInfo& option : command.options) {
    if (!option.positional && option.required) text += fmt::format(" {} {}", option.names.back(), option.value);
  }
  for (const OptionInfo& option : command.options) {
    if (!option.positional) continue;
    const std::string name = option.names.front() + (option.many ? " ..." : "");
    text += option.required ? " " + name : fmt::format(" [{}]", name);
  }
  return text + " [OPTIONS]";
}

}  // namespace

std::string help_text(const Command& command, const std::vector<OptionInfo>& global) {
  std::string text = fmt::format("{}: {}\n\nUsage: {}\n", command.path, command.summary, usage(command));
  const bool has_arguments =
      std::any_of(command.options.begin(), command.options.end(), [](const OptionInfo& o) { return o.positional; });
  if (has_arguments) {
    text += "\nArguments:\n";
    for (const OptionInfo& option : command.options) {
      if (option.positional) text += option_entry(option);
    }
  }
  if (!command.commands.empty()) {
    text += "\nCommands:\n";
    for (const Command& sub : command.commands) text += entry(sub.name, sub.summary);
  }
  std::string options;
  for (const OptionInfo& option : command.options) {
    if (!option.positional) options += option_entry(option);
  }
  if (!options.empty()) text += "\nOptions:\n" + options;
  if (!global.empty()) {
    text += "\nOptions of every command:\n";
    for (const OptionInfo& option : global) text += option_entry(option);
  }
  if (!command.details.empty()) text += "\n" + command.details + "\n";
  return text;
}

}  // namespace pantile::cli
