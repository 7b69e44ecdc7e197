// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/player.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <thread>

namespace yk::replay {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kAsksPerMessage = 1000;
constexpr milliseconds kReadInterval{2};
constexpr milliseconds kSampleInterval{20};
constexpr milliseconds kWatchInterval{100};
/// After this time without a callback the daemon is asked whether any pod can still be placed.
constexpr milliseconds kQuiet{100};
/// When a pod can be placed and none is for this time, the replay ends and reports that.
constexpr std::chrono::seconds kPatience{30};
constexpr std::size_t kMaxSamples = 2000;
/// What takes longer than this counts as this on the clock of the replay: then the daemon is away, or it or this
/// process is stopped, and the trace stands still, or a pod would be asked for and deleted at once.
constexpr milliseconds kLongestStep{100};

} // namespace

TracePlayer::TracePlayer(const Trace& trace, Session& session, double speed, Watch watch)
    : trace_(trace), session_(session), speed_(speed), watch_(std::move(watch)), pods_(trace.pods.size()) {
    for (std::size_t i = 0; i < trace.pods.size(); ++i) index_[trace.pods[i].name] = i;
    for (const std::string& queue : trace.queues()) used_[queue];
    report_.nodes = trace.nodes.size();
    report_.pods = trace.pods.size();
    report_.capacity = trace.capacity();
}

wire::CallResult<Report> TracePlayer::play(const std::string& policy) {
    const std::size_t items = trace_.nodes.size() + 4 * trace_.pods.size() + 1000;
    YK_CHECKED(session_.open(trace_.queues(), "{type: " + policy + "}", items));
    YK_CHECKED(session_.add_applications(trace_.queues()));
    if (speed_ > 0) YK_CHECKED(session_.add_nodes(trace_.nodes));
    YK_CHECKED(session_.sync());
    YK_TRY(offset, session_.clock_offset_ns());
    offset_ns_ = offset;
    began_ = std::chrono::steady_clock::now();
    start_ = last_sample_ = last_watch_ = now();
    if (speed_ > 0) {
        YK_CHECKED(play_in_time());
    } else {
        YK_CHECKED(play_at_once());
    }
    YK_CHECKED(wait_until_placed());
    sample(true);
    for (const auto& [queue, used] : used_) add_amounts(report_.used, used);
    report_.seconds = std::chrono::duration<double>{std::chrono::steady_clock::now() - began_}.count();
    return std::move(report_);
}

TracePlayer::Done TracePlayer::play_at_once() {
    std::vector<std::size_t> batch;
    for (std::size_t i = 0; i < pods_.size(); ++i) {
        batch.push_back(i);
        if (batch.size() < kAsksPerMessage && i + 1 < pods_.size()) continue;
        YK_CHECKED(ask(batch));
        YK_CHECKED(read());
        batch.clear();
    }
    // The nodes are added last. With all asks waiting by then, only the order of the queues decides, not the speed of
    // this program, and every run places the same pods.
    return session_.add_nodes(trace_.nodes);
}

std::vector<TracePlayer::Event> TracePlayer::events() const {
    std::vector<Event> out;
    for (std::size_t i = 0; i < trace_.pods.size(); ++i) {
        const TracePod& pod = trace_.pods[i];
        out.push_back({static_cast<double>(pod.creation) / speed_, false, i});
        if (pod.deletion) out.push_back({static_cast<double>(*pod.deletion) / speed_, true, i});
    }
    // A pod that is deleted in the second in which it is created is created first.
    std::stable_sort(out.begin(), out.end(), [](const Event& a, const Event& b) {
        return a.at != b.at ? a.at < b.at : a.is_release < b.is_release;
    });
    return out;
}

TracePlayer::Done TracePlayer::play_in_time() {
    events_ = events();
    while (next_event_ < events_.size()) {
        YK_CHECKED(play_due(seconds()));
        YK_CHECKED(read());
        if (next_event_ == events_.size()) break;
        using Seconds = std::chrono::duration<double>;
        const Seconds until{events_[next_event_].at - seconds()}; // at a low speed it may exceed the range of Clock
        if (until.count() > 0) std::this_thread::sleep_for(std::min<Seconds>(until, kReadInterval));
    }
    return {};
}

/// Sends the events that are due, in order. Asks that follow each other go in one message, as do releases.
TracePlayer::Done TracePlayer::play_due(double now) {
    while (next_event_ < events_.size() && events_[next_event_].at <= now) {
        const bool is_release = events_[next_event_].is_release;
        std::vector<std::size_t> batch;
        while (next_event_ < events_.size() && events_[next_event_].at <= now &&
               events_[next_event_].is_release == is_release && batch.size() < kAsksPerMessage)
            batch.push_back(events_[next_event_++].pod);
        YK_CHECKED(is_release ? release(batch) : ask(batch));
    }
    return {};
}

TracePlayer::Done TracePlayer::ask(const std::vector<std::size_t>& pods) {
    std::vector<const TracePod*> batch;
    const std::int64_t now = daemon_now();
    for (const std::size_t i : pods) {
        batch.push_back(&trace_.pods[i]);
        pods_[i].state = State::Waiting;
        pods_[i].asked_ns = now;
    }
    waiting_ += pods.size();
    sent_ += pods.size();
    return session_.ask(batch);
}

