// Large pictures of a partition, piece by piece, so that cycles run in between (adr 0008).

#include <algorithm>
#include <limits>

#include "libcore/scheduler/partition_context.h"

namespace yk {

namespace {

/// The picture of one tracker without applications.
class UsagePicture {
public:
    UsagePicture(const UsageTracker& tracker, const PartitionState& state) : tracker_(tracker), s_(state) {}

    [[nodiscard]] UsageView make() const {
        UsageView view;
        view.name = tracker_.name;
        view.root = make("root");
        return view;
    }

private:
    [[nodiscard]] UsageQueueView make(std::string_view path) const {
        const UsageNode& node = s_.users[tracker_.nodes.at(s_.users.position(tracker_, path))];
        UsageQueueView view;
        view.path = path;
        view.usage = s_.map_of(node.usage);
        if (node.limit != nullptr && !node.limit->max.unlimited()) view.max = s_.map_of(node.limit->max.bounds());
        view.max_applications = node.limit != nullptr ? node.limit->max_applications : 0;
        const std::string prefix = view.path + ".";
        for (std::size_t i = s_.users.position(tracker_, prefix); i < tracker_.nodes.size(); ++i) {
            const std::string_view below = s_.users[tracker_.nodes[i]].path;
            if (below.compare(0, prefix.size(), prefix) != 0) break;
            if (below.find('.', prefix.size()) == std::string_view::npos) view.children.push_back(make(below));
        }
        return view;
    }

    const UsageTracker& tracker_;
    const PartitionState& s_;
};

} // namespace

// --- applications and nodes
// ------------------------------------------------------------------------------------------------

std::vector<ApplicationView> PartitionContext::application_piece(ApplicationList list, std::size_t most,
                                                                 ViewPlace& place, std::size_t& room) const {
    orders_.refresh();
    std::vector<ApplicationView> piece;
    if (list == ApplicationList::Active) {
        s_.applications.for_each([&](ApplicationId id) {
            if (id.index < place.next || room == 0) return;
            const Application& application = s_.applications[id];
            piece.push_back(view_of(application, is_within(application, most)));
            place.next = id.index + std::uint64_t{1};
            room -= std::min(room, piece.back().whole ? 1 + objects_of(application) : 1);
        });
        return piece;
    }
    const auto add = [&](const EndedApplication& ended) {
        if (ended.serial < place.next || room == 0) return;
        piece.push_back(ended.view);
        place.next = ended.serial + 1;
        --room;
    };
    if (list == ApplicationList::Completed)
        for (const EndedApplication& ended : s_.ended) add(ended);
    else
        for (const auto& [serial, ended] : s_.rejected) add(ended);
    return piece;
}

std::vector<NodeView> PartitionContext::node_piece(std::size_t most, ViewPlace& place, std::size_t& room) const {
    std::vector<NodeView> piece;
    s_.nodes.until_after(place.after, [&](NodeId id) {
        const Node& node = s_.nodes[id];
        piece.push_back(view_of(node, is_within(node, most)));
        room -= std::min(room, 1 + (piece.back().whole ? objects_of(node) : 0));
        return room == 0;
    });
    if (!piece.empty()) place.after = piece.back().id;
    return piece;
}

// --- users and groups (C-476)
// ----------------------------------------------------------------------------------------------

UsagePiece PartitionContext::usage_piece(bool groups, std::string_view only, ViewPlace& place,
                                         std::size_t& room) const {
    UsagePiece piece;
    piece.groups = groups;
    if (!place.named) add_trackers(groups, only, place, room, piece);
    if (place.named) add_links(groups, only, place, room, piece);
    return piece;
}

void PartitionContext::add_trackers(bool groups, std::string_view only, ViewPlace& place, std::size_t& room,
                                    UsagePiece& piece) const {
    const auto& trackers = groups ? s_.users.groups() : s_.users.users();
    for (auto each = only.empty() ? trackers.upper_bound(place.after) : trackers.find(only); each != trackers.end();
         ++each) {
        if (room == 0) return;
        room -= std::min(room, 1 + each->second.nodes.size());
        piece.views.push_back(UsagePicture{each->second, s_}.make());
        place.after = each->first;
        if (!only.empty()) break;
    }
    place.named = true;
}

void PartitionContext::add_links(bool groups, std::string_view only, ViewPlace& place, std::size_t& room,
                                 UsagePiece& piece) const {
    s_.applications.for_each([&](ApplicationId id) {
        if (id.index < place.next || room == 0) return;
        const Application& application = s_.applications[id];
        place.next = id.index + std::uint64_t{1};
        const UsageNodeId leaf = groups ? application.group_usage : application.user_usage;
        if (!leaf.valid()) return;
        const std::string_view name = s_.users[leaf].tracker->name;
        if (!only.empty() && name != only) return;
        --room;
        UsageLinkView& link = piece.links.emplace_back();
        link.tracker = name;
        link.application = application.id;
        link.queue = application.queue->path;
        if (!groups && application.group_usage.valid()) link.group = s_.users[application.group_usage].tracker->name;
        link.running = application.in_running_set;
    });
}

std::vector<CountedApplicationView> PartitionContext::counted_piece(ViewPlace& place, std::size_t& room) const {
    std::vector<CountedApplicationView> piece;
    s_.applications.for_each([&](ApplicationId id) {
        if (id.index < place.next || room == 0) return;
        const Application& application = s_.applications[id];
        place.next = id.index + std::uint64_t{1};
        if (!application.user_usage.valid()) return;
        CountedApplicationView& view = piece.emplace_back();
        view.id = application.id;
        view.queue = application.queue->path;
        view.user = application.user;
        view.groups = *application.user_groups;
        if (application.group_usage.valid()) view.group = s_.users[application.group_usage].tracker->name;
        view.usage = s_.map_of(application.allocated);
        for (const auto& [type, amount] : s_.map_of(application.placeholder)) view.usage[type] += amount;
        view.running = application.in_running_set;
        room -= std::min(room, 1 + view.groups.size());
    });
    return piece;
}

std::vector<UsageView> PartitionContext::usage_views(bool groups) const {
    ViewPlace place;
    std::size_t room = std::numeric_limits<std::size_t>::max();
    UsagePiece all = usage_piece(groups, {}, place, room);
    join_usage(all);
    return std::move(all.views);
}

} // namespace yk
