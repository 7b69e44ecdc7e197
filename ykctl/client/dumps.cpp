// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/dumps.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <unordered_map>

#include "protocol/si/errors.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/client/states.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

/// Sets the priority of a queue or application with nothing pending to null, instead of the lowest integer.
void clear_idle_priority(Value& object) {
    for (const char* key : {"currentPriority", "maxRequestPriority"}) {
        const auto found = object.find(key);
        if (found != object.end() && found->is_number() && found->get<std::int64_t>() == INT32_MIN) *found = Value();
    }
    const auto children = object.find("children");
    if (children == object.end()) return;
    for (Value& child : *children) clear_idle_priority(child);
}

/// The elements of all pages. A page is a list, or a single object.
std::vector<Value> elements_of(const std::vector<Value>& pages) {
    std::vector<Value> elements;
    for (const auto& page : pages) {
        if (page.is_array())
            elements.insert(elements.end(), page.begin(), page.end());
        else if (page.is_object())
            elements.push_back(page);
    }
    for (Value& element : elements)
        if (element.is_object()) clear_idle_priority(element);
    return elements;
}

Failure missing(const std::string& noun, const std::string& name) {
    return not_found(noun + " '" + name + "' not found", {"which are there?  ykctl " + noun + " list"});
}

/// Whether the daemon lacks the object itself, and not the partition or RM in which it was looked for.
bool is_missing(const Failure& failure) {
    return failure.code == static_cast<std::uint32_t>(si::ErrorCode::NotFound) && failure.path != "partition" &&
           failure.path != "rmID";
}

Failure in_several(const std::string& noun, const std::string& name, const std::vector<Value>& found) {
    std::vector<std::string> partitions;
    partitions.reserve(found.size());
    for (const auto& one : found)
        partitions.push_back('[' + text_of(one, "clusterId") + ']' + text_of(one, "partition"));
    return usage_error(noun + " '" + name + "' is in several partitions: " + join(partitions, ", "),
                       {"which one?  -p PARTITION, -r RMID"});
}

/// Fetches one object by name; `noun` is also the name of the dump.
Answer<Value> find_one(Context& context, const std::string& noun, si::DumpRequest query, const std::string& name) {
    auto pages = context.dump(noun, std::move(query));
    if (!pages.ok()) return is_missing(pages.error()) ? missing(noun, name) : pages.error();
    const auto found = elements_of(*pages);
    if (found.empty()) return missing(noun, name);
    if (found.size() > 1) return in_several(noun, name, found);
    return found.front();
}

/// The nodes of a page, each with its `partition`.
std::vector<Value> nodes_of(const Value& page) {
    std::vector<Value> nodes;
    for (const auto& partition : page) {
        for (const auto& node : member_of(partition, "nodesInfo")) {
            nodes.push_back(node);
            if (!node.contains("partition")) nodes.back()["partition"] = text_of(partition, "partitionName");
            nodes.back()["clusterId"] = text_of(partition, "clusterId");
        }
    }
    return nodes;
}

std::vector<Value> applications_of(const Value& page) {
    return {page.begin(), page.end()};
}

constexpr std::size_t kNamesPerRequest = 1000;

/// A kind of objects of which many are fetched by name.
struct NamedKind {
    const char* noun;
    const char* id; // the field with the name
    std::vector<Value> (*elements)(const Value& page);
};
constexpr NamedKind kNodes{"node", "nodeID", nodes_of};
constexpr NamedKind kApplications{"app", "applicationID", applications_of};

/// Those of at most kNamesPerRequest objects that there are.
Answer<std::vector<Value>> find_named(Context& context, const NamedKind& kind, std::vector<std::string> names) {
    std::vector<Value> found;
    const si::DumpRequest query{.objects = 0, .names = std::move(names)};
    const auto failure = context.dump_pages(std::string{kind.noun} + "s", query, [&](const Value& page) {
        for (auto& one : kind.elements(page)) found.push_back(std::move(one));
        return std::optional<Failure>{};
    });
    if (failure) return *failure;
    return found;
}

/// Calls `take` with as many names as one request may have, and the objects of these names that there are.
template <class Take>
std::optional<Failure> for_named(Context& context, const NamedKind& kind, const std::vector<std::string>& names,
                                 Take&& take) {
    for (std::size_t begin = 0; begin < names.size(); begin += kNamesPerRequest) {
        const std::size_t end = std::min(names.size(), begin + kNamesPerRequest);
        const std::vector<std::string> wanted(names.begin() + static_cast<std::ptrdiff_t>(begin),
                                              names.begin() + static_cast<std::ptrdiff_t>(end));
        auto found = find_named(context, kind, wanted);
        if (!found.ok()) return std::move(found).error();
        if (auto failure = take(wanted, *std::move(found))) return failure;
    }
    return std::nullopt;
}

