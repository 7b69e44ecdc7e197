// SPDX-License-Identifier: Apache-2.0
#pragma once
// UserLookup: looks up the groups of the users that one request names. The system is asked user by user (NameService)
// while the request waits, at most until its deadline.
//
// Owner: Daemon. Thread: any.

#include <functional>
#include <string>
#include <vector>

#include "ykd/process/name_service.h"
#include "ykd/rm/user_directory.h"
#include "ykd/runtime/deadlines.h"
#include "ykd/runtime/workers.h"
#include "ykd/session/session.h"

namespace yk::service {

inline constexpr const char* kSlowNames = "the system's name service is slow to tell the groups of users";

/// Asks the system for the groups of a user. May block.
using GroupLookup = std::function<GroupsAnswer(const std::string& user)>;

class UserLookup {
public:
    /// What comes next, with the answers; they are not complete when the deadline of the call came first.
    using Then = std::function<void(LookedUp answers, bool complete)>;

    UserLookup(Deadlines& deadlines, Workers& workers, NameService& names, GroupLookup lookup = system_groups)
        : deadlines_(deadlines), workers_(workers), names_(names), lookup_(std::move(lookup)) {}

    /// Calls `then` once: on a worker, or at once if `users` is empty.
    void look_up(const CallPtr& call, std::vector<std::string> users, Then then);

private:
    class OfRequest;

    Deadlines& deadlines_;
    Workers& workers_;
    NameService& names_;
    const GroupLookup lookup_;
};

} // namespace yk::service
