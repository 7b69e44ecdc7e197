// SPDX-License-Identifier: Apache-2.0
// The commands app add, list, show, remove.

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/existing.h"
#include "ykctl/client/long_lists.h"
#include "ykctl/client/states.h"
#include "ykctl/client/updates.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/gang.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/commands/show.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

struct AddOptions {
    std::vector<std::string> ids;
    std::optional<std::string> queue, user, file;
    std::vector<std::string> groups, tags;
    GangOptions gang;
    bool if_not_exists = false;
};

/// With --group all of -u is the name: a service account is `system:serviceaccount:NAMESPACE:NAME` (C-090).
si::UserGroupInformation owner_of(const AddOptions& options) {
    const auto user = options.user.value_or(login_name());
    if (options.groups.empty()) return parse_user(user);
    return {user, split_lists(options.groups)};
}

Answer<ElementOutcomes> send(Context& context, const Value& applications) { // of a file
    return send_update(context, "UpdateApplication", {{"new", applications}});
}
Answer<ElementOutcomes> send(Context& context, const std::vector<si::AddApplicationRequest>& applications) {
    si::ApplicationRequest update;
    update.add = applications;
    return send_update(context, std::move(update));
}

std::string id_of(const Value& application) {
    return text_of(application, "applicationID");
}
const std::string& id_of(const si::AddApplicationRequest& application) {
    return application.application_id;
}

template <class Applications>
std::optional<Failure> send_applications(Context& context, const Applications& applications, const Gang& gang,
                                         Report& report) {
    auto outcomes = send(context, applications);
    if (!outcomes.ok()) return outcomes.error();
    for (const auto& application : applications) {
        const std::string id = id_of(application);
        auto element = added(*outcomes, id_key(id), "app " + id, id, "accepted");
        const auto accepted = outcomes->accepted.find(id_key(id));
        if (accepted != outcomes->accepted.end()) element.detail = " in " + text_of(accepted->second, "queueName");
        const bool refused = element.refusal.has_value();
        report.add(std::move(element));
        if (refused) continue;
        if (auto failure = send_placeholders(context, gang, id, report)) return failure;
    }
    return std::nullopt;
}

/// Submits applications; with --if-not-exists those that are not there.
template <class Applications>
std::optional<Failure> create_applications(Context& context, Applications applications, const AddOptions& options,
                                           const Gang& gang, Report& report) {
    if (options.if_not_exists) {
        const auto there = existing_applications(context, applications);
        if (!there.ok()) return there.error();
        const auto key_of = [](const auto& application) { return application_key(application); };
        leave_existing(applications, *there, "app", key_of, report);
    }
    return applications.empty() ? std::nullopt : send_applications(context, applications, gang, report);
}

/// A message of a file with what the options say and it does not.
Value completed(const Context& context, const AddOptions& options, Value application) {
    if (!application.contains("ugi")) {
        const auto owner = owner_of(options);
        application["ugi"] = {{"user", owner.user}, {"groups", owner.groups}};
    }
    if (!application.contains("partitionName")) context.put_partition(application);
    if (options.queue && !application.contains("queueName")) application["queueName"] = *options.queue;
    return application;
}

Outcome add_from_file(Context& context, const AddOptions& options) {
    const auto complete = [&](Value application) { return completed(context, options, std::move(application)); };
    const auto send_batch = [&](Value batch, Report& report) {
        return create_applications(context, std::move(batch), options, Gang{}, report);
    };
    return send_file(context, *options.file, application_spec(), "application", complete, send_batch);
}

Outcome add_applications(Context& context, const AddOptions& options) {
    if (options.file) {
        if (!options.ids.empty() || !options.tags.empty() || options.gang.given())
            return usage_error("app add: either -f FILE, or ID with --tag and --task-group");
        return add_from_file(context, options);
    }
    if (options.ids.empty()) return usage_error("app add: ID or -f FILE is needed");
    YK_TRY(tags, parse_pairs(options.tags, "--tag"));
    YK_TRY(gang, parse_gang(options.gang));
    si::AddApplicationRequest application;
    application.queue_name = options.queue.value_or("");
    application.partition_name = context.settings().partition.value_or("");
    application.ugi = owner_of(options);
    application.tags = std::move(tags);
    put_gang(application, gang);
    std::vector<si::AddApplicationRequest> applications;
    for (const auto& id : options.ids) {
        application.application_id = id;
        applications.push_back(application);
    }
    Report report{context};
    return report.finish(create_applications(context, std::move(applications), options, gang, report));
}

