// Lists that may be longer than anybody can hold at once: asks, allocations and applications from a place on, taken
// from the state as it is then (adr 0008).

#include <algorithm>
#include <limits>

#include "libcore/config/names.h"
#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

constexpr std::size_t kLooksPerObject = 16; // looking at one object costs so much less than a picture of it
constexpr std::size_t kFewApplications = 4096;
constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

bool is_at_or_below(std::string_view path, std::string_view queue) {
    return path.substr(0, queue.size()) == queue && (path.size() == queue.size() || path[queue.size()] == '.');
}

bool has_status(ApplicationState state, const std::string& wanted) {
    return wanted.empty() || config::lower(std::string{text_of(state)}) == wanted;
}

/// The queues below one in their order, from the one behind a path on.
class QueueList {
public:
    QueueList(std::string_view after, std::size_t room) : after_(after), room_(room) {}

    /// False: the room is used up.
    template <class Take>
    bool run(const Queue& queue, const Take& take) {
        if (after_.empty()) {
            if (room_ == 0) return false;
            --room_;
            take(queue);
        } else if (queue.path == after_) {
            after_ = {}; // from its children on
        }
        auto child = queue.children.begin();
        if (!after_.empty()) child = queue.children.lower_bound(next_name(queue));
        for (; child != queue.children.end(); ++child) {
            if (!after_.empty() && !is_at_or_below(after_, child->second->path)) after_ = {}; // that one is gone
            if (!run(*child->second, take)) return false;
        }
        after_ = {};
        return true;
    }
    [[nodiscard]] std::size_t room() const { return room_; }

private:
    /// The name of the queue below `queue` that leads to `after_`.
    [[nodiscard]] std::string next_name(const Queue& queue) const {
        const std::string_view rest = after_.substr(std::min(after_.size(), queue.path.size() + 1));
        return std::string{rest.substr(0, rest.find('.'))};
    }

    std::string_view after_; // empty: reached
    std::size_t room_;
};

} // namespace

// --- queues
// -----------------------------------------------------------------------------------------------------------------

std::vector<QueueView> PartitionContext::queue_piece(ViewPlace& place, std::size_t& room) const {
    orders_.refresh();
    std::vector<QueueView> piece;
    const std::string after = place.after;
    QueueList list{after, room};
    const bool through = list.run(*s_.root, [&](const Queue& queue) {
        QueueView& view = piece.emplace_back(view_of(queue, false));
        for (const auto& [name, child] : queue.children) view.child_paths.push_back(child->path);
    });
    room = through ? std::max<std::size_t>(list.room(), 1) : 0;
    if (!piece.empty()) place.after = piece.back().path;
    return piece;
}

// --- asks and allocations
// ---------------------------------------------------------------------------------------------------

bool PartitionContext::is_listed(const Allocation& object, const ObjectFilter& filter, bool placed) const {
    if (object.is(Allocation::Foreign) || object.is(Allocation::InFlight) || object.is(Allocation::Placed) != placed)
        return false;
    if (!filter.key.empty() && object.key.view() != filter.key) return false;
    const Application& owner = s_.applications[object.application];
    if (!filter.application.empty() && owner.id != filter.application) return false;
    if (!filter.queue.empty() && !is_at_or_below(owner.queue->path, filter.queue)) return false;
    if (!has_status(owner.state, filter.status)) return false;
    if (filter.node.empty()) return true;
    return (placed ? s_.nodes[object.node].id : s_.shapes[object.shape].required_node) == filter.node;
}

/// Those that an index leads to, when they are few. nullopt: they have to be looked for.
std::optional<std::vector<AllocationId>> PartitionContext::known_objects(const ObjectFilter& filter, bool placed,
                                                                         std::size_t room) const {
    std::vector<AllocationId> found;
    if (!filter.key.empty()) {
        if (filter.application.empty() && s_.applications.size() > kFewApplications) return std::nullopt;
        const auto add = [&](ApplicationId owner) {
            const AllocationId id = s_.find_allocation(owner, filter.key);
            if (id.valid()) found.push_back(id);
        };
        if (filter.application.empty())
            s_.applications.for_each(add);
        else if (const ApplicationId owner = s_.find_application(filter.application); owner.valid())
            add(owner);
    } else if (!filter.application.empty()) {
        const ApplicationId id = s_.find_application(filter.application);
        if (!id.valid()) return found;
        const Application& owner = s_.applications[id];
        if ((placed ? owner.allocations.size() : owner.pending_asks) >= room) return std::nullopt;
        if (placed) return owner.allocations;
        found = pending_of(id);
    } else if (placed && !filter.node.empty()) {
        const NodeId node = s_.nodes.find(filter.node);
        if (!node.valid()) return found;
        if (s_.nodes[node].allocations.size() >= room) return std::nullopt;
        found = s_.nodes[node].allocations;
    } else {
        return std::nullopt;
    }
    return found;
}

