// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tests of commands share: a loop that waits for what happens, and output that is kept.

#include <poll.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "protocol/work/commands.h"

namespace yk::work {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr seconds kDeadline{30};

/// Calls `step` after each event until `done` holds.
template <class Step, class Done>
void run_until(int descriptor, Step step, Done done) {
    const auto end = Clock::now() + kDeadline;
    while (!done()) {
        REQUIRE(Clock::now() < end);
        pollfd watched{descriptor, POLLIN, 0};
        static_cast<void>(::poll(&watched, 1, 5));
        step();
    }
}

/// All commands to their end.
inline std::vector<Ended> all_ended(Commands& commands) {
    std::vector<Ended> ended;
    run_until(
        commands.descriptor(),
        [&] {
            for (const Ended& each : commands.step(Clock::now())) ended.push_back(each);
        },
        [&] { return commands.size() == 0; });
    return ended;
}

class Kept final : public Output {
public:
    explicit Kept(std::string& into) : into_(into) {}
    void write(std::string_view text) override { into_.append(text); }

private:
    std::string& into_;
};

inline std::unique_ptr<Commands> make_commands(Commands::Options options = {}) {
    options.may_be_root = true;
    auto made = Commands::make(std::move(options));
    REQUIRE(made.ok());
    return std::move(made).value();
}

inline Command command(std::string text) {
    Command made;
    made.text = std::move(text);
    made.environment = {"PATH=/usr/bin:/bin"};
    return made;
}

inline std::uint64_t started(Commands& commands, Command what) {
    auto id = commands.start(std::move(what), Clock::now());
    INFO((id.ok() ? std::string{} : id.error().text()));
    REQUIRE(id.ok());
    return *id;
}

/// What a command writes, to its end.
inline std::string output_of(Command what, Ended* how = nullptr) {
    std::string output;
    what.output = std::make_unique<Kept>(output);
    auto commands = make_commands();
    started(*commands, std::move(what));
    const auto ended = all_ended(*commands);
    REQUIRE(ended.size() == 1);
    if (how != nullptr) *how = ended[0];
    return output;
}

/// Whether it runs: one that has ended and whose parent does not know yet is no longer alive.
inline bool is_alive(pid_t pid) {
    std::ifstream file{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text;
    std::getline(file, text);
    const auto bracket = text.rfind(')');
    return bracket != std::string::npos && text.size() > bracket + 2 && text[bracket + 2] != 'Z';
}

/// A process that is no child of this one is gone, or will be in a moment.
inline void await_gone(pid_t pid) {
    const auto end = Clock::now() + kDeadline;
    while (is_alive(pid)) {
        REQUIRE(Clock::now() < end);
        static_cast<void>(::poll(nullptr, 0, 2));
    }
}

/// A folder that is gone in the end.
class Folder {
public:
    Folder() {
        std::string name = "/tmp/yk-work.XXXXXX";
        REQUIRE(::mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;
    [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + "/" + name; }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
};

} // namespace yk::work
