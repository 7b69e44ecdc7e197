// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster whose RM recovers, and what it has meanwhile.

#include <string>
#include <vector>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

class RecoveryStory : public Cluster {
public:
    /// The recovery is open; a refused application is not forced into the recovery queue.
    explicit RecoveryStory(const std::string& queues = "[{name: a}]", const Settings& settings = manual_settings(),
                           bool force_applications = false)
        : Cluster(queues, {}, {}, settings) {
        begin_recovery(force_applications);
        events();
    }

    [[nodiscard]] std::int64_t occupied(const std::string& node) const { return vcores(node_view(node).occupied); }
    [[nodiscard]] std::int64_t available(const std::string& node) const { return vcores(node_view(node).available); }
    [[nodiscard]] std::int64_t allocated(const std::string& queue_path) const {
        return vcores(queue(queue_path).allocated);
    }

    [[nodiscard]] static std::int64_t vcores(const ResourceMapView& amounts) {
        const auto found = amounts.find("vcore");
        return found == amounts.end() ? 0 : found->second;
    }
};

} // namespace yk::testing
