// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/observe.h"

#include "protocol/si/errors.h"
#include "ykctl/scenario/value_at.h"

#include <algorithm>
#include <array>

namespace yk::scenario {
namespace {

constexpr std::array<std::string_view, 6> kLiveStates{"New",      "Accepted",   "Running",
                                                      "Resuming", "Completing", "Failing"};

bool is_live(const std::string& state) {
    return std::find(kLiveStates.begin(), kLiveStates.end(), state) != kLiveStates.end();
}

/// The text in lower case, which queue paths are at run time (C-049).
std::string lower(std::string text) {
    for (char& c : text)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

bool is_absence(std::uint32_t code) {
    return code == static_cast<std::uint32_t>(si::ErrorCode::NotFound) ||
           code == static_cast<std::uint32_t>(si::ErrorCode::RmUnknown);
}

/// Appends the list of a page to that of the pages before; data that is no list has one page only.
void append_page(Value& all, Value page) {
    if (all.is_array() && page.is_array())
        for (Value& item : page) all.push_back(std::move(item));
    else
        all = std::move(page);
}

} // namespace

wire::CallResult<Value> Observer::look(const std::string& section, const std::string& name) {
    if (section == "applications") return application(name);
    if (section == "queues") return queue(lower(name));
    if (section == "nodes") return node(name);
    return partition(name);
}

wire::CallResult<Value> Observer::dump(si::DumpRequest query) {
    query.rm_id = rm_id_;
    Value all;
    for (;;) {
        auto page = caller_(query);
        if (!page) {
            if (page.error().kind == wire::CallError::Kind::Refused && is_absence(page.error().code)) return Value{};
            return std::move(page).error();
        }
        append_page(all, page->contains("data") ? std::move((*page)["data"]) : Value{});
        if (boolean_at(*page, "complete") || text_at(*page, "cursor").empty()) return all;
        query.cursor = text_at(*page, "cursor");
    }
}

wire::CallResult<Value> Observer::application(const std::string& id) {
    YK_TRY(found, dump({.what = "app", .partition = partition_, .application = id}));
    if (!found.is_null() && !is_live(text_at(found, "applicationState"))) {
        YK_TRY(latest, ended_last(id, std::move(found)));
        found = std::move(latest);
    }
    if (found.is_null()) return Value{};
    return Value{
        {"state", text_at(found, "applicationState")}, {"queue", text_at(found, "queueName")},
        {"allocated", map_at(found, "usedResource")},  {"placeholder", map_at(found, "placeholderResource")},
        {"pending", map_at(found, "pendingResource")}, {"reservations", list_at(found, "reservations").size()}};
}

/// The application that ended last of the ended ones with this id; `best` is one of them.
wire::CallResult<Value> Observer::ended_last(const std::string& id, Value best) {
    for (const char* state : {"completed", "rejected"}) {
        YK_TRY(list, dump({.what = "apps", .partition = partition_, .state = state}));
        for (const Value& application : list)
            if (text_at(application, "applicationID") == id &&
                integer_at(application, "finishedTime") > integer_at(best, "finishedTime"))
                best = application;
    }
    return best;
}

wire::CallResult<Value> Observer::queue(const std::string& path) {
    YK_TRY(found, dump({.what = "queue", .partition = partition_, .queue = path}));
    if (found.is_null()) return Value{};
    return Value{{"state", text_at(found, "status")},
                 {"allocated", map_at(found, "allocatedResource")},
                 {"pending", map_at(found, "pendingResource")},
                 {"max", map_at(found, "maxResource")},
                 {"guaranteed", map_at(found, "guaranteedResource")},
                 {"preempting", map_at(found, "preemptingResource")},
                 {"maxApplications", integer_at(found, "maxRunningApps")},
                 {"runningApplications", integer_at(found, "runningApps")},
                 {"applications", integer_at(found, "applications")},
                 {"leaf", boolean_at(found, "isLeaf")},
                 {"managed", boolean_at(found, "isManaged")}};
}

wire::CallResult<Value> Observer::node(const std::string& id) {
    YK_TRY(found, dump({.what = "node", .partition = partition_, .node = id}));
    if (found.is_null()) return Value{};
    return Value{{"schedulable", boolean_at(found, "schedulable")},
                 {"reserved", boolean_at(found, "isReserved")},
                 {"capacity", map_at(found, "capacity")},
                 {"occupied", map_at(found, "occupied")},
                 {"allocated", map_at(found, "allocated")},
                 {"available", map_at(found, "available")},
                 {"usedDevices", map_at(found, "usedDevices")},
                 {"lostDevices", map_at(found, "lostDevices")},
                 {"deviceConflict", boolean_at(found, "deviceConflict")}};
}

wire::CallResult<Value> Observer::partition(const std::string& name) {
    YK_TRY(list, dump({.what = "partitions", .partition = name}));
    if (!list.is_array() || list.empty()) return Value{};
    const Value& found = list.front();
    std::int64_t applications = 0;
    for (const std::string_view state : kLiveStates)
        applications += integer_at(map_at(found, "applications"), std::string{state}.c_str());
    const Value& capacity = map_at(found, "capacity");
    return Value{{"state", text_at(found, "state")},
                 {"capacity", map_at(capacity, "capacity")},
                 {"allocated", map_at(capacity, "usedCapacity")},
                 {"applications", applications},
                 {"nodes", integer_at(found, "totalNodes")},
                 {"allocations", integer_at(found, "totalContainers")}};
}

} // namespace yk::scenario
