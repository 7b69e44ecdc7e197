// SPDX-License-Identifier: Apache-2.0
#include "ykd/rm/rm_table.h"

#include <algorithm>

namespace yk::service {

RmPtr RmTable::find(const std::string& rm_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = rms_.find(rm_id);
    return found == rms_.end() ? nullptr : found->second;
}

Result<RmPtr> RmTable::find_or_make(const std::string& rm_id, const Claimant& claimant,
                                    const std::function<RmPtr()>& make) {
    const std::lock_guard lock(mutex_);
    if (const auto found = rms_.find(rm_id); found != rms_.end()) return found->second;
    if (closed_) return Error::of("the daemon is stopping");
    ClaimsHeld held;
    std::size_t own = 0; // that the identity registered, but not as an admin
    for (const auto& [id, rm] : rms_) {
        ++held[rm->claimant.identity];
        if (!rm->claimant.admin && rm->claimant.identity == claimant.identity) ++own;
    }
    if (const auto shortage = limit_.shortage_for(claimant, rms_.size(), own); shortage != FairLimit::Shortage::None)
        return Error::of(limit_.refusal(shortage, claimant, held, "RMs"));
    RmPtr rm = make();
    rms_.emplace(rm_id, rm);
    return rm;
}

void RmTable::close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
}

void RmTable::remove(const RmPtr& rm) {
    const std::lock_guard lock(mutex_);
    const auto found = rms_.find(rm->id);
    if (found == rms_.end() || found->second != rm) return;
    removed_.add(rm->owner.state_record().transitions);
    rms_.erase(found);
}

StateTransitions RmTable::removed_transitions() const {
    const std::lock_guard lock(mutex_);
    return removed_;
}

std::vector<RmPtr> RmTable::all() const {
    std::vector<RmPtr> rms;
    const std::lock_guard lock(mutex_);
    for (const auto& [id, rm] : rms_) rms.push_back(rm);
    return rms;
}

si::CoreState core_state(const RmTable& rms) {
    bool recovering = false, running = false;
    for (const RmPtr& rm : rms.all()) {
        const si::CoreState one = rm->owner.state();
        if (one == si::CoreState::Failed) return one;
        recovering = recovering || one == si::CoreState::Recovering;
        running = running || one == si::CoreState::Running || one == si::CoreState::Suspended;
    }
    if (recovering) return si::CoreState::Recovering;
    return running ? si::CoreState::Running : si::CoreState::New;
}

std::vector<std::string> new_rms(const std::set<std::string>& listed, const RmTable& rms) {
    std::vector<std::string> found;
    for (const std::string& id : listed)
        if (const RmPtr rm = rms.find(id); !rm || rm->owner.state() == si::CoreState::New) found.push_back(id);
    return found;
}

std::set<wire::Sid> owning_sessions(const RmTable& rms) {
    std::set<wire::Sid> sessions;
    for (const RmPtr& rm : rms.all())
        if (const auto owner = rm->owner_session()) sessions.insert(*owner);
    return sessions;
}

bool owners_alive(const RmTable& rms, Duration limit) {
    const std::vector<RmPtr> all = rms.all();
    return std::all_of(all.begin(), all.end(),
                       [limit](const RmPtr& rm) { return real_now() - rm->owner.last_turn() < limit; });
}

} // namespace yk::service
