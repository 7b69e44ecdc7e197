#pragma once
// Queue: one place in the hierarchy with its usage, limits and ordered children or applications (S-101).
//
//   root ── parent ── leaf ── applications
//
// Owner: its parent (the root: PartitionContext). Thread: the partition's owner.
// Invariants, checked by PartitionContext::check():
//  A  allocated and pending are the sums of the children's, of a leaf those of its applications
//  B  after Orders::refresh(): a child is in its parent's index iff it is not stopped and has pending above zero, an
//     application in its leaf's index iff it has a pending ask, each under its current key and masks
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
#include "libcore/objects/application.h"
#include "libcore/objects/object_state.h"
#include "libcore/resources/limit.h"
#include "libcore/resources/share.h"

namespace yk {

inline constexpr std::string_view kRecoveryPath = "root.@recovery@"; // C-241

/// What a queue or application has to offer to the walk, and its priority.
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

/// S-212. Which part counts first is decided when the key is made.
struct ApplicationKey {
    double first = 0; // the policy's leading criteria, ascending
    double second = 0;
    std::int64_t third = 0;
    std::int64_t fourth = 0;
    const Application* application = nullptr; // the rest of the shares, the id
};

struct ApplicationTraits {
    using Key = ApplicationKey;
    using Summary = OrderSummary;
    static constexpr std::uint32_t kCapacity = 24;
    Slab<Application>* applications;

    static bool less(const Key& a, const Key& b) noexcept {
        if (a.first != b.first) return a.first < b.first;
        return a.second != b.second ? a.second < b.second : less_by_rest(a, b);
    }
    static bool less_by_rest(const Key& a, const Key& b) noexcept;
    static void merge(Summary& into, const Summary& from) noexcept { into.merge(from); }
    static bool same(const Summary& a, const Summary& b) noexcept { return a == b; }
    static bool falls(const Summary& whole, const Summary& gone, const Summary& fresh) noexcept {
        return !fresh.ready.covers(gone.ready) || !fresh.waiting.covers(gone.waiting) ||
               (gone.priority >= whole.priority && fresh.priority < gone.priority);
    }
    IndexSlot& slot(std::uint32_t value) const noexcept { return (*applications)[ApplicationId{value}].slot; }
};

/// S-201. Ascending; the larger pending first.
struct QueueKey {
    double first = 0;
    double second = 0;
    const Queue* queue = nullptr; // its filed pending shares, its name
};

struct QueueTraits {
    using Key = QueueKey;
    using Summary = OrderSummary;
    static constexpr std::uint32_t kCapacity = 24;
    std::vector<Queue*>* queues;

    static bool less(const Key& a, const Key& b) noexcept {
        if (a.first != b.first) return a.first < b.first;
        return a.second != b.second ? a.second < b.second : less_by_rest(a, b);
    }
    static bool less_by_rest(const Key& a, const Key& b) noexcept;
    static void merge(Summary& into, const Summary& from) noexcept { into.merge(from); }
    static bool same(const Summary& a, const Summary& b) noexcept { return a == b; }
    static bool falls(const Summary& whole, const Summary& gone, const Summary& fresh) noexcept {
        return !fresh.ready.covers(gone.ready) || !fresh.waiting.covers(gone.waiting) ||
               (gone.priority >= whole.priority && fresh.priority < gone.priority);
    }
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
    std::uint32_t index; // in PartitionContext's table of queues
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
    Resource pending;
    Resource allocated;
    Resource preempting;              // of allocated: victims that are not gone yet
    Resource promised;                // of pending: asks that victims were chosen for (3.3)
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
    std::optional<QuotaRun> last_quota_run; // P-111
    bool quota_again = false;               // it may be armed again when the victims of a run are gone
    std::uint64_t running = 0;              // applications of the subtree (S-263)
    std::uint64_t placed_count = 0;         // of a leaf, ever: allocations made
    std::uint64_t released_count = 0;       // and given up
    std::uint64_t allocating = 0;           // size of the allocating-accepted set (S-262)
    std::map<ApplicationId, std::uint32_t> reserved_applications; // leaf: reservations per application

