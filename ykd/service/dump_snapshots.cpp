#include "ykd/service/dump_snapshots.h"

#include <map>
#include <set>

namespace yk::service {
namespace {

constexpr auto kKeep = std::chrono::seconds{30};
constexpr auto kKeepLive = std::chrono::minutes{5}; // who reads a list within a list takes his time
constexpr std::size_t kPerSession = 8;
constexpr std::size_t kMostBytes = std::size_t{32} << 20U;
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

std::string DumpSnapshots::keep(const wire::Sid& session, PagePlace place, const std::string& used) {
    const std::size_t bytes = bytes_of(place);
    const std::lock_guard lock(mutex_);
    cursors_.sweep();
    auto& kept = cursors_.kept();
    std::uint64_t list = ++last_;
    for (const auto& one : kept)
        if (!used.empty() && one.cursor == used && one.session == session) list = one.place.list;
    std::erase_if(kept, [&](const auto& one) { return one.place.list == list && one.cursor != used; });
    make_room_locked(session);
    const auto until = SteadyClock::now() + (place.live ? SteadyClock::duration{kKeepLive} : kKeep);
    kept.push_back({"page-" + std::to_string(++last_), session, {std::move(place), list, bytes}, until});
    while (kept_bytes_locked() > kMostBytes && kept.front().place.list != list)
        forget_list_locked(kept.front().place.list);
    return kept.back().cursor;
}

void DumpSnapshots::forget_list_locked(std::uint64_t list) {
    std::erase_if(cursors_.kept(), [list](const auto& one) { return one.place.list == list; });
}

/// Forgets the oldest dump of a session that has as many as it may.
void DumpSnapshots::make_room_locked(const wire::Sid& session) {
    std::set<std::uint64_t> lists;
    for (const auto& one : cursors_.kept())
        if (one.session == session) lists.insert(one.place.list);
    if (lists.size() >= kPerSession) forget_list_locked(*lists.begin());
}

/// The pages of a dump share what they are of.
std::size_t DumpSnapshots::kept_bytes_locked() {
    std::map<std::uint64_t, std::size_t> by_list;
    for (const auto& one : cursors_.kept()) by_list[one.place.list] = one.place.bytes;
    std::size_t sum = 0;
    for (const auto& [list, bytes] : by_list) sum += bytes;
    return sum;
}

std::optional<PagePlace> DumpSnapshots::find(const wire::Sid& session, const std::string& cursor) {
    const std::lock_guard lock(mutex_);
    auto page = cursors_.find(session, cursor);
    if (!page) return std::nullopt;
    return std::move(page->place);
}

void DumpSnapshots::sweep() {
    const std::lock_guard lock(mutex_);
    cursors_.sweep();
}

std::shared_ptr<void> DumpSnapshots::claim_full_dump() {
    const std::lock_guard lock(mutex_);
    if (!full_dump_.expired()) return nullptr;
    auto claim = std::make_shared<char>();
    full_dump_ = claim;
    return claim;
}

} // namespace yk::service
