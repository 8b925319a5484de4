#include "cli/completion_script.h"

#include <string_view>
#include <vector>

namespace fairlead::cli {
namespace {

std::string joined(const std::vector<std::string>& words, std::string_view between = " ") {
  std::string out;
  for (const std::string& word : words) {
    if (!out.empty()) out += between;
    out += word;
  }
  return out;
}

// 'text', for any of the three shells. fish knows \' inside, the others do not.
std::string quoted(std::string_view text, std::string_view quote = "'\\''") {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += quote;
    } else {
      out += c;
    }
  }
  return out + "'";
}

// _describe parts word and description at a colon.
std::string described(std::string_view word, std::string_view what) {
  std::string text;
  for (const char c : word) text += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(text + ":" + std::string(what));
}

const CommandOutline* find(std::span<const CommandOutline> commands, const std::string& path) {
  for (const CommandOutline& command : commands) {
    if (command.path == path) return &command;
  }
  return nullptr;
}

// Patterns of bash's and zsh's case: every command but the program itself, "a"|"b".
std::string paths(std::span<const CommandOutline> commands) {
  std::vector<std::string> all;
  for (const CommandOutline& command : commands.subspan(1)) all.push_back('"' + command.path + '"');
  return joined(all, "|");
}

// "fairlead schema --output": what stands before a value.
std::string before_value(const CommandOutline& command, const OptionOutline& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.names) all.push_back('"' + command.path + " " + name + '"');
  return joined(all, "|");
}

// What asks the server for names.
std::string asking(const std::string& program, const std::string& kind) {
  return program + " __complete " + kind + " 2>/dev/null";
}

// The kind of names that an argument of the command takes; "" if there is none.
std::string live_argument(const CommandOutline& command) {
  for (const ValueOutline& argument : command.arguments) {
    if (!argument.live.empty()) return argument.live;
  }
  return {};
}

bool takes_files(const CommandOutline& command) {
  for (const ValueOutline& argument : command.arguments) {
    if (argument.file) return true;
  }
  return false;
}

std::vector<std::string> argument_words(const CommandOutline& command) {
  std::vector<std::string> words = command.subcommands;
  for (const ValueOutline& argument : command.arguments) {
    words.insert(words.end(), argument.choices.begin(), argument.choices.end());
  }
  return words;
}

}  // namespace

std::string bash_completion(std::span<const CommandOutline> commands) {
  const std::string program = commands.front().path;
  std::string out =
      "# bash completion for " + program + "\n_" + program +
      "() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= files= i\n"
      "  local command=" +
      program +
      "\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
      "    case \"$command ${COMP_WORDS[i]}\" in\n"
      "      " +
      paths(commands) +
      ") command+=\" ${COMP_WORDS[i]}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  # --option=value comes as three words.\n"
      "  if [[ $cur == = ]]; then\n"
      "    cur=\n"
      "  elif [[ $prev == = ]]; then\n"
      "    prev=${COMP_WORDS[COMP_CWORD-2]}\n"
      "  fi\n"
      "  case \"$command $prev\" in\n";
  for (const CommandOutline& command : commands) {
    for (const OptionOutline& option : command.options) {
      if (option.value.name.empty()) continue;
      out += "    " + before_value(command, option) + ") ";
      if (!option.value.choices.empty()) {
        out += "words=" + quoted(joined(option.value.choices));
      } else if (!option.value.live.empty()) {
        out += "words=$(" + asking(program, option.value.live) + ")";
      } else {
        out += option.value.file ? "files=1" : "return";
      }
      out += " ;;\n";
    }
  }
  out +=
      "    *)\n"
      "      case \"$command\" in\n";
  for (const CommandOutline& command : commands) {
    std::vector<std::string> options;
    for (const OptionOutline& option : command.options) {
      options.insert(options.end(), option.names.begin(), option.names.end());
    }
    out += "        " + quoted(command.path) +
           ") if [[ $cur == -* ]]; then words=" + quoted(joined(options)) +
           "; else words=" + quoted(joined(argument_words(command)));
    if (const std::string kind = live_argument(command); !kind.empty()) {
      out += "; words+=\" $(" + asking(program, kind) + ")\"";
    }
    out += std::string(takes_files(command) ? " files=1" : "") + "; fi ;;\n";
  }
  out +=
      "      esac ;;\n"
      "  esac\n"
      "  local IFS=$'\\n'\n"
      "  COMPREPLY=($(compgen -W \"${words// /$'\\n'}\" -- \"$cur\"))\n"
      "  if [[ -n $files ]]; then\n"
      "    compopt -o filenames 2>/dev/null\n"
      "    COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
      "  fi\n"
      "}\n"
      "complete -F _" +
      program + " " + program + "\n";
  return out;
}

