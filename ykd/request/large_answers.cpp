// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/large_answers.h"

#include <algorithm>
#include <utility>

#include "ykd/request/call.h"

namespace yk::service {

LargeAnswers::Entry LargeAnswers::enter(const CallPtr& call, const std::string& identity) {
    const std::lock_guard lock(mutex_);
    Identity& own = identities_[identity];
    if (own.waiting.empty() && own.may_begin(limits_) && at_work_ < limits_.in_all) {
        begin(call, own, identity);
        return Entry::Begins;
    }
    if (own.waiting.size() >= kMostWaiting) return Entry::Refused;
    own.waiting.push_back(call);
    return Entry::Waits;
}

void LargeAnswers::begin(const CallPtr& call, Identity& of, const std::string& name) {
    turns_[call.get()] = Turn{name, SteadyClock::now()};
    ++of.at_work;
    ++at_work_;
}

void LargeAnswers::end(std::map<const Call*, Turn>::iterator turn) {
    const auto own = identities_.find(turn->second.identity);
    --(turn->second.is_overdue ? own->second.overdue : own->second.at_work);
    at_work_ -= turn->second.is_overdue ? 0U : 1U;
    if (own->second.is_empty()) identities_.erase(own);
    turns_.erase(turn);
}

std::vector<CallPtr> LargeAnswers::take_next() {
    std::vector<CallPtr> next;
    const auto may = [this](const auto& one) { return !one.second.waiting.empty() && one.second.may_begin(limits_); };
    while (at_work_ < limits_.in_all) {
        const auto behind = identities_.upper_bound(last_);
        auto found = std::find_if(behind, identities_.end(), may);
        if (found == identities_.end()) found = std::find_if(identities_.begin(), behind, may);
        if (found == identities_.end() || !may(*found)) break;
        next.push_back(std::move(found->second.waiting.front()));
        found->second.waiting.pop_front();
        begin(next.back(), found->second, found->first);
        last_ = found->first;
    }
    return next;
}

void LargeAnswers::start(const std::vector<CallPtr>& calls) const {
    for (const CallPtr& call : calls) start_(call);
}

void LargeAnswers::leave(const Call& call) {
    std::vector<CallPtr> next;
    {
        const std::lock_guard lock(mutex_);
        const auto turn = turns_.find(&call);
        if (turn == turns_.end()) return;
        end(turn);
        next = take_next();
    }
    start(next);
}

void LargeAnswers::sweep(SteadyClock::time_point now) {
    std::vector<CallPtr> next, late;
    {
        const std::lock_guard lock(mutex_);
        for (auto& [call, turn] : turns_) {
            if (turn.is_overdue || now - turn.since <= kTurn) continue;
            turn.is_overdue = true;
            Identity& own = identities_[turn.identity];
            --own.at_work;
            ++own.overdue;
            --at_work_;
        }
        for (auto& [name, own] : identities_) {
            std::deque<CallPtr> kept;
            for (CallPtr& call : std::exchange(own.waiting, {})) {
                if (call->deadline() <= now)
                    late.push_back(std::move(call));
                else
                    kept.push_back(std::move(call));
            }
            own.waiting = std::move(kept);
        }
        std::erase_if(identities_, [](const auto& one) { return one.second.is_empty(); });
        next = take_next();
    }
    for (const CallPtr& call : late)
        call->fail(ErrorCode::Timeout, "too many requests with large answers are before it");
    start(next);
}

void LargeAnswers::clear() {
    std::map<std::string, Identity> dropped;
    const std::lock_guard lock(mutex_);
    turns_.clear();
    at_work_ = 0;
    dropped.swap(identities_);
}

} // namespace yk::service
