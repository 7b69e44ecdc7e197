// SPDX-License-Identifier: Apache-2.0
#pragma once
// A cluster whose RM recovers, and what that RM hears meanwhile.

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

    /// What the RM was notified of since the last time, with `; ` between: `A nodes +[n]`, `U Running`, `N k on n`,
    /// `L [app/k type=1]`. The partition is left out.
    std::string said() {
        std::string text;
        for (std::string line : notices()) {
            for (auto at = line.find("[rm]default "); at != std::string::npos; at = line.find("[rm]default ", at))
                line.erase(at, 12);
            if (line[0] == 'U') line = "U " + word(line, 2); // U app state
            if (line[0] == 'N') line = line.substr(0, line.find(" queue=")).erase(2, line.find('/') - 1);
            text += (text.empty() ? "" : "; ") + line;
        }
        return text;
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

private:
    [[nodiscard]] static std::string word(const std::string& line, int number) {
        std::size_t from = 0;
        for (int i = 0; i < number; ++i) from = line.find(' ', from) + 1;
        return line.substr(from, line.find(' ', from) - from);
    }
};

} // namespace yk::testing
