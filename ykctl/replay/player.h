// SPDX-License-Identifier: Apache-2.0
#pragma once
// TracePlayer: sends the pods of a trace in time and notes what becomes of each.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ykctl/replay/report.h"
#include "ykctl/replay/session.h"

namespace yk::replay {

/// How far a replay is, for a progress bar.
struct Progress {
    std::uint64_t done = 0, total = 0; // pods placed, of all pods; at a speed, events played
    std::uint64_t placed = 0, pending = 0;
};

/// Plays one trace over one session.
///
/// Owner: run_replay(). Thread: the caller's. Used once.
class TracePlayer {
public:
    using Watch = std::function<void(const Progress&)>;

    /// With `speed` 0 all pods are sent at once and none is deleted; else in the time of the trace divided by `speed`.
    TracePlayer(const Trace& trace, Session& session, double speed, Watch watch);

    [[nodiscard]] wire::CallResult<Report> play(const std::string& policy);

    /// The report of a replay that failed, as far as it came.
    [[nodiscard]] const Report& so_far() const { return report_; }

private:
    using Moment = std::chrono::nanoseconds; // on the clock of the replay
    using Done = Session::Done;

    enum class State { NotSent, Waiting, Placed, Ended };
    struct Pod {
        State state = State::NotSent;
        std::int64_t asked_ns = 0; // on the daemon's clock
    };
    struct Event {
        double at = 0; // seconds from the start of the replay
        bool is_release = false;
        std::size_t pod = 0;
    };

    Done play_at_once();
    Done play_in_time();
    Done play_due(double now);
    [[nodiscard]] std::vector<Event> events() const;
    Done ask(const std::vector<std::size_t>& pods);
    Done release(const std::vector<std::size_t>& pods);
    Done read();
    void take(const Notification& notification);
    /// Waits until no pending pod can be placed any more.
    Done wait_until_placed();
    /// Whether any pending pod could be placed. Counts the reasons of the others.
    wire::CallResult<bool> ask_why();
    wire::CallResult<Why> why(std::size_t pod);
    void count_reason(std::map<std::string, std::uint64_t>& reasons, const Why& why, std::uint64_t pods);
    void sample(bool always);
    [[nodiscard]] Moment now();
    [[nodiscard]] double seconds();
    [[nodiscard]] std::int64_t daemon_now() const;

    const Trace& trace_;
    Session& session_;
    double speed_;
    Watch watch_;
    std::vector<Pod> pods_; // in the order of trace_.pods
    std::unordered_map<std::string, std::size_t> index_;
    std::vector<Event> events_;
    std::size_t next_event_ = 0;
    std::int64_t offset_ns_ = 0;
    std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now(); // at the real time
    std::chrono::steady_clock::time_point began_;
    Moment now_{0};
    Moment start_{0}, last_sample_{0}, last_watch_{0};
    std::uint64_t waiting_ = 0, sent_ = 0;
    std::map<std::string, Amounts> used_;
    std::map<std::string, std::uint64_t> final_reasons_; // of pods that ended without being placed
    Report report_;
};

} // namespace yk::replay
