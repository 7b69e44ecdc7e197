// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/deployment_apply.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "protocol/mcs/policy_text.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/files/object_file.h"
#include "ykctl/mcs/send_change.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kKind = "deployment";
constexpr const char* kNoPolicy = "{}";
constexpr std::size_t kLongestFile = std::size_t{64} << 20U;

/// The fields of a deployment as it is shown. Those that ykd decides are read over.
const MessageSpec& deployment_spec() {
    using T = FieldType;
    static const MessageSpec kSpec{
        "Deployment", {"deployments"}, {{"name", T::Text, true},     {"id", T::Text},
                                        {"partition", T::Text},      {"queue", T::Text},
                                        {"user", T::Text},           {"groups", T::Texts},
                                        {"resource", T::Resource},   {"replicas", T::Integer},
                                        {"minReplicas", T::Integer}, {"maxReplicas", T::Integer},
                                        {"policy", T::Tree},         {"priority", T::Integer},
                                        {"tags", T::TextMap},        {"paused", T::Boolean},
                                        {"deleteMode", T::Text},     {"uid", T::Text},
                                        {"version", T::Integer},     {"generation", T::Ignored},
                                        {"createdMs", T::Ignored},   {"updatedMs", T::Ignored},
                                        {"scale", T::Ignored},       {"submittedBy", T::Ignored},
                                        {"schedule", T::Ignored}}};
    return kSpec;
}

// --- reading ---------------------------------------------------------------------------------------------------------

/// What is wrong with a field of a deployment. Where it stands in the file is not known any more; its name is.
Failure wrong(const std::string& file, const Value& message, const std::string& what) {
    return usage_error(fmt::format("{}: deployment {}: {}", file, printable(text_of(message, "name")), what));
}

template <class Number>
Answer<std::optional<Number>> number_in(const Value& message, const char* key, const std::string& file) {
    const Value& member = member_of(message, key);
    if (member.is_null()) return std::optional<Number>{};
    constexpr bool is_count = std::is_unsigned_v<Number>;
    const auto number = member.get<std::int64_t>();
    const bool fits = is_count ? number >= 0
                               : number >= std::int64_t{std::numeric_limits<std::int32_t>::min()} &&
                                     number <= std::int64_t{std::numeric_limits<std::int32_t>::max()};
    if (!fits) return wrong(file, message, fmt::format("{} is out of range", key));
    return std::optional{static_cast<Number>(number)};
}

std::optional<std::string> text_in(const Value& message, const char* key) {
    const Value& member = member_of(message, key);
    return member.is_string() ? std::optional{member.get<std::string>()} : std::nullopt;
}

/// As a tree, or as the text that ykd shows; canonical, so that it can be compared.
Answer<std::optional<std::string>> policy_in(const Value& message, const std::string& file) {
    const Value& member = member_of(message, "policy");
    if (member.is_null()) return std::optional<std::string>{};
    const std::string text =
        member.is_string() ? member.get<std::string>() : member.dump(-1, ' ', false, Value::error_handler_t::replace);
    const auto policy = mcs::parse_policy(text);
    if (!policy.ok()) {
        const std::string& where = policy.error().where;
        return wrong(file, message,
                     fmt::format("policy{}{} {}", where.empty() ? "" : ".", where, policy.error().message));
    }
    const bool decides = !policy->metrics.empty() || !policy->schedule.empty();
    return std::optional{decides ? mcs::policy_text(*policy) : kNoPolicy}; // limits alone decide nothing, as for ykd
}

Answer<WantedDeployment> wanted_of(const Value& message, const std::string& file) {
    WantedDeployment wanted;
    si::McsBody& body = wanted.body;
    wanted.id = text_of(message, "id");
    wanted.uid = text_of(message, "uid");
    body.name = text_of(message, "name");
    body.partition = text_in(message, "partition");
    body.queue = text_in(message, "queue");
    body.user = text_in(message, "user");
    body.delete_mode = text_in(message, "deleteMode");
    if (message.contains("groups")) body.groups.emplace();
    for (const auto& group : member_of(message, "groups")) body.groups->push_back(group.get<std::string>());
    if (message.contains("resource")) body.resource.emplace();
    for (const auto& [type, amount] : member_of(message, "resource").items())
        body.resource->emplace_back(type, amount.get<std::int64_t>());
    if (message.contains("tags")) body.tags.emplace();
    for (const auto& [key, text] : member_of(message, "tags").items())
        body.tags->emplace_back(key, text.get<std::string>());
    if (message.contains("paused")) body.paused = flag_of(message, "paused");
    YK_TRY(version, number_in<std::uint64_t>(message, "version", file));
    YK_TRY(replicas, number_in<std::uint64_t>(message, "replicas", file));
    YK_TRY(least, number_in<std::uint64_t>(message, "minReplicas", file));
    YK_TRY(most, number_in<std::uint64_t>(message, "maxReplicas", file));
    YK_TRY(priority, number_in<std::int32_t>(message, "priority", file));
    YK_TRY(policy, policy_in(message, file));
    wanted.version = version.value_or(0);
    body.replicas = replicas;
    body.min_replicas = least;
    body.max_replicas = most;
    body.priority = priority;
    body.policy = policy;
    return wanted;
}

