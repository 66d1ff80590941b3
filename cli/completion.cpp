#include <fmt/format.h>

#include <functional>
#include <string_view>

#include "cli/command_tree.h"

namespace pantile::cli {
namespace {

/// Calls `visit` for the command and all below it, outermost first.
void for_each_command(const Command& command, const std::function<void(const Command&)>& visit) {
  visit(command);
  for (const Command& sub : command.commands) for_each_command(sub, visit);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

/// In single quotes of a POSIX shell.
std::string quoted(const std::string& text) { return fmt::format("'{}'", replaced(text, "'", R"('\'')")); }

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

/// "pantile graph info" -> "graph info"
std::string words_below_root(const Command& root, const Command& command) {
  return command.path.size() > root.path.size() ? command.path.substr(root.path.size() + 1) : "";
}

std::vector<std::string> option_names(const Command& command) {
  std::vector<std::string> names;
  for (const OptionInfo& option : command.options) {
    if (option.positional) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::vector<std::string> command_names(const Command& command) {
  std::vector<std::string> names;
  for (const Command& sub : command.commands) names.push_back(sub.name);
  return names;
}

std::vector<std::string> positional_choices(const Command& command) {
  for (const OptionInfo& option : command.options) {
    if (option.positional && !option.choices.empty()) return option.choices;
  }
  return {};
}

std::string bash_script(const Command& root) {
  std::string commands, options, values;
  for_each_command(root, [&](const Command& command) {
    const std::string below = words_below_root(root, command);
    std::vector<std::string> words = command_names(command);
    const std::vector<std::string> choices = positional_choices(command);
    words.insert(words.end(), choices.begin(), choices.end());
    commands += fmt::format("    {}) commands={} ;;\n", quoted(below), quoted(joined(words)));
    options += fmt::format("    {}) options={} ;;\n", quoted(below), quoted(joined(option_names(command))));
    for (const OptionInfo& option : command.options) {
      if (option.positional || option.value.empty()) continue;
      for (const std::string& name : option.names) {
        values += fmt::format("    {}) values={}; takes_value=1 ;;\n", quoted(below + ":" + name),
                              quoted(joined(option.choices)));
      }
    }
  });
  // A command's own table is asked first, then the program's, because the program's options may stand anywhere.
  return R"(# bash completion of pantile; load it with: source <(pantile completion bash)
_pantile_value() {
  values=''; takes_value=''
  case "$1:$2" in
)" + values +
         R"(  esac
}
_pantile() {
  local word previous path='' commands='' options='' own_options='' values='' takes_value='' skip='' i
  word="${COMP_WORDS[COMP_CWORD]}"
  previous="${COMP_WORDS[COMP_CWORD-1]}"
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ -n $skip ]]; then skip=''; continue; fi
    case "${COMP_WORDS[i]}" in
      -*)
        _pantile_value "$path" "${COMP_WORDS[i]}"
        [[ -n $takes_value ]] || _pantile_value '' "${COMP_WORDS[i]}"
        skip=$takes_value
        ;;
      *)
        _pantile_commands "$path"
        if [[ " $commands " == *" ${COMP_WORDS[i]} "* ]]; then path="${path:+$path }${COMP_WORDS[i]}"; fi
        ;;
    esac
  done
  if [[ $previous == -* ]]; then
    _pantile_value "$path" "$previous"
    [[ -n $takes_value ]] || _pantile_value '' "$previous"
    if [[ -n $values ]]; then COMPREPLY=($(compgen -W "$values" -- "$word")); return; fi
    if [[ -n $takes_value ]]; then compopt -o default 2>/dev/null; return; fi
  fi
  _pantile_commands "$path"
  if [[ $word == -* ]]; then
    _pantile_options "$path"; own_options=$options
    _pantile_options ''
    COMPREPLY=($(compgen -W "$own_options $options" -- "$word"))
  elif [[ -n $commands ]]; then
    COMPREPLY=($(compgen -W "$commands" -- "$word"))
  else
    compopt -o default 2>/dev/null
  fi
}
_pantile_commands() {
  commands=''
  case "$1" in
)" + commands +
         R"(  esac
}
_pantile_options() {
  options=''
  case "$1" in
)" + options +
         R"(  esac
}
complete -F _pantile pantile
)";
}

