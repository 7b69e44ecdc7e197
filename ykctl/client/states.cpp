// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/states.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/si/enums.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/client/context.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {

using wire::Value;

const std::vector<std::string>& application_states() {
    static const std::vector<std::string> kStates{"New",       "Accepted", "Running", "Resuming", "Completing",
                                                  "Completed", "Failing",  "Failed",  "Rejected", "Expired"};
    return kStates;
}

const std::vector<std::string>& node_states() {
    static const std::vector<std::string> kStates{"Active", "Draining", "Drained"};
    return kStates;
}

std::string node_state_text(const Value& node) {
    if (flag_of(node, "schedulable")) return "Active";
    const bool is_empty = number_of(node, "allocationCount") == 0 && member_of(node, "allocations").empty();
    return is_empty ? "Drained" : "Draining";
}

Answer<std::string> known_state(const std::string& option, const std::string& state, const std::string& noun,
                                const std::vector<std::string>& known) {
    if (const std::string* found = find_in_any_case(state, known)) return *found;
    return usage_error(option + ": '" + state + "' is no state of " + noun + did_you_mean(state, known),
                       {"there are:  " + join(known, ", ")});
}

bool has_ended(const std::string& application_state) {
    static const std::set<std::string> kEnds{"Completed", "Failed", "Rejected", "Expired"};
    return kEnds.count(application_state) != 0;
}

std::string core_state_text(std::int64_t state) {
    const auto text = state < 0 || state > 255 ? std::string_view{} : si::text(static_cast<si::CoreState>(state));
    return text.empty() ? std::to_string(state) : std::string{text};
}

namespace {

std::string served_text(const Value& rm) {
    if (flag_of(rm, "detached")) return "detached";
    const auto& served = member_of(rm, "served"); // absent in answers of older daemons
    return served.is_boolean() && !served.get<bool>() ? "by nobody" : "by a process";
}

/// The limit of which the RM has used the largest share: `asks 93%`.
std::string fullest_text(const Value& rm) {
    const Value &held = member_of(rm, "held"), &most = member_of(rm, "max");
    std::string text;
    double fullest = -1;
    for (const auto& [what, limit] : most.items()) {
        const double share = static_cast<double>(number_of(held, what.c_str())) /
                             static_cast<double>(std::max<std::int64_t>(1, number_of(most, what.c_str())));
        if (share <= fullest) continue;
        fullest = share;
        text = fmt::format("{} {:.0f}%", printable(what), 100 * share);
    }
    return text;
}

/// `120 of 500 nodes`; when nothing was announced, `120 nodes`.
std::string progress_text(const Value& recovery, const char* key, const char* expected, std::string_view noun) {
    const auto count = number_of(recovery, key);
    if (!member_of(recovery, expected).is_number()) return pluralize(count, noun);
    return fmt::format("{} of {}", count, pluralize(number_of(recovery, expected), noun));
}

} // namespace

std::string recovery_progress(const Value& rm) {
    const auto state = number_of(rm, "state");
    const Value& recovery = member_of(rm, "recovery");
    const bool is_open =
        state == static_cast<int>(si::CoreState::Recovering) || state == static_cast<int>(si::CoreState::Failed);
    if (!is_open || !recovery.is_object()) return {};
    auto text = progress_text(recovery, "nodes", "expectedNodes", "node") + ", " +
                progress_text(recovery, "applications", "expectedApplications", "application") + ", " +
                progress_text(recovery, "allocations", "expectedAllocations", "allocation") + ", " +
                pluralize(number_of(recovery, "asks"), "ask");
    if (const auto count = number_of(recovery, "quarantined"); count > 0)
        text += ", " + pluralize(count, "object") + " quarantined";
    const std::chrono::milliseconds age{number_of(recovery, "sinceMs")};
    text += fmt::format(", begun {} ago (recovery {}", duration_text(age), printable(text_of(recovery, "id")));
    if (const auto attempt = number_of(recovery, "attempt"); attempt > 0) text += fmt::format(", attempt {}", attempt);
    return text + ")";
}

