// SPDX-License-Identifier: Apache-2.0
// The commands rm register, list, show, log, deregister; rm serve is in rm_serve.cpp.

#include <algorithm>
#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/updates.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/output/item_text.h"
#include "ykctl/render/text.h"
#include "ykctl/rm/rm_serve.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::int64_t kLargestCount = std::numeric_limits<std::uint32_t>::max(); // of items of a stream

Outcome register_rm(Context& context, const RegisterOptions& options) {
    YK_TRY(request, registration(context, options, "refuse"));
    request.detached = si::DetachedOptions{options.confirm, static_cast<std::uint32_t>(options.keep)};
    request.capabilities = {"reportIgnored"};
    auto answer = context.call(request);
    if (!answer.ok()) return not_registered(std::move(answer).error(), options);
    const Value& reply = *answer;
    std::vector<std::string> partitions;
    for (const auto& name : member_of(reply, "partitions")) {
        if (name.is_string()) partitions.push_back(name.get<std::string>());
    }
    const auto* const outcome = flag_of(reply, "kept")             ? "is registered already, nothing was changed"
                                : flag_of(reply, "reRegistration") ? "registered anew, emptied"
                                                                   : "registered";
    auto text = printable(fmt::format("rm {} {}, partitions {}", options.id, outcome, join(partitions, ", "))) + "\n";
    if (options.recovery.id && !flag_of(reply, "kept"))
        text += printable(fmt::format("recovering: report what it has, then  ykctl recovery done {} --id {}",
                                      options.id, *options.recovery.id)) +
                "\n";
    return context.show_item(reply, options.id, context.settings().quiet ? std::string{} : text);
}

