// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/deployment_lists.h"
#include "ykctl/mcs/chosen_partition.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/explain/explain_kinds.h"
#include "ykctl/mcs/scaling_text.h"
#include "ykctl/mcs/send_change.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kKind = "deployment";

/// A number of a child, a dash while there is no such child.
std::string child_number(const Value& item, const char* child, const char* key) {
    const Value& row = member_of(item, child);
    return row.is_object() ? std::to_string(number_of(row, key)) : "-";
}

Column child_column(const char* heading, const char* child, const char* key) {
    return ordered(
        {{heading, Align::Right}, [child, key](const Value& item) { return child_number(item, child, key); }},
        [child, key](const Value& item) {
            return SortKey{static_cast<double>(number_of(member_of(item, child), key))};
        });
}

std::int64_t placed_of(const Value& item) {
    return number_of(member_of(item, "schedule"), "placed");
}

std::chrono::nanoseconds age_of(const Value& item, std::int64_t now) {
    const std::chrono::milliseconds created{number_of(item, "createdMs")};
    return std::max(std::chrono::nanoseconds{now} - created, std::chrono::nanoseconds{0});
}

/// `Scheduled`; `Scheduled, 1 of 3 run` if not all its commands do.
std::string listed_state(const Value& item) {
    const Value& schedule = member_of(item, "schedule");
    std::string state = or_dash(text_of(schedule, "state"));
    const Value& commands = member_of(schedule, "commands");
    if (!commands.is_object() || number_of(commands, "running") >= number_of(commands, "all")) return state;
    return fmt::format("{}, {} of {} run", state, number_of(commands, "running"), number_of(commands, "all"));
}

/// Why it is not as it should be, else why it has so many replicas.
std::string reason_of(const Value& item) {
    const std::string message = text_of(member_of(item, "schedule"), "message");
    return message.empty() ? text_of(member_of(item, "scale"), "reason") : message;
}

Answer<ListLayout> deployment_layout(Context& context) {
    YK_TRY(now, daemon_now(context));
    Column placed =
        ordered({{"PLACED", Align::Right}, [](const Value& item) { return std::to_string(placed_of(item)); }},
                [](const Value& item) { return SortKey{static_cast<double>(placed_of(item))}; });
    Column state{{"STATE"}, listed_state};
    Column age = ordered({{"AGE", Align::Right}, [now](const Value& item) { return duration_text(age_of(item, now)); }},
                         [now](const Value& item) { return SortKey{static_cast<double>(age_of(item, now).count())}; });
    Column reason{{"REASON"}, [](const Value& item) { return or_dash(printable(reason_of(item))); }, true};
    return ListLayout{{text_column("NAME", "name"), text_column("QUEUE", "queue"),
                       child_column("DESIRED", "scale", "desired"), std::move(placed),
                       child_column("PENDING", "schedule", "pending"), std::move(state), std::move(age),
                       partition_column(), text_column("ID", "id", true), text_column("USER", "user", true),
                       resource_column("SIZE", "resource", true), std::move(reason)},
                      [](const Value& item) { return text_of(item, "name"); },
                      nothing_of(context, "deployments")};
}

std::optional<Failure> list_deployments(Context& context, const std::optional<std::string>& queue,
                                        const TakeItems& take) {
    const auto is_wanted = [&context, &queue](const Value& item) {
        const auto of = text_of(item, "queue");
        return is_in_partition(context, item) && (!queue || of == *queue || of.starts_with(*queue + "."));
    };
    return read_items(context, {.what = "list", .kind = kKind}, [&](std::vector<Value> items) {
        std::erase_if(items, [&](const Value& item) { return !is_wanted(item); });
        take(std::move(items));
    });
}

std::vector<std::string> states_of_schedules() {
    return {"New", "Submitted", "Accepted", "Scheduling", "Scheduled", "Degraded", "Rejected", "Removing"};
}

} // namespace

void define_deployment_list(Command command, Context& context) {
    const auto queue = std::make_shared<std::optional<std::string>>();
    const auto watch = std::make_shared<WatchOptions>();
    command.option("-q,--queue", *queue, "only those for this queue or below").value("PATH");
    define_watch(command, *watch, FilterKind{"deployment", states_of_schedules(), "tags", "tags"});
    command.run([&context, queue, watch] {
        return list_or_watch(
            context, *watch,
            {{},
             [&context] { return deployment_layout(context); },
             [&context, queue](const TakeItems& take) { return list_deployments(context, *queue, take); }});
    });
}

