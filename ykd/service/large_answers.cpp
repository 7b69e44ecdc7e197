#include "ykd/service/large_answers.h"

#include <algorithm>
#include <utility>

namespace yk::service {

LargeAnswers::Entry LargeAnswers::enter(const CallPtr& call, const std::string& identity) {
    const std::lock_guard lock(mutex_);
    Identity& own = identities_[identity];
    if (own.waiting.empty() && own.at_work < kOfIdentity && at_work_.size() < kAtOnce) {
        begin(call, own, identity);
        return Entry::Begins;
    }
    if (own.waiting.size() >= kMostWaiting) return Entry::Refused;
    own.waiting.push_back(call);
    return Entry::Waits;
}

void LargeAnswers::begin(const CallPtr& call, Identity& of, const std::string& name) {
    ++of.at_work;
    at_work_[call.get()] = Turn{name, SteadyClock::now()};
}

void LargeAnswers::end(std::map<const Call*, Turn>::iterator turn) {
    const auto own = identities_.find(turn->second.identity);
    if (--own->second.at_work == 0 && own->second.waiting.empty()) identities_.erase(own);
    at_work_.erase(turn);
}

std::vector<CallPtr> LargeAnswers::take_next() {
    std::vector<CallPtr> next;
    const auto may = [](const auto& one) { return !one.second.waiting.empty() && one.second.at_work < kOfIdentity; };
    while (at_work_.size() < kAtOnce) {
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
        const auto turn = at_work_.find(&call);
        if (turn == at_work_.end()) return;
        end(turn);
        next = take_next();
    }
    start(next);
}

void LargeAnswers::sweep(SteadyClock::time_point now) {
    std::vector<CallPtr> next;
    {
        const std::lock_guard lock(mutex_);
        for (auto turn = at_work_.begin(); turn != at_work_.end();) {
            const auto one = turn++;
            if (now - one->second.since > kTurn) end(one);
        }
        next = take_next();
    }
    start(next);
}

void LargeAnswers::clear() {
    std::map<std::string, Identity> dropped;
    const std::lock_guard lock(mutex_);
    at_work_.clear();
    dropped.swap(identities_);
}

} // namespace yk::service
