// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/completion.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

/// One visible command with its path: `` for the root, `node add`.
struct CommandNode {
    std::string path;
    const CommandInfo* command;
};

std::vector<CommandNode> nodes_of(const CommandInfo& root) {
    std::vector<CommandNode> nodes;
    const std::function<void(const CommandInfo&, const std::string&)> walk = [&](const CommandInfo& command,
                                                                                 const std::string& path) {
        nodes.push_back({path, &command});
        for (const auto& child : command.commands) {
            if (!child.hidden) walk(child, path.empty() ? child.name : path + " " + child.name);
        }
    };
    walk(root, "");
    return nodes;
}

std::vector<std::string> command_names(const CommandInfo& command) {
    std::vector<std::string> names;
    for (const auto& child : command.commands) {
        if (!child.hidden) names.push_back(child.name);
    }
    return names;
}

bool takes_value(const OptionInfo& option) {
    return option.value != ValueKind::None;
}

std::string quoted(const std::string& text) {
    std::string safe = "'";
    for (const char c : text) safe += c == '\'' ? std::string{"'\\''"} : std::string(1, c);
    return safe + "'";
}

bool wants_files(const CommandInfo& command) {
    return std::any_of(command.positionals.begin(), command.positionals.end(),
                       [](const OptionInfo& positional) { return positional.value == ValueKind::File; });
}

std::vector<std::string> positional_choices(const CommandInfo& command) {
    return command.positionals.empty() ? std::vector<std::string>{} : command.positionals.front().choices;
}

/// The last word of a command's path, and what is before it: `node`, `add`.
std::pair<std::string, std::string> split(const std::string& path) {
    const auto blank = path.rfind(' ');
    return blank == std::string::npos ? std::pair{path, std::string{}}
                                      : std::pair{path.substr(0, blank), path.substr(blank + 1)};
}

/// Of which kind the things are that an option or positional names, as `ykctl names KIND` knows them; empty: of none,
/// or the name is a new one. It follows from how values are called.
std::string kind_of(const std::string& path, const OptionInfo& option) {
    static const std::map<std::string, std::string> kAlways{{"APP", "app"},           {"NODE", "node"},
                                                            {"RMID", "rm"},           {"PATH", "queue"},
                                                            {"CHECKSUM", "checksum"}, {"OBJECT", "object"}};
    static const std::set<std::string> kNouns{"node",      "app",        "queue",    "user",   "group",
                                              "partition", "deployment", "mcs node", "context"};
    const auto is_called = [&option](const char* name) {
        return std::find(option.names.begin(), option.names.end(), name) != option.names.end();
    };
    if (is_called("--context")) return "context";
    if (is_called("--partition")) return "partition";
    if (is_called("--user")) return "user";
    const bool is_positional = option.names.size() == 1 && !option.names.front().starts_with("-");
    const std::string& word = is_positional ? option.names.front() : option.value_name;
    const auto [noun, verb] = split(path);
    const bool is_new = verb == "add" || verb == "create" || verb == "register" || verb == "serve";
    if (word == "RMID" && is_new && is_positional) return {};
    if (const auto always = kAlways.find(word); always != kAlways.end()) return always->second;
    if (!is_positional || is_new) return {};
    if (word == "KEY") return noun == "alloc" ? "alloc" : "ask";
    if (word != "NAME" && word != "ID") return {};
    const std::string& of = noun == "explain" ? verb : noun;
    return kNouns.count(of) != 0 ? of : std::string{};
}

/// Of its first positional.
std::string kind_of(const std::string& path, const CommandInfo& command) {
    return command.positionals.empty() ? std::string{} : kind_of(path, command.positionals.front());
}

constexpr const char* kHeader = "# Made by `ykctl completion {}`; do not edit.\n";

/// `case` branches that step from a command to one below it by name or alias; the same text in bash and zsh.
std::string walk_branches(const CommandInfo& root, const std::string& indent) {
    std::string text;
    for (const auto& [path, command] : nodes_of(root)) {
        for (const auto& child : command->commands) {
            if (child.hidden) continue;
            const auto target = path.empty() ? child.name : path + " " + child.name;
            std::vector<std::string> patterns{quoted(path + ":" + child.name)};
            for (const auto& alias : child.aliases) patterns.push_back(quoted(path + ":" + alias));
            text += fmt::format("{}{}) place={} ;;\n", indent, join(patterns, "|"), quoted(target));
        }
    }
    return text;
}

