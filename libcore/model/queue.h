// SPDX-License-Identifier: Apache-2.0
#pragma once
// Queue: one node of the hierarchy with its usage, limits and ordered children or applications (S-101).
//
//   root ── parent ── leaf ── applications
//
// Owner: its parent (the root: PartitionContext). Thread: the partition's owner.
// Invariants, checked by check_partition():
//  A  allocated and pending are the sums of the children's, of a leaf those of its applications
//  B  after SchedulingIndexes::refresh(): a child is in its parent's index iff it is not stopped and has pending above
//     zero, an application in its leaf's index iff it has a pending ask, each under its current key and masks
//  C  a bit is in blocked_bits() iff every shape on it is blocked here

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/list_slot.h"
#include "libcore/base/ordered_index.h"
#include "libcore/config/acl.h"
#include "libcore/config/config.h"
#include "libcore/config/properties.h"
#include "libcore/model/application.h"
#include "libcore/model/object_state.h"
#include "libcore/resources/limit.h"
#include "libcore/resources/share.h"
#include "libcore/resources/sum.h"

namespace yk {

/// Where forced applications go that no rule takes; made on demand (C-241).
inline constexpr std::string_view kRecoveryPath = "root.@recovery@";

/// The shapes that a walk may find in a queue or application, and its priority.
struct OrderSummary {
    Masks ready;                       // applications that may be placed now
    Masks waiting;                     // those that need a running slot first (S-260)
    std::int32_t priority = INT32_MIN; // the highest (S-204)

    void merge(const OrderSummary& other) noexcept {
        ready.merge(other.ready);
        waiting.merge(other.waiting);
        if (other.priority > priority) priority = other.priority;
    }
    friend bool operator==(const OrderSummary&, const OrderSummary&) = default;
};

/// Where an application stands in its leaf. Which criterion counts first is decided when the key is made (S-212).
struct ApplicationKey {
    double first = 0; // the policy's leading criteria, ascending
    double second = 0;
    std::int64_t third = 0;
    std::int64_t fourth = 0;
    const Application* application = nullptr; // the rest of the shares, the id
};

/// Where a queue stands below its parent: ascending, on ties the one with more pending first (S-201).
struct QueueKey {
    double first = 0;
    double second = 0;
    const Queue* queue = nullptr; // its filed pending shares, its name
};

/// The rest of the criteria, for keys whose numbers are equal.
[[nodiscard]] bool less_by_rest(const ApplicationKey& a, const ApplicationKey& b) noexcept;
[[nodiscard]] bool less_by_rest(const QueueKey& a, const QueueKey& b) noexcept;

/// What the orders of applications and of queues have in common.
template <class KeyType>
struct OrderTraits {
    using Key = KeyType;
    using Summary = OrderSummary;
    static constexpr std::uint32_t kCapacity = 24;

    static bool less(const Key& a, const Key& b) noexcept {
        if (a.first != b.first) return a.first < b.first;
        return a.second != b.second ? a.second < b.second : less_by_rest(a, b);
    }
    static void merge(Summary& into, const Summary& from) noexcept { into.merge(from); }
    static bool same(const Summary& a, const Summary& b) noexcept { return a == b; }
    static bool falls(const Summary& whole, const Summary& before, const Summary& after) noexcept {
        return !after.ready.covers(before.ready) || !after.waiting.covers(before.waiting) ||
               (before.priority >= whole.priority && after.priority < before.priority);
    }
};

struct ApplicationTraits : OrderTraits<ApplicationKey> {
    Slab<Application>* applications = nullptr;

    IndexSlot& slot(std::uint32_t value) const noexcept { return (*applications)[ApplicationId{value}].slot; }
};

struct QueueTraits : OrderTraits<QueueKey> {
    std::vector<Queue*>* queues = nullptr;

    IndexSlot& slot(std::uint32_t value) const noexcept;
};

class Queue {
public:
    Queue(std::string path, Queue* parent, bool leaf, std::uint32_t index, Slab<Application>& applications,
          std::vector<Queue*>& queues);

    // --- identity ---------------------------------------------------------------------------------------------------
    std::string path; // lower case
    std::string name; // the last part
    Queue* parent;
    std::uint32_t depth; // root: 0
    std::uint32_t index; // its number in the QueueTree
    bool leaf;
    bool managed = true;
    ObjectState state = ObjectState::Active;

    // --- configuration ----------------------------------------------------------------------------------------------
    Limit max; // own; root: the size of the cluster
    std::optional<Resource> guaranteed;
    std::uint64_t max_applications = 0;
    std::map<std::string, std::string> property_map; // effective (C-153)
    config::QueueProperties properties;
    config::Acl submit_acl; // own
    config::Acl admin_acl;
    std::optional<config::ChildTemplate> child_template; // own; a parent's
    struct SetByTags {
        bool max = false;
        bool guaranteed = false;
        bool max_applications = false;
    };
    SetByTags set_by_tags; // dynamic leaf: what a template leaves alone when it is applied again (C-237, B-10)

