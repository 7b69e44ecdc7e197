// SPDX-License-Identifier: Apache-2.0
#include "ykctl/commands/gang.h"

#include <algorithm>

#include <fmt/format.h>

#include "libcore/base/saturate.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/states.h"

namespace yk::cli {
namespace {

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
    if (std::none_of(resource->begin(), resource->end(), [](const auto& amount) { return amount.second > 0; }))
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

void put_gang(si::AddApplicationRequest& application, const Gang& gang) {
    if (gang.groups.empty()) return;
    auto& sum = application.placeholder_ask.emplace();
    for (const auto& group : gang.groups)
        for (const auto& [name, size] : group.resource) {
            auto total =
                std::find_if(sum.begin(), sum.end(), [&key = name](const auto& each) { return each.first == key; });
            if (total == sum.end()) total = sum.emplace(sum.end(), name, 0);
            total->second = sat_add(total->second, sat_mul(size, group.count));
        }
    application.gang_scheduling_style = gang.hard ? "Hard" : "Soft";
    application.execution_timeout_milli_seconds = gang.timeout_ms.value_or(0);
}

std::optional<Failure> send_placeholders(Context& context, const Gang& gang, const std::string& application,
                                         Report& report) {
    Batches<std::vector<si::AllocationAsk>> batches{[&](const auto& batch) -> std::optional<Failure> {
        const auto outcomes = send_asks(context, batch);
        if (!outcomes.ok()) return outcomes.error();
        for (const auto& ask : batch) {
            const auto& key = ask.allocation_key;
            report.add(ask_done(*outcomes, element_key(application, key), "placeholder", key));
        }
        return std::nullopt;
    }};
    for (const auto& group : gang.groups) {
        for (std::int64_t i = 0; i < group.count; ++i) {
            si::AllocationAsk ask;
            ask.allocation_key = fmt::format("{}-ph-{}", group.name, i);
            ask.application_id = application;
            ask.partition_name = context.settings().partition.value_or("");
            ask.resource_ask = group.resource;
            ask.task_group_name = group.name;
            ask.placeholder = true;
            if (auto failure = batches.add(std::move(ask))) return failure;
        }
    }
    return batches.finish();
}

} // namespace yk::cli