// --- comparing -------------------------------------------------------------------------------------------------------

/// Notes what of a deployment differs.
class Changes : public Differences {
public:
    void text(const char* field, const Value& item, const std::optional<std::string>& to) {
        if (to) compare(field, text_of(item, field), *to);
    }
    template <class Number>
    void number(const char* field, const Value& item, const std::optional<Number>& to) {
        if (to) compare(field, std::to_string(number_of(item, field)), std::to_string(*to));
    }
};

std::string replicas_text(const Value& item) {
    return item.contains("replicas") ? std::to_string(number_of(item, "replicas")) : "by the policy";
}

// --- applying --------------------------------------------------------------------------------------------------------

struct ApplyOptions {
    std::string file;
    bool is_dry = false, is_forced = false;
};

struct Applied {
    std::string name, outcome; // created, changed, unchanged
    std::vector<Difference> changes;
};

/// With what `deployment create` takes by itself.
si::McsWriteRequest creation_of(const Context& context, const WantedDeployment& wanted) {
    si::McsWriteRequest request{.verb = "create", .kind = kKind, .id = wanted.id, .body = wanted.body};
    si::McsBody& body = *request.body;
    if (!body.user) body.user = login_name();
    if (!body.resource) body.resource = si::Resources{{"vcore", 1000}};
    if (!body.partition) body.partition = context.settings().partition;
    if (body.policy == kNoPolicy) body.policy.reset();
    return request;
}

Failure refused(std::string why, std::vector<std::string> hints) {
    return {Exit::Refused, std::move(why), std::move(hints), 0, {}, {}};
}

/// What is there of it; null: nothing. By its id, if the file says one: a name may be another one's by now.
Answer<Value> find(Context& context, const WantedDeployment& wanted) {
    for (const std::string& id_or_name : {wanted.id, *wanted.body.name}) {
        if (id_or_name.empty()) continue;
        const auto there = context.call(si::McsReadRequest{.what = "describe", .kind = kKind, .id = id_or_name});
        if (!there.ok() && there.error().exit == Exit::NotFound) continue;
        if (!there.ok()) return there.error();
        return member_of(*there, "item");
    }
    return Value{};
}

Answer<Applied> create(Context& context, const WantedDeployment& wanted, bool is_dry) {
    Applied applied{*wanted.body.name, "created", {}};
    if (is_dry) return applied;
    const auto created = context.call(creation_of(context, wanted));
    if (!created.ok()) return with_way_out(created.error(), kKind);
    return applied;
}

Answer<Applied> apply(Context& context, const WantedDeployment& wanted, const ApplyOptions& options) {
    YK_TRY(item, find(context, wanted));
    if (item.is_null()) return create(context, wanted, options.is_dry);
    if (auto why = mismatch_of(item, wanted); !why.empty()) return refused(std::move(why), {});
    Applied applied{*wanted.body.name, "unchanged", changes_of(item, wanted)};
    if (applied.changes.empty()) return applied;
    if (auto why = options.is_forced ? std::string{} : staleness_of(item, wanted); !why.empty())
        return refused(std::move(why), {"what is there now?  ykctl deployment show " + printable(applied.name) +
                                        " -o yaml      as the file says nevertheless?  --force"});
    if (!options.is_forced) YK_CHECKED(check_queue(context, item, wanted.body));
    applied.outcome = "changed";
    if (options.is_dry) return applied;
    const auto changed = context.call(si::McsWriteRequest{.verb = "apply",
                                                          .kind = kKind,
                                                          .id = text_of(item, "id"),
                                                          .version = options.is_forced ? 0 : wanted.version,
                                                          .body = wanted.body});
    if (!changed.ok()) return with_way_out(changed.error(), kKind);
    return applied;
}

std::string changes_text(const Applied& applied) {
    std::string text;
    for (const auto& each : applied.changes)
        text += fmt::format("  {}: {} -> {}\n", each.field, or_dash(printable(each.from)), or_dash(printable(each.to)));
    return text;
}

Value value_of(const Applied& applied, bool is_dry) {
    Value value{{"name", applied.name}, {"outcome", applied.outcome}};
    if (is_dry) value["dryRun"] = true;
    if (!applied.changes.empty()) value["changes"] = differences_value(applied.changes);
    return value;
}

/// Each as soon as it is known, unless a program reads it.
void say(Context& context, const Applied& applied, bool is_dry) {
    if (context.machine_readable() || context.settings().quiet) return;
    const bool would = is_dry && applied.outcome != "unchanged";
    if (context.format() == Format::Name) {
        context.out() << printable(applied.name) << "\n";
        return;
    }
    context.out() << fmt::format("deployment {} {}{}\n", printable(applied.name), would ? "would be " : "",
                                 applied.outcome)
                  << changes_text(applied);
}

