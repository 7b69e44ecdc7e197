// SPDX-License-Identifier: Apache-2.0
// The commands alloc list, show, release.

#include <ostream>

#include <fmt/format.h>

#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/updates.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

struct ListOptions {
    WatchOptions watch;
    std::optional<std::string> application, node, queue;
};

std::optional<Failure> list_allocations(Context& context, const ListOptions& options, const TakeItems& take) {
    auto filter = application_filter(context, options.application);
    if (!filter.ok()) return filter.error();
    if (options.node) filter->node = *options.node;
    if (options.queue) filter->queue = *options.queue;
    return list_objects(context, "allocations", *filter, take);
}

struct ReleaseOptions {
    std::vector<std::string> keys;
    std::optional<std::string> application, reason;
    bool all = false;
};

si::AllocationRelease release_of(const ReleaseOptions& options, std::string partition, std::string application,
                                 std::string key) {
    si::AllocationRelease release;
    release.partition_name = std::move(partition);
    release.application_id = std::move(application);
    release.allocation_key = std::move(key);
    release.termination_type = si::TerminationType::StoppedByRm;
    release.message = options.reason.value_or("");
    return release;
}

Outcome release_all(Context& context, const ReleaseOptions& options) {
    const auto request = [&](const std::string& application, const std::string& partition) {
        auto all = release_of(options, partition, application, {});
        all.keep_asks = true;
        return si::AllocationReleasesRequest{{std::move(all)}, {}};
    };
    return clear_application(context, *options.application, {"alloc", "allocationCount", "released", request});
}

Outcome release(Context& context, const ReleaseOptions& options) {
    if (options.all == !options.keys.empty()) return usage_error("alloc release: either KEY or --all");
    if (options.all && !options.application)
        return usage_error("alloc release --all: of which application?  --app APP");
    if (options.all) return release_all(context, options);
    std::vector<si::AllocationRelease> releases;
    for (const auto& key : distinct(options.keys)) {
        YK_TRY(allocation, find_key(context, {"allocations"}, key, options.application));
        releases.push_back(release_of(options, text_of(allocation, "partition"), text_of(allocation, "applicationId"),
                                      text_of(allocation, "allocationKey")));
    }
    Report report{context};
    Batches<std::vector<si::AllocationRelease>> batches{[&](const auto& batch) -> std::optional<Failure> {
        auto outcomes = send_update(context, si::AllocationReleasesRequest{batch, {}});
        if (!outcomes.ok()) return outcomes.error();
        for (const auto& one : batch) {
            const auto& key = one.allocation_key;
            report.add(done(*outcomes, element_key(one.application_id, key), "alloc " + key, key, "released"));
        }
        return std::nullopt;
    }};
    for (auto& one : releases) {
        if (auto failure = batches.add(std::move(one))) return report.finish(std::move(failure));
    }
    return report.finish(batches.finish());
}

std::string allocation_text(const Value& allocation, const Style& style) {
    std::vector<std::pair<std::string, std::string>> fields{
        {"alloc", printable(text_of(allocation, "allocationKey"))},
        {"app", printable(text_of(allocation, "applicationId"))},
        {"queue", printable(text_of(allocation, "queueName"))},
        {"node", printable(text_of(allocation, "nodeId"))},
        {"size", resource_text(member_of(allocation, "resource"))},
        {"priority", text_of(allocation, "priority")},
        {"asked", time_text(number_of(allocation, "requestTime"))},
        {"placed", time_text(number_of(allocation, "allocationTime"))},
        {"waited", duration_text(std::chrono::nanoseconds{number_of(allocation, "allocationDelay")})}};
    for (const auto& [name, list] : member_of(allocation, "devices").items()) {
        std::vector<std::string> parts;
        for (const auto& each : list)
            parts.push_back(fmt::format("{} ({})", number_of(each, "index"), number_of(each, "amount")));
        fields.emplace_back("devices of " + printable(name), join(parts, ", "));
    }
    if (const auto group = text_of(allocation, "taskGroupName"); !group.empty())
        fields.emplace_back("task group", printable(group));
    std::vector<std::string> what;
    for (const auto& [key, word] : {std::pair{"placeholder", "placeholder"},
                                    {"placeholderUsed", "took the place of a placeholder"},
                                    {"originator", "originator"},
                                    {"preempted", "preempted: the resource manager is to stop it"}})
        if (flag_of(allocation, key)) what.emplace_back(word);
    if (!what.empty()) fields.emplace_back("is", join(what, ", "));
    for (const auto& [key, value] : member_of(allocation, "allocationTags").items()) {
        fields.emplace_back("tag " + printable(key), value.is_string() ? printable(value.get<std::string>()) : "");
    }
    return fields_text(fields, style);
}

void define_list(Command command, Context& context) {
    const auto options = std::make_shared<ListOptions>();
    command.option("--app", options->application, "only those of this application").value("APP");
    command.option("--node", options->node, "only those on this node").value("NODE");
    command.option("-q,--queue", options->queue, "only those in this queue or below").value("PATH");
    define_watch(command, options->watch, FilterKind{"alloc", {}, "allocationTags", "tags"});
    command.run([&context, options] {
        return list_or_watch(
            context, options->watch,
            {{},
             [] { return Answer<ListLayout>{allocation_layout()}; },
             [&context, options](const TakeItems& take) { return list_allocations(context, *options, take); }});
    });
}

} // namespace

void define_alloc(Command root, Context& context) {
    const auto alloc = root.sub("alloc", "allocations: what is placed where").alias("allocation");
    define_list(alloc.sub("list", "allocations of the live applications").alias("ls"), context);

    const auto show = alloc.sub("show", "one allocation");
    const auto key = std::make_shared<std::string>();
    const auto application = std::make_shared<std::optional<std::string>>();
    show.option("KEY", *key, "allocation key").required();
    show.option("--app", *application, "of this application").value("APP");
    define_show_and_watch(show, context, [&context, key, application]() -> Answer<Shown> {
        YK_TRY(found, find_key(context, {"allocations"}, *key, *application));
        return Shown{found, *key, allocation_text(found, context.style())};
    });

    const auto give_back = alloc.sub("release", "give allocations back");
    const auto options = std::make_shared<ReleaseOptions>();
    give_back.option("KEY", options->keys, "allocation keys");
    give_back.option("--app", options->application, "of this application").value("APP");
    give_back.flag("--all", options->all, "all allocations of --app");
    give_back.option("--reason", options->reason, "message that goes with the release").value("TEXT");
    give_back.run([&context, options] { return release(context, *options); });
    define_list(root.sub("allocs", "alloc list").alias("allocations").hidden(), context);
}

} // namespace yk::cli
