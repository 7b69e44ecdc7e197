// SPDX-License-Identifier: Apache-2.0
#include "tests/support/player.h"

#include "libcore/config_yaml/load.h"

namespace yk::testing {

Result<config::Configuration> load_configuration(const std::string& yaml) {
    config_yaml::LoadOutcome outcome = config_yaml::load(yaml, "config");
    if (!outcome.configuration) return outcome.first_error();
    return *std::move(outcome.configuration);
}

void play_recovery(ClusterRecovery& recovery, const std::string& step, Instant now) {
    if (step == "begin" || step == "begin-forced") recovery.begin(step == "begin-forced");
    if (step == "forget") recovery.forget_tombstones();
    if (step == "end") recovery.end(now);
}

} // namespace yk::testing
