// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/rm_books.h"

#include "protocol/si/enums.h"
#include "ykctl/scenario/value_at.h"

namespace yk::scenario {
namespace {

void add_ids(const Value& body, const char* list, const char* key, std::set<std::string>& ids) {
    for (const Value& item : list_at(body, list)) ids.insert(text_at(item, key));
}

bool needs_confirmation(si::TerminationType type) {
    return type == si::TerminationType::Timeout || type == si::TerminationType::PreemptedByScheduler ||
           type == si::TerminationType::PlaceholderReplaced;
}

si::TerminationType type_of(const Value& release) {
    const auto type = integer_at(release, "terminationType");
    return type > 0 && type <= 4 ? static_cast<si::TerminationType>(type) : si::TerminationType::Unknown;
}

si::AllocationRelease confirmation_of(const Value& release, si::TerminationType type) {
    si::AllocationRelease out;
    out.partition_name = text_at(release, "partitionName");
    out.application_id = text_at(release, "applicationID");
    out.allocation_key = text_at(release, "allocationKey");
    out.termination_type = type;
    return out;
}

} // namespace

std::vector<si::AllocationRelease> RmBooks::apply(const std::string& kind, const Value& body) {
    std::vector<si::AllocationRelease> to_confirm;
    if (kind == "UpdateAllocation") {
        update_allocation(body, to_confirm);
    } else if (kind == "UpdateApplication") {
        add_ids(body, "accepted", "applicationID", accepted_applications_);
        add_ids(body, "rejected", "applicationID", rejected_applications_);
    } else if (kind == "UpdateNode") {
        add_ids(body, "accepted", "nodeID", accepted_nodes_);
        add_ids(body, "rejected", "nodeID", rejected_nodes_);
    }
    return to_confirm;
}

// The lists of one message apply in this order: `new`, then the rejected ones, then `released` (I-104).
void RmBooks::update_allocation(const Value& body, std::vector<si::AllocationRelease>& to_confirm) {
    for (const Value& allocation : list_at(body, "new"))
        held_[text_at(allocation, "allocationKey")] = {text_at(allocation, "applicationID"),
                                                       text_at(allocation, "nodeID")};
    add_ids(body, "rejected", "allocationKey", rejected_asks_);
    add_ids(body, "rejectedAllocations", "allocationKey", rejected_asks_);
    for (const Value& release : list_at(body, "released")) {
        const std::string key = text_at(release, "allocationKey");
        const si::TerminationType type = type_of(release);
        held_.erase(key);
        released_[key] = si::text(type);
        if (needs_confirmation(type)) to_confirm.push_back(confirmation_of(release, type));
    }
}

void RmBooks::release_sent(const Value& release) {
    const std::string application = text_at(release, "applicationID");
    const std::string key = text_at(release, "allocationKey");
    for (auto held = held_.begin(); held != held_.end();) {
        const bool named = held->second.application == application && (key.empty() || held->first == key);
        held = named ? held_.erase(held) : std::next(held);
    }
}

Value RmBooks::observed(const std::string& key) const {
    if (key == "acceptedApplications") return accepted_applications_;
    if (key == "rejectedApplications") return rejected_applications_;
    if (key == "acceptedNodes") return accepted_nodes_;
    if (key == "rejectedNodes") return rejected_nodes_;
    if (key == "rejectedAsks") return rejected_asks_;
    if (key == "released") return released_;
    if (key == "allocations") return held_.size();
    std::map<std::string, std::string> nodes;
    std::map<std::string, std::uint64_t> of, on;
    for (const auto& [name, held] : held_) {
        nodes[name] = held.node;
        ++of[held.application];
        ++on[held.node];
    }
    if (key == "allocationNodes") return nodes;
    return key == "allocationsOf" ? of : on;
}

} // namespace yk::scenario
