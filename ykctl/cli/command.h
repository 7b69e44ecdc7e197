// SPDX-License-Identifier: Apache-2.0
#pragma once
// CommandLine: the command tree, declared by the noun files and parsed by CLI11. Only command.cpp includes CLI11, which
// is slow to compile; everybody else sees these three small classes.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ykctl/cli/command_tree.h"
#include "ykctl/cli/failure.h"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace yk::cli {

class CommandLine;

/// One option or positional under construction. Lives as long as its CommandLine.
class OptionRef {
public:
    OptionRef(CommandLine& line, CLI::Option* option) : line_(&line), option_(option) {}

    OptionRef& required();
    /// The name of the value in the help: `N`, `FILE`. With `FILE` shells offer files.
    OptionRef& value(const std::string& name);
    /// The only values that are allowed, in upper or lower case; the variable gets the spelling given here. The error
    /// for any other value names the nearest one.
    OptionRef& choices(const std::vector<std::string>& values);

private:
    CommandLine* line_;
    CLI::Option* option_;
};

/// One command under construction: `node`, or `node add`. A handle; copies name the same command.
///
/// The variables that options write to must outlive the parse: keep them in a shared_ptr that the run function
/// captures.
class Command {
public:
    Command(CommandLine& line, CLI::App* app) : line_(&line), app_(app) {}

    [[nodiscard]] Command sub(const std::string& name, const std::string& help) const;
    const Command& alias(const std::string& name) const;
    /// Leaves the command out of help, completions and manual pages.
    const Command& hidden() const;
    /// Sets what the command does when it is chosen.
    void run(std::function<Outcome()> action) const;

    /// `names`: `-n,--count` for an option, `NAME` for a positional. A vector takes the option any number of times, or
    /// all positionals that are left.
    OptionRef option(const std::string& names, std::string& into, const std::string& help) const;
    OptionRef option(const std::string& names, std::optional<std::string>& into, const std::string& help) const;
    OptionRef option(const std::string& names, std::vector<std::string>& into, const std::string& help) const;
    OptionRef option(const std::string& names, std::int64_t& into, const std::string& help) const;
    OptionRef option(const std::string& names, std::optional<std::int64_t>& into, const std::string& help) const;
    OptionRef option(const std::string& names, std::chrono::milliseconds& into, const std::string& help) const;
    OptionRef option(const std::string& names, std::optional<std::chrono::milliseconds>& into,
                     const std::string& help) const;
    void flag(const std::string& names, bool& into, const std::string& help) const;

private:
    /// Takes one text; returns what is wrong with it.
    using Setter = std::function<std::optional<std::string>(const std::string&)>;
    OptionRef add(const std::string& names, const std::string& help, bool many, Setter setter) const;

    CommandLine* line_;
    CLI::App* app_;
};

/// What the command line asked for: a command to run, or a text to print (`--help`).
struct Selected {
    std::function<Outcome()> action;
    std::string help; // not empty: print it and stop
};

/// Owner: run() in run_command_line.cpp. Thread: main.
class CommandLine {
public:
    CommandLine(const std::string& name, const std::string& help);
    ~CommandLine();
    CommandLine(const CommandLine&) = delete;
    CommandLine& operator=(const CommandLine&) = delete;

    [[nodiscard]] Command root();
    /// `arguments` without the program's name. Errors are usage errors with the nearest command or option.
    [[nodiscard]] Answer<Selected> parse(std::vector<std::string> arguments);
    /// The help of the command at `path` (`{"node", "add"}`); nullopt when there is none.
    [[nodiscard]] std::optional<std::string> help_of(const std::vector<std::string>& path) const;
    [[nodiscard]] CommandInfo tree() const;

private:
    friend class Command;
    friend class OptionRef;
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

} // namespace yk::cli
