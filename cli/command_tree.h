#pragma once

#include <string>
#include <vector>

namespace pantile::cli {

/// What main.cpp declared to the argument parser, as plain data: help, completions and did-you-mean are made from it,
/// so that they cannot disagree with what is parsed.
struct OptionInfo {
  std::vector<std::string> names;  ///< "--json" or "-o", "--out"; one bare name for a positional
  std::string value;               ///< "FILE", "N", ...; "" for a flag
  std::string description;
  std::string preset;                ///< default value as text; "" when there is none to show
  std::vector<std::string> choices;  ///< the only values allowed; empty when free
  bool positional = false;
  bool required = false;
  bool many = false;  ///< takes more than one value
};

struct Command {
  std::string name;     ///< "info"
  std::string path;     ///< "pantile graph info"
  std::string summary;  ///< one line
  std::string details;  ///< paragraphs and examples below the options; may be empty
  std::vector<OptionInfo> options;
  std::vector<Command> commands;
};

/// The text of --help. `global`: the options of the program that every verb takes.
std::string help_text(const Command& command, const std::vector<OptionInfo>& global);

/// Completion script for "bash", "zsh" or "fish".
std::string completion_script(const Command& root, const std::string& shell);

/// Walks the arguments as the parser will and returns the first word that no command or option matches, as a message
/// with the nearest names: "unknown command 'grph'; did you mean 'graph'?". Empty when every word is known.
std::string unknown_word(const Command& root, const std::vector<std::string>& arguments);

}  // namespace pantile::cli
