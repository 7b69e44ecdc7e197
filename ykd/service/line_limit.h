#pragma once
// LineLimit: how many lines a peer may make the daemon write into its log (A7): five a minute. Thread: any.

#include <mutex>
#include <optional>
#include <string>

#include "ykd/service/minute_counter.h"

namespace yk::service {

class LineLimit {
public:
    static constexpr std::size_t kLines = 5;

    /// What to append to the line about this address; nothing: the line is not written.
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
