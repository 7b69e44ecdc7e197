// SPDX-License-Identifier: Apache-2.0
#pragma once
// What ykctl top asks of the daemon for one screen.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ykctl/client/context.h"
#include "ykctl/top/panes.h"

namespace yk::cli {

/// Where the user is.
struct Place {
    Pane pane = Pane::Queues;
    std::string queue;  // only what is in it or below; empty: everything
    std::string object; // the node or application that is looked at; empty: the list
    bool operator==(const Place&) const = default;
};

struct ClusterLook {
    wire::Value status;                    // the daemon, its RMs, counts
    std::vector<wire::Value> items;        // of the list
    std::string object;                    // the text of the object, when one is looked at
    std::int64_t now = 0;                  // of the daemon, Unix nanoseconds
    std::optional<double> placed_a_second; // since the look before; nullopt: this is the first
    std::optional<double> unusable;        // the share of what is idle, of the partition where it is largest (F-034)
    bool is_part = false;                  // of what waits only the first few thousand asks were read
};

/// Owner: the command. Thread: main. A look costs the list that is shown and three small requests.
class ClusterLooks {
public:
    [[nodiscard]] Answer<ClusterLook> look(Context& context, const Place& place);

private:
    [[nodiscard]] std::optional<Failure> read_metrics(Context& context, ClusterLook& look);

    std::optional<double> placed_;                 // in all, at the last look
    std::chrono::steady_clock::time_point when_{}; // that was
};

} // namespace yk::cli
