// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/deployment_options.h"

#include <algorithm>
#include <limits>

#include "ykctl/cli/values.h"
#include "ykctl/mcs/scaling_text.h"

namespace yk::cli {
namespace {

void take_owner(const SpecOptions& options, si::McsBody& body) {
    if (!options.groups.empty()) {
        body.groups = split_lists(options.groups);
        body.user = options.user;
    } else if (options.user) {
        auto owner = parse_user(*options.user);
        body.user = std::move(owner.user);
        body.groups = std::move(owner.groups);
    }
}

/// Tags say what runs (rs, Doing the work).
Answer<void> take_work(const SpecOptions& options, si::StringMap& tags) {
    if (options.command) put_pair(tags, "command", *options.command);
    if (options.restart) put_pair(tags, "restart", *options.restart);
    YK_TRY(variables, parse_pairs(options.variables, "--env"));
    for (const auto& [name, value] : variables) put_pair(tags, "env." + name, value);
    return {};
}

} // namespace

bool SpecOptions::has_command() const {
    return command ||
           std::any_of(tags.begin(), tags.end(), [](const std::string& tag) { return tag.starts_with("command="); });
}

void define_delete_mode(Command command, const char* name, std::optional<std::string>& into, const char* help) {
    command.option(name, into, help).choices({"cascade", "owners", "orphan"}).value("MODE");
}

void define_spec(Command command, SpecOptions& options, bool is_new) {
    const auto help = [is_new](const char* text, const char* otherwise) {
        return std::string{text} + (is_new ? otherwise : "");
    };
    command.option("-R,--resources", options.resources, help("size of each replica", ", default vcore=1"))
        .value("NAME=QUANTITY,...");
    command.option("-q,--queue", options.queue, "queue wished for; the placement rules decide").value("PATH");
    command.option("-u,--user", options.user, help("owner", ", default the user of this command"))
        .value("USER[:GROUP,...]");
    command.option("--group", options.groups, "its groups; -u is then the user alone, colons and all")
        .value("GROUP,...");
    command.option("--priority", options.priority, help("priority of the replicas", ", default 0")).value("N");
    command.option("--tag", options.tags, is_new ? "tag of the application" : "tag of the application; these are all")
        .value("KEY=VALUE");
    command.option("--command", options.command, "what each replica runs, by /bin/sh, on nodes of kind local")
        .value("COMMAND");
    command.option("--env", options.variables, "a variable of the command").value("NAME=VALUE");
    command.option("--restart", options.restart, help("when a command that ended is started again", ", default always"))
        .choices({"never", "on-failure", "always"});
    define_delete_mode(command, "--delete-mode", options.delete_mode,
                       is_new ? "what goes with it when it is deleted, default as ykd's settings say"
                              : "what goes with it when it is deleted");
}

Answer<si::McsBody> body_of(const SpecOptions& options, si::StringMap tags) {
    si::McsBody body;
    body.queue = options.queue;
    body.delete_mode = options.delete_mode;
    take_owner(options, body);
    if (!options.resources.empty()) {
        YK_TRY(resource, parse_resources(options.resources));
        body.resource = std::move(resource);
    }
    if (!options.tags.empty()) {
        YK_TRY(given, parse_pairs(options.tags, "--tag"));
        tags = std::move(given);
    }
    if (options.has_work()) YK_CHECKED(take_work(options, tags));
    if (!options.tags.empty() || options.has_work()) body.tags = std::move(tags);
    using Limits = std::numeric_limits<std::int32_t>;
    if (options.priority && (*options.priority < Limits::min() || *options.priority > Limits::max()))
        return usage_error("--priority: out of range (32 bits)");
    if (options.priority) body.priority = static_cast<std::int32_t>(*options.priority);
    return body;
}

void define_scaling(Command command, ScalingOptions& options) {
    command.option("--min", options.least, "at least so many replicas").value("N");
    command.option("--max", options.most, "at most so many replicas").value("N");
    command
        .option("--metric", options.metrics, "what each replica should have of a metric; :value for one of the whole")
        .value("NAME=TARGET[:value]");
    command.option("--schedule", options.schedules, "so many from then on, in UTC: 'mon-fri 08:00=10'")
        .value("[DAYS ]HH:MM=N");
    command.option("--policy", options.policy, "all of how it is decided, as JSON").value("FILE");
}

Answer<void> take_scaling(Context& context, const ScalingOptions& options, si::McsBody& body) {
    YK_TRY(least, replicas_of("--min", options.least));
    YK_TRY(most, replicas_of("--max", options.most));
    body.min_replicas = least;
    body.max_replicas = most;
    const bool has_parts = !options.metrics.empty() || !options.schedules.empty();
    if (options.policy && has_parts)
        return usage_error("--policy says everything; --metric and --schedule are not taken beside it");
    if (options.policy) {
        YK_TRY(text, read_text(*options.policy, context.streams().in, std::size_t{64} << 10U));
        body.policy = std::move(text);
    } else if (has_parts) {
        YK_TRY(policy, policy_of(options.metrics, options.schedules));
        body.policy = std::move(policy);
    }
    return {};
}

Answer<std::optional<std::uint64_t>> replicas_of(const char* option, const std::optional<std::int64_t>& given) {
    if (!given) return std::optional<std::uint64_t>{};
    if (*given < 0) return usage_error(std::string{option} + ": not negative");
    return std::optional{static_cast<std::uint64_t>(*given)};
}

} // namespace yk::cli