/// Those that there are.
Answer<std::vector<Value>> all_named(Context& context, const NamedKind& kind, const std::vector<std::string>& names) {
    std::vector<Value> all;
    const auto keep = [&all](const std::vector<std::string>&, std::vector<Value> found) -> std::optional<Failure> {
        std::move(found.begin(), found.end(), std::back_inserter(all));
        return std::nullopt;
    };
    if (auto failure = for_named(context, kind, names, keep)) return *std::move(failure);
    return all;
}

/// All of them, in the order of `names`.
Answer<std::vector<Value>> find_all(Context& context, const NamedKind& kind, const std::vector<std::string>& names) {
    std::vector<Value> all;
    const auto keep = [&](const std::vector<std::string>& wanted, std::vector<Value> some) -> std::optional<Failure> {
        std::unordered_map<std::string, std::vector<Value>> found;
        for (auto& one : some) found[text_of(one, kind.id)].push_back(std::move(one));
        for (const auto& name : wanted) {
            const auto& same = found[name];
            if (same.empty()) return missing(kind.noun, name);
            if (same.size() > 1) return in_several(kind.noun, name, same);
            all.push_back(same.front());
        }
        return std::nullopt;
    };
    if (auto failure = for_named(context, kind, names, keep)) return *std::move(failure);
    return all;
}

} // namespace

Answer<std::int64_t> daemon_now(Context& context) {
    YK_TRY(pong, context.call(si::PingRequest{}));
    return number_of(pong, "now");
}

std::optional<Failure> list_nodes(Context& context, const TakeItems& take) {
    return context.dump_pages("nodes", {.objects = kMaxInline}, [&take](const Value& page) -> std::optional<Failure> {
        take(nodes_of(page));
        return std::nullopt;
    });
}

Answer<Value> find_node(Context& context, const std::string& id, std::uint32_t objects) {
    return find_one(context, "node", {.objects = objects, .node = id}, id);
}

Answer<std::vector<Value>> find_nodes(Context& context, const std::vector<std::string>& ids) {
    return find_all(context, kNodes, ids);
}

Answer<std::vector<Value>> find_applications(Context& context, const std::vector<std::string>& ids) {
    return find_all(context, kApplications, ids);
}

Answer<std::vector<Value>> named_nodes(Context& context, const std::vector<std::string>& ids) {
    return all_named(context, kNodes, ids);
}

Answer<std::vector<Value>> named_applications(Context& context, const std::vector<std::string>& ids) {
    return all_named(context, kApplications, ids);
}

Answer<Value> find_application(Context& context, const std::string& id, std::uint32_t objects) {
    return find_one(context, "app", {.objects = objects, .application = id}, id);
}

std::optional<Failure> list_queues(Context& context, const TakeItems& take) {
    return context.dump_pages("queues", {.flat = true}, [&take](const Value& page) -> std::optional<Failure> {
        std::vector<Value> queues(page.begin(), page.end());
        for (Value& queue : queues) {
            queue.erase("childCount");
            clear_idle_priority(queue);
        }
        take(std::move(queues));
        return std::nullopt;
    });
}

Answer<Value> find_queue(Context& context, const std::string& path) {
    return find_one(context, "queue", {.queue = path}, path);
}

Answer<std::vector<Value>> all_partitions(Context& context) {
    YK_TRY(pages, context.dump("partitions"));
    return elements_of(pages);
}

Answer<std::vector<Value>> all_rms(Context& context) {
    YK_TRY(status, context.call(si::StatusRequest{}));
    const Value& rms = member_of(status, "rms");
    return std::vector<Value>(rms.begin(), rms.end());
}

std::optional<Failure> list_usages(Context& context, const char* what, const TakeItems& take) {
    return list_objects(context, what, {}, take);
}

Answer<Value> find_usage(Context& context, const std::string& noun, const std::string& name) {
    si::DumpRequest query;
    (noun == "user" ? query.user : query.group) = name;
    return find_one(context, noun, std::move(query), name);
}

std::optional<Failure> list_objects(Context& context, const char* what, const si::DumpRequest& filter,
                                    const TakeItems& take) {
    return context.dump_pages(what, filter, [&take](const Value& data) -> std::optional<Failure> {
        take(elements_of({data}));
        return std::nullopt;
    });
}

