// SPDX-License-Identifier: Apache-2.0
#include "tests/support/player.h"

#include "libcore/config_yaml/load.h"

namespace yk::testing {

Result<config::Configuration> load_configuration(const std::string& yaml) {
    config_yaml::LoadOutcome outcome = config_yaml::load(yaml, "config");
    if (!outcome.configuration) return outcome.first_error();
    return *std::move(outcome.configuration);
}

} // namespace yk::testing
