#pragma once
// Timers of a partition: what is due when. A timer carries a token; whoever handles it checks that it still counts, so
// nothing is ever taken out (S-150). Owner: PartitionState.

#include <cstdint>
#include <optional>
#include <queue>
#include <vector>

#include "libcore/base/time.h"

namespace yk {

enum class TimerKind : std::uint8_t {
    ApplicationState,   // id: application, token: Application::timer
    ApplicationEnd,     // token: serial of a terminated or rejected application (S-153)
    Placeholders,       // id: application, token: Gang::timer (G-022)
    BackOff,            // id: application (S-345)
    GroupDue,           // id: group: its first free ask may now reserve (S-403)
    ReservationAge,     // id: reservation, token: its sequence (S-413)
    CleanQueues,        // every 10 s (S-560)
    PurgeExpired,       // every 24 h (S-583)
    Inspect,            // every second (S-520)
    PreemptionCheck,    // id: group: its next ask may attempt a preemption (P-023)
    PreemptionUnplaced, // id: ask, token of its trigger: the victims are gone, the ask still waits (P-079)
    QuotaCheck,         // queues over their max (P-110)
    NoVictim,           // id: reservation, token: its sequence: the ask may be told of again (P-097)
    Unconfirmed,        // releases that the RM has not confirmed
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
    void set(Instant at, TimerKind kind, std::uint32_t id = 0, std::uint64_t token = 0) {
        queue_.push({at, ++order_, kind, id, token});
    }
    [[nodiscard]] std::optional<Instant> next() const {
        if (queue_.empty()) return std::nullopt;
        return queue_.top().at;
    }
    /// The next timer due at `now`, taken out.
    [[nodiscard]] std::optional<Timer> take_due(Instant now) {
        if (queue_.empty() || queue_.top().at > now) return std::nullopt;
        const Timer timer = queue_.top();
        queue_.pop();
        return timer;
    }

private:
    struct Later {
        bool operator()(const Timer& a, const Timer& b) const noexcept {
            return a.at != b.at ? a.at > b.at : a.order > b.order;
        }
    };
    std::priority_queue<Timer, std::vector<Timer>, Later> queue_;
    std::uint64_t order_ = 0;
};

} // namespace yk
