// SPDX-License-Identifier: Apache-2.0
#pragma once
// Suspects: differences that a periodic full read found between database and cache. Either their events are still on
// the way, or the main path missed something, which must not stay unseen. A suspect is cleared by an event of its key
// that is not newer than the read; one that is left when the log has been consumed up to the read is a repair (rs
//
//
// Owner: ResourceReconciler<T>. Thread: its owner's. Bounded by kMost: beyond that differences are repaired unjudged.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/resource_state/ports/change_log.h"

namespace yk::rs {

class Suspects {
public:
    explicit Suspects(Duration unproven_after) : unproven_after_(unproven_after) {}

    /// The row of the key was read when the log had come to `head` (nullopt: not known), and was not what the cache
    /// had.
    void add(std::string_view id, const std::optional<Cursor>& head, Instant now);
    /// An event of the key was consumed. One of a lane that the head does not have is of a broker, and clears it.
    void clear(std::string_view id, std::size_t lane, Position at);
    /// The keys of which no event came, now that the log was consumed up to `consumed`. Where the head is not known, or
    /// of another log, time decides.
    [[nodiscard]] std::vector<std::string> take_repairs(const Cursor& consumed, Instant now);
    [[nodiscard]] std::size_t size() const { return suspects_.size(); }
    void forget_all() { suspects_.clear(); }

    static constexpr std::size_t kMost = 10'000;

private:
    struct Suspect {
        std::optional<Cursor> head;
        Instant since;
    };

    Duration unproven_after_;
    std::map<std::string, Suspect, std::less<>> suspects_;
};

} // namespace yk::rs
