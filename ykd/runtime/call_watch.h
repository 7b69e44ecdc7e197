#pragma once
// CallWatch: the calls to an RM that wait for its answer, how long they may, and how they ended (I-375 to I-379).
// Call-outs follow real time, whatever clock the scheduler has (I-353).
//
// Owner: RmOwner. Thread: the owner thread; read() any.

#include <array>
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
inline constexpr Duration kConfigStoreLimit = std::chrono::seconds{10}; // I-376
inline constexpr Duration kStateDumpLimit = std::chrono::seconds{5};
inline constexpr std::array<std::string_view, 4> kCallEnds{"answered", "failed", "timeout", "late"};

/// By kind, then by end (interface.md section 6: yunikorn_rm_calls_total, yunikorn_rm_call_seconds).
struct CallTally {
    std::array<std::array<std::uint64_t, kCallEnds.size()>, kCallKinds.size()> ended{};
    std::array<Histogram, kCallKinds.size()> seconds;
};

class CallWatch {
public:
    static constexpr std::uint32_t kTimeoutsInRow = 10; // I-379

    void set_limits(Duration predicates, Duration preemption) {
        limits_ = {predicates, preemption, kConfigStoreLimit, kStateDumpLimit};
    }
    /// All calls are forgotten: another epoch begins.
    void clear();
    void started(std::uint64_t call, CallKind kind, SteadyClock::time_point now);
    /// The RM answered; not `in_time`: its ask has gone meanwhile.
    void answered(std::uint64_t call, bool failed, bool in_time, SteadyClock::time_point now);
    /// The RM answered what nobody knows, or knows any more.
    void late();
    /// The calls whose time is over.
    [[nodiscard]] std::vector<std::uint64_t> take_expired(SteadyClock::time_point now);
    [[nodiscard]] std::optional<SteadyClock::time_point> next() const;
    [[nodiscard]] bool unanswered() const { return timeouts_ >= kTimeoutsInRow; }
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
    std::array<std::deque<std::uint64_t>, kCallKinds.size()> order_; // by deadline; only the first surely waits
    std::uint32_t timeouts_ = 0;                                     // in a row, of asks
    mutable std::mutex mutex_;                                       // tally_
    CallTally tally_;
};

} // namespace yk
