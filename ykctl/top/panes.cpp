// SPDX-License-Identifier: Apache-2.0
#include "ykctl/top/panes.h"

#include <fmt/format.h>

#include "ykctl/client/context.h"
#include "ykctl/client/states.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

/// A share of one resource map in another, as a bar where the terminal is wide.
Column share_column(const char* heading, const char* used, const char* whole, const Style& style) {
    const auto share = [used, whole](const Value& item) {
        return dominant_share(member_of(item, used), member_of(item, whole));
    };
    return ordered(
        {{heading, Align::Right}, [share, style](const Value& item) { return usage_text(share(item), style); }},
        [share](const Value& item) { return SortKey{share(item)}; });
}

std::string name_in(const Value& item, const char* key) {
    return text_of(item, key);
}

ListLayout queues(const Style& style) {
    return {{text_column("QUEUE", "queuename"), share_column("OF MAX", "allocatedResource", "maxResource", style),
             resource_column("USED", "allocatedResource"), resource_column("PENDING", "pendingResource"),
             number_column("APPS", "runningApps"), resource_column("GUARANTEED", "guaranteedResource"),
             resource_column("MAX", "maxResource")},
            [](const Value& queue) { return name_in(queue, "queuename"); },
            "no queues"};
}

ListLayout nodes(const Style& style) {
    return {
        {text_column("NODE", "nodeID"),
         {{"STATE"}, node_state_text},
         share_column("USED", "allocated", "capacity", style),
         ordered({{"FREE"}, free_text}, [](const Value& node) { return resource_key(member_of(node, "available")); }),
         number_column("ALLOCS", "allocationCount"),
         resource_column("CAPACITY", "capacity")},
        [](const Value& node) { return name_in(node, "nodeID"); },
        "no nodes"};
}

ListLayout applications(std::int64_t now) {
    return {{text_column("APP", "applicationID"), text_column("STATE", "applicationState"),
             number_column("ALLOCS", "allocationCount"), number_column("PENDING", "pendingAsks"),
             text_column("QUEUE", "queueName"), text_column("USER", "user"), age_column("AGE", "submissionTime", now),
             resource_column("USED", "usedResource"), resource_column("WANTED", "pendingResource")},
            [](const Value& application) { return name_in(application, "applicationID"); },
            "no applications"};
}

ListLayout waiting(std::int64_t now) {
    return {{text_column("WHY", "reason"), text_column("QUEUE", "queue"), number_column("ASKS", "asks"),
             age_column("OLDEST", "oldest", now), text_column("FOR EXAMPLE", "example")},
            [](const Value& group) { return name_in(group, "reason"); },
            "nothing waits"};
}

} // namespace

const char* title_of(Pane pane) {
    switch (pane) {
    case Pane::Queues: return "1 queues";
    case Pane::Nodes: return "2 nodes";
    case Pane::Applications: return "3 apps";
    case Pane::Waiting: break;
    }
    return "4 waiting";
}

ListLayout layout_of(Pane pane, std::int64_t now, const Style& style) {
    switch (pane) {
    case Pane::Queues: return queues(style);
    case Pane::Nodes: return nodes(style);
    case Pane::Applications: return applications(now);
    case Pane::Waiting: break;
    }
    return waiting(now);
}

FirstOrder first_order(Pane pane) {
    switch (pane) {
    case Pane::Queues: return {0, false};
    case Pane::Nodes: return {2, true};
    case Pane::Applications: return {3, true};
    case Pane::Waiting: break;
    }
    return {2, true};
}

} // namespace yk::cli
