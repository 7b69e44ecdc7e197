// SPDX-License-Identifier: Apache-2.0
#pragma once
// Timers of a partition: what is due when. A timer carries a token; whoever handles it checks that it still counts
// (S-150). Timers that count no more are taken out when they are many, so that their number stays bounded.
// Owner: PartitionState.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libcore/base/slab.h"
#include "libcore/base/time.h"

namespace yk {

enum class TimerKind : std::uint8_t {
    ApplicationState,   // id: application, token: Application::timer
    ApplicationEnd,     // token: serial of a terminated or rejected application (S-153)
    Placeholders,       // id: application, token: Gang::timer (G-022)
    BackOff,            // id: application (S-345)
    GroupDue,           // id: group: its first free ask may now reserve (S-403)
    ReservationAge,     // a reservation (S-413)
    CleanQueues,        // every 10 s (S-560)
    PurgeExpired,       // every 24 h (S-583)
    Inspect,            // every second (S-520)
    PreemptionCheck,    // id: group: its next ask may attempt a preemption (P-023)
    PreemptionUnplaced, // id: ask, token of its trigger: the victims are released, the ask still waits (P-079)
    QuotaCheck,         // queues over their max (P-110)
    NoVictim,           // a reservation: the event of the ask may be emitted again (P-097)
    Unconfirmed,        // releases that the RM has not confirmed
    HalveWorkload,      // token: PartitionContext::halving_ (F-020)
    InquiryRest         // id: ask, token of its inquiry: the RM may be asked about it again (I-379)
};

struct Timer {
    Instant at;
    std::uint64_t order = 0; // timers of one instant fire in the order they were set
    TimerKind kind{};
    std::uint32_t id = 0;
    std::uint64_t token = 0;
};

class Timers {
public:
    void set(Instant at, TimerKind kind, std::uint32_t id = 0, std::uint64_t token = 0) noexcept {
        heap_.push_back({at, ++order_, kind, id, token});
        std::push_heap(heap_.begin(), heap_.end(), Later{});
    }
    /// For an object that may be gone by then.
    template <class T>
    void set(Instant at, TimerKind kind, const Ref<T>& object) noexcept {
        set(at, kind, object.id.index, object.generation);
    }
    [[nodiscard]] std::optional<Instant> next() const {
        if (heap_.empty()) return std::nullopt;
        return heap_.front().at;
    }
    /// The next timer due at `now`, taken out.
    [[nodiscard]] std::optional<Timer> take_due(Instant now) noexcept {
        if (heap_.empty() || heap_.front().at > now) return std::nullopt;
        const Timer timer = heap_.front();
        std::pop_heap(heap_.begin(), heap_.end(), Later{});
        heap_.pop_back();
        return timer;
    }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
    /// True when so many were set that sweep() is due.
    [[nodiscard]] bool sweep_due() const noexcept { return heap_.size() > sweep_at_; }
    /// Keeps the timers for which counts(timer) is true.
    template <class F>
    void sweep(F&& counts) {
        std::erase_if(heap_, [&](const Timer& timer) { return !counts(timer); });
        if (heap_.size() < heap_.capacity() / 4) heap_.shrink_to_fit();
        std::make_heap(heap_.begin(), heap_.end(), Later{});
        sweep_at_ = 2 * heap_.size() + kKeep;
    }

private:
    static constexpr std::size_t kKeep = 1024;

    struct Later {
        bool operator()(const Timer& a, const Timer& b) const noexcept {
            return a.at != b.at ? a.at > b.at : a.order > b.order;
        }
    };
    std::vector<Timer> heap_; // by Later: the next one in front
    std::uint64_t order_ = 0;
    std::size_t sweep_at_ = kKeep;
};

} // namespace yk
