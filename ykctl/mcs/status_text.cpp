// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/status_text.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

std::string database_text(const Value& status) {
    const Value& database = member_of(status, "database");
    if (!database.is_object()) return "-";
    return fmt::format("{}, {}, {} pages in its log", printable(text_of(database, "path")),
                       flag_of(database, "up") ? "up" : "cannot be read", number_of(database, "walPages"));
}

std::string freshness_text(const Value& status) {
    const auto stale = number_of(status, "staleMs");
    if (text_of(status, "state") != "running") return "-";
    return stale == 0 ? "follow the database" : "behind for " + duration_text(std::chrono::milliseconds{stale});
}

/// The sum of a number of the handlers of a kind.
Column handlers_column(const char* heading, const char* key) {
    return {{heading, Align::Right}, [key](const Value& kind) {
                std::int64_t sum = 0;
                for (const auto& handler : member_of(kind, "handlers")) sum += number_of(handler, key);
                return std::to_string(sum);
            }};
}

ListLayout kind_layout() {
    return {{text_column("KIND", "kind"), number_column("ROWS", "size"), number_column("QUEUED", "queued"),
             number_column("WAITING", "waiting"), handlers_column("UNHANDLED", "backlog"),
             handlers_column("DEAD LETTERS", "deadLetters"), number_column("BROKEN", "brokenRows"),
             number_column("REPAIRS", "repairs"), text_column("LAST RESYNC", "lastResync")},
            {},
            ""};
}

ListLayout service_layout() {
    return {{text_column("SERVICE", "name"),
             {{"LEADS"}, [](const Value& service) { return flag_of(service, "leads") ? "yes" : "no"; }},
             {{"EPOCH", Align::Right},
              [](const Value& service) {
                  return service.contains("epoch") ? std::to_string(number_of(service, "epoch")) : "-";
              }}},
            {},
            ""};
}

std::string scheduler_text(const Value& status) {
    const Value& scheduler = member_of(status, "scheduler");
    if (!scheduler.is_object()) return "-";
    std::string text = fmt::format(
        "RM {} is {}: {} with replicas, {}", printable(text_of(scheduler, "rmID")), text_of(scheduler, "state"),
        pluralize(number_of(scheduler, "schedules"), "deployment"), pluralize(number_of(scheduler, "nodes"), "node"));
    if (const auto refused = number_of(scheduler, "refusedNodes"); refused > 0)
        text += fmt::format(", {} refused (ykctl mcs node list)", refused);
    if (const auto reason = text_of(scheduler, "reason"); !reason.empty()) text += "; " + printable(reason);
    return text;
}

/// The broker; empty: there is none.
std::string transport_text(const Value& status) {
    const Value& transport = member_of(status, "transport");
    if (!transport.is_object()) return {};
    std::string text = fmt::format("{} at {}, ", text_of(transport, "name"), printable(text_of(transport, "place")));
    if (flag_of(transport, "up")) return text + "up";
    text += "away for " + duration_text(std::chrono::milliseconds{number_of(transport, "downMs")});
    if (text_of(transport, "reads") == "database") text += "; changes are read from the database meanwhile";
    return text;
}

std::string relay_text(const Value& status) {
    const Value& relay = member_of(status, "relay");
    if (!relay.is_object()) return {};
    if (!flag_of(relay, "leads")) return "not this daemon";
    std::string text = fmt::format("{}, {} sent, {} to be acknowledged",
                                   flag_of(relay, "running") ? "running" : "waits for the broker",
                                   pluralize(number_of(relay, "sent"), "change"), number_of(relay, "underWay"));
    constexpr std::int64_t kWorthSaying = 1000; // ms
    if (const auto waits = number_of(relay, "waitingMs"); waits >= kWorthSaying)
        text += " for " + duration_text(std::chrono::milliseconds{waits});
    if (flag_of(relay, "stuck")) text += "; changes that it has not sent were removed from the log";
    return text;
}

/// What the daemon says is wrong, and what parts say that this does not name. Of one without such a list, all of that.
std::vector<std::string> degraded_lines(const Value& status) {
    std::vector<std::string> lines;
    for (const Value& each : member_of(status, "degraded"))
        lines.push_back(printable(each.is_string() ? each.get<std::string>() : each.dump()));
    for (const char* part : {"database", "writes", "transport", "relay"}) {
        const std::string fault = printable(text_of(member_of(status, part), "fault"));
        const auto names = [&](const std::string& line) { return line.find(fault) != std::string::npos; };
        if (!fault.empty() && std::none_of(lines.begin(), lines.end(), names)) lines.push_back(fault);
    }
    return lines;
}

} // namespace

std::string mcs_status_text(const Value& status, const Style& style) {
    const Value& writes = member_of(status, "writes");
    std::vector<std::pair<std::string, std::string>> fields{{"mcs", text_of(status, "state")}};
    for (const std::string& line : degraded_lines(status)) fields.emplace_back("degraded", line);
    fields.insert(fields.end(), {{"database", database_text(status)},
                                 {"caches", freshness_text(status)},
                                 {"scheduler", scheduler_text(status)},
                                 {"writes waiting", std::to_string(number_of(writes, "waiting"))}});
    if (const Value& commands = member_of(status, "commands"); commands.is_object())
        fields.emplace_back("commands", fmt::format("{} of {} run, for {}", number_of(commands, "running"),
                                                    number_of(commands, "most"),
                                                    pluralize(number_of(commands, "replicas"), "replica")));
    if (const auto transport = transport_text(status); !transport.empty()) fields.emplace_back("events by", transport);
    if (const auto relay = relay_text(status); !relay.empty()) fields.emplace_back("relay", relay);
    if (const auto why = text_of(status, "reason"); !why.empty()) fields.emplace_back("reason", printable(why));
    auto text = fields_text(fields, style);
    const auto table = [&](const char* list, const ListLayout& layout) {
        const Value& items = member_of(status, list);
        if (items.empty()) return;
        text += "\n" + list_text(std::vector<Value>(items.begin(), items.end()), layout, Format::Table, style);
    };
    table("kinds", kind_layout());
    table("services", service_layout());
    return text;
}

} // namespace yk::cli
