// SPDX-License-Identifier: Apache-2.0
#include "ykd/core_gateway/translate.h"

#include <fmt/format.h>

#include "libcore/base/check.h"
#include "libcore/config/names.h"
#include "ykd/core_gateway/queue_tags.h"

namespace yk {
namespace {

void fill(Quantities& to, const std::optional<si::Resources>& from) {
    to.clear();
    if (!from) return;
    for (const auto& [name, value] : *from) to.push_back({name, value});
}

void fill(Tags& to, const si::StringMap& from) {
    to.clear();
    for (const auto& [key, value] : from) to.push_back({key, value});
}

void fill(std::vector<DevicesSpec>& to, const si::DevicesMap& from) {
    to.clear();
    for (const auto& [name, devices] : from) {
        DevicesSpec& made = to.emplace_back(DevicesSpec{name, devices.count, devices.each, {}});
        for (const si::DeviceAmount& each : devices.on) made.on.push_back({each.index, each.amount});
    }
}

void fill_policy(AskSpec& to, const std::optional<si::PreemptionPolicy>& policy) {
    to.allow_preempt_self = policy && policy->allow_preempt_self;
    to.allow_preempt_other = policy && policy->allow_preempt_other;
}

void fill(AskSpec& to, const si::AllocationAsk& from) {
    to.partition = from.partition_name;
    to.application = from.application_id;
    to.key = from.allocation_key;
    fill(to.resource, from.resource_ask);
    to.priority = from.priority;
    to.max_allocations = from.max_allocations;
    to.task_group = from.task_group_name;
    to.node = from.node_id;
    fill(to.tags, from.tags);
    fill(to.devices, from.devices);
    to.placeholder = from.placeholder;
    to.originator = from.originator;
    fill_policy(to, from.preemption_policy);
}

void fill(AskSpec& to, const si::Allocation& from) {
    to.partition = from.partition_name;
    to.application = from.application_id;
    to.key = from.allocation_key;
    fill(to.resource, from.resource_per_alloc);
    to.priority = from.priority;
    to.max_allocations = 0;
    to.task_group = from.task_group_name;
    to.node = from.node_id;
    fill(to.tags, from.allocation_tags);
    fill(to.devices, from.devices);
    to.placeholder = from.placeholder;
    to.originator = from.originator;
    fill_policy(to, from.preemption_policy);
}

TerminationType termination(si::TerminationType type) {
    return static_cast<TerminationType>(type);
}

template <class Release>
ReleaseSpec release_spec(const Release& from) {
    ReleaseSpec to{from.partition_name, from.application_id, from.allocation_key, termination(from.termination_type),
                   from.message};
    if constexpr (requires { from.keep_asks; }) to.keep_asks = from.keep_asks;
    return to;
}

void fill(NodeSpec& to, const si::NodeInfo& from) {
    to.id = from.node_id;
    to.action = static_cast<NodeAction>(from.action);
    to.attributes.reset();
    to.capacity.reset();
    to.occupied.reset();
    if (from.attributes) fill(to.attributes.emplace(), *from.attributes);
    if (from.schedulable_resource) fill(to.capacity.emplace(), from.schedulable_resource);
    if (from.occupied_resource) fill(to.occupied.emplace(), from.occupied_resource);
    to.devices.reset();
    if (from.devices) {
        to.devices.emplace();
        for (const auto& [name, sizes] : *from.devices) to.devices->push_back({name, sizes});
    }
    to.booked.reset();
    if (from.recovery) {
        to.booked.emplace().allocations = from.recovery->allocations;
        fill(to.booked->available, from.recovery->available_resource);
    }
    to.existing.resize(from.existing_allocations.size());
    for (std::size_t i = 0; i < to.existing.size(); ++i) fill(to.existing[i], from.existing_allocations[i]);
}

} // namespace

const AllocationRequest& Translator::translate(const si::AllocationRequest& message) {
    const auto fill_list = [](auto& to, const auto& from) {
        to.resize(from.size());
        for (std::size_t i = 0; i < from.size(); ++i) fill(to[i], from[i]);
    };
    const auto fill_releases = [](std::vector<ReleaseSpec>& to, const auto& from) {
        to.clear();
        for (const auto& element : from) to.push_back(release_spec(element));
    };
    fill_list(allocation_.allocations, message.allocations);
    fill_list(allocation_.asks, message.asks);
    fill_releases(allocation_.ask_releases, message.releases.allocation_asks_to_release);
    fill_releases(allocation_.releases, message.releases.allocations_to_release);
    return allocation_;
}

/// A tag whose value cannot be used is ignored, with a warning (C-237).
void Translator::fill_queue_tags(ApplicationSpec& to) {
    for (const Tag& tag : to.tags) {
        const std::string name = config::lower(tag.key);
        bool usable = true;
        if (name == kMaxAppsTag) {
            const auto count = parse_count_tag(tag.value);
            usable = count.has_value();
            to.queue_tags.max_applications = count.value_or(0);
        } else if (name == kQuotaTag || name == kGuaranteedTag) {
            auto resources = parse_resource_tag(tag.value);
            usable = resources.has_value();
            if (usable) {
                quotas_.push_back(std::move(resources));
                auto& to_fill = name == kQuotaTag ? to.queue_tags.max : to.queue_tags.guaranteed;
                fill(to_fill.emplace(), quotas_.back());
            }
        }
        if (!usable)
            warn_("core.scheduler.queue", fmt::format("application {}: tag {} is ignored, its value cannot be used: {}",
                                                      to.id, name, tag.value));
    }
}

void Translator::fill_application(ApplicationSpec& to, const si::AddApplicationRequest& from) {
    to.partition = from.partition_name;
    to.id = from.application_id;
    to.queue = from.queue_name;
    to.user = from.ugi.user;
    to.groups.assign(from.ugi.groups.begin(), from.ugi.groups.end());
    fill(to.tags, from.tags);
    fill_queue_tags(to);
    to.execution_timeout_ms = from.execution_timeout_milli_seconds;
    fill(to.placeholder_ask, from.placeholder_ask);
    to.gang_style = from.gang_scheduling_style;
    // Any other style counts as Soft (G-003).
    if (!to.gang_style.empty() && to.gang_style != "Hard" && to.gang_style != "Soft")
        warn_("core.scheduler.application",
              fmt::format("application {}: gang scheduling style '{}' is unknown, it is taken as Soft; the styles are "
                          "Hard and Soft",
                          to.id, to.gang_style));
}

const ApplicationRequest& Translator::translate(const si::ApplicationRequest& message,
                                                std::span<const std::string> user_faults) {
    YK_ASSUME(user_faults.size() == message.add.size(), "there is one text for each added application");
    application_.add.clear();
    application_.remove.clear();
    quotas_.clear();
    for (std::size_t i = 0; i < message.add.size(); ++i) {
        ApplicationSpec& to = application_.add.emplace_back();
        fill_application(to, message.add[i]);
        to.user_fault = user_faults[i];
    }
    for (const si::RemoveApplicationRequest& from : message.remove)
        application_.remove.push_back({from.partition_name, from.application_id});
    return application_;
}

const NodeRequest& Translator::translate(const si::NodeRequest& message) {
    node_.nodes.resize(message.nodes.size());
    for (std::size_t i = 0; i < message.nodes.size(); ++i) fill(node_.nodes[i], message.nodes[i]);
    return node_;
}

CallAnswer Translator::translate(std::uint64_t call, const CallReply& reply) {
    CallAnswer answer;
    answer.call = call;
    if (reply.outcome != CallReply::Outcome::Answered) answer.outcome = CallAnswer::Outcome::Failed;
    if (reply.outcome == CallReply::Outcome::TimedOut) answer.outcome = CallAnswer::Outcome::TimedOut;
    answer.error = reply.error;
    for (const si::NodeVerdict& each : reply.body.results)
        answer.nodes.push_back({each.node_id, each.fits, each.reason});
    answer.success = reply.body.success;
    answer.index = reply.body.index;
    return answer;
}

} // namespace yk