/// A pattern that matches `PATH:OPTION` for every name of the option. Options of the root match at every command.
std::string option_pattern(const std::string& path, const OptionInfo& option) {
    std::vector<std::string> patterns;
    for (const auto& name : option.names) {
        patterns.push_back(path.empty() ? "*" + quoted(":" + name) : quoted(path + ":" + name));
    }
    return join(patterns, "|");
}

/// What belongs to a command before what belongs to every one: an option may have the name of one of the root, and in a
/// `case` the first pattern counts.
std::vector<CommandNode> nodes_with_root_last(const CommandInfo& root) {
    auto nodes = nodes_of(root);
    std::rotate(nodes.begin(), nodes.begin() + 1, nodes.end());
    return nodes;
}

/// The names of all options that take a value, so that the value is not taken for a command.
std::string all_value_options(const CommandInfo& root) {
    std::vector<std::string> names;
    for (const auto& [path, command] : nodes_of(root)) {
        for (const auto& option : command->options) {
            if (takes_value(option)) names.insert(names.end(), option.names.begin(), option.names.end());
        }
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return join(names, "|");
}

/// What to do for the value of an option; the same branches in bash and zsh but for `complete`, the commands by which
/// the shell offers files or choices.
std::string value_branches(const CommandInfo& root, std::string (*complete)(const OptionInfo& option)) {
    std::string text;
    for (const auto& [path, command] : nodes_with_root_last(root)) {
        for (const auto& option : command->options) {
            std::string action;
            if (const auto kind = kind_of(path, option); !kind.empty() && takes_value(option))
                action = "_ykctl_names " + quoted(kind);
            else if (option.value == ValueKind::Choice || option.value == ValueKind::File)
                action = complete(option);
            else
                continue;
            text += fmt::format("        {}) {}; return ;;\n", option_pattern(path, option), action);
        }
    }
    return text;
}

std::string bash_value(const OptionInfo& option) {
    const auto words = option.value == ValueKind::File ? std::string{"-f"} : "-W " + quoted(join(option.choices, " "));
    return fmt::format("COMPREPLY=($(compgen {} -- \"$cur\"))", words);
}

std::string bash_command_branches(const CommandInfo& root) {
    std::string text;
    for (const auto& [path, command] : nodes_of(root)) {
        std::vector<std::string> options;
        for (const auto& option : command->options) {
            options.insert(options.end(), option.names.begin(), option.names.end());
        }
        auto words = command_names(*command);
        const auto choices = positional_choices(*command);
        words.insert(words.end(), choices.begin(), choices.end());
        text += fmt::format("        {})\n            words={}\n            options={}\n            kind={}\n"
                            "            files={} ;;\n",
                            quoted(path), quoted(join(words, " ")), quoted(join(options, " ")),
                            quoted(kind_of(path, *command)), wants_files(*command) ? "yes" : "no");
    }
    return text;
}

} // namespace

std::string bash_completion(const CommandInfo& root) {
    std::vector<std::string> global;
    for (const auto& option : root.options) global.insert(global.end(), option.names.begin(), option.names.end());
    std::string text = fmt::format(kHeader, "bash");
    text += "# shellcheck shell=bash disable=SC2207,SC2034\n"
            "# Names from the daemon that the line means. They are compared, never expanded: a name may look like a "
            "command.\n"
            "_ykctl_names() {\n"
            "    local -a typed=() given=()\n"
            "    local i name\n"
            "    read -ra typed <<<\"${COMP_LINE-${COMP_WORDS[*]}}\" # COMP_WORDS has addresses in pieces\n"
            "    if [[ -n $cur ]]; then unset 'typed[-1]'; fi\n"
            "    for ((i = 1; i + 1 < ${#typed[@]}; i++)); do\n"
            "        case ${typed[i]} in\n"
            "        -s|--socket|-r|--rm|-p|--partition|--token-file|--tls-ca|--context) given+=(\"${typed[i]}\" "
            "\"${typed[i+1]}\") ;;\n"
            "        esac\n"
            "    done\n"
            "    while IFS= read -r name; do\n"
            "        if [[ $name == \"$cur\"* ]]; then COMPREPLY+=(\"$name\"); fi\n"
            "    done < <(\"${COMP_WORDS[0]}\" \"${given[@]}\" names \"$1\" 2>/dev/null)\n"
            "}\n"
            "_ykctl() {\n"
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} place='' word i skip=no\n"
            "    local words='' options='' files=no kind=''\n"
            "    COMPREPLY=()\n"
            "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
            "        word=${COMP_WORDS[i]}\n"
            "        if [ $skip = yes ]; then skip=no; continue; fi\n"
            "        case $word in\n";
    text += fmt::format("            {}) skip=yes; continue ;;\n", all_value_options(root));
    text += "        esac\n"
            "        case \"$place:$word\" in\n";
    text += walk_branches(root, "            ");
    text += "        esac\n"
            "    done\n"
            "    case \"$place:$prev\" in\n";
    text += value_branches(root, bash_value);
    text += "    esac\n"
            "    case $prev in\n";
    text += fmt::format("        {}) return ;;\n", all_value_options(root));
    text += "    esac\n"
            "    case $place in\n";
    text += bash_command_branches(root);
    text += "    esac\n"
            "    if [[ $cur == -* ]]; then\n";
    text += fmt::format("        COMPREPLY=($(compgen -W \"$options {}\" -- \"$cur\"))\n", join(global, " "));
    text += "    else\n"
            "        COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
            "        if [ -n \"$kind\" ]; then _ykctl_names \"$kind\"; fi\n"
            "        if [ $files = yes ]; then COMPREPLY+=($(compgen -f -- \"$cur\")); fi\n"
            "    fi\n"
            "}\n"
            "complete -o filenames -F _ykctl ykctl\n";
    return text;
}