Outcome remove_applications(Context& context, const std::vector<std::string>& ids) {
    // The protocol does not report the removal of an application that does not exist (I-169), so it is looked up first.
    YK_TRY(applications, find_applications(context, ids));
    for (const auto& application : applications) {
        const auto state = text_of(application, "applicationState");
        if (has_ended(state))
            return not_found("app '" + text_of(application, "applicationID") + "' has ended already: it is " + state,
                             {"which are live?  ykctl app list"});
    }
    Report report{context};
    Batches<std::vector<si::RemoveApplicationRequest>> batches{[&](const auto& removals) -> std::optional<Failure> {
        si::ApplicationRequest update;
        update.remove = removals;
        auto outcomes = send_update(context, std::move(update));
        if (!outcomes.ok()) return outcomes.error();
        for (const auto& removal : removals) {
            const auto& id = removal.application_id;
            report.add(done(*outcomes, id_key(id), "app " + id, id, "removed"));
        }
        return std::nullopt;
    }};
    for (const auto& application : applications)
        if (auto failure = batches.add({text_of(application, "applicationID"), text_of(application, "partition")}))
            return report.finish(std::move(failure));
    return report.finish(batches.finish());
}

struct ListOptions {
    WatchOptions watch;
    std::optional<std::string> state, queue;
    bool pending = false;
    bool all = false;
};

/// The dumps that hold the applications to be listed: the live, the ended, the rejected.
std::vector<std::string> lists_for(const ListOptions& options) {
    if (options.all) return {"active", "completed", "rejected"};
    if (!options.state) return {"active"};
    if (*options.state == "Rejected") return {"rejected"};
    if (*options.state == "Completed" || *options.state == "Failed" || *options.state == "Expired")
        return {"completed"};
    return {"active"};
}

bool is_wanted(const Value& application, const ListOptions& options) {
    const auto queue = text_of(application, "queueName");
    if (options.state && text_of(application, "applicationState") != *options.state) return false;
    if (options.queue && queue != *options.queue && !queue.starts_with(*options.queue + ".")) return false;
    return !options.pending || number_of(application, "pendingAsks") > 0;
}

std::optional<Failure> list_applications(Context& context, const ListOptions& options, const TakeItems& take) {
    for (const auto& list : lists_for(options)) {
        const auto take_wanted = [&](const Value& page) -> std::optional<Failure> {
            std::vector<Value> wanted;
            for (const auto& application : page)
                if (is_wanted(application, options)) wanted.push_back(application);
            take(std::move(wanted));
            return std::nullopt;
        };
        if (auto failure = context.dump_pages("apps", {.brief = true, .state = list}, take_wanted)) return failure;
    }
    return std::nullopt;
}

Answer<ListLayout> application_layout(Context& context) {
    YK_TRY(now, daemon_now(context));
    return ListLayout{{text_column("NAME", "applicationID"), text_column("STATE", "applicationState"),
                       text_column("QUEUE", "queueName"), text_column("USER", "user"),
                       number_column("ALLOCS", "allocationCount"), number_column("PENDING", "pendingAsks"),
                       resource_column("USED", "usedResource"), resource_column("WANTED", "pendingResource"),
                       age_column("AGE", "submissionTime", now), resource_column("MOST USED", "maxUsedResource", true),
                       partition_column(), rm_column(), text_column("MESSAGE", "rejectedMessage", true)},
                      [](const Value& application) { return text_of(application, "applicationID"); },
                      "no applications"};
}

} // namespace

