// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/long_lists.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <ostream>
#include <sstream>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "ykctl/client/dumps.h"
#include "ykctl/render/output.h"

namespace yk::cli {
namespace {

using wire::Value;

/// A list that was left out of an application or node.
struct Missing {
    const char* member; // the member of the element that has the list
    const char* dump;   // the dump that lists the same objects
};

/// Writes the asks or allocations of one application or node as its member.
std::optional<Failure> write_list(Context& context, JsonStream& to, const Missing& list,
                                  const si::DumpRequest& filter) {
    to.key(list.member);
    to.begin_list();
    auto failure = list_objects(context, list.dump, filter, [&to](std::vector<Value> items) {
        for (Value& item : items) {
            for (const char* owner : {"queueName", "partition", "clusterId"}) item.erase(owner);
            to.value(item);
        }
    });
    to.end();
    return failure;
}

/// The filter for asks and allocations of an application or node. `partition` of a node is empty when its id is enough.
si::DumpRequest filter_of(const Value& element, const std::string& partition) {
    const bool is_node = element.contains("nodeID");
    si::DumpRequest filter;
    filter.limit = 4000;
    (is_node ? filter.node : filter.application) = text_of(element, is_node ? "nodeID" : "applicationID");
    const auto owner = is_node ? partition : '[' + text_of(element, "clusterId") + ']' + text_of(element, "partition");
    filter.partition = owner;
    return filter;
}

/// Writes the list of a dump, the elements of one page after the other. Nodes and rules are in a map for each
/// partition, which may continue on the next page (I-411).
class ListDump {
public:
    ListDump(Context& context, JsonStream& to) : context_(context), to_(to) {}

    std::optional<Failure> add(const Value& page) {
        for (const Value& element : page) {
            const bool is_map = member_of(element, "nodesInfo").is_array();
            if (auto failure = is_map ? add_nodes(element) : write_whole(context_, to_, element, {})) return failure;
        }
        return std::nullopt;
    }
    void finish() {
        if (!open_.empty()) close();
    }

private:
    std::optional<Failure> add_nodes(const Value& map) {
        const auto partition = text_of(map, "partitionName");
        const auto rm = text_of(map, "clusterId");
        if (open_ != rm + '/' + partition) {
            finish();
            open_ = rm + '/' + partition;
            to_.begin_object();
            for (const char* key : {"partitionName", "clusterId"}) {
                to_.key(key);
                to_.value(member_of(map, key));
            }
            to_.key("nodesInfo");
            to_.begin_list();
        }
        for (const Value& node : member_of(map, "nodesInfo"))
            if (auto failure = write_whole(context_, to_, node, '[' + rm + ']' + partition)) return failure;
        return std::nullopt;
    }
    void close() {
        to_.end();
        to_.end();
        open_.clear();
    }

    Context& context_;
    JsonStream& to_;
    std::string open_; // the partition whose list is being written
};

std::optional<Failure> write_lists(Context& context, JsonStream& to, const std::string& what,
                                   const std::vector<si::DumpRequest>& queries) {
    ListDump list{context, to};
    to.begin_list();
    for (const si::DumpRequest& query : queries) {
        const auto add = [&list](const Value& page) { return list.add(page); };
        if (auto failure = context.dump_pages(what, query, add)) return failure;
    }
    list.finish();
    to.end();
    return std::nullopt;
}

/// Nests queues that arrive one by one, each before those below it.
class Trees {
public:
    explicit Trees(JsonStream& to) : to_(to) {}

