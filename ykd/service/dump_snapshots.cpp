#include "ykd/service/dump_snapshots.h"

#include <algorithm>

namespace yk::service {
namespace {

constexpr auto kKeep = std::chrono::seconds{30};
constexpr std::ptrdiff_t kPerSession = 8;

} // namespace

std::string DumpSnapshots::keep(const wire::Sid& session, PagePlace place) {
    const std::lock_guard lock(mutex_);
    sweep_locked();
    const auto of_session = [&](const Kept& one) { return one.session == session; };
    if (std::count_if(kept_.begin(), kept_.end(), of_session) >= kPerSession)
        kept_.erase(std::find_if(kept_.begin(), kept_.end(), of_session));
    kept_.push_back({"page-" + std::to_string(++last_), session, std::move(place), SteadyClock::now() + kKeep});
    return kept_.back().cursor;
}

std::optional<PagePlace> DumpSnapshots::find(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    sweep_locked();
    for (const Kept& one : kept_)
        if (one.cursor == cursor && one.session == session) return one.place;
    return std::nullopt;
}

void DumpSnapshots::sweep() {
    const std::lock_guard lock(mutex_);
    sweep_locked();
}

void DumpSnapshots::sweep_locked() {
    const auto now = SteadyClock::now();
    kept_.remove_if([now](const Kept& one) { return one.until <= now; });
}

std::shared_ptr<void> DumpSnapshots::claim_full_dump() {
    const std::lock_guard lock(mutex_);
    if (!full_dump_.expired()) return nullptr;
    auto claim = std::make_shared<char>();
    full_dump_ = claim;
    return claim;
}

} // namespace yk::service
