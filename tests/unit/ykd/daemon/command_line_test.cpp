// SPDX-License-Identifier: Apache-2.0
#include "ykd/daemon/command_line.h"

#include <catch2/catch.hpp>

#include <cstdlib>

namespace yk::service {

namespace {

/// Sets a variable of the environment, and takes it away again.
class Variable {
public:
    Variable(const char* name, const char* value) : name_(name) { ::setenv(name, value, 1); }
    ~Variable() { ::unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    const char* name_;
};

CommandLine parse(std::vector<std::string> words) {
    words.insert(words.begin(), "ykd");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return parse_command_line(static_cast<int>(pointers.size()), pointers.data(), "1");
}

bool reservations_disabled(const char* value) {
    const Variable variable("DISABLE_RESERVATION", value);
    const CommandLine line = parse({"--listen", "ipc:///tmp/unused.sock"});
    REQUIRE(line.action == Action::Run);
    return line.settings.reservations_disabled;
}

} // namespace

TEST_CASE("C-467 DISABLE_RESERVATION in the spellings of a boolean; anything else is the default") {
    for (const char* yes : {"1", "t", "T", "true", "True", "TRUE"}) {
        INFO(yes);
        CHECK(reservations_disabled(yes));
    }
    for (const char* no : {"0", "f", "F", "false", "False", "FALSE", "", "yes", "tRUE", "on"}) {
        INFO(no);
        CHECK_FALSE(reservations_disabled(no));
    }
    CHECK_FALSE(parse({"--listen", "ipc:///tmp/unused.sock"}).settings.reservations_disabled);
}

TEST_CASE("C-467 the other variables of the original have no effect") {
    const Variable detection("DEADLOCK_DETECTION_ENABLED", "true"), timeout("DEADLOCK_TIMEOUT_SECONDS", "x"),
        exit("DEADLOCK_EXIT", "true"), order("DEADLOCK_DISABLE_LOCK_ORDER", "true");
    CHECK(parse({"--listen", "ipc:///tmp/unused.sock"}).action == Action::Run);
}

} // namespace yk::service
