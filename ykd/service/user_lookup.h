#pragma once
// The groups of the users that one request names, asked of the system user by user (NameService) while the request
// waits, until its time is over.

#include <functional>
#include <string>
#include <vector>

#include "ykd/service/session.h"
#include "ykd/service/user_directory.h"

namespace yk::service {

inline constexpr const char* kSlowNames = "the system's name service is slow to tell the groups of users";

/// Who is asked. May block.
using GroupLookup = std::function<GroupsAnswer(const std::string& user)>;

/// `then` is called once: on a worker, or at once when there is nobody to look up. The answers are not complete when
/// the call's time was over before.
using LookedUpThen = std::function<void(LookedUp answers, bool complete)>;
void look_up_users(const CallPtr& call, std::vector<std::string> users, LookedUpThen then,
                   GroupLookup lookup = system_groups);

} // namespace yk::service
