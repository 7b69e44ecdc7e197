// SPDX-License-Identifier: Apache-2.0
// Lists that may be too long for one reply: queues, asks, allocations and applications from a cursor on, as they are at
// the time of each page (docs/adr/0008).

#include "libcore/reports/pages.h"

#include <algorithm>
#include <limits>

#include "libcore/config/names.h"

#include "libcore/reports/snapshot.h"

namespace yk {

namespace {

constexpr std::size_t kLooksPerObject = 16; // a look at an object costs that much less than a view of it
constexpr std::size_t kMaxApplicationsScanned = 4096;
constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();

bool is_at_or_below(std::string_view path, std::string_view queue) {
    return path.substr(0, queue.size()) == queue && (path.size() == queue.size() || path[queue.size()] == '.');
}

bool has_status(ApplicationState state, const std::string& wanted) {
    return wanted.empty() || config::lower(std::string{text_of(state)}) == wanted;
}

/// A queue and those below it in their order, from behind a path on.
class QueueList {
public:
    QueueList(std::string_view after, std::size_t budget) : after_(after), budget_(budget) {}

    /// False: the budget is used up.
    template <class Take>
    bool run(const Queue& queue, const Take& take) {
        if (after_.empty()) {
            if (budget_ == 0) return false;
            --budget_;
            take(queue);
        } else if (queue.path == after_) {
            after_ = {}; // continues with its children
        }
        auto child = queue.children.begin();
        if (!after_.empty()) child = queue.children.lower_bound(next_name(queue));
        for (; child != queue.children.end(); ++child) {
            if (!after_.empty() && !is_at_or_below(after_, child->second->path)) after_ = {}; // that queue was removed
            if (!run(*child->second, take)) return false;
        }
        after_ = {};
        return true;
    }
    [[nodiscard]] std::size_t budget() const { return budget_; }

private:
    /// The name of the queue below `queue` that leads to `after_`.
    [[nodiscard]] std::string next_name(const Queue& queue) const {
        const std::string_view rest = after_.substr(std::min(after_.size(), queue.path.size() + 1));
        return std::string{rest.substr(0, rest.find('.'))};
    }

