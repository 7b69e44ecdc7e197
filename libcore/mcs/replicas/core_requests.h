// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the Scheduler asks the scheduler core for, and what the core answers, as values: the same that any resource
// manager may ask for and hears, and nothing else (rs R-122). Whoever drives the Scheduler turns requests into
// messages of the interface, in their order, and messages into notices.

#include <cstdint>
#include <deque>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libcore/mcs/kinds.h"

namespace yk::mcs {

// --- requests --------------------------------------------------------------------------------------------------------

/// One that is there already is accepted.
struct AddApplication {
    std::string application_id;
    std::string partition;
    std::string queue;
    std::string user;
    std::vector<std::string> groups;
    Texts tags;

    friend bool operator==(const AddApplication&, const AddApplication&) = default;
};

/// Its asks and allocations go with it.
struct RemoveApplication {
    std::string application_id;
    std::string partition;

    friend bool operator==(const RemoveApplication&, const RemoveApplication&) = default;
};

/// A key that is there already is no second ask, so the same ask may be repeated.
struct AskReplica {
    std::string application_id;
    std::string partition;
    std::string allocation_key;
    Amounts resource;
    std::int32_t priority = 0;

    friend bool operator==(const AskReplica&, const AskReplica&) = default;
};

/// The ask or the allocation goes, whichever it is by now.
struct ReleaseReplica {
    std::string application_id;
    std::string partition;
    std::string allocation_key;

    friend bool operator==(const ReleaseReplica&, const ReleaseReplica&) = default;
};

enum class NodeAction : std::uint8_t {
    Create,
    CreateDrain, // as Create, but nothing is placed there
    Update,
    Drain,       // nothing more is placed there; what is there stays
    Schedulable, // the end of Drain
    Decommission // it goes, with what is placed there
};

/// Unless a node is created or updated, nothing but its id and partition matters; then all of `content` replaces what
/// the core has.
struct ChangeNode {
    struct Content {
        Texts attributes;
        Amounts capacity;
        Amounts occupied;
        friend bool operator==(const Content&, const Content&) = default;
    };

    std::string node_id;
    std::string partition;
    NodeAction action = NodeAction::Create;
    std::optional<Content> content;
    std::vector<AskReplica> placed; // on a node that is created in a recovery: what runs there already

    friend bool operator==(const ChangeNode&, const ChangeNode&) = default;
};

/// The end of a recovery, with what is there as far as the Scheduler knows: how many objects of each kind, and the sum
/// of their hashes. The core compares (interface.md 3.4).
struct EndRecovery {
    struct Claim {
        std::uint64_t count = 0;
        std::uint64_t digest = 0;
        friend bool operator==(const Claim&, const Claim&) = default;
    };
    std::uint32_t attempt = 1;
    Claim nodes;
    Claim applications;
    Claim allocations;

    friend bool operator==(const EndRecovery&, const EndRecovery&) = default;
};

using CoreRequest =
    std::variant<AddApplication, RemoveApplication, AskReplica, ReleaseReplica, ChangeNode, EndRecovery>;

/// The requests that the Scheduler has handed out and nobody has taken yet, the oldest first. They are to be carried
/// out in this order. Owner: the program. Thread: that of the Scheduler.
class CoreRequests {
public:
    void add(CoreRequest request) { waiting_.push_back(std::move(request)); }
    [[nodiscard]] bool is_empty() const { return waiting_.empty(); }
    [[nodiscard]] std::size_t size() const { return waiting_.size(); }
    /// REQUIRES: it is not empty.
    [[nodiscard]] const CoreRequest& front() const { return waiting_.front(); }
    [[nodiscard]] CoreRequest take() {
        CoreRequest first = std::move(waiting_.front());
        waiting_.pop_front();
        return first;
    }
    /// What was taken out and held back: it goes before all others.
    void put_back(std::vector<CoreRequest> requests) {
        waiting_.insert(waiting_.begin(), std::make_move_iterator(requests.begin()),
                        std::make_move_iterator(requests.end()));
    }
    /// The core that they were meant for has gone.
    void clear() {
        waiting_.clear();
        wants_list_ = false;
    }

    /// A list of the applications that the core has of the RM, beside what waits: ApplicationsListed.
    void list_applications() { wants_list_ = true; }
    /// Whether one is wanted; asked once.
    [[nodiscard]] bool take_list_wish() { return std::exchange(wants_list_, false); }

private:
    std::deque<CoreRequest> waiting_;
    bool wants_list_ = false;
};

// --- notices ---------------------------------------------------------------------------------------------------------

struct ApplicationAccepted {
    std::string application_id;
};
struct ApplicationRejected {
    std::string application_id;
    std::string reason;
};
/// It has ended in the core, whatever the reason: completed, failed, or removed by somebody.
struct ApplicationEnded {
    std::string application_id;
    std::string reason; // for people
};

/// An ask was placed, or (in a recovery) what ran there already was taken over.
struct ReplicaPlaced {
    std::string application_id;
    std::string allocation_key;
    std::string node_id;
};
/// An allocation, or an ask that the core gave up, is not there any more.
struct ReplicaGone {
    std::string application_id;
    std::string allocation_key;
    std::string reason; // for people
};
/// An ask was refused, or (in a recovery) something that ran already.
struct ReplicaRejected {
    std::string application_id;
    std::string allocation_key;
    std::string reason;
    bool has_no_application = false; // the core does not have the application, or it has ended there
};

/// What the core had after it was asked: each of them at some moment, as the list comes in parts.
struct ApplicationsListed {
    struct Held {
        std::string partition;
        std::string application_id;
    };
    std::vector<Held> held;
};

struct NodeAccepted {
    std::string node_id;
};
/// The change of a node was refused. One that was to be created is not there.
struct NodeRefused {
    std::string node_id;
    std::string reason;
    bool was_create = false;
};

/// What came of EndRecovery.
struct RecoveryAnswered {
    enum class Result : std::uint8_t { Running, Retry, Failed };
    struct SetAside { // what the core could not restore: a node, an application, or an allocation, which has all three
        std::string partition;
        std::string application_id;
        std::string allocation_key;
        std::string node_id;
    };
    Result result = Result::Failed;
    std::string reason; // for people; of Retry and Failed
    std::vector<SetAside> set_aside;
};

using CoreNotice = std::variant<ApplicationAccepted, ApplicationRejected, ApplicationEnded, ReplicaPlaced, ReplicaGone,
                                ReplicaRejected, ApplicationsListed, NodeAccepted, NodeRefused, RecoveryAnswered>;

} // namespace yk::mcs