std::vector<AllocationId> PartitionContext::listed_objects(const ObjectFilter& filter, bool placed, ViewPlace& place,
                                                           std::size_t& room) const {
    if (place.next == 0) {
        if (auto known = known_objects(filter, placed, room)) {
            std::erase_if(*known, [&](AllocationId id) { return !is_listed(s_.allocations[id], filter, placed); });
            std::sort(known->begin(), known->end()); // whoever takes a part of them goes on by index
            place.next = kEnd;
            room = std::max<std::size_t>(room - std::min(room, known->size()), 1);
            return *std::move(known);
        }
    }
    std::vector<AllocationId> listed;
    std::size_t looks = room * kLooksPerObject;
    place.next = s_.allocations.until(place.next, [&](AllocationId id) {
        if (looks == 0 || listed.size() == room) return true;
        --looks;
        if (is_listed(s_.allocations[id], filter, placed)) {
            listed.push_back(id);
            looks -= std::min(looks, kLooksPerObject - 1);
        }
        return false;
    });
    const bool through = place.next == s_.allocations.end();
    room = through ? std::max<std::size_t>(room - listed.size(), 1) : 0;
    return listed;
}

std::vector<AskView> PartitionContext::ask_piece(const ObjectFilter& filter, ViewPlace& place,
                                                 std::size_t& room) const {
    std::vector<AskView> piece;
    for (const AllocationId id : listed_objects(filter, false, place, room)) {
        AskView& view = piece.emplace_back(view_of_ask(id));
        view.queue = s_.applications[s_.allocations[id].application].queue->path;
        view.next = id.index + std::uint64_t{1};
    }
    return piece;
}

std::vector<AllocationView> PartitionContext::allocation_piece(const ObjectFilter& filter, ViewPlace& place,
                                                               std::size_t& room) const {
    std::vector<AllocationView> piece;
    for (const AllocationId id : listed_objects(filter, true, place, room)) {
        const Allocation& allocation = s_.allocations[id];
        AllocationView& view = piece.emplace_back(view_of_allocation(allocation));
        view.queue = s_.applications[allocation.application].queue->path;
        view.next = id.index + std::uint64_t{1};
    }
    return piece;
}

// --- applications
// -----------------------------------------------------------------------------------------------------------

void PartitionContext::add_to_roster(ApplicationList list, ViewPlace& place, std::size_t& room,
                                     const ObjectFilter& filter, ApplicationRoster& roster) const {
    if (list == ApplicationList::Active) {
        place.next = s_.applications.until(place.next, [&](ApplicationId id) {
            if (room == 0) return true;
            --room;
            const Application& application = s_.applications[id];
            if (has_status(application.state, filter.status) &&
                (filter.queue.empty() || application.queue->path == filter.queue))
                roster.emplace_back(application.id, id.index);
            return false;
        });
        return;
    }
    const auto add = [&](const EndedApplication& ended) {
        if (ended.serial < place.next || room == 0) return;
        place.next = ended.serial + 1;
        --room;
        if (has_status(ended.state, filter.status) && (filter.queue.empty() || ended.view.queue == filter.queue))
            roster.emplace_back(ended.view.id, ended.serial);
    };
    if (list == ApplicationList::Completed)
        for (const EndedApplication& ended : s_.ended) add(ended);
    else
        for (const auto& [serial, ended] : s_.rejected) add(ended);
}

std::optional<ApplicationView> PartitionContext::application_at(ApplicationList list, std::uint64_t position,
                                                                std::size_t most) const {
    if (list == ApplicationList::Active) {
        const ApplicationId id{static_cast<std::uint32_t>(position)};
        if (!s_.applications.alive(id)) return std::nullopt;
        return view_of(s_.applications[id], is_within(s_.applications[id], most));
    }
    if (list == ApplicationList::Rejected) {
        const auto known = s_.rejected.find(position);
        return known == s_.rejected.end() ? std::nullopt : std::optional{known->second.view};
    }
    const auto known =
        std::lower_bound(s_.ended.begin(), s_.ended.end(), position,
                         [](const EndedApplication& each, std::uint64_t serial) { return each.serial < serial; });
    return known == s_.ended.end() || known->serial != position ? std::nullopt : std::optional{known->view};
}

} // namespace yk
