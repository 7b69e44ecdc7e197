// SPDX-License-Identifier: Apache-2.0
// The commands deployment create, list, show, scale, delete.

#include <algorithm>
#include <chrono>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/explain/explain_kinds.h"
#include "ykctl/mcs/await_deployment.h"
#include "ykctl/mcs/send_change.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kKind = "deployment";
constexpr const char* kDefaultSize = "vcore=1";

constexpr std::chrono::milliseconds kDefaultWait{30000};

/// Changes one as `request` says. With `waits` it returns when all is placed.
Outcome change(Context& context, si::McsWriteRequest request, const std::string& done, bool waits = false) {
    const auto limit = waits ? context.take_timeout().value_or(kDefaultWait) : kDefaultWait;
    request.kind = kKind;
    YK_TRY(reply, send_change(context, request, done));
    if (!waits) return Exit::Ok;
    context.out().flush();
    return wait_until_placed(context, {text_of(reply, "id"), number_of(reply, "version")}, limit);
}

void define_wait(Command command, bool& waits) {
    command.flag("--wait", waits, "until all replicas are placed, or --timeout (default 30s) is over: exit 7");
}

/// A number of replicas as it is sent; nullopt: none was given.
Answer<std::optional<std::uint64_t>> replicas_of(const char* option, const std::optional<std::int64_t>& given) {
    if (!given) return std::optional<std::uint64_t>{};
    if (*given < 0) return usage_error(std::string{option} + ": not negative");
    return std::optional{static_cast<std::uint64_t>(*given)};
}

// --- create ----------------------------------------------------------------------------------------------------------

struct CreateOptions {
    std::string name;
    std::optional<std::string> queue, user, id, delete_mode;
    std::vector<std::string> resources, groups, tags;
    std::optional<std::int64_t> replicas, priority;
    bool adopt = false, wait = false;
};

Answer<si::McsBody> body_of(const Context& context, const CreateOptions& options) {
    si::McsBody body;
    body.name = options.name;
    body.partition = context.settings().partition;
    body.queue = options.queue;
    const auto owner = parse_user(options.user.value_or(login_name()));
    body.user = options.groups.empty() ? owner.user : options.user.value_or(login_name());
    body.groups = options.groups.empty() ? owner.groups : split_lists(options.groups);
    YK_TRY(resource,
           parse_resources(options.resources.empty() ? std::vector<std::string>{kDefaultSize} : options.resources));
    body.resource = std::move(resource);
    YK_TRY(tags, parse_pairs(options.tags, "--tag"));
    body.tags = std::move(tags);
    YK_TRY(replicas, replicas_of("--replicas", options.replicas));
    body.replicas = replicas;
    const std::int64_t priority = options.priority.value_or(0);
    using Limits = std::numeric_limits<std::int32_t>;
    if (priority < Limits::min() || priority > Limits::max()) return usage_error("--priority: out of range (32 bits)");
    body.priority = static_cast<std::int32_t>(priority);
    body.delete_mode = options.delete_mode;
    body.adopt = options.adopt;
    return body;
}

Outcome create(Context& context, const CreateOptions& options) {
    YK_TRY(body, body_of(context, options));
    return change(context, {.verb = "create", .id = options.id.value_or(""), .body = std::move(body)}, "created",
                  options.wait);
}

void define_delete_mode(Command command, const char* name, std::optional<std::string>& into, const char* help) {
    command.option(name, into, help).choices({"cascade", "owners", "orphan"}).value("MODE");
}

