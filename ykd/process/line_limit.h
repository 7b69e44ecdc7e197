// SPDX-License-Identifier: Apache-2.0
#pragma once
// LineLimit: limits the log lines that one peer can cause to five a minute, so that nobody fills the log.
//
// Owner: Daemon. Thread: any.

#include <mutex>
#include <optional>
#include <string>

#include "ykd/process/minute_counter.h"

namespace yk::service {

class LineLimit {
public:
    static constexpr std::size_t kLines = 5;

    /// Counts a line about this address and returns what to append to it; nullopt: the line is not to be written.
    [[nodiscard]] std::optional<std::string> suffix(const std::string& address) {
        const std::lock_guard lock(mutex_);
        const std::size_t count = lines_.note(address);
        if (count > kLines) return std::nullopt;
        return count < kLines ? std::string{} : "; more of this address are not logged for a minute";
    }

private:
    std::mutex mutex_;
    MinuteCounter lines_;
};

} // namespace yk::service
