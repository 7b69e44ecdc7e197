// SPDX-License-Identifier: Apache-2.0
#include "ykctl/output/reason_text.h"

#include <vector>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/context.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

/// `max vcore 8, used 8, each ask needs 2`, for the resources that do not fit or are used up. The maximum of the root
/// queue is no limit that somebody set: it is the sum of the nodes.
std::string limit_text(const Value& reason) {
    const bool is_cluster = text_of(reason, "code") == "QUEUE_MAX" && text_of(reason, "object") == "root";
    const auto& limit = member_of(reason, "limit");
    const auto& used = member_of(reason, "used");
    const auto& need = member_of(reason, "need");
    std::vector<std::string> parts;
    if (limit.is_object()) {
        for (const auto& [name, value] : limit.items()) {
            if (!value.is_number()) continue;
            const auto max = value.get<std::int64_t>();
            const auto taken = number_of(used, name.c_str());
            const auto wanted = number_of(need, name.c_str());
            if (need.is_object() ? wanted <= 0 || wanted <= max - taken : taken < max) continue;
            parts.push_back(fmt::format("{} {} {}, used {}", is_cluster ? "the cluster has" : "max", printable(name),
                                        quantity_text(name, max), quantity_text(name, taken)));
            if (need.is_object()) parts.back() += ", each ask needs " + quantity_text(name, wanted);
        }
    }
    return parts.empty() ? printable(text_of(reason, "text")) : join(parts, "; ");
}

/// `free 4Gi 2 vcore, the ask needs 8Gi 1 vcore; short of memory`
std::string required_node_text(const Value& reason, const Value& nodes) {
    if (!nodes.is_object() || number_of(nodes, "nodes") == 0) return printable(text_of(reason, "text"));
    auto text = fmt::format("free {}, the ask needs {}", resource_text(member_of(nodes, "bestAvailable")),
                            resource_text(member_of(reason, "need")));
    std::vector<std::string> lacking;
    for (const auto& [resource, count] : member_of(nodes, "lacking").items()) lacking.push_back(printable(resource));
    if (!lacking.empty()) return text + "; short of " + join(lacking, ", ");
    return number_of(nodes, "reserved") > 0 ? text + "; kept for another ask" : text;
}

/// Why a gang waits: its placeholders do not add up to what it announced (G-006), or else the text of the daemon.
std::string gang_text(const Value& reason) {
    if (!member_of(reason, "limit").is_object()) return printable(text_of(reason, "text"));
    return fmt::format("its placeholders add up to {}, it announced {}: only with exactly that sum placed it runs "
                       "without a real allocation",
                       resource_text(member_of(reason, "used")), resource_text(member_of(reason, "limit")));
}

/// The values by which one application is sorted: `0.41`, or its usage when it has no share.
std::string sort_keys_text(const Value& one, const Value& sort) {
    std::vector<std::string> keys;
    if (text_of(sort, "policy") == "fair") {
        const auto& share = member_of(one, "share");
        keys.push_back(share.is_number() ? fmt::format("{:.2f}", share.get<double>())
                                         : "uses " + resource_text(member_of(one, "used")));
    } else {
        keys.push_back("of " + time_text(number_of(one, "submitted")));
    }
    const auto priority = number_of(one, "priority");
    if (priority != 0) keys.push_back(fmt::format("priority {}", priority));
    return join(keys, ", ");
}

/// `3 apps are ahead (fair, by priority first): spark-11 0.41, spark-14 0.43, and 1 more; this one 0.66`
std::string sort_text(const Value& reason) {
    const auto& sort = member_of(reason, "sort");
    if (!sort.is_object()) return printable(text_of(reason, "text"));
    const auto ahead = number_of(sort, "ahead");
    const auto& first = member_of(sort, "first");
    std::vector<std::string> parts;
    for (const auto& one : first)
        parts.push_back(fmt::format("{} {}", printable(text_of(one, "applicationID")), sort_keys_text(one, sort)));
    if (const auto more = ahead - static_cast<std::int64_t>(first.size()); more > 0)
        parts.push_back(fmt::format("and {} more", more));
    return fmt::format("{} {} ahead ({}{}): {}; this one {}", pluralize(ahead, "app"), ahead == 1 ? "is" : "are",
                       printable(text_of(sort, "policy")), flag_of(sort, "byPriority") ? ", by priority first" : "",
                       join(parts, "; "), sort_keys_text(member_of(sort, "own"), sort));
}

} // namespace

std::string left_text(const Value& remaining) {
    if (!remaining.is_object()) return "no guarantee applies";
    Value left = Value::object(), above = Value::object();
    for (const auto& [name, value] : remaining.items()) {
        if (!value.is_number()) continue;
        const auto amount = value.get<std::int64_t>();
        if (amount > 0) left[name] = amount;
        if (amount < 0) above[name] = amount == INT64_MIN ? INT64_MAX : -amount;
    }
    const auto text = left.empty() ? std::string("nothing") : resource_text(left);
    return above.empty() ? text : text + ", " + resource_text(above) + " above it";
}

std::string nodes_text(const Value& nodes) {
    auto text = fmt::format("{} of {} could host an ask now", number_of(nodes, "fitting"),
                            pluralize(number_of(nodes, "nodes"), "node"));
    if (const auto best = text_of(nodes, "best"); !best.empty()) {
        const char* which = number_of(nodes, "fitting") > 0 ? "best" : "nearest";
        text +=
            fmt::format(" ({}: {}, free {})", which, printable(best), resource_text(member_of(nodes, "bestAvailable")));
    }
    std::vector<std::string> why;
    for (const auto& [resource, count] : member_of(nodes, "lacking").items()) {
        if (count.is_number() && count > 0) why.push_back(fmt::format("{} lack {}", count.dump(), printable(resource)));
    }
    const auto add = [&](const char* key, const char* word) {
        if (const auto count = number_of(nodes, key); count > 0) why.push_back(fmt::format("{} {}", count, word));
    };
    add("fragmented", "with enough in all, but no one device with enough");
    add("deviceConflict", "with a conflict of devices");
    add("deviceShape", "with devices of other sizes");
    add("tooSmall", "too small even when empty");
    add("unschedulable", "drained");
    add("reserved", "reserved for another ask");
    return why.empty() ? text : text + "; " + join(why, ", ");
}

std::string reason_text(const Value& reason, const Value& nodes) {
    const auto& own = member_of(reason, "nodes");
    const auto& answers = own.empty() ? nodes : own;
    const auto code = text_of(reason, "code");
    if (code == "NODE_FIT" && answers.is_object() && !answers.empty()) return nodes_text(answers);
    if (code == "REQUIRED_NODE") return required_node_text(reason, answers);
    if (code == "GANG") return gang_text(reason);
    if (code == "SORT") return sort_text(reason);
    return limit_text(reason);
}

} // namespace yk::cli
