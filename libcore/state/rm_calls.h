// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the RM is asked about pending asks, and its answers (interface.md 4.9; docs/adr/0014).
//
// RmCalls: the calls of one RM that nobody has answered yet. Owner: ClusterContext.
// Inquiries: by ask, what its RM answered about the nodes. Owner: PartitionState; changed by Planner, GangPlanner,
// ParkedAsks and Inquirer. Thread of both: the owner thread of the RM.
// Nothing here knows a clock: that nobody answered in time comes in as an answer, like any other.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/model/ids.h"
#include "libcore/ports/command.h"

namespace yk {

/// What an RM can be asked (I-021) and how much at a time.
struct RmCallOptions {
    bool predicates = false;
    bool preemption_predicates = false;
    std::uint32_t batch = 16;       // nodes of one call (I-377)
    std::uint32_t in_flight = 1024; // calls without answer (I-378)
};

/// Takes the answers to the calls that it began.
class AnswerTaker {
public:
    /// `answer` is that of the call for this ask; the call has ended.
    virtual void take_answer(AllocationId ask, const CallAnswer& answer, Instant now) = 0;

protected:
    ~AnswerTaker() = default;
};

class RmCalls {
public:
    struct Call {
        AnswerTaker* taker = nullptr;
        AllocationId ask{};
    };

    RmCallOptions options;

    [[nodiscard]] bool full() const noexcept { return open_.size() >= options.in_flight; }
    [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }
    [[nodiscard]] bool is_open(std::uint64_t call) const { return open_.count(call) != 0; }
    /// The number of a new call, never used before.
    std::uint64_t begin(AnswerTaker& taker, AllocationId ask) noexcept;
    /// Ends the call; nullopt: there is no such call, or it has ended already.
    std::optional<Call> end(std::uint64_t call) noexcept;

private:
    std::map<std::uint64_t, Call> open_;
    std::uint64_t next_ = 1;
};

/// How often a reason was given for an ask (I-711).
struct PredicateReason {
    std::string text;
    std::uint32_t count = 0;
    Instant last;
};

/// The victims on a node for an ask: plan[0..index], or more of the plan if the RM wants so (P-056).
struct VictimOffer {
    NodeId node{};
    std::uint64_t rank = 0; // the node's, as its id orders
    std::vector<AllocationId> plan;
    int index = -1;                    // -1: the ask fits as it is
    std::vector<std::uint64_t> scores; // of plan[0..i], from i = -1 on (P-060)
};

/// An attempt to preempt that the RM's preemption predicates decide (P-062).
struct Offering {
    static constexpr std::size_t kBatch = 10;
    static constexpr std::uint64_t kGoodEnough = std::uint64_t{1} << 32; // no protected victim
    struct Offered {
        VictimOffer offer;
        std::uint64_t call = 0;  // 0: it has ended, or none was needed
        std::optional<int> last; // index of the last victim that the RM agreed to; none: not this node
        bool spoilt = false;     // the node was removed or a victim released meanwhile
    };
    struct Agreed {
        VictimOffer offer;
        int last = -1;
        [[nodiscard]] std::uint64_t score() const {
            const int victims = last + 1;
            return offer.scores[static_cast<std::size_t>(victims)];
        }
    };

    bool nodes_tried = false;   // a search for nodes failed before it; false: the ask had no headroom (P-020)
    std::vector<NodeId> order;  // all nodes with a plan; none where one was removed
    std::size_t next = 0;       // in `order`: of the next batch
    std::vector<Offered> batch; // asked at the same time
    std::optional<Agreed> best; // of the batches before

    [[nodiscard]] bool waits() const;
    [[nodiscard]] Offered* find(std::uint64_t call);
    /// Ends the batch: its best offer becomes `best` if it is better.
    void conclude_batch() noexcept;
    /// The node was removed.
    void forget_node(NodeId node) noexcept;
    /// The allocation was released.
    void forget_victim(AllocationId victim) noexcept;
};

/// One ask and its RM. A *round* is one walk over the nodes: what was refused stays refused until the round is over.
struct Inquiry {
    static constexpr std::size_t kReasons = 32; // different ones that are kept (I-711)

    std::uint64_t call = 0;                        // in flight; 0: none
    bool reserving = false;                        // it asks with allocate = false
    std::vector<NodeId> asked;                     // by that call, in order
    std::vector<NodeId> fits;                      // by its answer, and not used yet, in order
    std::vector<NodeId> refused;                   // in this round, by id
    NodeId to_reserve{};                           // may be reserved
    bool reserve_refused = false;                  // the one that might have been reserved (S-403)
    bool resting = false;                          // the round failed; a timer begins the next one
    std::uint64_t token = 0;                       // of that timer
    std::uint32_t failed_rounds = 0;               // in a row
    std::map<std::string, std::uint32_t> failures; // of this round, by reason (S-605)
    std::vector<PredicateReason> log;
    std::optional<Instant> last_emitted; // the last event (S-605)
    std::unique_ptr<Offering> attempt;   // under way
    std::uint64_t charged = 0;           // bytes that the budget meter counts for it; never less than bytes()

    /// Bytes of its lists that grow with the answers of the RM.
    [[nodiscard]] std::uint64_t bytes() const noexcept;
    /// Drops the reasons that are kept for people.
    void forget_reasons() noexcept;
    [[nodiscard]] bool has_refused(NodeId node) const;
    void refuse(NodeId node) noexcept;
    /// Counts a reason of the RM; with kReasons others it replaces the least recent one.
    void note(std::string_view reason, Instant now) noexcept;
    /// The node was removed.
    void forget_node(NodeId node) noexcept;
    void begin_round() noexcept;
};

struct Inquiries {
    std::map<AllocationId, Inquiry> by_ask;
    std::map<ApplicationId, std::vector<AllocationId>> answered; // to be tried before other asks of the application
    std::vector<ReservationId> slotless; // reservations whose ask waits until a call ends (I-378)
    bool slotless_gangs = false;         // placeholders wait for the same
    std::uint32_t resting = 0;           // asks
    std::uint32_t attempts = 0;          // under way
    std::uint64_t charged = 0;           // of all
    std::vector<NodeId> grown;           // since asks that rest were looked at

    [[nodiscard]] Inquiry* find(AllocationId ask) {
        const auto found = by_ask.find(ask);
        return found == by_ask.end() ? nullptr : &found->second;
    }
    /// The node was removed.
    void forget_node(NodeId node) noexcept;
    /// The allocation was released: offers that count on it are void.
    void forget_victim(AllocationId victim) noexcept;
    [[nodiscard]] const Inquiry* find(AllocationId ask) const { return const_cast<Inquiries*>(this)->find(ask); }
};

/// The reason that is noted when the RM does not answer a call in time (I-379, I-711).
inline constexpr std::string_view kCallTimedOut = "predicate call timed out";

} // namespace yk
