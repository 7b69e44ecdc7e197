// SPDX-License-Identifier: Apache-2.0
// The commands of deployments that change something; deployment_lists.h has those that show something.

#include <unistd.h>

#include <chrono>
#include <memory>
#include <ostream>

#include "ykctl/cli/values.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/mcs/await_deployment.h"
#include "ykctl/mcs/deployment_apply.h"
#include "ykctl/mcs/deployment_lists.h"
#include "ykctl/mcs/deployment_logs.h"
#include "ykctl/mcs/deployment_options.h"
#include "ykctl/mcs/deployment_watch.h"
#include "ykctl/mcs/scaling_text.h"
#include "ykctl/mcs/send_change.h"
#include "ykctl/mcs/wait_until.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

constexpr const char* kKind = "deployment";
/// Changes one as `request` says. With `waits` it returns when all is placed.
Outcome change(Context& context, si::McsWriteRequest request, const std::string& done, bool waits = false) {
    const auto limit = waits ? context.begin_wait(kDefaultWait).limit : kDefaultWait;
    request.kind = kKind;
    YK_TRY(reply, send_change(context, request, done));
    if (!waits) return Exit::Ok;
    context.out().flush();
    return wait_until_placed(context, {text_of(reply, "id"), number_of(reply, "version")}, limit);
}

void define_name(Command command, std::string& name) {
    command.option("NAME", name, "name or id of the deployment").required();
}

void define_wait(Command command, bool& waits) {
    command.flag("--wait", waits, "until all replicas are placed and run, or --timeout (default 30s) is over: exit 7");
}

// --- create, set -----------------------------------------------------------------------------------------------------

struct CreateOptions {
    std::string name;
    SpecOptions spec;
    ScalingOptions scaling;
    std::optional<std::string> id;
    std::optional<std::int64_t> replicas;
    bool adopt = false, wait = false;
};

Answer<si::McsBody> body_of(Context& context, const CreateOptions& options) {
    SpecOptions spec = options.spec;
    if (!spec.variables.empty() && !spec.has_command())
        return usage_error("--env: there is no command to have variables", {"which one?  --command COMMAND"});
    if (!spec.user) spec.user = login_name();
    if (spec.resources.empty()) spec.resources = {"vcore=1"};
    YK_TRY(body, body_of(spec));
    body.name = options.name;
    body.partition = context.settings().partition;
    body.adopt = options.adopt;
    YK_TRY(replicas, replicas_of("--replicas", options.replicas));
    body.replicas = replicas;
    YK_CHECKED(take_scaling(context, options.scaling, body));
    if (body.replicas && body.policy)
        return usage_error("either a number of replicas or a policy: --replicas, or --metric, --schedule and --policy");
    return body;
}

Outcome create(Context& context, const CreateOptions& options) {
    YK_TRY(body, body_of(context, options));
    return change(context, {.verb = "create", .id = options.id.value_or(""), .body = std::move(body)}, "created",
                  options.wait);
}

void define_create(Command noun, Context& context) {
    const auto command = noun.sub("create", "have so many equal replicas of an application run");
    const auto options = std::make_shared<CreateOptions>();
    command.option("NAME", options->name, "name of the deployment").required();
    command.option("--replicas", options->replicas, "how many, default 1").value("N");
    define_spec(command, options->spec, true);
    define_scaling(command, options->scaling);
    command.option("--id", options->id, "id that never changes, default one that is made").value("ID");
    command.flag("--adopt", options->adopt, "take over what an orphaned deployment of --id left");
    define_wait(command, options->wait);
    command.run([&context, options] { return create(context, *options); });
}

