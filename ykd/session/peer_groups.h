// SPDX-License-Identifier: Apache-2.0
#pragma once
// PeerGroups: the groups of this machine's users, which rules about ipc peers need. The kernel names only the primary
// group of a peer; the name service that knows the others may take seconds, so its answers are remembered, and renewed
// on another thread while the old answer is still used.

#include <sys/types.h>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ykd/runtime/clock.h"

namespace yk::service {

/// Asks the system for the groups of a user, which may block. A user that it does not know has the primary group only;
/// nullopt: the system cannot answer.
[[nodiscard]] std::optional<std::vector<gid_t>> system_groups_of(uid_t uid, gid_t primary);

/// Owner: Access. Thread: any. No lock is held while the system is asked.
class PeerGroups {
public:
    using Lookup = std::function<std::optional<std::vector<gid_t>>(uid_t uid, gid_t primary)>;
    using Later = std::function<void(std::function<void()>)>;      // calls its argument on a thread that may wait
    static constexpr auto kFresh = std::chrono::seconds{60};       // how long an answer is not renewed
    static constexpr auto kFreshFailure = std::chrono::seconds{5}; // the same, when the system could not answer
    static constexpr std::size_t kMostUsers = 4096;                // with more all are forgotten

    explicit PeerGroups(Later later, Lookup lookup = system_groups_of)
        : later_(std::move(later)), lookup_(std::move(lookup)) {}

    /// The groups that are known; when they are not fresh, they are renewed by way of `later`. Blocks only for a user
    /// of whom nothing is known: once.
    [[nodiscard]] std::vector<gid_t> of(uid_t uid, gid_t primary, SteadyClock::time_point now);
    /// Has every answer renewed when it is needed next.
    void doubt();

private:
    struct Known {
        std::vector<gid_t> groups;
        SteadyClock::time_point fresh_until;
    };
    std::vector<gid_t> look_up(uid_t uid, gid_t primary, SteadyClock::time_point now);

    const Later later_;
    const Lookup lookup_;
    std::mutex mutex_;
    std::map<std::pair<uid_t, gid_t>, Known> users_;
};

} // namespace yk::service