TracePlayer::Done TracePlayer::release(const std::vector<std::size_t>& pods) {
    YK_CHECKED(session_.sync());
    YK_CHECKED(read());
    std::vector<const TracePod*> batch;
    for (const std::size_t i : pods) {
        if (pods_[i].state == State::Ended) continue;
        batch.push_back(&trace_.pods[i]);
        if (pods_[i].state == State::Waiting) {
            YK_TRY(reason, why(i));
            count_reason(final_reasons_, reason, 1);
            --waiting_;
        } else {
            add_amounts(used_[trace_.pods[i].queue], trace_.pods[i].request, -1);
        }
        pods_[i].state = State::Ended;
    }
    return session_.release(batch);
}

TracePlayer::Done TracePlayer::read() {
    YK_TRY(notifications, session_.read());
    for (const Notification& one : notifications) take(one);
    sample(false);
    if (now() - last_watch_ >= kWatchInterval) {
        last_watch_ = now();
        const std::uint64_t total = events_.empty() ? pods_.size() : events_.size();
        watch_({events_.empty() ? report_.placed : next_event_, total, report_.placed, waiting_});
    }
    return {};
}

void TracePlayer::take(const Notification& notification) {
    const auto found = index_.find(notification.pod);
    if (found == index_.end()) return;
    Pod& pod = pods_[found->second];
    const TracePod& trace_pod = trace_.pods[found->second];
    if (notification.kind == Notification::Kind::Placed && pod.state == State::Waiting) {
        pod.state = State::Placed;
        --waiting_;
        ++report_.placed;
        report_.time_to_place.push_back(
            static_cast<double>(std::max<std::int64_t>(0, notification.at_ns - pod.asked_ns)) / 1e9);
        add_amounts(used_[trace_pod.queue], trace_pod.request);
    } else if (notification.kind == Notification::Kind::Released && pod.state == State::Placed) {
        pod.state = State::Ended;
        add_amounts(used_[trace_pod.queue], trace_pod.request, -1);
    } else if (notification.kind == Notification::Kind::AskRejected && pod.state == State::Waiting) {
        pod.state = State::Ended;
        --waiting_;
        count_reason(final_reasons_, {false, "REJECTED", notification.reason}, 1);
    }
}

TracePlayer::Done TracePlayer::wait_until_placed() {
    auto last_news = now();
    std::uint64_t last_placed = report_.placed;
    for (;;) {
        YK_CHECKED(read());
        if (report_.placed != last_placed) last_news = now();
        last_placed = report_.placed;
        const auto quiet = now() - last_news;
        if (waiting_ == 0 || quiet >= kQuiet) {
            YK_CHECKED(session_.sync());
            YK_CHECKED(read());
            YK_TRY(can_go_on, ask_why());
            if (!can_go_on || quiet >= kPatience) return {};
        }
        std::this_thread::sleep_for(kReadInterval);
    }
}

/// Asks once for all pods of one queue that want the same resources.
wire::CallResult<bool> TracePlayer::ask_why() {
    std::map<std::pair<std::string, Amounts>, std::vector<std::size_t>> shapes;
    for (std::size_t i = 0; i < pods_.size(); ++i)
        if (pods_[i].state == State::Waiting) shapes[{trace_.pods[i].queue, trace_.pods[i].request}].push_back(i);
    report_.reasons = final_reasons_;
    bool can_go_on = false;
    for (const auto& [shape, pods] : shapes) {
        YK_TRY(reason, why(pods.front()));
        can_go_on = can_go_on || reason.is_waiting;
        count_reason(report_.reasons, reason, pods.size());
    }
    return can_go_on;
}

wire::CallResult<Why> TracePlayer::why(std::size_t pod) {
    return session_.explain(trace_.pods[pod]);
}

void TracePlayer::count_reason(std::map<std::string, std::uint64_t>& reasons, const Why& why, std::uint64_t pods) {
    reasons[why.reason] += pods;
    report_.examples.emplace(why.reason, why.text);
}

void TracePlayer::sample(bool always) {
    if (!always && now() - last_sample_ < kSampleInterval) return;
    last_sample_ = now();
    const auto& samples = report_.samples;
    if (!samples.empty() && samples.back().placed == report_.placed && samples.back().used == used_) return;
    report_.samples.push_back({seconds(), report_.placed, used_});
    if (report_.samples.size() > kMaxSamples) report_.samples = thinned(report_.samples, kMaxSamples / 2);
}

/// The time on the clock of the replay, by which events are due and patience ends.
TracePlayer::Moment TracePlayer::now() {
    const auto look = std::chrono::steady_clock::now();
    now_ += std::min<Moment>(look - last_look_, kLongestStep);
    last_look_ = look;
    return now_;
}

/// Since the first ask: all at once in real time, else in that of the trace.
double TracePlayer::seconds() {
    if (speed_ == 0) return std::chrono::duration<double>{std::chrono::steady_clock::now() - began_}.count();
    return std::chrono::duration<double>{now() - start_}.count();
}

std::int64_t TracePlayer::daemon_now() const {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::nanoseconds{now}.count() + offset_ns_;
}

} // namespace yk::replay
