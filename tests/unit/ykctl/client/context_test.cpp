// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/context.h"

#include <sstream>

#include <catch2/catch.hpp>

using namespace yk::cli;
using namespace std::chrono_literals;

namespace {

struct Waiting {
    std::istringstream in;
    std::ostringstream out, err;
    Context context{{in, out, err, false, false}, "1"};

    explicit Waiting(std::optional<std::chrono::milliseconds> timeout) {
        Settings settings;
        settings.timeout = timeout;
        settings.client.timeout = timeout.value_or(kQuick);
        context.set_settings(std::move(settings));
    }
};

} // namespace

TEST_CASE("rs R-159 --timeout is the time of all requests of a command that waits") {
    Waiting waiting{3s};
    const auto began = std::chrono::steady_clock::now();
    const auto time = waiting.context.begin_wait(30s);
    CHECK(time.limit == 3s);
    CHECK(time.end - began >= 3s);
    CHECK(time.end - began < 30s);
    CHECK(waiting.context.settings().client.timeout == 3s);
    CHECK(waiting.context.begin_wait(30s).end == time.end); // by another part of the command
}

TEST_CASE("rs R-159 without --timeout a wait has its usual time, and a short one leaves time for an answer") {
    Waiting usual{std::nullopt};
    CHECK(usual.context.begin_wait(30s).limit == 30s);
    CHECK(usual.context.settings().client.timeout == kQuick);
    Waiting brief{1ms};
    CHECK(brief.context.begin_wait(30s).limit == 1ms);
    CHECK(brief.context.settings().client.timeout >= 1s);
}
