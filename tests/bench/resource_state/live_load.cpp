// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/resource_state/live_load.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include <fmt/format.h>

#include "libcore/base/check.h"

namespace yk::bench {
namespace {

using service::steady_instant;

constexpr std::size_t kMostOut = 8000; // writes that wait for the disk: McsWriter takes 10,000
constexpr Duration kAppliedLimit = std::chrono::minutes{1};

/// How many changes are due by now.
std::size_t due_by(Instant began, Instant now, const LiveLoad::Plan& plan) {
    const double seconds = static_cast<double>((now - began).count()) * 1e-9;
    return std::min(plan.most, static_cast<std::size_t>(seconds * plan.rate));
}

Instant time_of(std::size_t change, Instant began, const LiveLoad::Plan& plan) {
    return began + Duration{static_cast<std::int64_t>(static_cast<double>(change) / plan.rate * 1e9)};
}

/// Gives the changes that are due; returns when the next one is.
Instant give_due(ChangeWriter& writer, Instant began, const LiveLoad::Plan& plan) {
    const std::size_t due = due_by(began, steady_instant(), plan);
    while (writer.sent() < due && writer.sent() - writer.answered() < kMostOut)
        writer.change(deployment_of(static_cast<std::uint32_t>(writer.sent()), plan.rows));
    writer.hand_out();
    return time_of(writer.sent() + 1, began, plan);
}

} // namespace

LiveLoad::LiveLoad(const BenchDatabase& database, Plan plan)
    : plan_(std::move(plan)), committed_(plan_.most), cached_(plan_.most, 0), handled_(plan_.most, 0) {
    if (plan_.writer == Writer::Here) return;
    int ends[2];
    YK_CHECK(::pipe2(ends, O_CLOEXEC) == 0, "cannot make a pipe");
    writer_ = ::fork();
    YK_CHECK(writer_ >= 0, "cannot fork");
    if (writer_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::close(ends[1]);
        write_apart(database, ends[0]);
        ::_exit(0);
    }
    ::close(ends[0]);
    go_ = ends[1];
}

LiveLoad::~LiveLoad() {
    if (go_ >= 0) ::close(go_); // one that has not begun ends by that
    while (writer_ > 0 && ::waitpid(writer_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

/// The other process: nobody tells the one that follows of a commit but the database.
void LiveLoad::write_apart(const BenchDatabase& database, int go) {
    char byte = 0;
    if (::read(go, &byte, 1) != 1) return;
    auto connections = service::McsConnections::open(database.place(), false);
    if (!connections.ok()) {
        std::fprintf(stderr, "the process that writes: %s\n", connections.error().message.c_str());
        return;
    }
    mcs::McsHousekeeping house{std::move(connections->upkeep), {}};
    if (connections->on_commit) connections->on_commit([&house](std::int64_t pages) { house.committed(pages); });
    ChangeWriter writer{*connections->writes, [] {}};
    writer.note_times(committed_.data(), plan_.most);
    const Instant began = steady_instant();
    while (writer.answered() < plan_.most) {
        for (const auto& call : writer.take_answered()) call->finish(steady_instant());
        const Instant next = give_due(writer, began, plan_);
        const Duration pause = std::min<Duration>(next - steady_instant(), std::chrono::milliseconds{1});
        if (pause > Duration{}) std::this_thread::sleep_for(pause);
    }
}

Result<void> LiveLoad::run(Follower& follower, const std::function<bool()>& is_over) {
    const auto note = [this](std::vector<std::int64_t>& times, std::size_t& count) {
        return [this, &times, &count](const mcs::Deployment& row) {
            const std::uint32_t number = number_of(row);
            if (row.meta.version < 2 || number >= times.size() || times[number] != 0) return;
            times[number] = ended_ = steady_ns();
            ++count;
        };
    };
    follower.on_cached = note(cached_, applied_);
    follower.handler().on_handled = note(handled_, handled_count_);
    began_ = steady_ns();
    if (plan_.writer == Writer::Here) {
        YK_CHECKED(run_here(follower, is_over));
    } else {
        if (::write(go_, "g", 1) != 1) return Error::of("the other process is gone");
        made_ = plan_.most;
    }
    return await_applied(follower);
}

Result<void> LiveLoad::run_here(Follower& follower, const std::function<bool()>& is_over) {
    ChangeWriter& writer = follower.writer();
    writer.note_times(committed_.data(), plan_.most);
    const Instant began = steady_instant();
    while (writer.sent() < plan_.most && !is_over()) {
        const Instant next = give_due(writer, began, plan_);
        if (!follower.step()) follower.wait(next);
    }
    made_ = writer.sent();
    return {};
}

Result<void> LiveLoad::await_applied(Follower& follower) {
    const auto limit =
        kAppliedLimit + Duration{static_cast<std::int64_t>(static_cast<double>(made_) / plan_.rate * 1e9)};
    const bool is_here = plan_.writer == Writer::Here;
    const auto is_done = [&] {
        return applied_ >= made_ && handled_count_ >= made_ && (!is_here || follower.writer().answered() >= made_);
    };
    const auto done = follower.run_until(is_done, limit);
    follower.on_cached = {};
    follower.handler().on_handled = {};
    if (!done.ok())
        return Error::of(fmt::format("of {} changes {} were applied and {} handled, {} of the writes answered: {}",
                                     made_, applied_, handled_count_, follower.writer().answered(),
                                     done.error().text()));
    return {};
}

double LiveLoad::per_second() const {
    return static_cast<double>(made_) / (static_cast<double>(ended_ - began_) * 1e-9);
}

/// A change can be in the cache before the writer has noted that it is committed, since another thread reads it.
std::vector<double> LiveLoad::times_to(const std::vector<std::int64_t>& ends, std::int64_t from,
                                       std::int64_t to) const {
    std::vector<double> times;
    for (std::size_t at = 0; at < made_; ++at)
        if (committed_[at] >= from && committed_[at] <= to)
            times.push_back(std::max(0.0, static_cast<double>(ends[at] - committed_[at]) * 1e-6));
    return times;
}

std::vector<double> LiveLoad::to_cache(std::int64_t from, std::int64_t to) const {
    return times_to(cached_, from, to);
}

std::vector<double> LiveLoad::to_handler() const {
    return times_to(handled_, 0, INT64_MAX);
}

} // namespace yk::bench
