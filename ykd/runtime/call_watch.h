// SPDX-License-Identifier: Apache-2.0
#pragma once
// CallWatch: the calls to an RM that wait for its answer, their time limits, and how they ended (I-375 to I-379). Their
// time limits are in real time, whatever clock the scheduler has (I-353).
//
// Owner: RmOwner. Thread: the owner thread; read() any.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include "ykd/runtime/clock.h"
#include "ykd/runtime/tally.h"

namespace yk {

enum class CallKind : std::uint8_t { Predicates, PreemptionPredicates, ConfigStore, StateDump };
enum class CallEnd : std::uint8_t { Answered, Failed, TimedOut, Late };
inline constexpr std::array<std::string_view, 4> kCallKinds{"predicates", "preemptionPredicates", "configStore",
                                                            "stateDump"};
/// Time limits of calls that no setting changes (I-376).
inline constexpr Duration kConfigStoreLimit = std::chrono::seconds{10};
inline constexpr Duration kStateDumpLimit = std::chrono::seconds{5};
inline constexpr std::array<std::string_view, 4> kCallEnds{"answered", "failed", "timeout", "late"};

/// Numbers of calls by kind and end since the start, for the metrics yunikorn_rm_calls_total and
/// yunikorn_rm_call_seconds (docs/spec/interface.md section 6).
struct CallTally {
    std::array<std::array<std::uint64_t, kCallEnds.size()>, kCallKinds.size()> ended{};
    std::array<Histogram, kCallKinds.size()> seconds;
};

class CallWatch {
public:
    /// After so many timeouts in a row the RM is suspended until it polls again (I-379).
    static constexpr std::uint32_t kTimeoutsInRow = 10;

    void set_limits(Duration predicates, Duration preemption) {
        limits_ = {predicates, preemption, kConfigStoreLimit, kStateDumpLimit};
    }
    /// Forgets all calls: another epoch begins.
    void clear();
    void started(std::uint64_t call, CallKind kind, SteadyClock::time_point now);
    /// The RM answered. `in_time` is false when nobody waits for the answer any more, as when its ask was removed.
    void answered(std::uint64_t call, bool failed, bool in_time, SteadyClock::time_point now);
    /// The RM answered a call that is unknown or over.
    void late();
    /// Takes out and returns the calls whose time limit is over.
    [[nodiscard]] std::vector<std::uint64_t> take_expired(SteadyClock::time_point now);
    /// When the time limit of the next call is over; nullopt: no call waits. O(1).
    [[nodiscard]] std::optional<SteadyClock::time_point> next() const;
    /// Whether kTimeoutsInRow calls about nodes timed out in a row.
    [[nodiscard]] bool unanswered() const { return timeouts_ >= kTimeoutsInRow; }
    /// The RM polls again: timeouts are counted from 0.
    void forgive() { timeouts_ = 0; }
    [[nodiscard]] CallTally read() const;

private:
    struct Open {
        CallKind kind;
        SteadyClock::time_point since;
    };
    void drop_over();
    void count(CallKind kind, CallEnd end, std::optional<Duration> took);

    std::array<Duration, kCallKinds.size()> limits_{};
    std::map<std::uint64_t, Open> open_;
    std::array<std::deque<std::uint64_t>, kCallKinds.size()> order_; // by deadline; only the front is sure to wait
    std::uint32_t timeouts_ = 0;                                     // in a row, of calls about nodes
    mutable std::mutex mutex_;                                       // guards tally_
    CallTally tally_;
};

} // namespace yk
