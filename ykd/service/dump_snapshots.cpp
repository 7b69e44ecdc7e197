#include "ykd/service/dump_snapshots.h"

namespace yk::service {
namespace {

constexpr std::size_t kBytesOfObject = 1024; // about, with its names

/// About, of what is kept because of this place alone.
std::size_t bytes_of(const PagePlace& place) {
    if (place.live) return place.live->picture.roster ? place.live->picture.roster->order.size() * 8 : 0;
    std::size_t objects = 0;
    for (const DumpPart& part : place.snapshot->parts) {
        objects += part.queues.size() + part.applications.size() + part.asks.size() + part.allocations.size() +
                   part.nodes.size() + part.reservations.size() + part.users.views.size() + part.groups.views.size();
        for (const ApplicationView& view : part.applications) objects += view.asks.size() + view.allocations.size();
        for (const NodeView& view : part.nodes) objects += view.allocations.size() + view.foreign.size();
    }
    return objects * kBytesOfObject;
}

} // namespace

std::string DumpSnapshots::keep(const CursorOwner& owner, PagePlace place, const std::string& used) {
    const std::size_t bytes = bytes_of(place);
    const std::lock_guard lock(mutex_);
    return cursors_.keep(owner, std::move(place), bytes, used);
}

std::optional<PagePlace> DumpSnapshots::find(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    return cursors_.find(session, cursor);
}

void DumpSnapshots::end(const wire::Sid& session, const std::string& used) {
    const std::lock_guard lock(mutex_);
    cursors_.end(session, used);
}

void DumpSnapshots::sweep(SteadyClock::time_point now) {
    const std::lock_guard lock(mutex_);
    cursors_.sweep(now);
}

std::shared_ptr<void> DumpSnapshots::claim_full_dump() {
    const std::lock_guard lock(mutex_);
    if (!full_dump_.expired()) return nullptr;
    auto claim = std::make_shared<char>();
    full_dump_ = claim;
    return claim;
}

} // namespace yk::service