std::optional<Failure> read_items(Context& context, const si::McsReadRequest& request, const TakeItems& take) {
    return context.call_pages(request, [&take](const Value& page) -> std::optional<Failure> {
        const Value& items = member_of(page, "items");
        take({items.begin(), items.end()});
        return std::nullopt;
    });
}

Answer<si::DumpRequest> application_filter(Context& context, const std::optional<std::string>& application) {
    si::DumpRequest filter;
    if (!application) return filter;
    YK_TRY(found, find_application(context, *application, 0));
    filter.application = text_of(found, "applicationID");
    return filter;
}

namespace {

/// RM, partition and application of an ask or allocation.
using Owner = std::array<std::string, 3>;

Owner owner_of(const Value& member) {
    return {text_of(member, "clusterId"), text_of(member, "partition"), text_of(member, "applicationId")};
}

/// Some of the keys that exist, for a hint.
std::vector<std::string> some_keys(Context& context, const char* list, si::DumpRequest filter) {
    std::vector<std::string> keys;
    filter.what = list;
    if (context.settings().partition) filter.partition = *context.settings().partition;
    if (const auto page = context.call(filter); page.ok())
        for (const auto& one : member_of(*page, "data")) keys.push_back(text_of(one, "allocationKey"));
    return keys;
}

} // namespace

Answer<Value> find_key(Context& context, const std::vector<const char*>& lists, const std::string& key,
                       const std::optional<std::string>& application) {
    YK_TRY(filter, application_filter(context, application));
    si::DumpRequest query = filter;
    query.allocation_key = key;
    std::vector<Value> found;
    std::map<Owner, std::size_t> index_of; // in `found`
    for (const auto* list : lists) {
        // The lists are fetched one after the other: an ask that was placed in between is in both, and the later one
        // counts.
        const auto take = [&](std::vector<Value> items) {
            for (auto& item : items) {
                const auto [index, is_new] = index_of.emplace(owner_of(item), found.size());
                if (is_new)
                    found.push_back(std::move(item));
                else
                    found[index->second] = std::move(item);
            }
        };
        if (auto failure = list_objects(context, list, query, take)) return *std::move(failure);
    }
    const std::string noun = lists.front() == std::string{"asks"} ? "ask" : "alloc";
    const auto where = application ? " in application '" + *application + "'" : std::string{};
    if (found.empty()) {
        return not_found(noun + " '" + key + "' not found" + where +
                             did_you_mean(key, some_keys(context, lists.front(), filter)),
                         {"which are there?  ykctl " + noun + " list"});
    }
    if (found.size() > 1) {
        std::vector<std::string> owners;
        owners.reserve(found.size());
        for (const auto& one : found) owners.push_back(text_of(one, "applicationId"));
        if (std::count(owners.begin(), owners.end(), owners.front()) == std::ssize(owners))
            return in_several(noun, key, found); // all have the same application id
        return usage_error("key '" + key + "' is in several applications: " + join(owners, ", "),
                           {"which one?  --app APP"});
    }
    return found.front();
}

ListLayout allocation_layout() {
    return {
        {text_column("NAME", "allocationKey"),
         text_column("APP", "applicationId"),
         text_column("NODE", "nodeId"),
         resource_column("SIZE", "resource"),
         text_column("PRIORITY", "priority", true),
         text_column("QUEUE", "queueName", true),
         {{"SINCE"}, [](const Value& allocation) { return time_text(number_of(allocation, "allocationTime")); }, true},
         ordered({{"WAITED", Align::Right},
                  [](const Value& allocation) {
                      return duration_text(std::chrono::nanoseconds{number_of(allocation, "allocationDelay")});
                  }},
                 [](const Value& allocation) {
                     return SortKey{static_cast<double>(number_of(allocation, "allocationDelay"))};
                 })},
        [](const Value& allocation) { return text_of(allocation, "allocationKey"); },
        "no allocations"};
}

std::string last_reason(const Value& ask) {
    if (auto reason = text_of(ask, "lastReason"); !reason.empty()) return reason;
    const auto& log = member_of(ask, "allocationLog");
    return log.empty() ? std::string{} : text_of(log.back(), "message");
}

ListLayout ask_layout(std::int64_t now) {
    return {{text_column("NAME", "allocationKey"),
             text_column("APP", "applicationId"),
             resource_column("SIZE", "resource"),
             text_column("PRIORITY", "priority"),
             age_column("AGE", "requestTime", now),
             text_column("QUEUE", "queueName", true),
             text_column("NODE", "requiredNodeId", true),
             {{"LAST REASON"}, [](const Value& ask) { return printable(last_reason(ask)); }}},
            [](const Value& ask) { return text_of(ask, "allocationKey"); },
            "no pending asks"};
}

} // namespace yk::cli