Answer<Shown> look_at_rm(Context& context, const std::optional<std::string>& id) {
    YK_TRY(rms, all_rms(context));
    std::string wanted = id.value_or("");
    if (!id) {
        YK_TRY(only, context.rm());
        wanted = only.id;
    }
    std::vector<std::string> ids;
    for (const auto& rm : rms) {
        ids.push_back(text_of(rm, "rmID"));
        if (ids.back() != wanted) continue;
        std::vector<std::pair<std::string, std::string>> fields;
        for (const auto& column : rm_layout().columns) {
            auto name = column.heading.text;
            std::transform(name.begin(), name.end(), name.begin(),
                           [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
            fields.emplace_back(name, column.cell(rm));
        }
        return Shown{rm, wanted, fields_text(fields, context.style())};
    }
    return not_found("RM '" + wanted + "' is not registered" + did_you_mean(wanted, ids),
                     {"which are there?  ykctl rm list"});
}

struct LogOptions {
    std::optional<std::string> id;
    std::int64_t after = 0;
    std::int64_t count = 1000;
};

Outcome show_log(Context& context, const LogOptions& options) {
    std::string id = options.id.value_or("");
    if (!options.id) {
        YK_TRY(only, context.rm());
        id = only.id;
    }
    if (options.after < 0 || options.count < 1) return usage_error("rm log: --after from 0, --count from 1");
    if (options.count > kLargestCount) return usage_error("--count: out of range (32 bits)");
    si::StreamLogRequest request;
    request.rm_id = id;
    request.after = static_cast<std::uint64_t>(options.after);
    request.count = static_cast<std::uint32_t>(options.count);
    YK_TRY(reply, context.call(request));
    const auto& list = member_of(reply, "items");
    const std::vector<Value> items(list.begin(), list.end());
    if (is_machine_readable(context.format()) || context.format() == Format::Name) {
        return context.show_list(items,
                                 {{}, [](const Value& item) { return std::to_string(number_of(item, "n")); }, ""});
    }
    for (const auto& item : items) context.out() << item_line(item);
    if (items.empty()) context.out() << "nothing was told to " << printable(id) << "\n";
    return Exit::Ok;
}

Outcome deregister(Context& context, const std::optional<std::string>& id, bool force) {
    std::string wanted = id.value_or("");
    if (!id) {
        YK_TRY(only, context.rm());
        wanted = only.id;
    }
    auto reply = context.call_for_rm(si::UnregisterResourceManagerRequest{.rm_id = wanted, .force = force});
    if (!reply.ok()) {
        auto failure = reply.error();
        if (failure.name == "E_BUSY_STATE") failure.hints = {"drop what it runs as well:  --force"};
        return failure;
    }
    return context.show_item({{"rmID", wanted}, {"outcome", "deregistered"}}, wanted,
                             context.settings().quiet ? std::string{} : "rm " + printable(wanted) + " deregistered\n");
}

void define_registration(Command command, RegisterOptions& options, bool id_required) {
    auto id = command.option("RMID", options.id, "name of the RM cluster");
    if (id_required) id.required();
    command.option("--policy-group", options.policy_group, "configuration set, default: default").value("GROUP");
    command.option("--config", options.config_file, "queue configuration to send; - is standard input").value("FILE");
    command.option("--extra", options.extra, "extra configuration (service.…, event.…, log.level …)")
        .value("KEY=VALUE");
    command.flag("--force", options.force, "even when the RM has something: it is dropped");
    command.flag("--if-not-registered", options.if_not_registered, "change nothing when it is registered already");
    define_recovery_options(command, options.recovery);
}

void define_register(Command rm, Context& context) {
    const auto command = rm.sub("register", "make a detached RM, which one-shot commands serve");
    const auto options = std::make_shared<RegisterOptions>();
    define_registration(command, *options, true);
    const auto no_confirm = std::make_shared<bool>(false);
    command.flag("--no-confirm", *no_confirm, "the daemon does not confirm releases on its behalf");
    command.option("--keep", options->keep, "messages kept for rm log, default 10000");
    command.run([&context, options, no_confirm]() -> Outcome {
        if (options->keep < 0) return usage_error("--keep: not negative");
        if (options->keep > kLargestCount) return usage_error("--keep: out of range (32 bits)");
        options->confirm = !*no_confirm;
        return register_rm(context, *options);
    });
}

void define_list(Command command, Context& context) {
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch, FilterKind{"rm", {"New", "Running", "Recovering", "Failed", "Suspended", "Lost"}});
    command.run([&context, watch] {
        return list_or_watch(context, *watch,
                             {[&context] { return all_rms(context); }, [] { return Answer<ListLayout>{rm_layout()}; }});
    });
}

void define_rm_log(Command rm, Context& context) {
    const auto command = rm.sub("log", "what a detached RM was told");
    const auto options = std::make_shared<LogOptions>();
    command.option("RMID", options->id, "the RM, default the only one");
    command.option("--after", options->after, "only messages after this number, default 0");
    command.option("--count", options->count, "at most so many, default 1000");
    command.run([&context, options] { return show_log(context, *options); });
}

void define_serve(Command rm, Context& context) {
    const auto command = rm.sub("serve", "a fake RM: polls, prints what it is told, confirms releases");
    const auto options = std::make_shared<ServeOptions>();
    define_registration(command, options->registration, false);
    const auto no_confirm = std::make_shared<bool>(false);
    command.flag("--no-confirm", *no_confirm, "do not confirm releases");
    command.option("--count", options->count, "stop after so many messages");
    command.option("--refuse", options->refuse, "be asked about nodes, and refuse those that match; may be repeated")
        .value("NODES");
    command
        .option("--config-store", options->config_store,
                "store here what others make the RM's configuration, before it is active")
        .value("FILE");
    command.option("--state-dump", options->state_dump, "JSON to tell as its state in full dumps, read each time")
        .value("FILE");
    command
        .option("--state", options->state,
                "keep here what the RM has, so that it comes back with it after a restart of ykd or of this")
        .value("FILE");
    define_work_options(command, options->work);
    command.run([&context, options, no_confirm]() -> Outcome {
        for (const std::string* file : {&options->config_store, &options->state_dump, &options->state})
            if (*file == "-")
                return usage_error("rm serve: --config-store, --state-dump and --state take a file, not -");
        options->registration.confirm = !*no_confirm;
        return serve(context, *options);
    });
}

} // namespace

void define_rm(Command root, Context& context) {
    const auto rm = root.sub("rm", "resource managers: register, look at, serve, deregister");
    define_register(rm, context);
    define_list(rm.sub("list", "registered RMs").alias("ls"), context);

    const auto show = rm.sub("show", "one RM");
    const auto shown = std::make_shared<std::optional<std::string>>();
    show.option("RMID", *shown, "the RM, default the only one");
    define_show_and_watch(show, context, [&context, shown] { return look_at_rm(context, *shown); });

    define_rm_log(rm, context);

    const auto leave = rm.sub("deregister", "remove an RM with its partitions");
    const auto leaving = std::make_shared<std::optional<std::string>>();
    const auto force = std::make_shared<bool>(false);
    leave.option("RMID", *leaving, "the RM, default the only one");
    leave.flag("--force", *force, "even while it has allocations");
    leave.run([&context, leaving, force] { return deregister(context, *leaving, *force); });

    define_serve(rm, context);
    define_list(root.sub("rms", "rm list").hidden(), context);
}

} // namespace yk::cli