void define_create(Command noun, Context& context) {
    const auto command = noun.sub("create", "have so many equal replicas of an application run");
    const auto options = std::make_shared<CreateOptions>();
    command.option("NAME", options->name, "name of the deployment").required();
    command.option("--replicas", options->replicas, "how many, default 1").value("N");
    command.option("-R,--resources", options->resources, std::string{"size of each, default "} + kDefaultSize)
        .value("NAME=QUANTITY,...");
    command.option("-q,--queue", options->queue, "queue wished for; the placement rules decide").value("PATH");
    command.option("-u,--user", options->user, "owner, default the user of this command").value("USER[:GROUP,...]");
    command.option("--group", options->groups, "its groups; -u is then the user alone, colons and all")
        .value("GROUP,...");
    command.option("--priority", options->priority, "priority of the replicas, default 0").value("N");
    command.option("--tag", options->tags, "tag of the application").value("KEY=VALUE");
    command.option("--id", options->id, "id that never changes, default one that is made").value("ID");
    define_delete_mode(command, "--delete-mode", options->delete_mode,
                       "what goes with it when it is deleted, default as ykd's settings say");
    command.flag("--adopt", options->adopt, "take over what an orphaned deployment of --id left");
    define_wait(command, options->wait);
    command.run([&context, options] { return create(context, *options); });
}

// --- list, show ------------------------------------------------------------------------------------------------------

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
    Column state{{"STATE"}, [](const Value& item) { return or_dash(text_of(member_of(item, "schedule"), "state")); }};
    Column age = ordered({{"AGE", Align::Right}, [now](const Value& item) { return duration_text(age_of(item, now)); }},
                         [now](const Value& item) { return SortKey{static_cast<double>(age_of(item, now).count())}; });
    Column reason{{"REASON"}, [](const Value& item) { return or_dash(printable(reason_of(item))); }, true};
    return ListLayout{{text_column("NAME", "name"), text_column("QUEUE", "queue"),
                       child_column("DESIRED", "scale", "desired"), std::move(placed),
                       child_column("PENDING", "schedule", "pending"), std::move(state), std::move(age),
                       text_column("ID", "id", true), text_column("USER", "user", true),
                       resource_column("SIZE", "resource", true), std::move(reason)},
                      [](const Value& item) { return text_of(item, "name"); },
                      "no deployments"};
}

std::optional<Failure> list_deployments(Context& context, const std::optional<std::string>& queue,
                                        const TakeItems& take) {
    const auto is_wanted = [&queue](const Value& item) {
        const auto of = text_of(item, "queue");
        return !queue || of == *queue || of.starts_with(*queue + ".");
    };
    return context.call_pages(si::McsReadRequest{.what = "list", .kind = kKind},
                              [&](const Value& page) -> std::optional<Failure> {
                                  std::vector<Value> wanted;
                                  for (const auto& item : member_of(page, "items"))
                                      if (is_wanted(item)) wanted.push_back(item);
                                  take(std::move(wanted));
                                  return std::nullopt;
                              });
}

void define_list(Command command, Context& context) {
    const auto queue = std::make_shared<std::optional<std::string>>();
    const auto watch = std::make_shared<WatchOptions>();
    command.option("-q,--queue", *queue, "only those for this queue or below").value("PATH");
    define_watch(command, *watch);
    command.run([&context, queue, watch] {
        return list_or_watch(
            context, *watch,
            {{},
             [&context] { return deployment_layout(context); },
             [&context, queue](const TakeItems& take) { return list_deployments(context, *queue, take); }});
    });
}

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
    return text_of(schedule, "state") + (message.empty() ? "" : ": " + printable(message));
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

ListLayout placement_layout() {
    return {{number_column("REPLICA", "replica"), text_column("STATE", "state"), text_column("NODE", "nodeID"),
             text_column("ALLOCATION", "allocationKey")},
            {},
            ""};
}

std::string deployment_text(const Value& item, std::int64_t now, const Style& style) {
    auto text = fields_text(
        {{"deployment", printable(text_of(item, "name"))},
         {"id", printable(text_of(item, "id"))},
         {"replicas", scale_text(item)},
         {"state", state_text(item)},
         {"size", resource_text(member_of(item, "resource"))},
         {"queue", or_dash(printable(text_of(item, "queue")))},
         {"partition", printable(text_of(item, "partition"))},
         {"user", printable(text_of(item, "user")) + groups_text(item)},
         {"priority", std::to_string(number_of(item, "priority"))},
         {"tags", or_dash(tags_text(item))},
         {"deleted with", text_of(item, "deleteMode")},
         {"age", duration_text(age_of(item, now))},
         {"version", fmt::format("{} (uid {})", number_of(item, "version"), printable(text_of(item, "uid")))}},
        style);
    const auto table = [&](const Value& list, const ListLayout& layout) {
        if (list.empty()) return;
        text += "\n" + list_text(std::vector<Value>(list.begin(), list.end()), layout, Format::Table, style);
    };
    table(member_of(member_of(item, "scale"), "conditions"), condition_layout());
    table(member_of(member_of(item, "schedule"), "placements"), placement_layout());
    return text;
}

