// SPDX-License-Identifier: Apache-2.0
#include "libcore/reports/recovery.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace yk {

namespace {

using recovery::bucket_of;
using recovery::line_hash;

constexpr std::size_t kPerAmount = 14; // bytes of an amount in a message, with the heads of both

/// The lines of a partition's objects. Allocations of one shape have the same text of resources.
class Lines {
public:
    explicit Lines(const PartitionState& state) : state_(state) {}

    [[nodiscard]] std::uint64_t hash(const Node& node) const {
        return line_hash(recovery::node_line(state_.name, node.id, text_of(node.capacity), node.schedulable));
    }
    [[nodiscard]] std::uint64_t hash(const Application& application) const {
        return line_hash(recovery::application_line(state_.name, application.id));
    }
    [[nodiscard]] std::uint64_t hash(const Allocation& allocation) {
        const auto [text, is_new] = by_shape_.try_emplace(allocation.shape.index);
        if (is_new) text->second = text_of(state_.resource_of(allocation));
        return line_hash(recovery::allocation_line(state_.name, application_of(allocation), allocation.key.view(),
                                                   state_.nodes[allocation.node].id, text->second,
                                                   allocation.is(Allocation::Placeholder)));
    }
    /// Empty: it is foreign.
    [[nodiscard]] std::string_view application_of(const Allocation& allocation) const {
        if (allocation.is(Allocation::Foreign)) return {};
        return state_.applications[allocation.application].id;
    }
    [[nodiscard]] std::uint8_t bucket(const Allocation& allocation) const {
        return bucket_of(state_.name, application_of(allocation), allocation.key.view());
    }

    /// Calls `each(const Allocation&)` for all that the RM has been notified of, and foreign ones.
    template <class Each>
    void each_allocation(Each&& each) const {
        state_.allocations.for_each([&](AllocationId id) {
            const Allocation& allocation = state_.allocations[id];
            if (allocation.is(Allocation::Placed) && !allocation.is(Allocation::InFlight)) each(allocation);
        });
    }

private:
    [[nodiscard]] std::string text_of(const Resource& amounts) const {
        return recovery::resources_text(state_.map_of(amounts));
    }

    const PartitionState& state_;
    std::unordered_map<std::uint32_t, std::string> by_shape_;
};

recovery::Digest& of(RecoveryDigests& digests, RecoveryKind kind) {
    return digests[static_cast<std::size_t>(kind)];
}

std::uint8_t bucket_of_waiting(const PartitionState& state, const QuarantinedObject& object) {
    switch (object.kind) {
    case RecoveryKind::Nodes: return bucket_of(state.name, object.node);
    case RecoveryKind::Applications: return bucket_of(state.name, object.application_id());
    case RecoveryKind::Allocations: return bucket_of(state.name, object.application_id(), object.key());
    }
    return 0;
}

QuarantineView view_of(const PartitionState& state, const QuarantinedObject& object) {
    return {object.kind,   state.name,  object.node, std::string{object.application_id()}, std::string{object.key()},
            object.reason, object.since};
}

/// Whether a list with so many entries and bytes takes one more, whose names have `texts` bytes. An entry that is
/// listed is counted in `bytes`. What follows one that is not taken is not listed either.
bool takes(const RecoveryView& view, std::size_t entries, std::size_t& bytes, std::size_t texts) {
    if (entries == view.most || bytes > view.most_bytes) return false;
    bytes += RecoveryView::kPerEntry + texts;
    return bytes <= view.most_bytes;
}

void add_quarantine(const PartitionState& state, RecoveryView& view) {
    for (const auto& [serial, object] : state.recovery.quarantine.objects()) {
        if (object.is_ask()) continue;
        of(view.quarantined, object.kind).add(bucket_of_waiting(state, object), object.hash);
        ++view.quarantine_total;
        const std::size_t texts =
            state.name.size() + object.node.size() + object.application_id().size() + object.key().size();
        if (!takes(view, view.quarantine.size(), view.quarantine_bytes, texts)) continue;
        view.quarantine.push_back(view_of(state, object));
    }
}

/// What differs between the node and what the RM has booked on it (I-221); nullopt: nothing, or there is no such node.
std::optional<IncompleteNodeView> difference_of(const PartitionState& state, const std::string& name,
                                                const NodeBooks& books) {
    const NodeId id = state.nodes.find(name);
    if (!id.valid()) return std::nullopt;
    const Node& node = state.nodes[id];
    Resource used = node.occupied;
    used.add(node.allocated);
    ResourceMapView missing = state.map_of(node.capacity), surplus; // first what is booked
    for (const auto& [type, amount] : books.available) missing[type] = sat_sub(missing[type], amount);
    for (const auto& [type, amount] : state.map_of(used)) missing[type] = sat_sub(missing[type], amount);
    for (const auto& [type, amount] : missing)
        if (amount < 0) surplus[type] = sat_sub(0, amount);
    std::erase_if(missing, [](const auto& entry) { return entry.second <= 0; });
    std::uint64_t allocations = objects_of(node);
    for (const Quarantine::Serial serial : state.recovery.quarantine.on_node(name))
        allocations += state.recovery.quarantine.objects().at(serial).occupies.valid() ? 1U : 0U;
    if (missing.empty() && surplus.empty() && allocations == books.allocations) return std::nullopt;
    return IncompleteNodeView{state.name, name, std::move(missing), std::move(surplus), books.allocations, allocations};
}

void add_incomplete(const PartitionState& state, RecoveryView& view) {
    for (const auto& [name, books] : state.recovery.booked.by_node()) {
        auto node = difference_of(state, name, books);
        if (!node) continue;
        ++view.incomplete_total;
        std::size_t texts = state.name.size() + name.size();
        for (const ResourceMapView* amounts : {&node->missing, &node->surplus})
            for (const auto& [type, amount] : *amounts) texts += type.size() + kPerAmount;
        if (takes(view, view.incomplete.size(), view.incomplete_bytes, texts))
            view.incomplete.push_back(*std::move(node));
    }
}

/// Where an object stands in the order of ids: partition, node, application, key.
using Place = std::array<std::string_view, 4>;

Place place_of(const RecoveryItem& item) {
    return {item.partition, item.node, item.application, item.key};
}

bool comes_before(const RecoveryItem& a, const RecoveryItem& b) {
    return place_of(a) < place_of(b);
}

/// The first so many of the items that there are, as a heap with the last of them at its top.
class FirstItems {
public:
    FirstItems(std::vector<RecoveryItem>& items, std::size_t most) : items_(items), most_(most) {
        std::make_heap(items_.begin(), items_.end(), comes_before);
    }
    ~FirstItems() { std::sort_heap(items_.begin(), items_.end(), comes_before); }
    FirstItems(const FirstItems&) = delete;
    FirstItems& operator=(const FirstItems&) = delete;

