// SPDX-License-Identifier: Apache-2.0
#pragma once
// The topics of Deployments, their children and nodes.

#include <string>

#include "libcore/mcs/kinds.h"
#include "protocol/brokers/topics.h"

namespace yk::mcs {

/// One for each kind.
[[nodiscard]] inline rs::Topics topics_of_kinds() {
    rs::Topics topics;
    for (const rs::Kind kind : kKinds) topics.push_back({kind, std::string{name_of(kind)}});
    return topics;
}

} // namespace yk::mcs