std::string recovery_bar(const Value& rm) {
    constexpr int kWidth = 20;
    const Value& recovery = member_of(rm, "recovery");
    if (number_of(rm, "state") != static_cast<int>(si::CoreState::Recovering) || !recovery.is_object()) return {};
    constexpr std::array<std::array<const char*, 2>, 4> kKinds{{{"nodes", "expectedNodes"},
                                                                {"applications", "expectedApplications"},
                                                                {"allocations", "expectedAllocations"},
                                                                {"asks", "expectedAsks"}}};
    std::int64_t has = 0, expected = 0;
    for (const auto& [key, most] : kKinds) {
        const auto wanted = std::max<std::int64_t>(0, number_of(recovery, most));
        has += std::clamp<std::int64_t>(number_of(recovery, key), 0, wanted);
        expected += wanted;
    }
    std::vector<std::string> parts;
    if (expected > 0) {
        const double share = static_cast<double>(has) / static_cast<double>(expected);
        const auto full = static_cast<std::size_t>(share * kWidth);
        parts.push_back(fmt::format("[{}{}] {:.0f} %", std::string(full, '#'), std::string(kWidth - full, '-'),
                                    std::floor(100 * share)));
    }
    if (member_of(recovery, "idleLeftMs").is_number())
        parts.push_back(fmt::format("failed in {} without an update, in {} at the latest",
                                    duration_text(std::chrono::milliseconds{number_of(recovery, "idleLeftMs")}),
                                    duration_text(std::chrono::milliseconds{number_of(recovery, "leftMs")})));
    return join(parts, ", ");
}

ListLayout rm_layout() {
    Column recovery{{"RECOVERY"}, recovery_progress, true};
    recovery.when_filled = true;
    const auto partitions = [](const Value& rm) {
        std::vector<std::string> names;
        for (const auto& name : member_of(rm, "partitions")) {
            if (name.is_string()) names.push_back(printable(name.get<std::string>()));
        }
        return join(names, ",");
    };
    return {{text_column("NAME", "rmID"),
             {{"STATE"}, [](const Value& rm) { return core_state_text(number_of(rm, "state")); }},
             {{"SERVED"}, served_text},
             {{"PARTITIONS"}, partitions},
             number_column("INBOUND", "inboundItems"),
             number_column("BACKLOG", "backlog"),
             {{"FULLEST"}, fullest_text, true},
             std::move(recovery),
             {{"SINCE"}, [](const Value& rm) { return time_text(number_of(rm, "since")); }},
             text_column("REASON", "reason")},
            [](const Value& rm) { return text_of(rm, "rmID"); },
            "no RM is registered; ykctl rm register RMID makes one"};
}

Column text_column(const std::string& heading, const char* key, bool wide) {
    return {{heading}, [key](const Value& item) { return printable(text_of(item, key)); }, wide};
}

Column partition_column() {
    Column column = text_column("PARTITION", "partition", true);
    column.when_varied = true;
    return column;
}

Column rm_column() {
    Column column = text_column("RM", "clusterId", true);
    column.when_varied = true;
    return column;
}

Column number_column(const std::string& heading, const char* key, bool wide) {
    return {{heading, Align::Right}, [key](const Value& item) { return std::to_string(number_of(item, key)); }, wide};
}

Column resource_column(const std::string& heading, const char* key, bool wide) {
    return {{heading},
            [key](const Value& item) { return resource_text(member_of(item, key)); },
            wide,
            [key](const Value& item) { return resource_key(member_of(item, key)); }};
}

Column age_column(const std::string& heading, const char* key, std::int64_t now, bool wide) {
    return {{heading, Align::Right},
            [key, now](const Value& item) {
                const auto then = number_of(item, key);
                return then == 0 ? std::string{}
                                 : duration_text(std::chrono::nanoseconds{std::max(now - then, std::int64_t{0})});
            },
            wide,
            [key](const Value& item) { return SortKey{-static_cast<double>(number_of(item, key))}; }};
}

Column ordered(Column column, std::function<SortKey(const Value&)> order) {
    column.order = std::move(order);
    return column;
}

std::string free_text(const Value& node) {
    auto free = Value::object();
    for (const auto& [name, size] : member_of(node, "capacity").items()) free[name] = 0;
    for (const auto& [name, amount] : member_of(node, "available").items()) free[name] = amount;
    return resource_text(free);
}

double dominant_share(const Value& used, const Value& capacity) {
    double share = -1;
    if (!capacity.is_object()) return share;
    for (const auto& [name, size] : capacity.items()) {
        if (!size.is_number() || size.get<double>() <= 0) continue;
        share = std::max(share, static_cast<double>(number_of(used, name.c_str())) / size.get<double>());
    }
    return share;
}

} // namespace yk::cli
