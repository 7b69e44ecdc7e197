// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/node_keeper.h"

#include <algorithm>
#include <utility>

#include "libcore/mcs/replicas/node_changes.h"
#include "libcore/mcs/work_tags.h"

namespace yk::mcs {

bool NodeKeeper::is_for_core(const Node& row) const {
    return runs_commands_ || !is_local(row.attributes);
}

rs::Ptr<Node> NodeKeeper::row_of(std::string_view id) const {
    rs::Ptr<Node> row = rows_.get(id);
    return row && is_for_core(*row) ? row : nullptr;
}

void NodeKeeper::begin(Placed placed) {
    clear();
    rows_.for_each([&](const rs::Ptr<Node>& row) {
        if (!is_for_core(*row)) return;
        for (ChangeNode& change : node_changes(nullptr, row.get())) {
            if (const auto found = placed.find(row->meta.id); found != placed.end())
                change.placed = std::move(found->second);
            requests_.add(std::move(change));
        }
        registered_.emplace(row->meta.id, row);
    });
}

void NodeKeeper::clear() {
    registered_.clear();
    refusals_.clear();
}

std::size_t NodeKeeper::check() {
    std::vector<std::string> ids;
    rows_.for_each([&](const rs::Ptr<Node>& row) { ids.push_back(row->meta.id); });
    for (const auto& each : registered_)
        if (!has_row(each.first)) ids.push_back(each.first);
    return static_cast<std::size_t>(
        std::count_if(ids.begin(), ids.end(), [this](const std::string& id) { return update(id); }));
}

bool NodeKeeper::update(std::string_view id) {
    const rs::Ptr<Node> wanted = row_of(id);
    const auto found = registered_.find(id);
    const Node* const before = found == registered_.end() ? nullptr : found->second.get();
    std::vector<ChangeNode> changes = node_changes(before, wanted.get());
    const bool any = !changes.empty();
    for (ChangeNode& change : changes) requests_.add(std::move(change));
    if (wanted)
        registered_[std::string{id}] = wanted;
    else if (before != nullptr)
        registered_.erase(found);
    if (const auto old = refusals_.find(id); any && old != refusals_.end()) refusals_.erase(old);
    return any;
}

void NodeKeeper::refused(const NodeRefused& refused) {
    if (!has_row(refused.node_id)) return;
    if (refused.was_create) registered_.erase(refused.node_id);
    refusals_.insert_or_assign(refused.node_id, refused.reason);
}

bool NodeKeeper::is_usable(std::string_view id) const {
    const auto found = registered_.find(id);
    return found != registered_.end() && found->second->is_schedulable;
}

std::string NodeKeeper::refusal_of(std::string_view id) const {
    if (const auto found = refusals_.find(id); found != refusals_.end()) return found->second;
    const rs::Ptr<Node> row = rows_.get(id);
    return row && !is_for_core(*row) ? "this daemon runs no commands, and places nothing where nothing would run"
                                     : std::string{};
}

} // namespace yk::mcs
