#include "ykd/service/translate.h"

#include "libcore/config/names.h"
#include "ykd/service/log.h"
#include "ykd/service/queue_tags.h"

namespace yk::service {
namespace {

constexpr std::string_view kForeign = "the partition belongs to another resource manager";
constexpr std::string_view kPartitionAttribute = "si/node-partition";

void fill(Quantities& to, const std::optional<si::Resources>& from) {
    to.clear();
    if (!from) return;
    for (const auto& [name, value] : *from) to.push_back({name, value});
}

void fill(Tags& to, const si::StringMap& from) {
    to.clear();
    for (const auto& [key, value] : from) to.push_back({key, value});
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
    to.placeholder = from.placeholder;
    to.originator = from.originator;
    fill_policy(to, from.preemption_policy);
}

TerminationType termination(si::TerminationType type) {
    return static_cast<TerminationType>(type);
}

template <class Release>
ReleaseSpec release_spec(const Release& from) {
    return {from.partition_name, from.application_id, from.allocation_key, termination(from.termination_type),
            from.message};
}

std::string_view partition_of(const si::NodeInfo& node) {
    if (!node.attributes) return {};
    for (const auto& [key, value] : *node.attributes)
        if (key == kPartitionAttribute) return value;
    return {};
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
    to.existing.resize(from.existing_allocations.size());
    for (std::size_t i = 0; i < to.existing.size(); ++i) fill(to.existing[i], from.existing_allocations[i]);
}

/// A full name of another RM's partition (I-111).
bool is_foreign(std::string_view partition, std::string_view rm_id) {
    if (partition.empty() || partition.front() != '[') return false;
    const std::size_t end = partition.find(']');
    return end == std::string_view::npos || partition.substr(1, end - 1) != rm_id;
}

} // namespace

void Translator::clear_foreign() {
    foreign_asks_.clear();
    foreign_allocations_.clear();
    foreign_releases_.clear();
    foreign_applications_.clear();
    foreign_nodes_.clear();
    failed_nodes_.clear();
}

const AllocationRequest& Translator::translate(const si::AllocationRequest& message, std::string_view rm_id) {
    clear_foreign();
    const auto fill_list = [&](auto& to, const auto& from, std::vector<RejectedAsk>& foreign) {
        to.resize(from.size());
        std::size_t count = 0;
        for (const auto& element : from) {
            if (is_foreign(element.partition_name, rm_id)) {
                foreign.push_back({element.partition_name, element.application_id, element.allocation_key, kForeign,
                                   ElementCode::PartitionForeign});
            } else {
                fill(to[count++], element);
            }
        }
        to.resize(count);
    };
    const auto fill_releases = [&](std::vector<ReleaseSpec>& to, const auto& from) {
        to.clear();
        for (const auto& element : from) {
            if (is_foreign(element.partition_name, rm_id)) {
                foreign_releases_.push_back({element.partition_name, element.application_id, element.allocation_key,
                                             kForeign, ElementCode::PartitionForeign});
            } else {
                to.push_back(release_spec(element));
            }
        }
    };
    fill_list(allocation_.allocations, message.allocations, foreign_allocations_);
    fill_list(allocation_.asks, message.asks, foreign_asks_);
    fill_releases(allocation_.ask_releases, message.releases.allocation_asks_to_release);
    fill_releases(allocation_.releases, message.releases.allocations_to_release);
    return allocation_;
}

/// C-237: a tag that cannot be used is passed over.
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
            log("core.scheduler.queue")
                .warn("application {}: tag {} is ignored, its value cannot be used: {}", to.id, name, tag.value);
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
    if (!to.gang_style.empty() && to.gang_style != "Hard" && to.gang_style != "Soft") // G-003
        log("core.scheduler.application")
            .warn("application {}: gang scheduling style '{}' is unknown, it is taken as Soft; the styles are Hard and "
                  "Soft",
                  to.id, to.gang_style);
}

const ApplicationRequest& Translator::translate(const si::ApplicationRequest& message, std::string_view rm_id,
                                                std::span<const std::string> user_faults) {
    clear_foreign();
    application_.add.clear();
    application_.remove.clear();
    quotas_.clear();
    for (std::size_t i = 0; i < message.add.size(); ++i) {
        const si::AddApplicationRequest& from = message.add[i];
        if (is_foreign(from.partition_name, rm_id)) {
            foreign_applications_.push_back(
                {from.partition_name, from.application_id, kForeign, ElementCode::PartitionForeign});
            continue;
        }
        ApplicationSpec& to = application_.add.emplace_back();
        fill_application(to, from);
        to.user_fault = user_faults[i];
    }
    for (const si::RemoveApplicationRequest& from : message.remove)
        if (!is_foreign(from.partition_name, rm_id))
            application_.remove.push_back({from.partition_name, from.application_id});
    return application_;
}

const NodeRequest& Translator::translate(const si::NodeRequest& message, std::string_view rm_id) {
    clear_foreign();
    node_.nodes.resize(message.nodes.size());
    std::size_t count = 0;
    for (const si::NodeInfo& from : message.nodes) {
        const std::string_view partition = partition_of(from);
        if (!is_foreign(partition, rm_id)) {
            fill(node_.nodes[count++], from);
            continue;
        }
        const bool creates = from.action == si::NodeAction::Create || from.action == si::NodeAction::CreateDrain;
        (creates ? foreign_nodes_ : failed_nodes_)
            .push_back({partition, from.node_id, kForeign, ElementCode::PartitionForeign,
                        static_cast<NodeAction>(from.action)});
    }
    node_.nodes.resize(count);
    return node_;
}

void Translator::report_foreign(Callbacks& callbacks) const {
    if (!foreign_allocations_.empty()) callbacks.asks_rejected(foreign_allocations_, true);
    if (!foreign_asks_.empty()) callbacks.asks_rejected(foreign_asks_, false);
    if (!foreign_releases_.empty()) callbacks.releases_ignored(foreign_releases_);
    if (!foreign_applications_.empty()) callbacks.applications_answered({}, foreign_applications_);
    if (!foreign_nodes_.empty() || !failed_nodes_.empty()) callbacks.nodes_answered({}, foreign_nodes_, failed_nodes_);
}

} // namespace yk::service
