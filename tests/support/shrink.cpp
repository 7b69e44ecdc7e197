// SPDX-License-Identifier: Apache-2.0
#include "tests/support/shrink.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <sys/wait.h>
#include <unistd.h>

namespace yk::testing {

namespace {

template <class T>
std::vector<T> without(const std::vector<T>& all, std::size_t from, std::size_t count) {
    std::vector<T> rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(from));
    const std::size_t to = std::min(all.size(), from + count);
    rest.insert(rest.end(), all.begin() + static_cast<std::ptrdiff_t>(to), all.end());
    return rest;
}

std::vector<Command> drop_commands(std::vector<Command> commands, const Fails& fails) {
    for (std::size_t chunk = commands.size() / 2; chunk > 0; chunk /= 2) {
        for (std::size_t from = 1; from < commands.size();) {
            auto fewer = without(commands, from, chunk);
            if (fails_in_child(fails, fewer))
                commands = std::move(fewer);
            else
                from += chunk;
        }
    }
    return commands;
}

std::vector<Command> drop_elements(std::vector<Command> commands, const Fails& fails) {
    for (std::size_t i = 1; i < commands.size(); ++i) {
        for (std::size_t e = 0; e < commands[i].elements.size() && commands[i].elements.size() > 1;) {
            auto fewer = commands;
            fewer[i].elements = without(fewer[i].elements, e, 1);
            if (fails_in_child(fails, fewer))
                commands = std::move(fewer);
            else
                ++e;
        }
        while (commands[i].kind == CommandKind::Cycle && commands[i].count > 1) {
            auto fewer = commands;
            --fewer[i].count;
            if (!fails_in_child(fails, fewer)) break;
            commands = std::move(fewer);
        }
    }
    return commands;
}

} // namespace

bool fails_in_child(const Fails& fails, const std::vector<Command>& commands) {
    const pid_t child = fork();
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);
        std::signal(SIGSEGV, SIG_DFL);
        if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(0);
        const auto ask = [&]() noexcept { return fails(commands); }; // an exception ends the child, not in Catch
        _exit(ask() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

std::vector<Command> shrink(std::vector<Command> commands, const Fails& fails) {
    for (std::size_t before = commands.size() + 1; commands.size() < before;) {
        before = commands.size();
        commands = drop_elements(drop_commands(std::move(commands), fails), fails);
    }
    return commands;
}

std::vector<std::uint64_t> seeds(std::uint64_t rounds) {
    if (const char* text = std::getenv("YK_ROUNDS")) rounds = std::strtoull(text, nullptr, 10);
    std::uint64_t first = 1;
    if (const char* text = std::getenv("YK_SEED")) {
        first = std::strtoull(text, nullptr, 10);
        if (std::getenv("YK_ROUNDS") == nullptr) rounds = 1;
    }
    std::vector<std::uint64_t> all;
    for (std::uint64_t i = 0; i < rounds; ++i) all.push_back(first + i);
    return all;
}

std::vector<std::pair<std::string, std::vector<Command>>> regressions(const std::string& source_dir) {
    std::vector<std::pair<std::string, std::vector<Command>>> all;
    for (const auto& entry : std::filesystem::directory_iterator(source_dir + "/tests/property/regressions")) {
        if (entry.path().extension() != ".txt") continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
        auto commands = parse_commands(text);
        if (commands.ok())
            all.emplace_back(entry.path().filename(), std::move(commands).value());
        else
            all.emplace_back(entry.path().filename().string() + ": " + commands.error().text(), std::vector<Command>{});
    }
    std::sort(all.begin(), all.end(), [](const auto& l, const auto& r) { return l.first < r.first; });
    return all;
}

} // namespace yk::testing
