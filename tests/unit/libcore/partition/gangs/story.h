// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster for stories of gangs: applications with placeholders, and how the RM confirms their releases.

#include <string>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

class GangStory : public Cluster {
public:
    using Cluster::Cluster;

    GangStory& node(const std::string& id, const std::string& capacity, const std::string& action = "create") {
        Cluster::node(id, capacity, action);
        return *this;
    }
    /// `more`: `style=Hard timeout=200` and the like.
    GangStory& gang(const std::string& id, const std::string& sum, const std::string& more = {},
                    const std::string& queue = "root.a") {
        play(fmt::format("apps new id={} queue={} gang={} {}", id, queue, sum, more));
        return *this;
    }
    /// ph-1, ph-2, ... of one group.
    GangStory& placeholders(const std::string& app, int count, const std::string& size,
                            const std::string& group = "g") {
        for (int i = 1; i <= count; ++i) placeholder(app, fmt::format("ph-{}", i), size, group);
        return *this;
    }
    GangStory& placeholder(const std::string& app, const std::string& key, const std::string& size,
                           const std::string& group = "g", const std::string& more = {}) {
        ask(app, key, size, "placeholder=1 group=" + group + " " + more);
        return *this;
    }
    GangStory& real(const std::string& app, const std::string& key, const std::string& size,
                    const std::string& group = "g", const std::string& more = {}) {
        ask(app, key, size, "group=" + group + " " + more);
        return *this;
    }
    /// A real ask that runs on one node only.
    GangStory& pinned(const std::string& app, const std::string& key, const std::string& size,
                      const std::string& node) {
        return real(app, key, size, "g", "tags=yunikorn.apache.org/requiredNode:" + node);
    }
    /// The RM confirms a replacement.
    GangStory& confirm(const std::string& app, const std::string& key) {
        release(app, key, 4);
        return *this;
    }
    GangStory& confirm_timeout(const std::string& app, const std::string& key) {
        release(app, key, 2);
        return *this;
    }
    /// `g: placeholders 2, replaced 1, timed out 0`, with `; ` between groups.
    [[nodiscard]] std::string counters(const std::string& id) const {
        std::string text;
        for (const PlaceholderDataView& group : app(id).placeholder_data)
            text += fmt::format("{}{}: placeholders {}, replaced {}, timed out {}", text.empty() ? "" : "; ",
                                group.task_group, group.count, group.replaced, group.timed_out);
        return text;
    }
};

} // namespace yk::testing
