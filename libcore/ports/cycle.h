// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a scheduling cycle reports: what it did, the counters that it moves, and the stages whose time an
// observer may measure. The core reads no clock; without an observer a stage costs a test of a pointer.

#include <cstddef>
#include <cstdint>

namespace yk {

/// What one cycle did (S-300).
struct CycleOutcome {
    std::uint32_t allocations = 0; // placements and replacements, at most one per partition
    std::uint32_t changes = 0;     // reservations made or dropped
    /// Whether the next cycle is to follow at once (S-304).
    [[nodiscard]] bool progress() const { return allocations + changes > 0; }
};

/// Counters for metrics and health; only ever grow.
struct CoreCounters {
    std::uint64_t allocated = 0;
    std::uint64_t released = 0;
    std::uint64_t rejected = 0;
    std::uint64_t scheduling_errors = 0; // reported placements that are impossible (S-611, I-148)
    std::uint64_t corrections = 0;       // numbers that had to be clamped; must stay 0 (S-182)
    std::uint64_t submitted = 0;         // applications: transitions into New, Accepted, Rejected
    std::uint64_t accepted = 0;
    std::uint64_t refused = 0;
    std::uint64_t nodes_removed = 0;
    std::uint64_t nodes_failed = 0;   // for a partition that is unknown (S-611)
    std::uint64_t victims = 0;        // announced, of all kinds of preemption
    std::uint64_t victims_unused = 0; // of them: the ask that they were chosen for was not placed where they were
    std::uint64_t reannounced = 0;    // releases that the RM did not confirm in time
    std::uint64_t restored = 0;       // allocations that the RM reported, of asks unknown before (I-228)

    void add(const CoreCounters& other);
    /// Leaves what was counted since `before`, an earlier reading.
    void subtract(const CoreCounters& before);
};

/// What a cycle does that may take time (interface.md section 6).
enum class Stage : std::uint8_t {
    SortApplications, // files what changed in its order
    SortQueues,
    TryNode,  // checks one node: a required or a reserved one
    FindNode, // looks for a node for one ask
    Preempt   // one attempt to find victims
};
inline constexpr std::size_t kStages = 5;

/// Follows the course of a cycle; an implementation that measures time reads its clock there.
class CycleObserver {
public:
    virtual ~CycleObserver() = default;
    virtual void partition_done() = 0;
    /// Whether begin() and end() are to be called in the cycle that starts now.
    virtual bool wants_stages() = 0;
    virtual void begin(Stage stage) = 0;
    virtual void end(Stage stage) = 0;
};

/// Calls begin() and end() of a stage at construction and destruction; `observer` may be null.
class StageScope {
public:
    StageScope(CycleObserver* observer, Stage stage) : observer_(observer), stage_(stage) {
        if (observer_ != nullptr) observer_->begin(stage_);
    }
    ~StageScope() {
        if (observer_ != nullptr) observer_->end(stage_);
    }
    StageScope(const StageScope&) = delete;
    StageScope& operator=(const StageScope&) = delete;

private:
    CycleObserver* observer_;
    Stage stage_;
};

} // namespace yk
