// SPDX-License-Identifier: Apache-2.0
#pragma once
// What --wait of the deployment commands does. A daemon that is restarted meanwhile is waited for.

#include <chrono>
#include <cstdint>
#include <string>

#include "ykctl/client/context.h"

namespace yk::cli {

/// A deployment as a change left it.
struct ChangedDeployment {
    std::string id;
    std::int64_t version = 0; // of its row
};

/// Waits until as many replicas are placed as that version of it is to have, or a later one, and their commands, as far
/// as the daemon runs any, have begun. Exit::NotSatisfied: the time is over, or a command is refused.
[[nodiscard]] Outcome wait_until_placed(Context& context, const ChangedDeployment& changed,
                                        std::chrono::milliseconds limit);
/// Waits until the core has nothing of a Deployment, which McsRead described before it was deleted.
[[nodiscard]] Outcome wait_until_gone(Context& context, const wire::Value& deleted, std::chrono::milliseconds limit);

/// Waits until there is no Deployment of this name or id.
[[nodiscard]] Outcome wait_until_deleted(Context& context, const std::string& name, std::chrono::milliseconds limit);

/// The commands of replicas that do not run, of a Deployment as McsRead describes it.
struct CommandsLook {
    std::int64_t waiting = 0, refused = 0;
    std::string why; // the first one was refused
};
[[nodiscard]] CommandsLook look_at_commands(const wire::Value& deployment);

/// Whether all is placed that a Deployment, as McsRead describes it, is to have by now: neither the Autoscaler nor the
/// Scheduler has anything to do for it.
[[nodiscard]] bool is_settled(const wire::Value& deployment);

} // namespace yk::cli
