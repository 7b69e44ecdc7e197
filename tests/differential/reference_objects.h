// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the reference remembers: nothing that can be summed or looked up is stored twice. Pending, allocated, running
// counts, headrooms, scores and capacities are computed from these structs whenever somebody asks.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libcore/base/time.h"
#include "tests/differential/amounts.h"

namespace yk::reference {

struct Device {
    std::int64_t size = 0;
    bool lost = false;
};

/// `each` of each of `count` devices; count 0: the amount `each`, which no number of them gives (F-003).
struct DevicePart {
    std::int64_t count = 0, each = 0;
    bool operator==(const DevicePart&) const = default;
};

/// A part that something has, or should have: then it is on no device (F-006).
struct DeviceHold {
    std::string type;
    DevicePart part;
    std::set<std::int64_t> on;
    std::int64_t only = -1; // the device that the RM said
    bool ours = true;       // placed by the core
    std::uint64_t serial = 0;
};

struct Ask { // pending or placed (S-166)
    std::string key;
    Amounts resource;
    std::vector<std::pair<std::string, std::string>> tags;
    std::int32_t priority = 0;
    Instant created;
    std::uint64_t arrival = 0;
    std::string required_node;
    std::string task_group;
    std::map<std::string, DevicePart> stated;                         // devices, by resource
    std::map<std::string, std::map<std::int64_t, std::int64_t>> said; // while it is placed where the RM says
    std::vector<DeviceHold> holds;                                    // once allocated
    bool placeholder = false;
    bool originator = false;
    bool allow_preempt_self = false;
    bool allow_preempt_other = false;
    bool attempted = false;
    bool allocated = false;
    std::string node; // once allocated
    Instant bound;
    std::uint64_t trigger = 0;         // pending: victims were chosen under this number (P-098)
    std::optional<Instant> unplaced;   // pending: when it may choose again, its victims being gone (P-079)
    bool preempted = false;            // allocated: a victim
    std::uint64_t preempted_under = 0; // the number of whoever it goes for
};

enum class State { New, Accepted, Running, Resuming, Completing, Completed, Failing, Failed, Rejected, Expired };
enum class AppEvent { Run, Complete, Fail, Resume, Reject, Expire };

struct Timer {
    Instant due;
    AppEvent event;
};

struct Application {
    std::string id;
    std::string queue; // path
    std::string user;
    std::vector<std::string> groups;
    State state = State::New;
    std::vector<std::pair<Instant, State>> log;
    Instant arrived;   // when it was created
    Instant submitted; // that, a little later for each of one instant, lowered by older asks
    std::optional<Instant> started, finished;
    std::map<std::string, Ask> requests;
    Amounts max_used;
    bool runnable = true;             // S-265, of the queue
    bool allocating = false;          // S-262: in the allocating-accepted sets
    bool runnable_user = true;        // S-265, of user and group
    bool tracked = false;             // it has left New: its user, and its group if it has one, count it
    bool counted_running = false;     // C-406: in the running sets of both
    std::optional<std::string> group; // C-403, once tracked
    std::optional<Instant> backoff;
    std::optional<Timer> timer;
};

struct Queue {
    std::string path, name, parent; // the root has no parent
    bool leaf = true;
    bool draining = false;
    Maybe max; // not of the root
    Maybe guaranteed;
    std::uint64_t max_applications = 0;
    std::map<std::string, std::string> properties; // effective, C-153
    std::set<std::string> applications;

    [[nodiscard]] std::string property(const std::string& key) const;
};

struct Limit { // C-412: what is not set imposes nothing
    Maybe max;
    std::uint64_t max_applications = 0;
};

struct QueueLimits {
    std::map<std::string, Limit> users, groups;
    std::vector<std::string> group_order; // of the file (C-403)
};
using LimitsByPath = std::map<std::string, QueueLimits>; // only queues that have some

/// A user or a group, `*` included, whose usage is looked at.
struct Tracked {
    bool user;
    std::string name;
};

struct Foreign {
    Amounts resource;
    std::map<std::string, DevicePart> stated;
    std::vector<DeviceHold> holds;
    std::uint64_t arrival = 0;
};

struct Node {
    std::string id;
    std::vector<std::pair<std::string, std::string>> attributes;
    Amounts capacity;                                   // pruned
    Amounts reported;                                   // occupied as reported, without the foreign ones
    std::map<std::string, std::vector<Device>> devices; // by resource
    std::map<std::string, std::size_t> listed;          // how many the RM listed; behind them are those that are gone
    bool schedulable = true;
    std::map<std::string, Foreign> foreign;
};

/// Asks that are alike for the measure of fragmentation, as they are expected (F-020).
struct ExpectedAsks {
    std::int64_t amount = 0; // of what is measured
    std::optional<DevicePart> stated;
    Amounts others; // each of those that are weighed
    std::map<std::string, std::string> attributes;
    std::int64_t weight = 0;

    [[nodiscard]] bool is_like(const ExpectedAsks& other) const {
        return amount == other.amount && stated == other.stated && others == other.others &&
               attributes == other.attributes;
    }
};

struct Workload {
    std::string resource;
    std::vector<ExpectedAsks> asks;
};

/// How many asks of one size came (F-020).
struct Arrivals {
    Amounts resource;
    std::map<std::string, DevicePart> stated;
    std::int64_t count = 0;
};

struct IdleNode {
    const Node* node = nullptr;
    std::vector<std::int64_t> left; // of each device
    Amounts others;
};

/// A node that is kept for an ask (S-105).
struct Reservation {
    std::string application, key, node;
    Instant since;
};

} // namespace yk::reference