namespace {

/// `'name:help'` as _describe expects it, with the colons in the name escaped.
std::string described(const std::string& name, const std::string& help) {
    std::string escaped;
    for (const char c : name) escaped += c == ':' ? std::string{"\\:"} : std::string(1, c);
    return quoted(escaped + ":" + help);
}

std::string zsh_command_branches(const CommandInfo& root) {
    std::string text;
    for (const auto& [path, command] : nodes_of(root)) {
        text += fmt::format("        {})\n", quoted(path));
        for (const auto& child : command->commands) {
            if (!child.hidden) text += fmt::format("            commands+=({})\n", described(child.name, child.help));
        }
        for (const auto& choice : positional_choices(*command)) {
            text += fmt::format("            commands+=({})\n", described(choice, command->positionals.front().help));
        }
        for (const auto& option : command->options) {
            for (const auto& name : option.names) {
                text += fmt::format("            options+=({})\n", described(name, option.help));
            }
        }
        if (wants_files(*command)) text += "            files=yes\n";
        if (const auto kind = kind_of(path, *command); !kind.empty()) text += "            kind=" + quoted(kind) + "\n";
        text += "            ;;\n";
    }
    return text;
}

std::string zsh_value(const OptionInfo& option) {
    return option.value == ValueKind::File ? "_files" : "compadd -- " + join(option.choices, " ");
}

} // namespace

std::string zsh_completion(const CommandInfo& root) {
    std::string text = "#compdef ykctl\n" + fmt::format(kHeader, "zsh");
    text += "# Names from the daemon that the line means.\n"
            "_ykctl_names() {\n"
            "    local -a given found\n"
            "    local i\n"
            "    for ((i = 2; i < CURRENT - 1; i++)); do\n"
            "        case ${words[i]} in\n"
            "        -s|--socket|-r|--rm|-p|--partition|--token-file|--tls-ca|--context) given+=(${(Q)words[i]} "
            "${(Q)words[i+1]}) ;;\n"
            "        esac\n"
            "    done\n"
            "    found=(${(f)\"$(${words[1]} $given names $1 2>/dev/null)\"})\n"
            "    compadd -a found\n"
            "}\n"
            "_ykctl() {\n"
            "    local place='' word skip=no files=no kind='' prev=${words[CURRENT-1]}\n"
            "    local -a commands options global\n"
            "    for word in ${words[2,CURRENT-1]}; do\n"
            "        if [[ $skip == yes ]]; then skip=no; continue; fi\n"
            "        case $word in\n";
    text += fmt::format("            {}) skip=yes; continue ;;\n", all_value_options(root));
    text += "        esac\n"
            "        case \"$place:$word\" in\n";
    text += walk_branches(root, "            ");
    text += "        esac\n"
            "    done\n"
            "    case \"$place:$prev\" in\n";
    text += value_branches(root, zsh_value);
    text += "    esac\n"
            "    case $prev in\n";
    text += fmt::format("        {}) _message value; return ;;\n", all_value_options(root));
    text += "    esac\n"
            "    case $place in\n";
    text += zsh_command_branches(root);
    text += "    esac\n";
    for (const auto& option : root.options) {
        for (const auto& name : option.names) text += fmt::format("    global+=({})\n", described(name, option.help));
    }
    text += "    if [[ $PREFIX == -* ]]; then\n"
            "        [[ -n $place ]] && _describe -o option options\n"
            "        _describe -o 'global option' global\n"
            "    else\n"
            "        (( $#commands )) && _describe command commands\n"
            "        [[ -n $kind ]] && _ykctl_names $kind\n"
            "        [[ $files == yes ]] && _files\n"
            "    fi\n"
            "}\n"
            "if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then _ykctl \"$@\"; else compdef _ykctl ykctl; fi\n";
    return text;
}