namespace {

std::string scale_text(const Value& item) {
    const Value& scale = member_of(item, "scale");
    if (!scale.is_object()) return "the Autoscaler has not seen it yet";
    return fmt::format("{} desired, {} placed ({})", number_of(scale, "desired"), placed_of(item),
                       printable(text_of(scale, "reason")));
}

/// `Rejected: queue full`.
std::string state_text(const Value& item) {
    const Value& schedule = member_of(item, "schedule");
    if (!schedule.is_object()) return "the Scheduler has not seen it yet";
    const std::string message = text_of(schedule, "message");
    return text_of(schedule, "state") + (message.empty() ? "" : ": " + printable(message)) +
           (flag_of(schedule, "current") ? "" : " (replicas of an earlier version still run)");
}

/// Why the core places no more of it, as `explain app` says; empty: there is nothing to say.
std::string why_pending(Context& context, const Value& item) {
    const Value& schedule = member_of(item, "schedule");
    if (number_of(schedule, "pending") == 0) return {};
    const auto answer = context.call(si::ExplainRequest{.what = "app",
                                                        .partition = text_of(item, "partition"),
                                                        .rm_id = text_of(schedule, "rmID"),
                                                        .application = text_of(schedule, "applicationID")});
    if (!answer.ok() || member_of(*answer, "reasons").empty()) return {};
    return "\nwhy some are pending:\n" + reasons_text(member_of(*answer, "reasons"),
                                                      member_of(member_of(*answer, "details"), "nodes"),
                                                      context.style());
}

/// `1 to 10, by load=70`: what decides between which numbers.
std::string scaling_text(const Value& item) {
    const std::string policy = policy_summary(text_of(item, "policy"));
    const std::string by = item.contains("replicas") ? fmt::format("{} by hand", number_of(item, "replicas"))
                           : policy.empty()          ? "by hand"
                                                     : "by " + printable(policy);
    return fmt::format("{} to {}, {}{}", number_of(item, "minReplicas"), number_of(item, "maxReplicas"), by,
                       flag_of(item, "paused") ? " (paused)" : "");
}

std::string tags_text(const Value& item) {
    std::string text;
    for (const auto& [key, value] : member_of(item, "tags").items())
        text += (text.empty() ? "" : ", ") + printable(key) + "=" +
                (value.is_string() ? printable(value.get<std::string>()) : "");
    return text;
}

std::string groups_text(const Value& item) {
    std::string text;
    for (const auto& group : member_of(item, "groups"))
        text +=
            std::string{text.empty() ? " (" : ", "} + (group.is_string() ? printable(group.get<std::string>()) : "");
    return text.empty() ? text : text + ")";
}

ListLayout condition_layout() {
    return {{text_column("CONDITION", "type"),
             {{"STATUS"}, [](const Value& each) { return flag_of(each, "status") ? "true" : "false"; }},
             text_column("REASON", "reason"),
             {{"AGE", Align::Right},
              [](const Value& each) { return duration_text(std::chrono::milliseconds{number_of(each, "ageMs")}); }}},
            {},
            ""};
}

/// `restarting: exit code 3 (4 restarts)`; a dash: nothing runs for it.
std::string command_text(const Value& placement) {
    const Value& command = member_of(placement, "command");
    if (!command.is_object()) return "-";
    const std::string why = text_of(command, "why");
    const auto restarts = number_of(command, "restarts");
    return text_of(command, "state") + (why.empty() ? "" : ": " + printable(why)) +
           (restarts == 0 ? "" : fmt::format(" ({})", pluralize(restarts, "restart")));
}

/// What conditions say beside their reason, a line each.
std::string condition_messages(const Value& item) {
    std::string text;
    for (const auto& each : member_of(member_of(item, "scale"), "conditions"))
        if (const auto message = text_of(each, "message"); !message.empty())
            text += fmt::format("\n{}: {}\n", text_of(each, "type"), printable(message));
    return text;
}

ListLayout placement_layout() {
    return {{number_column("REPLICA", "replica"),
             text_column("STATE", "state"),
             text_column("NODE", "nodeID"),
             text_column("ALLOCATION", "allocationKey"),
             {{"COMMAND"}, command_text}},
            {},
            ""};
}

std::string deployment_text(const Value& item, std::int64_t now, const Style& style) {
    auto text = fields_text(
        {{"deployment", printable(text_of(item, "name"))},
         {"id", printable(text_of(item, "id"))},
         {"replicas", scale_text(item)},
         {"scaling", scaling_text(item)},
         {"state", state_text(item)},
         {"size", resource_text(member_of(item, "resource"))},
         {"queue", or_dash(printable(text_of(item, "queue")))},
         {"partition", printable(text_of(item, "partition"))},
         {"user", printable(text_of(item, "user")) + groups_text(item)},
         {"priority", std::to_string(number_of(item, "priority"))},
         {"tags", or_dash(tags_text(item))},
         {"given by", or_dash(printable(text_of(item, "submittedBy")))},
         {"deleted with", text_of(item, "deleteMode")},
         {"age", duration_text(age_of(item, now))},
         {"version", fmt::format("{} (uid {})", number_of(item, "version"), printable(text_of(item, "uid")))}},
        style);
    const auto table = [&](const Value& list, const ListLayout& layout) {
        if (list.empty()) return;
        text += "\n" + list_text(std::vector<Value>(list.begin(), list.end()), layout, Format::Table, style);
    };
    table(member_of(member_of(item, "scale"), "conditions"), condition_layout());
    text += condition_messages(item);
    table(member_of(member_of(item, "schedule"), "placements"), placement_layout());
    return text;
}

Answer<Shown> look_at(Context& context, const std::string& name) {
    auto reply = context.call(si::McsReadRequest{.what = "describe", .kind = kKind, .id = name});
    if (!reply.ok()) return with_way_out(std::move(reply).error(), kKind);
    YK_TRY(now, daemon_now(context));
    const Value& item = member_of(*reply, "item");
    return Shown{item, text_of(item, "name"), deployment_text(item, now, context.style()) + why_pending(context, item)};
}

} // namespace

void define_deployment_show(Command command, Context& context) {
    command.alias("describe");
    const auto name = std::make_shared<std::string>();
    command.option("NAME", *name, "name or id of the deployment").required();
    define_show_and_watch(command, context, [&context, name] { return look_at(context, *name); });
}

} // namespace yk::cli