    // --- order ------------------------------------------------------------------------------------------------------
    OrderedIndex<QueueTraits> child_index;
    OrderedIndex<ApplicationTraits> application_index;
    IndexSlot slot{};      // in the parent's index
    Limit fair_max;        // S-202, as of the last rebuild of the orders
    Shares pending_shares; // as filed
    double share = 0;      // S-202, as filed
    ListSlot dirty{};      // waits for Orders
    ListSlot blocking{};   // listed there because it blocks shapes
    bool grew = false;     // its headroom may have grown since the blocks were tested

    [[nodiscard]] bool is_root() const noexcept { return parent == nullptr; }
    /// S-204: what the parent's order sees of `own` priority.
    [[nodiscard]] std::int32_t published_priority(std::int32_t own) const noexcept;
    [[nodiscard]] std::int32_t own_priority() const noexcept {
        return leaf ? application_index.total().priority : child_index.total().priority;
    }
    [[nodiscard]] const OrderSummary& content() const noexcept {
        return leaf ? application_index.total() : child_index.total();
    }
    /// Something waits in it or below.
    [[nodiscard]] bool has_content() const noexcept { return leaf ? !application_index.empty() : !child_index.empty(); }
    /// S-260 for an application that is in no allocating-accepted set, this level only.
    [[nodiscard]] bool has_free_slot() const noexcept {
        return max_applications == 0 || running + allocating + 1 <= max_applications;
    }
    /// Victims of asks of the subtree in the minute that began with the first of them (storm guard).
    [[nodiscard]] std::uint64_t recent_victims(Instant now) const noexcept {
        return now < victims_since + std::chrono::minutes{1} ? victims_in_minute : 0;
    }
    /// S-250, this level only: what of `ask` its own max leaves room for.
    [[nodiscard]] bool headroom_allows(const Resource& ask) const noexcept;
    /// S-252, this level only.
    [[nodiscard]] bool allows_increase(const Resource& ask) const noexcept;
    /// S-250: over all levels.
    [[nodiscard]] Limit headroom() const;
    /// S-251: cmin over all levels.
    [[nodiscard]] Limit effective_max() const;

    // --- access, by this queue or any above it (C-134 to C-137) ----------------------------------------------------
    /// By a submit or an admin ACL. The recovery queue grants it to nobody.
    [[nodiscard]] bool grants_submit(std::string_view user, std::span<const std::string_view> groups) const;
    [[nodiscard]] bool grants_admin(std::string_view user, std::span<const std::string_view> groups) const;

    // --- blocks (style guide 6.3) -----------------------------------------------------------------------------------
    [[nodiscard]] bool blocks(ShapeId shape) const noexcept;
    [[nodiscard]] std::uint64_t blocked_bits() const noexcept { return blocked_bits_; }
    [[nodiscard]] bool has_blocks() const noexcept { return !blocked_.empty(); }
    void block(ShapeId id, const ShapeTable& shapes);
    void unblock(ShapeId id, const ShapeTable& shapes);
    /// A shape was made on `bit`: it is not blocked here.
    void reopen(std::uint32_t bit) noexcept { blocked_bits_ &= ~(std::uint64_t{1} << bit); }
    /// Takes the blocks back from the shapes that fit its headroom now.
    void unblock_fitting(const ShapeTable& shapes);
    [[nodiscard]] const std::vector<ShapeId>& blocked_shapes() const noexcept { return blocked_.ids(); }

private:
    [[nodiscard]] Lanes room() const noexcept;
    void refresh_bit(std::uint32_t bit, const ShapeTable& shapes) noexcept;

    ShapeList blocked_;
    std::uint64_t blocked_bits_ = 0;
};

} // namespace yk
