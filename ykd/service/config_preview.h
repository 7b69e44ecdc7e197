#pragma once
// What the running RM says to a configuration before it is applied (C-435, C-436, B-06).

#include <functional>
#include <string>
#include <vector>

#include "ykd/service/config_effects.h"
#include "ykd/service/daemon.h"

namespace yk::service {

struct Preview {
    std::string refusal;                   // empty: it would be taken
    std::vector<RunningPartition> running; // when asked for
};

/// Asks the owner thread, piece by piece, and goes on with `done` on a worker, or with `gone` when the RM has left.
void look_ahead(Daemon& daemon, const RmPtr& rm, const ConfigurationPtr& wanted, bool with_state,
                std::function<void(const Preview&)> done, RmOwner::Gone gone);

} // namespace yk::service
