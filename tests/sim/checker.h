// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the daemon has, for the models to compare with what it must have.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/sim/daemon_host.h"
#include "tests/sim/served_rm.h"
#include "tests/sim/world.h"

namespace yk::sim {

/// The objects of an RM, as the daemon has them.
struct DaemonState {
    struct Node {
        std::int64_t vcore = 0, used = 0;
        bool schedulable = true;
        std::vector<std::int64_t> used_devices;
    };
    struct Object {            // an ask, or an allocation
        std::string app, node; // without a node it is pending
        std::int64_t vcore = 0;
        bool placeholder = false;
    };
    struct Sums { // of all that is in an application or a queue
        std::int64_t pending = 0, allocated = 0;
        bool operator==(const Sums&) const = default;
    };
    std::map<std::string, Node> nodes;
    std::map<std::string, Sums> apps;      // by id
    std::map<std::string, Sums> queues;    // by path
    std::map<std::string, Object> objects; // by key
    std::size_t reservations = 0;
};

/// Has the daemon look at itself: sums and structures of an RM.
void check_soon(World& world, DaemonHost& host, const std::string& rm_id);
/// What came of a look.
struct Look {
    bool answered = false;            // false: the daemon ended meanwhile, or is stopped
    std::optional<DaemonState> state; // nullopt: the RM is not registered
};
/// What the daemon has of an RM, once it has handled what it accepted before.
[[nodiscard]] Look look(World& world, DaemonHost& host, const std::string& rm_id);
/// Compares it with the books of the RM, while nothing is under way.
void compare(World& world, const DaemonState& state, const ServedRm& rm);

} // namespace yk::sim