    void add(Value queue) {
        const auto path = text_of(queue, "queuename");
        while (!open_.empty() && (text_of(open_.back().queue, "queuename") != text_of(queue, "parent"))) close();
        if (!open_.empty()) queue.erase("clusterId"); // only the top of a tree has it
        to_.begin_object();
        open_.push_back({std::move(queue), 0});
        Level& level = open_.back();
        if (!level.queue.contains("childNames")) return close();
        std::size_t before = 0; // the number of its members before the child names
        for (const auto& [key, value] : level.queue.items()) {
            if (key == "childNames") break;
            ++before;
        }
        write_members(level, before);
        to_.key("children");
        to_.begin_list();
    }
    void finish() {
        while (!open_.empty()) close();
    }

private:
    struct Level {
        Value queue;
        std::size_t written; // of its members
    };
    void write_members(Level& level, std::size_t end) {
        std::size_t at = 0;
        for (const auto& [key, value] : level.queue.items()) {
            if (at >= level.written && at < end) {
                to_.key(key);
                to_.value(value);
            }
            ++at;
        }
        level.written = end;
    }
    void close() {
        Level level = std::move(open_.back());
        open_.pop_back();
        if (level.written > 0) to_.end(); // its children
        write_members(level, level.queue.size());
        to_.end();
    }

