// SPDX-License-Identifier: Apache-2.0
#include "libcore/reports/fragmentation.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "libcore/nodes/fragmentation.h"

namespace yk {
namespace {

/// By the workload that the policy would go by.
Fragmentation make_measure(const PartitionState& state) {
    Fragmentation measure;
    ExpectedWorkload copy = state.expected;
    measure.set(copy.make(state.nodes, state.resources));
    return measure;
}

void add(FragmentCausesView& to, const FragmentCausesView& from) {
    to.devices += from.devices;
    to.others += from.others;
    to.both += from.both;
    to.attribute += from.attribute;
    to.unasked += from.unasked;
}

/// In units of the resource.
FragmentCausesView view_of(const FragmentCauses& causes, double weights) {
    if (weights <= 0) return {};
    return {causes.devices / weights, causes.others / weights, causes.both / weights, causes.attribute / weights,
            causes.unasked / weights};
}

void describe(const PartitionState& state, const Fragmentation& measure, FragmentationView& view) {
    const Workload& workload = measure.workload();
    if (workload.resource == ResourceNames::npos) return;
    view.resource = state.resources.name(workload.resource);
    view.is_learnt = state.expected.is_learnt();
    for (const ResourceId type : workload.others) view.others.push_back(state.resources.name(type));
    for (const WorkloadShape& shape : workload.shapes) {
        ExpectedAsksView& asks = view.expected.emplace_back();
        asks.amount = shape.amount;
        asks.count = shape.stated.count;
        asks.each = shape.stated.each;
        for (std::size_t at = 0; at < shape.others.size(); ++at) asks.others.emplace(view.others[at], shape.others[at]);
        asks.attributes = shape.attributes;
        asks.share = static_cast<double>(shape.weight) / measure.weights();
    }
}

} // namespace

FragmentationView fragmentation_page(const PartitionState& state, bool with_nodes, ViewCursor& cursor,
                                     std::size_t& budget) {
    FragmentationView page;
    const ShapeBoards* const boards = state.nodes.boards();
    std::optional<Fragmentation> made;
    const Fragmentation& measure = boards != nullptr ? boards->measure() : made.emplace(make_measure(state));
    if (cursor.after.empty()) describe(state, measure, page);
    state.nodes.until_after(cursor.after, [&](NodeId id) {
        const Node& node = state.nodes[id];
        cursor.after = node.id;
        if (node.schedulable) {
            const IdleNode idle = measure.idle_of(node);
            const FragmentCausesView fragments = view_of(measure.causes_of(idle), measure.weights());
            page.idle += idle.idle();
            add(page.fragments, fragments);
            if (with_nodes) page.nodes.push_back({node.id, idle.idle(), fragments});
        }
        return --budget == 0;
    });
    return page;
}

void add_page(FragmentationView& to, FragmentationView&& page) {
    to.idle += page.idle;
    add(to.fragments, page.fragments);
    to.nodes.insert(to.nodes.end(), std::make_move_iterator(page.nodes.begin()),
                    std::make_move_iterator(page.nodes.end()));
}

} // namespace yk
