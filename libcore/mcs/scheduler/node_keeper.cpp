// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/scheduler/node_keeper.h"

#include <algorithm>
#include <utility>

#include "libcore/mcs/replicas/node_changes.h"

namespace yk::mcs {

void NodeKeeper::begin(Placed placed) {
    clear();
    rows_.for_each([&](const rs::Ptr<Node>& row) {
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
    const rs::Ptr<Node> wanted = rows_.get(id);
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
    if (!rows_.get(refused.node_id)) return;
    if (refused.was_create) registered_.erase(refused.node_id);
    refusals_.insert_or_assign(refused.node_id, refused.reason);
}

bool NodeKeeper::is_usable(std::string_view id) const {
    const auto found = registered_.find(id);
    return found != registered_.end() && found->second->is_schedulable;
}

std::string NodeKeeper::refusal_of(std::string_view id) const {
    const auto found = refusals_.find(id);
    return found == refusals_.end() ? std::string{} : found->second;
}

} // namespace yk::mcs
