#include "ykctl/commands/gang.h"

#include <algorithm>

#include <fmt/format.h>

#include "libcore/base/saturate.h"
#include "ykctl/commands/states.h"
#include "ykctl/commands/values.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::int64_t kMostPlaceholders = 1'000'000; // of one task group

Failure malformed(const std::string& text, const std::string& why) {
    return usage_error("--task-group: '" + text + "' " + why,
                       {"for example  --task-group worker=10:memory=4Gi,vcore=1"});
}

Answer<TaskGroup> parse_task_group(const std::string& text) {
    const auto equals = text.find('=');
    const auto colon = text.find(':', equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || equals == 0 || colon == std::string::npos)
        return malformed(text, "is not NAME=COUNT:RESOURCES");
    const auto count = parse_integer(text.substr(equals + 1, colon - equals - 1));
    if (!count.ok() || *count < 1 || *count > kMostPlaceholders)
        return malformed(text, fmt::format("needs a count from 1 to {}", kMostPlaceholders));
    if (colon + 1 == text.size()) return malformed(text, "names no resources");
    auto resource = parse_resources({text.substr(colon + 1)});
    if (!resource.ok()) {
        auto failure = resource.error();
        failure.message = "--task-group: " + text.substr(0, equals) + ": " + failure.message;
        return failure;
    }
    const auto amounts = resource->items();
    if (std::none_of(amounts.begin(), amounts.end(), [](const auto& each) { return each.value() > 0; }))
        return malformed(text, "asks for nothing: one resource has to be above 0");
    return TaskGroup{text.substr(0, equals), *count, *resource};
}

} // namespace

void define_gang_options(Command command, GangOptions& options) {
    command
        .option("--task-group", options.task_groups,
                "gang: so many placeholders of that size are asked for, too; once for each group")
        .value("NAME=COUNT:RESOURCES");
    command.option("--gang-style", options.style, "what a time-out does: fail, or go on without a gang (default)")
        .choices({"hard", "soft"});
    command.option("--placeholder-timeout", options.timeout, "how long placeholders wait for real asks, default 15m")
        .value("DURATION");
}

Answer<Gang> parse_gang(const GangOptions& options) {
    Gang gang;
    if (options.task_groups.empty()) {
        if (options.given()) return usage_error("--gang-style and --placeholder-timeout need a --task-group");
        return gang;
    }
    for (const auto& text : options.task_groups) {
        YK_TRY(group, parse_task_group(text));
        const auto same = [&name = group.name](const TaskGroup& known) { return known.name == name; };
        if (std::any_of(gang.groups.begin(), gang.groups.end(), same))
            return malformed(text, "names a task group a second time");
        gang.groups.push_back(std::move(group));
    }
    gang.hard = options.style == "hard";
    if (!options.timeout) return gang;
    const auto timeout = parse_milliseconds(*options.timeout);
    if (!timeout.ok()) return usage_error("--placeholder-timeout: " + timeout.error().message);
    if (timeout->count() == 0) return usage_error("--placeholder-timeout: more than 0 is needed");
    gang.timeout_ms = timeout->count();
    return gang;
}

void put_gang(Value& application, const Gang& gang) {
    if (gang.groups.empty()) return;
    auto sum = Value::object();
    for (const auto& group : gang.groups) {
        for (const auto& [name, size] : group.resource.items()) {
            const auto before = sum.contains(name) ? sum[name].get<std::int64_t>() : 0;
            sum[name] = sat_add(before, sat_mul(size.get<std::int64_t>(), group.count));
        }
    }
    application["placeholderAsk"] = sum;
    application["gangSchedulingStyle"] = gang.hard ? "Hard" : "Soft";
    if (gang.timeout_ms) application["executionTimeoutMilliSeconds"] = *gang.timeout_ms;
}

std::optional<Failure> send_placeholders(Context& context, const Gang& gang, const std::string& application,
                                         Report& report) {
    Batches batches{[&](const Value& batch) -> std::optional<Failure> {
        const auto told = send_asks(context, batch);
        if (!told.ok()) return told.error();
        for (const auto& ask : batch) {
            const auto key = text_of(ask, "allocationKey");
            report.add(ask_done(*told, element_key(application, key), "placeholder", key));
        }
        return std::nullopt;
    }};
    for (const auto& group : gang.groups) {
        for (std::int64_t i = 0; i < group.count; ++i) {
            Value ask{{"allocationKey", fmt::format("{}-ph-{}", group.name, i)},
                      {"applicationID", application},
                      {"resourceAsk", group.resource},
                      {"taskGroupName", group.name},
                      {"placeholder", true}};
            context.put_partition(ask);
            if (auto failure = batches.add(std::move(ask))) return failure;
        }
    }
    return batches.finish();
}

} // namespace yk::cli
