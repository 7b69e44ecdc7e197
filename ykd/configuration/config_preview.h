// SPDX-License-Identifier: Apache-2.0
#pragma once
// Preview: what a configuration would do to the running RM, worked out without an effect (C-435, C-436, B-06).

#include <functional>
#include <string>
#include <vector>

#include "ykd/configuration/config_effects.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/workers.h"

namespace yk::service {

struct Preview {
    std::string refusal;                   // why the RM would refuse it; empty: it would be applied
    std::vector<RunningPartition> running; // only when asked for with `with_state`
};

/// Makes the preview on the owner thread, chunk by chunk, and calls `done` with it, or `left` when the RM has left;
/// both on a worker. Returns at once.
void look_ahead(Workers& workers, const RmPtr& rm, const ConfigurationPtr& wanted, bool with_state,
                std::function<void(const Preview&)> done, RmThread::Gone left);

} // namespace yk::service