    JsonStream& to_;
    std::vector<Level> open_; // from the top of a tree down
};

/// Writes the full dump, which lacks the long lists, with each list where it belongs.
std::optional<Failure> write_everything(Context& context, JsonStream& to) {
    const si::DumpRequest brief{.brief = true};
    YK_TRY(pages, context.dump("full", brief));
    if (pages.empty()) return std::nullopt;
    to.begin_object();
    for (const auto& [key, value] : pages.front().items()) {
        to.key(key);
        std::optional<Failure> failure;
        if (!value.is_null())
            to.value(value);
        else if (key == "applications")
            failure =
                write_lists(context, to, "apps", {{.state = "active"}, {.state = "completed"}, {.state = "rejected"}});
        else if (key == "queues")
            failure = write_queue_trees(context, to);
        else
            failure = write_lists(context, to, key, {{}});
        if (failure) return failure;
    }
    to.end();
    return std::nullopt;
}

/// Writes the events up to the one that was the newest when the first page was made.
std::optional<Failure> write_events(Context& context, JsonStream& to) {
    bool begun = false;
    std::int64_t lost = 0;
    const auto take = [&](const Value& page) -> std::optional<Failure> {
        if (!std::exchange(begun, true)) {
            to.begin_object();
            for (const auto& [key, value] : page.items()) {
                if (key == "EventRecords" || key == "lost") continue; // written last, since they are not known before
                to.key(key);
                to.value(key == "ContinueID" ? Value(number_of(page, "NextID")) : value);
            }
            to.key("EventRecords");
            to.begin_list();
        }
        for (const Value& record : member_of(page, "EventRecords")) to.value(record);
        lost += number_of(page, "lost");
        return std::nullopt;
    };
    if (auto failure = context.dump_pages("events", {}, take)) return failure;
    if (!begun) return std::nullopt;
    to.end();
    to.key("lost");
    to.value(lost);
    to.end();
    return std::nullopt;
}

/// Writes the RMs of the dump `recovery`. One whose lists continue on the next page is there again, with the rest of
/// them.
std::optional<Failure> write_recoveries(Context& context, JsonStream& to) {
    Value open;
    const auto close = [&] {
        if (!open.is_null()) to.value(open);
    };
    to.begin_list();
    auto failure = context.dump_pages("recovery", {}, [&](const Value& page) -> std::optional<Failure> {
        for (const Value& rm : page) {
            if (text_of(open, "rmID") != text_of(rm, "rmID")) {
                close();
                open = rm;
                continue;
            }
            for (const char* list : {"quarantine", "incompleteNodes"})
                for (const Value& object : member_of(rm, list)) open[list].push_back(object);
        }
        return std::nullopt;
    });
    close();
    to.end();
    return failure;
}

} // namespace

std::optional<Failure> write_queue_trees(Context& context, JsonStream& to) {
    Trees trees{to};
    to.begin_list();
    auto failure = list_queues(context, [&trees](std::vector<Value> queues) {
        for (Value& queue : queues) trees.add(std::move(queue));
    });
    trees.finish();
    to.end();
    return failure;
}

std::optional<Failure> write_whole(Context& context, JsonStream& to, const Value& element,
                                   const std::string& partition) {
    if (!flag_of(element, "brief")) {
        to.value(element);
        return std::nullopt;
    }
    const bool is_node = element.contains("nodeID");
    const si::DumpRequest filter = filter_of(element, partition);
    to.begin_object();
    for (const auto& [key, value] : element.items()) {
        if (key == "allocationCount") continue;
        if (key == "brief") {
            if (is_node) {
                // asks belong to no node
            } else if (auto failure = write_list(context, to, {"requests", "asks"}, filter)) {
                return failure;
            }
            if (auto failure = write_list(context, to, {"allocations", "allocations"}, filter)) return failure;
            continue;
        }
        to.key(key);
        to.value(value);
    }
    to.end();
    return std::nullopt;
}

Answer<std::string> first_rows(Context& context, const Value& element, const PartList& list, const ListLayout& layout) {
    constexpr std::size_t kFirst = 20;
    const bool is_whole = context.format() == Format::Wide;
    if (list.count == 0) return std::string{};
    std::vector<Value> rows;
    if (!flag_of(element, "brief")) {
        const Value& members = member_of(element, list.member);
        rows.assign(members.begin(), members.end());
    } else if (is_whole) {
        const auto keep = [&rows](std::vector<Value> items) {
            std::move(items.begin(), items.end(), std::back_inserter(rows));
        };
        if (auto failure = list_objects(context, list.dump, filter_of(element, {}), keep)) return *std::move(failure);
    } else {
        si::DumpRequest query = filter_of(element, {});
        query.what = list.dump;
        query.limit = kFirst;
        YK_TRY(page, context.call(query));
        const Value& data = member_of(page, "data");
        rows.assign(data.begin(), data.end());
    }
    if (!is_whole && rows.size() > kFirst) rows.resize(kFirst);
    auto text = list_text(rows, layout, context.format(), context.style());
    if (const auto shown = static_cast<std::int64_t>(rows.size()); shown < list.count)
        text += fmt::format("... {} more:  {}\n", list.count - shown, list.all);
    return text;
}

Outcome show_whole(Context& context, const Value& element) {
    if (!flag_of(element, "brief")) return context.show_item(element, {}, {});
    if (context.format() == Format::Yaml) {
        std::ostringstream whole;
        JsonStream to{whole, false};
        if (auto failure = write_whole(context, to, element, {})) return *failure;
        context.out() << item_text(Value::parse(whole.str()), Format::Yaml);
        return Exit::Ok;
    }
    const bool pretty = context.format() == Format::Json;
    JsonStream to{context.out(), pretty};
    if (pretty) {
        to.begin_object();
        to.key("schema");
        to.value(1);
        to.key("item");
    }
    if (auto failure = write_whole(context, to, element, {})) return *failure;
    if (pretty) to.end();
    return Exit::Ok;
}

std::optional<Failure> write_dump(Context& context, JsonStream& to, const std::string& what) {
    if (what == "full") return write_everything(context, to);
    if (what == "queues") return write_queue_trees(context, to);
    if (what == "events") return write_events(context, to);
    if (what == "recovery") return write_recoveries(context, to);
    bool is_list = false, begun = false;
    ListDump list{context, to};
    const auto take = [&](const Value& page) -> std::optional<Failure> {
        if (!std::exchange(begun, true)) {
            is_list = page.is_array();
            if (is_list) to.begin_list();
        }
        if (is_list) return list.add(page);
        to.value(page);
        return std::nullopt;
    };
    si::DumpRequest query;
    if (what == "apps" || what == "nodes") query.objects = kMaxInline;
    if (auto failure = context.dump_pages(what, std::move(query), take)) return failure;
    list.finish();
    if (is_list) to.end();
    return std::nullopt;
}

} // namespace yk::cli