/// What is said of the command changes those tags alone: the others are read first, and may not change meanwhile.
Outcome set(Context& context, const std::string& name, const SpecOptions& options, bool waits) {
    if (waits) context.begin_wait(kDefaultWait); // what is read first counts
    si::McsWriteRequest request{.verb = "set", .id = name};
    si::StringMap tags;
    wire::Value item; // as it is now, where that counts
    const bool changes_work = options.has_work() && options.tags.empty();
    if (changes_work || options.queue) {
        auto reply = context.call(si::McsReadRequest{.what = "describe", .kind = kKind, .id = name});
        if (!reply.ok()) return with_way_out(std::move(reply).error(), kKind);
        item = member_of(*reply, "item");
    }
    if (changes_work) {
        const std::string giver = text_of(item, "submittedBy");
        if (!options.command && !giver.empty() && giver != "uid " + std::to_string(::geteuid()))
            return usage_error("the command of " + printable(name) + " was given by " + printable(giver) +
                               ", and would be yours from now on; say so by --command");
        for (const auto& [key, value] : member_of(item, "tags").items())
            if (value.is_string()) tags.emplace_back(key, value.get<std::string>());
        request.version = static_cast<std::uint64_t>(number_of(item, "version"));
    }
    YK_TRY(body, body_of(options, std::move(tags)));
    if (body == si::McsBody{}) return usage_error("what is to change?  ykctl deployment set --help");
    YK_CHECKED(check_queue(context, item, body));
    request.body = std::move(body);
    return change(context, std::move(request), "changed", waits);
}

void define_set(Command noun, Context& context) {
    const auto command = noun.sub("set", "change what its replicas are, a quarter of them at a time");
    const auto name = std::make_shared<std::string>();
    const auto options = std::make_shared<SpecOptions>();
    const auto waits = std::make_shared<bool>(false);
    define_name(command, *name);
    define_spec(command, *options, false);
    define_wait(command, *waits);
    command.run([&context, name, options, waits] { return set(context, *name, *options, *waits); });
}

// --- how many --------------------------------------------------------------------------------------------------------

