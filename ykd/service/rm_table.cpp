#include "ykd/service/rm_table.h"

namespace yk::service {

RmPtr RmTable::find(const std::string& rm_id) const {
    const std::lock_guard lock(mutex_);
    const auto found = rms_.find(rm_id);
    return found == rms_.end() ? nullptr : found->second;
}

Result<RmPtr> RmTable::find_or_make(const std::string& rm_id, const PlaceTaker& taker,
                                    const std::function<RmPtr()>& make) {
    const std::lock_guard lock(mutex_);
    if (const auto found = rms_.find(rm_id); found != rms_.end()) return found->second;
    if (closed_) return Error{0, "the daemon is stopping", {}};
    const Places places(kMaxRms);
    PlacesTaken taken;
    std::size_t own = 0; // not those made as an admin
    for (const auto& [id, rm] : rms_) {
        ++taken[rm->taker.identity];
        if (!rm->taker.admin && rm->taker.identity == taker.identity) ++own;
    }
    if (const auto shortage = places.look(taker, rms_.size(), own); shortage != Places::Shortage::None)
        return Error{0, places.refusal(shortage, taker, taken, "RMs"), {}};
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
    if (found != rms_.end() && found->second == rm) rms_.erase(found);
}

std::vector<RmPtr> RmTable::all() const {
    std::vector<RmPtr> rms;
    const std::lock_guard lock(mutex_);
    for (const auto& [id, rm] : rms_) rms.push_back(rm);
    return rms;
}

} // namespace yk::service
