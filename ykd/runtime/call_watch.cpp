// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/call_watch.h"

#include <algorithm>

namespace yk {
namespace {

/// Whether an ask waits for the call: only these hold up scheduling when they are not answered.
bool asks_about_nodes(CallKind kind) {
    return kind == CallKind::Predicates || kind == CallKind::PreemptionPredicates;
}

} // namespace

void CallWatch::clear() {
    open_.clear();
    for (auto& list : order_) list.clear();
    timeouts_ = 0;
}

void CallWatch::started(std::uint64_t call, CallKind kind, SteadyClock::time_point now) {
    open_[call] = {kind, now};
    order_[static_cast<std::size_t>(kind)].push_back(call);
}

void CallWatch::answered(std::uint64_t call, bool failed, bool in_time, SteadyClock::time_point now) {
    const auto found = open_.find(call);
    if (found == open_.end()) return late();
    timeouts_ = 0;
    const CallEnd end = !in_time ? CallEnd::Late : failed ? CallEnd::Failed : CallEnd::Answered;
    count(found->second.kind, end, now - found->second.since);
    open_.erase(found);
    drop_over();
}

void CallWatch::late() {
    count(CallKind::Predicates, CallEnd::Late, std::nullopt);
}

std::vector<std::uint64_t> CallWatch::take_expired(SteadyClock::time_point now) {
    std::vector<std::uint64_t> expired;
    for (std::size_t kind = 0; kind < order_.size(); ++kind) {
        auto& list = order_[kind];
        while (!list.empty() && open_.at(list.front()).since + limits_[kind] <= now) {
            expired.push_back(list.front());
            open_.erase(list.front());
            if (asks_about_nodes(static_cast<CallKind>(kind))) ++timeouts_;
            count(static_cast<CallKind>(kind), CallEnd::TimedOut, std::nullopt);
            drop_over();
        }
    }
    return expired;
}

std::optional<SteadyClock::time_point> CallWatch::next() const {
    std::optional<SteadyClock::time_point> next;
    for (std::size_t kind = 0; kind < order_.size(); ++kind) {
        if (order_[kind].empty()) continue;
        const auto at = open_.at(order_[kind].front()).since + limits_[kind];
        if (!next || at < *next) next = at;
    }
    return next;
}

/// Drops the calls that ended from the front of each list, so that the front is a call that waits.
void CallWatch::drop_over() {
    for (auto& list : order_)
        while (!list.empty() && open_.count(list.front()) == 0) list.pop_front();
}

CallTally CallWatch::read() const {
    const std::lock_guard lock(mutex_);
    return tally_;
}

void CallWatch::count(CallKind kind, CallEnd end, std::optional<Duration> took) {
    const std::lock_guard lock(mutex_);
    ++tally_.ended[static_cast<std::size_t>(kind)][static_cast<std::size_t>(end)];
    if (took) tally_.seconds[static_cast<std::size_t>(kind)].observe(*took);
}

} // namespace yk