Outcome apply_file(Context& context, const ApplyOptions& options) {
    YK_TRY(text, read_text(options.file, context.streams().in, kLongestFile));
    const std::string file = shown_name(options.file);
    YK_TRY(all, read_deployments(text, file));
    if (all.empty()) return usage_error(file + ": holds no deployment");
    std::vector<Value> done;
    std::optional<Failure> failure;
    for (const WantedDeployment& wanted : all) {
        auto applied = apply(context, wanted, options);
        if (!applied.ok()) {
            failure = std::move(applied).error();
            failure->message = fmt::format("deployment {}: {}", printable(*wanted.body.name), failure->message);
            if (const std::size_t left = all.size() - done.size() - 1; left > 0)
                failure->hints.push_back(
                    fmt::format("{} more of the file {} not tried", left, left == 1 ? "was" : "were"));
            break;
        }
        say(context, *applied, options.is_dry);
        done.push_back(value_of(*applied, options.is_dry));
    }
    if (context.machine_readable()) {
        YK_TRY(shown, context.show_list(std::move(done),
                                        {{text_column("NAME", "name"), text_column("OUTCOME", "outcome")}, {}, ""}));
        static_cast<void>(shown);
    }
    if (failure) return *std::move(failure);
    return Exit::Ok;
}

} // namespace

Answer<std::vector<WantedDeployment>> read_deployments(std::string_view text, const std::string& file) {
    std::vector<WantedDeployment> all;
    std::set<std::string> names;
    auto failure = for_each_object(text, file, deployment_spec(), [&](const Value& message) -> std::optional<Failure> {
        auto wanted = wanted_of(message, file);
        if (!wanted.ok()) return std::move(wanted).error();
        if (!names.insert(*wanted->body.name).second) return wrong(file, message, "it is there twice");
        all.push_back(std::move(wanted).value());
        return std::nullopt;
    });
    if (failure) return *std::move(failure);
    return all;
}

std::vector<Difference> changes_of(const Value& item, const WantedDeployment& wanted) {
    const si::McsBody& body = wanted.body;
    Changes changes;
    changes.text("partition", item, body.partition);
    changes.text("queue", item, body.queue);
    changes.text("user", item, body.user);
    if (body.groups)
        changes.compare("groups", names_text(member_of(item, "groups")),
                        fmt::format("{}", fmt::join(*body.groups, ",")));
    if (body.resource)
        changes.compare("resource", amounts_text(member_of(item, "resource")), amounts_text(*body.resource));
    changes.number("minReplicas", item, body.min_replicas);
    changes.number("maxReplicas", item, body.max_replicas);
    if (body.replicas) changes.compare("replicas", replicas_text(item), std::to_string(*body.replicas));
    if (!body.replicas && body.policy && *body.policy != kNoPolicy)
        changes.compare("replicas", replicas_text(item), "by the policy");
    changes.text("policy", item, body.policy);
    changes.number("priority", item, body.priority);
    if (body.tags) changes.compare("tags", pairs_text(member_of(item, "tags")), pairs_text(*body.tags));
    if (body.paused)
        changes.compare("paused", flag_of(item, "paused") ? "true" : "false", *body.paused ? "true" : "false");
    changes.text("deleteMode", item, body.delete_mode);
    return changes.take();
}

std::string mismatch_of(const Value& item, const WantedDeployment& wanted) {
    const std::string id = text_of(item, "id"), name = text_of(item, "name");
    if (!wanted.id.empty() && id != wanted.id)
        return fmt::format("the name {} belongs to the deployment with the id {}, and not {}; leave the id out to mean "
                           "that one",
                           printable(name), printable(id), printable(wanted.id));
    if (name == *wanted.body.name) return {};
    return fmt::format("the id {} belongs to the deployment {}, whose name stays as it was created", printable(id),
                       printable(name));
}

std::string staleness_of(const Value& item, const WantedDeployment& wanted) {
    const std::string uid = text_of(item, "uid");
    if (!wanted.uid.empty() && wanted.uid != uid)
        return fmt::format("the file is of one that was deleted (uid {}), and this is another (uid {})",
                           printable(wanted.uid), printable(uid));
    const auto version = static_cast<std::uint64_t>(number_of(item, "version"));
    if (wanted.version == 0 || wanted.version == version) return {};
    return fmt::format("it is at version {}, and the file is of version {}: somebody changed it since", version,
                       wanted.version);
}

void define_deployment_apply(Command command, Context& context) {
    const auto options = std::make_shared<ApplyOptions>();
    command
        .option("-f,--file", options->file,
                "deployments as YAML or JSON, as show and list print them; - is standard input")
        .value("FILE")
        .required();
    command.flag("--dry-run", options->is_dry, "show what would change, and change nothing");
    command.flag("--force", options->is_forced, "even if it was changed, or made anew, since the file was written");
    command.run([&context, options] { return apply_file(context, *options); });
}

} // namespace yk::cli