void define_scale(Command noun, Context& context) {
    const auto command = noun.sub("scale", "have another number of replicas run");
    const auto name = std::make_shared<std::string>();
    const auto replicas = std::make_shared<std::optional<std::int64_t>>();
    define_name(command, *name);
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

void define_autoscale(Command noun, Context& context) {
    const auto command = noun.sub("autoscale", "let metrics or the hours of the week decide how many replicas run");
    const auto name = std::make_shared<std::string>();
    const auto options = std::make_shared<ScalingOptions>();
    define_name(command, *name);
    define_scaling(command, *options);
    command.run([&context, name, options]() -> Outcome {
        si::McsBody body;
        YK_CHECKED(take_scaling(context, *options, body));
        return change(context, {.verb = "autoscale", .id = *name, .body = std::move(body)}, "autoscaled");
    });
}

void define_pause(Command noun, Context& context, const char* verb, const char* help, const char* done) {
    const auto command = noun.sub(verb, help);
    const auto name = std::make_shared<std::string>();
    define_name(command, *name);
    command.run([&context, name, verb, done] { return change(context, {.verb = verb, .id = *name}, done); });
}

Answer<si::McsMetric> metric_of(const std::string& text, const std::optional<std::int64_t>& replica) {
    const std::size_t equals = text.find('=');
    if (equals == 0) return usage_error(text + ": the name of the metric is missing: METRIC=VALUE, such as load=70");
    const auto value = equals == std::string::npos ? std::nullopt : parse_thousandths(text.substr(equals + 1));
    if (!value)
        return usage_error(text + ": " +
                           fault_of_thousandths(equals == std::string::npos ? "" : text.substr(equals + 1)) +
                           ", such as load=70");
    YK_TRY(of, replicas_of("--replica", replica));
    return si::McsMetric{text.substr(0, equals), *value, of};
}

void define_metric(Command noun, Context& context) {
    const auto command = noun.sub("metric", "say what a metric of its policy has been measured to be");
    const auto name = std::make_shared<std::string>();
    const auto text = std::make_shared<std::string>();
    const auto replica = std::make_shared<std::optional<std::int64_t>>();
    define_name(command, *name);
    command.option("METRIC=VALUE", *text, "the metric and its value").required();
    command.option("--replica", *replica, "of this replica alone, from 0 on").value("N");
    command.run([&context, name, text, replica]() -> Outcome {
        si::McsBody body;
        YK_TRY(metric, metric_of(*text, *replica));
        body.metric = std::move(metric);
        return change(context, {.verb = "metric", .id = *name, .body = std::move(body)}, "takes " + printable(*text));
    });
}

// --- wait ------------------------------------------------------------------------------------------------------------

Outcome wait_for(Context& context, const std::string& name, const std::string& state) {
    const auto limit = context.begin_wait(kDefaultWait).limit;
    if (state == "placed") return wait_until_placed(context, {name, 0}, limit);
    return wait_until_deleted(context, name, limit);
}

void define_wait_for(Command noun, Context& context) {
    const auto command = noun.sub("wait", "return when all replicas of a deployment are placed, or it has gone");
    const auto name = std::make_shared<std::string>();
    const auto state = std::make_shared<std::string>("placed");
    define_name(command, *name);
    command.option("--for", *state, "what to wait for, default placed; --timeout (default 30s) says how long: exit 7")
        .choices({"placed", "deleted"})
        .value("STATE");
    command.run([&context, name, state] { return wait_for(context, *name, *state); });
}

// --- delete ----------------------------------------------------------------------------------------------------------

/// Nothing lists what goes on without its deployment, so its id is named now.
Outcome leave_behind(Context& context, const si::McsWriteRequest& request) {
    YK_TRY(reply, send_change(context, request, "deleted"));
    context.note("what it runs goes on; take it over:  ykctl deployment create NAME --id " + text_of(reply, "id") +
                 " --adopt");
    return Exit::Ok;
}

Outcome erase(Context& context, const std::string& name, const std::optional<std::string>& mode, bool waits) {
    si::McsBody body;
    body.delete_mode = mode;
    const si::McsWriteRequest request{.verb = "delete", .kind = kKind, .id = name, .body = std::move(body)};
    if (!waits) return mode == "orphan" ? leave_behind(context, request) : change(context, request, "deleted");
    const auto limit = context.begin_wait(kDefaultWait).limit;
    auto before = context.call(si::McsReadRequest{.what = "describe", .kind = kKind, .id = name});
    if (!before.ok()) return with_way_out(std::move(before).error(), kKind);
    YK_TRY(done, change(context, request, "deleted"));
    context.out().flush();
    if (done != Exit::Ok) return done;
    const wire::Value& item = member_of(*before, "item");
    const bool goes_on = mode.value_or(text_of(item, "deleteMode")) == "orphan"; // what it has
    return goes_on ? wait_until_deleted(context, text_of(item, "id"), limit) : wait_until_gone(context, item, limit);
}

void define_delete(Command noun, Context& context) {
    const auto command = noun.sub("delete", "remove a deployment, with what it has unless told otherwise");
    command.alias("rm");
    const auto name = std::make_shared<std::string>();
    const auto mode = std::make_shared<std::optional<std::string>>();
    const auto waits = std::make_shared<bool>(false);
    define_name(command, *name);
    define_delete_mode(command, "--mode", *mode, "what goes with it, default as it was created with");
    command.flag("--wait", *waits, "until nothing of it runs, or --timeout (default 30s) is over: exit 7");
    command.run([&context, name, mode, waits] { return erase(context, *name, *mode, *waits); });
}

} // namespace

void define_deployment(Command root, Context& context) {
    const auto noun = root.sub("deployment", "deployments: so many replicas of an application, kept in ykd's database")
                          .alias("deploy");
    define_create(noun, context);
    define_deployment_list(noun.sub("list", "deployments, by name").alias("ls"), context);
    define_deployment_show(noun.sub("show", "one deployment: what it should be, and why it has so many replicas"),
                           context);
    define_deployment_logs(noun.sub("logs", "what the commands of its replicas have written"), context);
    define_deployment_apply(
        noun.sub("apply", "have the deployments of a file be as it says, and make those that are missing"), context);
    define_wait_for(noun, context);
    define_deployment_watch(noun.sub("watch", "a line for each change of deployments, as it happens"), context);
    define_set(noun, context);
    define_scale(noun, context);
    define_autoscale(noun, context);
    define_metric(noun, context);
    define_pause(noun, context, "pause", "keep the number of replicas as it is", "paused");
    define_pause(noun, context, "resume", "let the number of replicas be decided again", "resumed");
    define_delete(noun, context);
    define_deployment_list(root.sub("deployments", "deployment list").hidden(), context);
}

} // namespace yk::cli
