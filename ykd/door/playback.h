#pragma once
// Playback: does to a fresh core what a recording says was done to another, and compares what both said.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"

namespace yk {

/// One command, as it went this time.
struct PlayedStep {
    std::uint64_t number = 0; // from 1
    Instant at;
    std::string done; // in words: `3 asks, 1 release`
    std::vector<std::string> said;
    std::vector<std::string> said_then; // as recorded
    bool unanswered = false;            // the recording ends with the command
    bool idle = false;                  // cycles or timers, and nothing was said

    [[nodiscard]] bool same() const { return said == said_then || unanswered; }
};

struct Played {
    std::string rm_id, ykd; // whose core it was, and the version that made the recording
    Instant begun, ended;
    std::uint64_t commands = 0, cycles = 0, allocations = 0, lines = 0;
    bool cut = false;                // the file ends within a record, or before the answer to the last command
    std::vector<std::string> broken; // accounting invariants, in words (S-181), of the state in the end
};

/// `on_step` false: no further. Errors: the file is none, is damaged, or says what cannot be; the message has the file
/// and the number of the command.
[[nodiscard]] Result<Played> play_recording(const std::string& path,
                                            const std::function<bool(const PlayedStep&)>& on_step);

} // namespace yk
