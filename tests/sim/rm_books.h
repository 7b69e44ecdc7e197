// SPDX-License-Identifier: Apache-2.0
#pragma once
// RmBooks: what a simulated resource manager knows to be true: its nodes, applications, asks and allocations. Every
// callback is judged by it. It is written from docs/protocol.md and the specification, and uses none of the daemon's
// code, so that a mistake there is not repeated here.
//
// Owner: ServedRm. Thread: one.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"
#include "tests/sim/world.h"

namespace yk::sim {

struct NodeEntry {
    std::int64_t vcore = 0;
    std::int64_t most = 0;             // the largest capacity that the daemon may believe in
    std::vector<std::int64_t> devices; // of gpu, the size of each; they stay as they are
    bool schedulable = true;
    bool accepted = false; // in this epoch
    bool leaving = false;  // its removal was sent
};

struct AppEntry {
    std::string queue;
    std::int64_t members = 0; // of its gang; 0: it is none
    std::int64_t member_size = 0, member_gpu = 0;
    bool hard = false;
    bool accepted = false;                // in this epoch
    bool leaving = false;                 // its removal was sent
    bool ended = false;                   // the daemon said so
    bool disturbed = false;               // something happened that its gang need not survive
    bool timed_out = false;               // its placeholders were told to go
    bool runs = false;                    // the daemon said so; whether it is whole is looked at next
    std::set<std::string> placeholders;   // that were ever placed
    std::set<std::string> replaced, real; // placeholders that were confirmed gone for a member; members that came
    std::map<std::string, std::int64_t> vacated; // node -> vcore of these placeholders, until a member is there instead
};

struct AskEntry {
    enum class Place {
        Pending,
        Placed,
        Stopping, // the daemon wants it stopped
        Leaving   // its release was sent
    };
    std::string app;
    std::int64_t vcore = 0;
    std::int64_t gpu = 0; // a part of one device, or whole ones
    std::int32_t priority = 0;
    bool placeholder = false;
    std::string group;
    Place place = Place::Pending;
    std::string node;                 // where it is, or was before it was leaving
    std::vector<si::DeviceAmount> on; // its devices there
    bool heard = false;               // in this epoch the daemon said where it is
    bool reported = false;            // in this epoch the RM said where it is
};

/// An allocation that was stopped for another.
struct Victim {
    std::string key, app, node;
    std::uint64_t group = 0; // those of one ask: on the node that it gets, and where queues above it are too full
    bool landed = false;     // another application got something afterwards
};

class RmBooks {
public:
    RmBooks(World& world, std::string rm_id) : world_(world), rm_id_(std::move(rm_id)) {}

    std::map<std::string, NodeEntry> nodes;
    std::map<std::string, AppEntry> apps;
    std::map<std::string, AskEntry> asks; // and allocations
    std::vector<Victim> victims;          // as long as nothing was changed that spares the ask they went for
    bool spares = false;                  // such a change is on its way: who is a victim now may be one for nobody

    /// What the daemon wants stopped, and why.
    struct ToStop {
        std::string key;
        si::TerminationType type{};
    };
    /// Judges a callback, and does what it says. Returns what has to be stopped now.
    std::vector<ToStop> hear(const si::AllocationResponse& response);
    void hear(const si::ApplicationResponse& response);
    void hear(const si::NodeResponse& response);

    /// A registration begins: what was leaving is gone, nothing was heard.
    void begin_epoch();
    /// Whether there is anything that a registration without recovery would lose.
    [[nodiscard]] bool any() const { return !nodes.empty() || !apps.empty() || !asks.empty(); }
    /// What exists, by the words of the specification (I-231 to I-233).
    [[nodiscard]] si::RecoveryDoneRequest claim() const;
    [[nodiscard]] std::int64_t used(const std::string& node) const;
    /// What is in use of each device of the node.
    [[nodiscard]] std::vector<std::int64_t> used_devices(const std::string& node) const;
    /// What must be true when nothing is under way any more.
    void judge_rest() const;
    /// It was stopped as the daemon wished; there will be no answer.
    void stopped(const std::string& key) {
        past_.insert(key);
        asks.erase(key);
    }
    /// The preempting ask may have lost what it waited for.
    void forget_victims() { victims.clear(); }
    void disturb(const std::string& app);

private:
    void hear_new(const si::Allocation& made);
    void hear_released(const si::AllocationRelease& released, std::vector<ToStop>& stop);
    void check_gangs();
    void hear_rejected(const si::RejectedAllocation& rejected);
    void placed(const std::string& key, AskEntry& ask, const si::Allocation& made);
    void check_devices(const std::string& key, const AskEntry& ask, bool is_exempt) const;
    [[nodiscard]] bool takes_the_place(const AskEntry& ask, const std::string& node);
    void check_member(const std::string& key, const AskEntry& ask);
    void fail(const std::string& sentence) const;

    World& world_;
    const std::string rm_id_;
    std::uint64_t heard_ = 0;    // messages about allocations
    std::set<std::string> past_; // keys that are gone; the daemon may speak of them no more
};

} // namespace yk::sim
