// SPDX-License-Identifier: Apache-2.0
#include "ykd/dump/dump_snapshots.h"

namespace yk::service {
namespace {

constexpr std::size_t kBytesOfObject = 1024; // roughly, with its names

/// Roughly how many bytes are kept because of this cursor alone.
std::size_t bytes_of(const PageCursor& cursor) {
    if (cursor.live)
        return cursor.live->partition_cursor.roster ? cursor.live->partition_cursor.roster->order.size() * 8 : 0;
    std::size_t objects = 0;
    for (const DumpPart& part : cursor.snapshot->parts) {
        objects += part.queues.size() + part.applications.size() + part.asks.size() + part.allocations.size() +
                   part.nodes.size() + part.reservations.size() + part.users.views.size() + part.groups.views.size();
        for (const ApplicationView& view : part.applications) objects += view.asks.size() + view.allocations.size();
        for (const NodeView& view : part.nodes) objects += view.allocations.size() + view.foreign.size();
    }
    return objects * kBytesOfObject;
}

} // namespace

std::string DumpSnapshots::keep(const CursorOwner& owner, PageCursor next, const std::string& used) {
    const std::size_t bytes = bytes_of(next);
    const std::lock_guard lock(mutex_);
    return cursors_.keep(owner, std::move(next), bytes, used);
}

std::optional<PageCursor> DumpSnapshots::find(const wire::Sid& session, const std::string& cursor) {
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
