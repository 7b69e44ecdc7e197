// SPDX-License-Identifier: Apache-2.0
#pragma once
// Playback: applies the commands of a recording to a fresh core, and compares the lines that the core emits with those
// in the recording. It runs on the caller's thread and needs no daemon.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "libcore/base/time.h"

namespace yk {

/// One command, and the lines that the core emitted now and then.
struct PlayedStep {
    std::uint64_t number = 0; // from 1
    Instant at;
    std::string done;                        // in words: `3 asks, 1 release`
    std::vector<std::string> said;           // the lines of this time
    std::vector<std::string> recorded_lines; // as recorded
    bool unanswered = false;                 // the recording ends with the command
    bool idle = false;                       // cycles or timers that emitted nothing

    [[nodiscard]] bool same() const { return said == recorded_lines || unanswered; }
};

/// A playback as a whole.
struct Played {
    std::string rm_id, ykd; // whose core it was, and the version that made the recording
    Instant begun, ended;
    std::uint64_t commands = 0, cycles = 0, allocations = 0, lines = 0;
    bool cut = false;                // the file ends within a record, or before the answer to the last command
    std::vector<std::string> broken; // the accounting invariants that the final state violates, in words (S-181)
};

/// Plays a whole recording and calls `on_step` after each command; when that returns false, it ends there. Errors: the
/// file is no recording, is damaged, or holds a command that cannot be carried out; the error names the file and the
/// number of the command.
[[nodiscard]] Result<Played> play_recording(const std::string& path,
                                            const std::function<bool(const PlayedStep&)>& on_step);

} // namespace yk