    // --- what is there ----------------------------------------------------------------------------------------------
    std::map<std::string, std::unique_ptr<Queue>, std::less<>> children; // by name
    std::vector<ApplicationId> applications;                             // of a leaf, in no order
    Sum pending;                                                         // the sums are the Ledger's
    Sum allocated;
    Sum preempting;                   // of allocated: victims that are not released yet
    Sum promised;                     // of pending: asks that victims were chosen for
    std::optional<Instant> quota_due; // when it gives back what is above its max (P-100)
    std::uint64_t attempts_cycle = 0; // leaf: the cycle that `attempts` counts (P-022)
    std::uint32_t attempts = 0;
    Instant victims_since; // when the minute began that `victims_in_minute` counts (storm guard)
    std::uint64_t victims_in_minute = 0;
    std::int32_t lowest_placed = INT32_MAX; // leaf: no allocation in it has a lower priority
    struct QuotaRun {
        Instant at;
        Resource target, claimed;
        std::uint64_t candidates = 0, victims = 0;
    };
    std::optional<QuotaRun> last_quota_run; // the last preemption for its quota (P-111)
    bool quota_again = false;               // it may be armed again when the victims of a run are released
    std::uint64_t running = 0;              // applications of the subtree (S-263)
    std::uint64_t placed_count = 0;         // of a leaf, ever: allocations made
    std::uint64_t released_count = 0;       // and released
    std::uint64_t allocating = 0;           // size of the allocating-accepted set (S-262)
    std::map<ApplicationId, std::uint32_t> reserved_applications; // leaf: reservations per application

    // --- order ------------------------------------------------------------------------------------------------------
    OrderedIndex<QueueTraits> child_index;
    OrderedIndex<ApplicationTraits> application_index;
    IndexSlot slot{};      // in the parent's index
    Limit fair_max;        // as of the last rebuild of the orders (S-202)
    Shares pending_shares; // as filed
    double share = 0;      // of what is fair, as filed (S-202)
    ListSlot dirty{};      // waits for SchedulingIndexes
    ListSlot blocking{};   // listed there because it blocks shapes
    bool grew = false;     // its headroom may have grown since the blocks were tested

    [[nodiscard]] bool is_root() const noexcept { return parent == nullptr; }
    /// `own` priority as the order of the parent sees it (S-204).
    [[nodiscard]] std::int32_t published_priority(std::int32_t own) const noexcept;
    [[nodiscard]] std::int32_t own_priority() const noexcept {
        return leaf ? application_index.total().priority : child_index.total().priority;
    }
    [[nodiscard]] const OrderSummary& content() const noexcept {
        return leaf ? application_index.total() : child_index.total();
    }
    /// Whether something waits in it or below.
    [[nodiscard]] bool has_content() const noexcept { return leaf ? !application_index.empty() : !child_index.empty(); }
    /// Whether one more application may run here; for one that is in no allocating-accepted set, this level only
    /// (S-260).
    [[nodiscard]] bool has_free_slot() const noexcept {
        return max_applications == 0 || running + allocating + 1 <= max_applications;
    }
    /// How many victims were chosen for asks of the subtree in the minute that began with the first of them (storm
    /// guard).
    [[nodiscard]] std::uint64_t recent_victims(Instant now) const noexcept {
        return now < victims_since + std::chrono::minutes{1} ? victims_in_minute : 0;
    }
    /// Whether `ask` fits what its own max leaves; this level only (S-250).
    [[nodiscard]] bool headroom_allows(const Resource& ask) const noexcept;
    /// Whether usage with `ask` stays within its own max; stricter for the root; this level only (S-252).
    [[nodiscard]] bool allows_increase(const Resource& ask) const noexcept;
    /// What the limits of this queue and all above leave (S-250).
    [[nodiscard]] Limit headroom() const;
    /// The smallest max per type of this queue and all above (S-251).
    [[nodiscard]] Limit effective_max() const;

    // --- access, by this queue or any above it (C-134 to C-137) ----------------------------------------------------
    /// By a submit or an admin ACL. The recovery queue grants it to nobody.
    [[nodiscard]] bool grants_submit(std::string_view user, std::span<const std::string_view> groups) const;
    [[nodiscard]] bool grants_admin(std::string_view user, std::span<const std::string_view> groups) const;

    // --- blocks -----------------------------------------------------------------------------------------------------
    [[nodiscard]] bool blocks(ShapeId shape) const noexcept;
    [[nodiscard]] std::uint64_t blocked_bits() const noexcept { return blocked_bits_; }
    [[nodiscard]] bool has_blocks() const noexcept { return !blocked_.empty(); }
    void block(ShapeId id, const ShapeTable& shapes) noexcept;
    void unblock(ShapeId id, const ShapeTable& shapes) noexcept;
    /// To be called when a shape was made on `bit`: it is not blocked here.
    void reopen(std::uint32_t bit) noexcept { blocked_bits_ &= ~(std::uint64_t{1} << bit); }
    /// Unblocks the shapes that fit its headroom now.
    void unblock_fitting(const ShapeTable& shapes) noexcept;
    [[nodiscard]] const std::vector<ShapeId>& blocked_shapes() const noexcept { return blocked_.ids(); }

private:
    [[nodiscard]] Lanes own_headroom() const noexcept;
    void refresh_bit(std::uint32_t bit, const ShapeTable& shapes) noexcept;

    ShapeList blocked_;
    std::uint64_t blocked_bits_ = 0;
};

} // namespace yk