/// What zsh's _arguments reads: [ : and ] end a description.
std::string zsh_text(const std::string& text) {
  return replaced(replaced(replaced(text, "[", "("), "]", ")"), ":", " -");
}

std::string zsh_arguments(const Command& command) {
  std::string text;
  for (const OptionInfo& option : command.options) {
    if (option.positional) continue;
    for (const std::string& name : option.names) {
      std::string spec = fmt::format("{}[{}]", name, zsh_text(option.description));
      if (!option.choices.empty())
        spec += fmt::format(":{}:({})", option.value, joined(option.choices));
      else if (!option.value.empty())
        spec += fmt::format(":{}:_files", option.value);
      text += "    " + quoted(spec) + " \\\n";
    }
  }
  return text;
}

std::string zsh_function(const std::string& path) { return fmt::format("_{}", replaced(path, " ", "_")); }

std::string zsh_script(const Command& root) {
  std::string text = "#compdef pantile\n# zsh completion of pantile; load it with: source <(pantile completion zsh)\n";
  for_each_command(root, [&](const Command& command) {
    text += fmt::format("{}() {{\n", zsh_function(command.path));
    const std::string global = &command == &root ? "" : zsh_arguments(root);
    if (command.commands.empty()) {
      const std::vector<std::string> choices = positional_choices(command);
      text += "  _arguments \\\n" + zsh_arguments(command) + global;
      text += choices.empty() ? "    '*:file:_files'\n}\n"
                              : fmt::format("    '1:choice:({})' '*:file:_files'\n}}\n", joined(choices));
      return;
    }
    text += "  local line state\n  _arguments -C \\\n" + zsh_arguments(command) + global +
            "    '1: :->command' '*::argument:->rest'\n";
    text += "  case $state in\n    command)\n      local -a verbs=(\n";
    for (const Command& sub : command.commands)
      text += "        " + quoted(sub.name + ":" + zsh_text(sub.summary)) + "\n";
    text += "      )\n      _describe command verbs ;;\n    rest)\n      case $line[1] in\n";
    for (const Command& sub : command.commands)
      text += fmt::format("        {}) {} ;;\n", sub.name, zsh_function(sub.path));
    text += "      esac ;;\n  esac\n}\n";
  });
  return text + "if [[ $funcstack[1] == _pantile ]]; then _pantile \"$@\"; else compdef _pantile pantile; fi\n";
}

std::string fish_script(const Command& root) {
  std::string text = "# fish completion of pantile; load it with: pantile completion fish | source\n";
  for_each_command(root, [&](const Command& command) {
    std::string when = "__fish_use_subcommand";
    if (&command != &root) {
      when.clear();
      const std::string below = words_below_root(root, command);
      for (size_t at = 0; at < below.size();) {
        size_t end = below.find(' ', at);
        if (end == std::string::npos) end = below.size();
        when +=
            fmt::format("{}__fish_seen_subcommand_from {}", when.empty() ? "" : "; and ", below.substr(at, end - at));
        at = end + 1;
      }
      if (!command.commands.empty()) when += "; and not __fish_seen_subcommand_from " + joined(command_names(command));
    }
    for (const Command& sub : command.commands) {
      text += fmt::format("complete -c pantile -f -n {} -a {} -d {}\n", quoted(when), sub.name, quoted(sub.summary));
    }
    if (const auto choices = positional_choices(command); !choices.empty()) {
      text += fmt::format("complete -c pantile -f -n {} -a {}\n", quoted(when), quoted(joined(choices)));
    }
    for (const OptionInfo& option : command.options) {
      if (option.positional) continue;
      text += "complete -c pantile";
      if (&command != &root) text += " -n " + quoted(when);
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.empty()) text += option.choices.empty() ? " -r" : " -x -a " + quoted(joined(option.choices));
      text += " -d " + quoted(option.description) + "\n";
    }
  });
  return text;
}

}  // namespace

std::string completion_script(const Command& root, const std::string& shell) {
  if (shell == "zsh") return zsh_script(root);
  if (shell == "fish") return fish_script(root);
  return bash_script(root);
}

}  // namespace pantile::cli