Outcome show(Context& context, const std::string& name) {
    auto reply = context.call(si::McsReadRequest{.what = "describe", .kind = kKind, .id = name});
    if (!reply.ok()) return with_way_out(std::move(reply).error(), kKind);
    YK_TRY(now, daemon_now(context));
    const Value& item = member_of(*reply, "item");
    return context.show_item(item, text_of(item, "name"),
                             deployment_text(item, now, context.style()) + why_pending(context, item));
}

void define_show(Command noun, Context& context) {
    const auto command = noun.sub("show", "one deployment: what it should be, and why it has so many replicas");
    command.alias("describe");
    const auto name = std::make_shared<std::string>();
    command.option("NAME", *name, "name or id of the deployment").required();
    command.run([&context, name] { return show(context, *name); });
}

// --- scale, delete ---------------------------------------------------------------------------------------------------

void define_scale(Command noun, Context& context) {
    const auto command = noun.sub("scale", "have another number of replicas run");
    const auto name = std::make_shared<std::string>();
    const auto replicas = std::make_shared<std::optional<std::int64_t>>();
    command.option("NAME", *name, "name or id of the deployment").required();
    command.option("N", *replicas, "so many replicas").required();
    const auto waits = std::make_shared<bool>(false);
    define_wait(command, *waits);
    command.run([&context, name, replicas, waits]() -> Outcome {
        YK_TRY(wanted, replicas_of("N", *replicas));
        si::McsBody body;
        body.replicas = wanted;
        return change(context, {.verb = "scale", .id = *name, .body = std::move(body)},
                      "scaled to " + std::to_string(**replicas), *waits);
    });
}

Outcome erase(Context& context, const std::string& name, const std::optional<std::string>& mode, bool waits) {
    si::McsBody body;
    body.delete_mode = mode;
    const si::McsWriteRequest request{.verb = "delete", .id = name, .body = std::move(body)};
    if (!waits) return change(context, request, "deleted");
    const auto limit = context.take_timeout().value_or(kDefaultWait);
    auto before = context.call(si::McsReadRequest{.what = "describe", .kind = kKind, .id = name});
    if (!before.ok()) return with_way_out(std::move(before).error(), kKind);
    YK_TRY(done, change(context, request, "deleted"));
    context.out().flush();
    return done == Exit::Ok ? wait_until_gone(context, member_of(*before, "item"), limit) : Outcome{done};
}

void define_delete(Command noun, Context& context) {
    const auto command = noun.sub("delete", "remove a deployment, with what it has unless told otherwise");
    command.alias("rm");
    const auto name = std::make_shared<std::string>();
    const auto mode = std::make_shared<std::optional<std::string>>();
    const auto waits = std::make_shared<bool>(false);
    command.option("NAME", *name, "name or id of the deployment").required();
    define_delete_mode(command, "--mode", *mode, "what goes with it, default as it was created with");
    command.flag("--wait", *waits, "until nothing of it runs, or --timeout (default 30s) is over: exit 7");
    command.run([&context, name, mode, waits] { return erase(context, *name, *mode, *waits); });
}

} // namespace

void define_deployment(Command root, Context& context) {
    const auto noun = root.sub("deployment", "deployments: so many replicas of an application, kept in ykd's database");
    define_create(noun, context);
    define_list(noun.sub("list", "deployments, by name").alias("ls"), context);
    define_show(noun, context);
    define_scale(noun, context);
    define_delete(noun, context);
    define_list(root.sub("deployments", "deployment list").hidden(), context);
}

} // namespace yk::cli