std::string zsh_completion(std::span<const CommandOutline> commands) {
  const std::string program = commands.front().path;
  std::string out = "#compdef " + program + "\n_" + program +
                    "() {\n"
                    "  local command=" +
                    program +
                    " i\n"
                    "  local -a entries\n"
                    "  for ((i = 2; i < CURRENT; i++)); do\n"
                    "    case \"$command ${words[i]}\" in\n"
                    "      " +
                    paths(commands) +
                    ") command+=\" ${words[i]}\" ;;\n"
                    "    esac\n"
                    "  done\n"
                    "  local before=${words[CURRENT-1]}\n"
                    "  if [[ $PREFIX == --*=* ]]; then\n"
                    "    before=${PREFIX%%=*}\n"
                    "    compset -P '*='\n"
                    "  fi\n"
                    "  case \"$command $before\" in\n";
  for (const CommandOutline& command : commands) {
    for (const OptionOutline& option : command.options) {
      if (option.value.name.empty()) continue;
      out += "    " + before_value(command, option) + ") ";
      if (!option.value.choices.empty()) {
        out += "compadd -- " + joined(option.value.choices);
      } else if (!option.value.live.empty()) {
        out += "compadd -- $(" + asking(program, option.value.live) + ")";
      } else {
        out += option.value.file ? "_files" : "_message " + quoted(option.value.name);
      }
      out += "; return ;;\n";
    }
  }
  out +=
      "  esac\n"
      "  case \"$command\" in\n";
  for (const CommandOutline& command : commands) {
    out += "    " + quoted(command.path) + ")\n      if [[ $PREFIX == -* ]]; then\n";
    out += "        entries=(";
    for (const OptionOutline& option : command.options) {
      for (const std::string& name : option.names) {
        out += "\n          " + described(name, option.what);
      }
    }
    out += ")\n        _describe -o option entries\n      else\n";
    std::string words;
    for (const std::string& sub : command.subcommands) {
      const CommandOutline* found = find(commands, command.path + " " + sub);
      words += "\n          " + described(sub, found == nullptr ? "" : found->what);
    }
    for (const ValueOutline& argument : command.arguments) {
      for (const std::string& choice : argument.choices) words += "\n          " + quoted(choice);
    }
    if (!words.empty()) {
      out += "        entries=(" + words + ")\n        _describe argument entries\n";
    }
    if (takes_files(command)) out += "        _files\n";
    if (const std::string kind = live_argument(command); !kind.empty()) {
      out += "        compadd -- $(" + asking(program, kind) + ")\n";
    }
    out += "        :\n      fi ;;\n";
  }
  out +=
      "  esac\n"
      "}\n"
      "if [[ ${funcstack[1]} == _" +
      program + " ]]; then\n  _" + program +
      " \"$@\"\n"
      "else\n"
      "  compdef _" +
      program + " " + program + "\nfi\n";
  return out;
}

std::string fish_completion(std::span<const CommandOutline> commands) {
  constexpr std::string_view kQuote = "\\'";
  const std::string program = commands.front().path;
  std::string out = "# fish completion for " + program + "\nfunction __" + program +
                    "_at --description 'Whether this command is what is being typed'\n"
                    "  set -l command " +
                    program +
                    "\n"
                    "  for word in (commandline -opc)[2..-1]\n"
                    "    if contains -- \"$command $word\"";
  for (const CommandOutline& command : commands.subspan(1)) out += " " + quoted(command.path);
  out +=
      "\n"
      "      set command \"$command $word\"\n"
      "    end\n"
      "  end\n"
      "  test \"$command\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c " +
      program + " -f\n";
  for (const CommandOutline& command : commands) {
    const std::string line = "complete -c " + program + " -n " +
                             quoted("__" + program + "_at \"" + command.path + "\"", kQuote);
    for (const std::string& sub : command.subcommands) {
      const CommandOutline* found = find(commands, command.path + " " + sub);
      out += line + " -a " + sub;
      if (found != nullptr) out += " -d " + quoted(found->what, kQuote);
      out += "\n";
    }
    for (const ValueOutline& argument : command.arguments) {
      if (!argument.choices.empty()) {
        out += line + " -a " + quoted(joined(argument.choices), kQuote) + "\n";
      }
    }
    if (takes_files(command)) out += line + " -F\n";
    if (const std::string kind = live_argument(command); !kind.empty()) {
      out += line + " -a " + quoted("(" + asking(program, kind) + ")", kQuote) + "\n";
    }
    for (const OptionOutline& option : command.options) {
      out += line;
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.value.name.empty()) out += option.value.file ? " -r -F" : " -x";
      if (!option.value.choices.empty()) {
        out += " -a " + quoted(joined(option.value.choices), kQuote);
      } else if (!option.value.live.empty()) {
        out += " -a " + quoted("(" + asking(program, option.value.live) + ")", kQuote);
      }
      out += " -d " + quoted(option.what, kQuote) + "\n";
    }
  }
  return out;
}

}  // namespace fairlead::cli
