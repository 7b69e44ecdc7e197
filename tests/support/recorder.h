// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the core said in a test, apart by kind (ykd/recording/transcript.h has the lines).

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ykd/recording/transcript.h"

namespace yk::testing {

/// The line without its wording.
[[nodiscard]] inline std::string_view head_of(std::string_view line) {
    return line.substr(0, line.find(Transcript::kWording));
}

/// The ports of a core, and a way to take what came through them since the last time.
struct Recorder {
    struct Port final : Transcript {
        std::vector<std::string> lines;    // all but those of events about asks
        std::vector<std::string> requests; // these
        void say(Kind kind, std::string line) override {
            (kind == Kind::Request ? requests : lines).push_back(std::move(line));
        }
    };
    Port callbacks, events;

    struct Lines {
        std::vector<std::string> callbacks, events, requests;
    };
    [[nodiscard]] Lines take() {
        return {std::exchange(callbacks.lines, {}), std::exchange(events.lines, {}),
                std::exchange(events.requests, {})};
    }
};

} // namespace yk::testing
