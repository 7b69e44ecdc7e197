// SPDX-License-Identifier: Apache-2.0
#include "tests/support/notices.h"

#include <fmt/format.h>

#include "protocol/si/enums.h"
#include "protocol/si/errors.h"

namespace yk::testing {

namespace {

std::string_view name_of(ElementCode code) {
    return si::name(static_cast<si::ElementCode>(code));
}

std::string_view name_of(TerminationType type) {
    return si::text(static_cast<si::TerminationType>(type));
}

std::string_view name_of(NodeAction action) {
    return si::text(static_cast<si::NodeAction>(action));
}

std::string of_partition(std::string_view partition) {
    return partition == "[rm]default" ? "" : fmt::format(" of {}", partition);
}

/// `rejected ask app/k: P_USER`, with the reason in the details; all of one call stand in one notice.
template <class List, class Subject>
void add(Notice& notice, const char* what, const List& refused, Subject subject) {
    for (const auto& each : refused) {
        notice.text += fmt::format("{}{} {}{}: {}", notice.text.empty() ? "" : ", ", what, subject(each),
                                   of_partition(each.partition), name_of(each.code));
        notice.details += fmt::format("[{}]", each.reason);
    }
}

template <class List, class Text>
void add_accepted(Notice& notice, const List& accepted, Text text) {
    for (const auto& each : accepted)
        notice.text += (notice.text.empty() ? "accepted " : ", accepted ") + text(each) + of_partition(each.partition);
}

template <class Each>
std::string key_of(const Each& each) {
    return fmt::format("{}/{}", each.application, each.key);
}

std::string id_of(const RejectedApplication& each) {
    return std::string(each.id);
}

std::string listed(std::span<const std::string_view> names) {
    return fmt::format("{}", fmt::join(names.begin(), names.end(), ", "));
}

std::string details_of(const NewAllocation& made) {
    std::string text = fmt::format("queue {}, priority {}", made.queue, made.priority);
    made.resource.for_each(
        [&text](std::string_view name, std::int64_t value) { text += fmt::format(", {} {}", value, name); });
    for (const Tag& tag : made.tags) text += fmt::format(", tag {}={}", tag.key, tag.value);
    if (!made.task_group.empty()) text += fmt::format(", task group {}", made.task_group);
    if (made.originator) text += ", originator";
    if (made.allow_preempt_self) text += ", may be preempted";
    if (made.allow_preempt_other) text += ", may preempt";
    return text;
}

} // namespace

void Notices::allocation_made(const NewAllocation& made) noexcept {
    std::string devices;
    for (const AllocatedDevice& each : made.devices)
        devices += fmt::format("{} {} {} ({})", devices.empty() ? ", devices" : ",", each.resource, each.on.index,
                               each.on.amount);
    list_.push_back({fmt::format("allocated {}{}{} on {}{}", made.placeholder ? "placeholder " : "", key_of(made),
                                 of_partition(made.partition), made.node, devices),
                     details_of(made)});
}

void Notices::allocations_released(std::span<const ReleasedAllocation> released) noexcept {
    Notice notice;
    for (const ReleasedAllocation& each : released) {
        notice.text += fmt::format("{}{}{}: {}", notice.text.empty() ? "released " : ", ", key_of(each),
                                   of_partition(each.partition), name_of(each.type));
        notice.details += fmt::format("[{}]", each.message);
    }
    list_.push_back(std::move(notice));
}

void Notices::asks_rejected(std::span<const RejectedAsk> rejected, bool placements) noexcept {
    Notice notice;
    add(notice, placements ? "rejected allocation" : "rejected ask", rejected, key_of<RejectedAsk>);
    list_.push_back(std::move(notice));
}

void Notices::releases_ignored(std::span<const IgnoredRelease> ignored) noexcept {
    Notice notice;
    add(notice, "ignored release of", ignored, key_of<IgnoredRelease>);
    list_.push_back(std::move(notice));
}

void Notices::applications_answered(std::span<const AcceptedApplication> accepted,
                                    std::span<const RejectedApplication> rejected) noexcept {
    Notice notice;
    add_accepted(notice, accepted, [](const AcceptedApplication& each) {
        return fmt::format("application {} in {}", each.id, each.queue);
    });
    add(notice, "rejected application", rejected, id_of);
    list_.push_back(std::move(notice));
}

void Notices::application_updated(const UpdatedApplication& updated) noexcept {
    list_.push_back({fmt::format("application {}{} is {}", updated.id, of_partition(updated.partition), updated.state),
                     fmt::format("at {}, {}", updated.at.ns, updated.message)});
}

void Notices::nodes_answered(std::span<const AcceptedNode> accepted, std::span<const RefusedNode> rejected,
                             std::span<const RefusedNode> failed) noexcept {
    Notice notice;
    add_accepted(notice, accepted, [](const AcceptedNode& each) { return fmt::format("node {}", each.id); });
    add(notice, "rejected node", rejected, [](const RefusedNode& each) { return each.id; });
    add(notice, "failed to", failed,
        [](const RefusedNode& each) { return fmt::format("{} node {}", name_of(each.action), each.id); });
    list_.push_back(std::move(notice));
}

void Notices::ask_outstanding(std::string_view application, std::string_view key, std::string_view reason) noexcept {
    list_.push_back({fmt::format("outstanding ask {}/{}", application, key), std::string(reason)});
}

void Notices::predicates_wanted(const PredicatesCall& call) noexcept {
    const std::string key = key_of(call), nodes = listed(call.nodes);
    list_.push_back({call.allocate ? fmt::format("call {}: {} on {}?", call.call, key, nodes)
                                   : fmt::format("call {}: reserve {} for {}?", call.call, nodes, key),
                     {}});
}

void Notices::preemption_wanted(const PreemptionCall& call) noexcept {
    list_.push_back({fmt::format("call {}: {} on {} if {} or more of {} go?", call.call, key_of(call), call.node,
                                 call.start + 1, listed(call.victims)),
                     {}});
}

} // namespace yk::testing