namespace {

std::string fish_option(const std::string& path, const std::string& condition, const OptionInfo& option) {
    auto line = "complete -c ykctl" + condition;
    for (const auto& name : option.names) {
        line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    }
    if (const auto kind = kind_of(path, option); !kind.empty() && takes_value(option))
        line += " -x -a " + quoted("(__ykctl_names '" + kind + "')");
    else if (option.value == ValueKind::File)
        line += " -r -F";
    else if (option.value == ValueKind::Choice)
        line += " -x -a " + quoted(join(option.choices, " "));
    else if (takes_value(option))
        line += " -x";
    return line + " -d " + quoted(option.help) + "\n";
}

std::string fish_walk(const CommandInfo& root) {
    std::string text;
    for (const auto& [path, command] : nodes_of(root)) {
        for (const auto& child : command->commands) {
            if (child.hidden) continue;
            std::vector<std::string> patterns{quoted(path + ":" + child.name)};
            for (const auto& alias : child.aliases) patterns.push_back(quoted(path + ":" + alias));
            text += fmt::format("            case {}\n                set place {}\n", join(patterns, " "),
                                quoted(path.empty() ? child.name : path + " " + child.name));
        }
    }
    return text;
}

} // namespace

std::string fish_completion(const CommandInfo& root) {
    auto value_options = all_value_options(root);
    std::replace(value_options.begin(), value_options.end(), '|', ' ');
    std::string text = fmt::format(kHeader, "fish");
    text += "function __ykctl_at --description 'whether the command typed so far is the one given'\n"
            "    set -l place ''\n"
            "    set -l skip no\n"
            "    for word in (commandline -opc)[2..-1]\n"
            "        if test $skip = yes\n"
            "            set skip no\n"
            "            continue\n"
            "        end\n";
    text += fmt::format("        if contains -- $word {}\n", value_options);
    text += "            set skip yes\n"
            "            continue\n"
            "        end\n"
            "        switch \"$place:$word\"\n";
    text += fish_walk(root);
    text += "        end\n"
            "    end\n"
            "    test \"$place\" = \"$argv\"\n"
            "end\n"
            "function __ykctl_names --description 'names from the daemon that the line means'\n"
            "    set -l given\n"
            "    set -l words (commandline -opc)\n"
            "    for i in (seq 2 (math (count $words) - 1))\n"
            "        switch $words[$i]\n"
            "            case -s --socket -r --rm -p --partition --token-file --tls-ca --context\n"
            "                set -a given $words[$i] $words[(math $i + 1)]\n"
            "        end\n"
            "    end\n"
            "    command $words[1] $given names $argv[1] 2>/dev/null\n"
            "end\n"
            "complete -c ykctl -f\n";
    for (const auto& [path, command] : nodes_of(root)) {
        const auto condition = " -n " + quoted("__ykctl_at " + path);
        for (const auto& child : command->commands) {
            if (child.hidden) continue;
            text += fmt::format("complete -c ykctl{} -a {} -d {}\n", condition, child.name, quoted(child.help));
        }
        for (const auto& choice : positional_choices(*command)) {
            text += fmt::format("complete -c ykctl{} -a {}\n", condition, choice);
        }
        if (wants_files(*command)) text += fmt::format("complete -c ykctl{} -F\n", condition);
        if (const auto kind = kind_of(path, *command); !kind.empty())
            text += fmt::format("complete -c ykctl{} -a {}\n", condition, quoted("(__ykctl_names '" + kind + "')"));
        const auto options_hold = path.empty() ? std::string{} : condition;
        for (const auto& option : command->options) text += fish_option(path, options_hold, option);
    }
    return text;
}

} // namespace yk::cli