    [[nodiscard]] bool takes(const Place& place) const {
        return items_.size() < most_ || place < place_of(items_.front());
    }
    /// REQUIRES: it takes it.
    void add(RecoveryItem item) {
        if (items_.size() == most_) {
            std::pop_heap(items_.begin(), items_.end(), comes_before);
            items_.pop_back();
        }
        items_.push_back(std::move(item));
        std::push_heap(items_.begin(), items_.end(), comes_before);
    }

private:
    std::vector<RecoveryItem>& items_;
    const std::size_t most_;
};

} // namespace

void add_recovery(const PartitionState& state, RecoveryView& view) {
    Lines lines{state};
    RecoveryView::Partition& sums = view.partitions[state.name];
    sums.pending_asks = state.pending_asks;
    state.nodes.for_each([&](NodeId id) {
        const Node& node = state.nodes[id];
        of(sums.restored, RecoveryKind::Nodes).add(bucket_of(state.name, node.id), lines.hash(node));
    });
    state.applications.for_each([&](ApplicationId id) {
        const Application& application = state.applications[id];
        of(sums.restored, RecoveryKind::Applications)
            .add(bucket_of(state.name, application.id), lines.hash(application));
    });
    lines.each_allocation([&](const Allocation& allocation) {
        of(sums.restored, RecoveryKind::Allocations).add(lines.bucket(allocation), lines.hash(allocation));
    });
    view.unused_tombstones += state.recovery.tombstones.size();
    add_quarantine(state, view);
    add_incomplete(state, view);
}

void add_progress(const PartitionState& state, RecoveryProgress& progress) {
    progress.nodes += state.nodes.size();
    progress.applications += state.applications.size();
    progress.allocations += state.allocations.size() - state.pending_asks; // foreign ones included
    progress.pending_asks += state.pending_asks;
    progress.quarantined += state.recovery.quarantine.counted();
    for (std::size_t reason = 0; reason < kQuarantineReasons; ++reason)
        progress.quarantined_for[reason] += state.recovery.quarantine.counts()[reason];
}

bool add_recovery_faults(const PartitionState& state, RecoveryFaultsCursor& cursor, std::size_t& budget,
                         RecoveryFaultsPage& page) {
    const auto& objects = state.recovery.quarantine.objects();
    for (auto next = objects.upper_bound(cursor.serial); !cursor.is_at_nodes && next != objects.end(); ++next) {
        if (budget == 0) return false;
        --budget;
        cursor.serial = next->first;
        if (!next->second.is_ask()) page.quarantine.emplace_back(view_of(state, next->second), cursor);
    }
    cursor.is_at_nodes = true;
    const auto& booked = state.recovery.booked.by_node();
    for (auto next = booked.upper_bound(cursor.node); next != booked.end(); ++next) {
        if (budget == 0) return false;
        --budget;
        cursor.node = next->first;
        if (auto node = difference_of(state, next->first, next->second))
            page.nodes.emplace_back(*std::move(node), cursor);
    }
    return true;
}

void add_recovery_items(const PartitionState& state, RecoveryKind kind, std::optional<std::uint8_t> bucket,
                        const std::optional<RecoveryItem>& after, std::size_t most, std::vector<RecoveryItem>& items) {
    Lines lines{state};
    FirstItems first{items, most};
    // Most are not of the page: no more is done for them than is needed to see that.
    const auto consider = [&](const auto& bucket_of_it, const Place& place, const auto& object) {
        if (after && place <= place_of(*after)) return;
        if (!first.takes(place) || (bucket && *bucket != bucket_of_it())) return;
        const auto& [partition, node, application, key] = place;
        first.add({std::string{partition}, std::string{node}, std::string{application}, std::string{key},
                   lines.hash(object)});
    };
    switch (kind) {
    case RecoveryKind::Nodes:
        state.nodes.for_each([&](NodeId id) {
            const Node& node = state.nodes[id];
            consider([&] { return bucket_of(state.name, node.id); }, {state.name, node.id, {}, {}}, node);
        });
        return;
    case RecoveryKind::Applications:
        state.applications.for_each([&](ApplicationId id) {
            const Application& application = state.applications[id];
            consider([&] { return bucket_of(state.name, application.id); }, {state.name, {}, application.id, {}},
                     application);
        });
        return;
    case RecoveryKind::Allocations:
        lines.each_allocation([&](const Allocation& allocation) {
            consider(
                [&] { return lines.bucket(allocation); },
                {state.name, state.nodes[allocation.node].id, lines.application_of(allocation), allocation.key.view()},
                allocation);
        });
        return;
    }
}

} // namespace yk