    std::string_view after_; // empty: the walk is past it
    std::size_t budget_;
};

bool is_listed(const PartitionState& state, const Allocation& object, const ObjectFilter& filter, bool placed) {
    if (object.is(Allocation::Foreign) || object.is(Allocation::InFlight) || object.is(Allocation::Placed) != placed)
        return false;
    if (!filter.key.empty() && object.key.view() != filter.key) return false;
    const Application& owner = state.applications[object.application];
    if (!filter.application.empty() && owner.id != filter.application) return false;
    if (!filter.queue.empty() && !is_at_or_below(owner.queue->path, filter.queue)) return false;
    if (!has_status(owner.state, filter.status)) return false;
    if (filter.node.empty()) return true;
    return (placed ? state.nodes[object.node].id : state.shapes[object.shape].required_node) == filter.node;
}

/// Those of the key of the filter, of its application or of any.
std::optional<std::vector<AllocationId>> objects_with_key(const PartitionState& state, const ObjectFilter& filter) {
    if (filter.application.empty() && state.applications.size() > kMaxApplicationsScanned) return std::nullopt;
    std::vector<AllocationId> found;
    const auto add = [&](ApplicationId owner) {
        const AllocationId id = state.find_allocation(owner, filter.key);
        if (id.valid()) found.push_back(id);
    };
    if (filter.application.empty())
        state.applications.for_each(add);
    else if (const ApplicationId owner = state.find_application(filter.application); owner.valid())
        add(owner);
    return found;
}

/// The objects that an index leads to: by key, application or node. nullopt: no index does, or they are more than the
/// budget; then all objects have to be looked at.
std::optional<std::vector<AllocationId>> known_objects(const PartitionState& state, const ObjectFilter& filter,
                                                       bool placed, std::size_t budget) {
    if (!filter.key.empty()) return objects_with_key(state, filter);
    std::vector<AllocationId> found;
    if (!filter.application.empty()) {
        const ApplicationId id = state.find_application(filter.application);
        if (!id.valid()) return found;
        const Application& owner = state.applications[id];
        if ((placed ? owner.allocations.size() : owner.pending_asks) >= budget) return std::nullopt;
        if (placed) return owner.allocations;
        found = state.pending_of(id);
    } else if (placed && !filter.node.empty()) {
        const NodeId node = state.nodes.find(filter.node);
        if (!node.valid()) return found;
        if (state.nodes[node].allocations.size() >= budget) return std::nullopt;
        found = state.nodes[node].allocations;
    } else {
        return std::nullopt;
    }
    return found;
}

std::vector<AllocationId> listed_objects(const PartitionState& state, const ObjectFilter& filter, bool placed,
                                         ViewCursor& cursor, std::size_t& budget) {
    if (cursor.next == 0) {
        if (auto known = known_objects(state, filter, placed, budget)) {
            std::erase_if(*known,
                          [&](AllocationId id) { return !is_listed(state, state.allocations[id], filter, placed); });
            std::sort(known->begin(), known->end()); // a caller that takes a part of them continues by index
            cursor.next = kEnd;
            budget = std::max<std::size_t>(budget - std::min(budget, known->size()), 1);
            return *std::move(known);
        }
    }
    std::vector<AllocationId> listed;
    std::size_t looks = budget * kLooksPerObject;
    cursor.next = state.allocations.until(cursor.next, [&](AllocationId id) {
        if (looks == 0 || listed.size() == budget) return true;
        --looks;
        if (is_listed(state, state.allocations[id], filter, placed)) {
            listed.push_back(id);
            looks -= std::min(looks, kLooksPerObject - 1);
        }
        return false;
    });
    const bool through = cursor.next == state.allocations.end();
    budget = through ? std::max<std::size_t>(budget - listed.size(), 1) : 0;
    return listed;
}

} // namespace

// --- queues ---------------------------------------------------------------------------------------------------------

std::vector<QueueView> queue_page(const PartitionState& state, ViewCursor& cursor, std::size_t& budget) {
    std::vector<QueueView> page;
    const std::string after = cursor.after;
    QueueList list{after, budget};
    const bool through = list.run(state.queues.root(), [&](const Queue& queue) {
        QueueView& view = page.emplace_back(view_of(state, queue, false));
        for (const auto& [name, child] : queue.children) view.child_paths.push_back(child->path);
    });
    budget = through ? std::max<std::size_t>(list.budget(), 1) : 0;
    if (!page.empty()) cursor.after = page.back().path;
    return page;
}

// --- asks and allocations -------------------------------------------------------------------------------------------

std::vector<AskView> ask_page(const PartitionState& state, const ObjectFilter& filter, ViewCursor& cursor,
                              std::size_t& budget) {
    std::vector<AskView> page;
    for (const AllocationId id : listed_objects(state, filter, false, cursor, budget)) {
        AskView& view = page.emplace_back(view_of_ask(state, id));
        view.queue = state.applications[state.allocations[id].application].queue->path;
        view.next = id.index + std::uint64_t{1};
    }
    return page;
}

std::vector<AllocationView> allocation_page(const PartitionState& state, const ObjectFilter& filter, ViewCursor& cursor,
                                            std::size_t& budget) {
    std::vector<AllocationView> page;
    for (const AllocationId id : listed_objects(state, filter, true, cursor, budget)) {
        const Allocation& allocation = state.allocations[id];
        AllocationView& view = page.emplace_back(view_of_allocation(state, id));
        view.queue = state.applications[allocation.application].queue->path;
        view.next = id.index + std::uint64_t{1};
    }
    return page;
}

// --- applications ---------------------------------------------------------------------------------------------------

void add_to_roster(const PartitionState& state, ApplicationList list, ViewCursor& cursor, std::size_t& budget,
                   const ObjectFilter& filter, ApplicationRoster& roster) {
    if (list == ApplicationList::Active) {
        cursor.next = state.applications.until(cursor.next, [&](ApplicationId id) {
            if (budget == 0) return true;
            --budget;
            const Application& application = state.applications[id];
            if (has_status(application.state, filter.status) &&
                (filter.queue.empty() || application.queue->path == filter.queue))
                roster.emplace_back(application.id, id.index);
            return false;
        });
        return;
    }
    const auto add = [&](const EndedApplication& ended) {
        if (ended.serial < cursor.next || budget == 0) return;
        cursor.next = ended.serial + 1;
        --budget;
        if (has_status(ended.state, filter.status) && (filter.queue.empty() || ended.view.queue == filter.queue))
            roster.emplace_back(ended.view.id, ended.serial);
    };
    if (list == ApplicationList::Completed)
        for (const EndedApplication& ended : state.ended.completed()) add(ended);
    else
        for (const auto& [serial, ended] : state.ended.rejected()) add(ended);
}

std::optional<ApplicationView> application_at(const PartitionState& state, ApplicationList list, std::uint64_t position,
                                              std::size_t most) {
    if (list == ApplicationList::Active) {
        const ApplicationId id{static_cast<std::uint32_t>(position)};
        if (!state.applications.alive(id)) return std::nullopt;
        return view_of(state, state.applications[id], is_within(state.applications[id], most));
    }
    const EndedApplication* ended = state.ended.find(position);
    return ended == nullptr ? std::nullopt : std::optional{ended->view};
}

} // namespace yk
