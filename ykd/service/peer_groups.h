#pragma once
// PeerGroups: the groups of this machine's users, as rules about ipc peers need them. The kernel names only the primary
// group of a peer; the name service that knows the others may take seconds, so what it said is remembered, and looked
// up anew behind the back of whoever asks.

#include <sys/types.h>

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "ykd/runtime/clock.h"

namespace yk::service {

/// Asks the system. May block. A user that it does not know has the primary group; nothing: it cannot tell.
[[nodiscard]] std::optional<std::vector<gid_t>> system_groups_of(uid_t uid, gid_t primary);

/// Thread: any. No lock is held while the system is asked.
class PeerGroups {
public:
    using Lookup = std::function<std::optional<std::vector<gid_t>>(uid_t uid, gid_t primary)>;
    using Later = std::function<void(std::function<void()>)>; // calls it on a thread that may wait
    static constexpr auto kFresh = std::chrono::seconds{60};
    static constexpr auto kFreshFailure = std::chrono::seconds{5}; // when the system could not tell
    static constexpr std::size_t kMostUsers = 4096;                // with more all are forgotten

    explicit PeerGroups(Later later, Lookup lookup = system_groups_of)
        : later_(std::move(later)), lookup_(std::move(lookup)) {}

    /// What is known; when that is not fresh it will be soon. Blocks for a user that is not known at all: once.
    [[nodiscard]] std::vector<gid_t> of(uid_t uid, gid_t primary, SteadyClock::time_point now);
    /// From now on nothing is fresh.
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