Answer<Shown> look_at_application(Context& context, const std::string& id) {
    YK_TRY(application, find_application(context, id));
    YK_TRY(now, daemon_now(context));
    const auto style = context.style();
    std::vector<std::pair<std::string, std::string>> fields{
        {"app", printable(text_of(application, "applicationID"))},
        {"state", text_of(application, "applicationState")},
        {"queue", printable(text_of(application, "queueName"))},
        {"partition", printable(text_of(application, "partition"))},
        {"user", printable(text_of(application, "user"))},
        {"submitted", time_text(number_of(application, "submissionTime"))},
        {"finished", time_text(number_of(application, "finishedTime"))},
        {"used", resource_text(member_of(application, "usedResource"))},
        {"most used", resource_text(member_of(application, "maxUsedResource"))},
        {"pending", resource_text(member_of(application, "pendingResource"))}};
    if (const auto why = text_of(application, "rejectedMessage"); !why.empty())
        fields.emplace_back("message", printable(why));
    auto text = fields_text(fields, style);
    const auto table = [&](const char* list, const ListLayout& layout) {
        const auto& members = member_of(application, list);
        if (!members.empty()) {
            text += "\n" + list_text(std::vector<Value>(members.begin(), members.end()), layout, Format::Table, style);
        }
    };
    table("stateLog", {{{{"TIME"}, [](const Value& entry) { return time_text(number_of(entry, "time")); }},
                        text_column("STATE", "applicationState")},
                       {},
                       ""});
    const auto number_column = [](const std::string& heading, const char* field) {
        return Column{{heading, Align::Right},
                      [field](const Value& group) { return std::to_string(number_of(group, field)); }};
    };
    table("placeholderData", {{text_column("TASK GROUP", "taskGroupName"), resource_column("SIZE", "minResource"),
                               number_column("PLACEHOLDERS", "count"), number_column("REPLACED", "replaced"),
                               number_column("TIMED OUT", "timedout")},
                              {},
                              ""});
    const bool is_brief = flag_of(application, "brief");
    const auto count = [&](const char* list, const char* counter) {
        return is_brief ? number_of(application, counter) : std::ssize(member_of(application, list));
    };
    const auto of_it = " list --app " + printable(id);
    YK_TRY(allocations,
           first_rows(context, application,
                      {"allocations", "allocations", count("allocations", "allocationCount"), "ykctl alloc" + of_it},
                      allocation_layout()));
    YK_TRY(asks,
           first_rows(context, application, {"requests", "asks", count("requests", "pendingAsks"), "ykctl ask" + of_it},
                      ask_layout(now)));
    for (const auto& rows : {allocations, asks})
        if (!rows.empty()) text += "\n" + rows;
    return Shown{application, id, text};
}

namespace {

void define_add(Command app, Context& context) {
    const auto command = app.sub("add", "submit applications, from options or from a file");
    const auto options = std::make_shared<AddOptions>();
    command.option("ID", options->ids, "ids of the applications");
    command.option("-q,--queue", options->queue, "queue wished for; the placement rules decide").value("PATH");
    command.option("-u,--user", options->user, "owner, default the user of this command").value("USER[:GROUP,...]");
    command.option("--group", options->groups, "its groups; -u is then the user alone, colons and all")
        .value("GROUP,...");
    command.option("--tag", options->tags, "tag").value("KEY=VALUE");
    define_gang_options(command, options->gang);
    command.flag("--if-not-exists", options->if_not_exists, "leave those as they are that are there already");
    command
        .option("-f,--file", options->file,
                "applications as YAML, JSON or JSON-lines, or what show -o yaml prints; a directory; - is standard "
                "input")
        .value("FILE");
    command.run([&context, options] { return add_applications(context, *options); });
}

void define_list(Command command, Context& context) {
    const auto options = std::make_shared<ListOptions>();
    command.option("--state", options->state, "only those in this state").choices(application_states());
    command.option("-q,--queue", options->queue, "only those in this queue or below").value("PATH");
    command.flag("--pending", options->pending, "only those that wait for something");
    command.flag("--all", options->all, "finished and rejected ones too");
    define_watch(command, options->watch, FilterKind{"app"});
    command.run([&context, options] {
        return list_or_watch(
            context, options->watch,
            {{},
             [&context] { return application_layout(context); },
             [&context, options](const TakeItems& take) { return list_applications(context, *options, take); }});
    });
}

void define_show(Command app, Context& context) {
    const auto command =
        app.sub("show", "one application with its states, its first allocations and pending asks; all with -o wide");
    const auto id = std::make_shared<std::string>();
    command.option("ID", *id, "id of the application").required();
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch);
    command.run([&context, id, watch]() -> Outcome {
        if (watch->on || !context.machine_readable())
            return show_or_watch(context, *watch, [&] { return look_at_application(context, *id); });
        YK_TRY(found, find_application(context, *id));
        return show_whole(context, found);
    });
}

} // namespace

void define_app(Command root, Context& context) {
    const auto app = root.sub("app", "applications: submit, look at, remove").alias("application");
    define_add(app, context);
    define_list(app.sub("list", "applications, the live ones unless told otherwise").alias("ls"), context);
    define_show(app, context);
    const auto remove = app.sub("remove", "remove applications with all they have");
    remove.alias("rm");
    const auto ids = std::make_shared<std::vector<std::string>>();
    remove.option("ID", *ids, "ids of the applications").required();
    remove.run([&context, ids] { return remove_applications(context, distinct(*ids)); });
    define_list(root.sub("apps", "app list").alias("applications").hidden(), context);
}

} // namespace yk::cli
