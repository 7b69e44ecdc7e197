// SPDX-License-Identifier: Apache-2.0
// The commands ask add, list, show, remove.

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <random>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "libcore/base/saturate.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/existing.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/client/states.h"
#include "ykctl/client/updates.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kDefaultPartition = "default";
constexpr const char* kRequiredNodeTag = "yunikorn.apache.org/requiredNode"; // pins an ask to one node (I-060)
constexpr std::chrono::milliseconds kLookEvery{50};

struct AddOptions {
    std::optional<std::string> application, key, required_node, task_group, file;
    std::vector<std::string> resources, tags, devices;
    std::optional<std::int64_t> count, priority;
    bool placeholder = false, may_preempt = false, preemptable = false;
    bool wait = false, if_not_exists = false;
};

/// The asks that --wait waits for.
struct Awaited {
    std::map<ElementKey, si::AskName> asks; // not placed so far
    std::uint64_t next = 0; // the stream is read up to this number; 0: nothing was sent yet, or it begins anew
    bool known = true;
};

/// Five random letters and digits, so that keys differ from those of earlier calls.
std::string random_suffix() {
    static constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    std::random_device source;
    std::uniform_int_distribution<std::size_t> pick{0, sizeof kLetters - 2};
    std::string suffix;
    for (int i = 0; i < 5; ++i) suffix += kLetters[pick(source)];
    return suffix;
}

/// `asks`: messages of a file, or a list of si::AllocationAsk.
template <class Asks>
std::optional<Failure> add_batch(Context& context, const Asks& asks, Report& report, Awaited* awaited) {
    auto outcomes = send_asks(context, asks);
    if (!outcomes.ok()) return outcomes.error();
    for (const auto& ask : asks) {
        auto name = ask_name(ask);
        const auto element = element_key(name.application_id, name.allocation_key);
        auto result = ask_done(*outcomes, element, "ask", name.allocation_key);
        if (awaited != nullptr && (result.outcome == "added" || result.outcome == "quarantined"))
            awaited->asks.emplace(element, std::move(name));
        report.add(std::move(result));
    }
    if (awaited != nullptr) {
        if (awaited->next == 0)
            awaited->next = outcomes->next; // asks of this batch may be placed while others are sent
        awaited->known = outcomes->known;
    }
    return std::nullopt;
}

/// Adds asks; with --if-not-exists those that are neither pending nor placed.
template <class Asks>
std::optional<Failure> create_batch(Context& context, Asks asks, const AddOptions& options, Report& report,
                                    Awaited* awaited) {
    if (options.if_not_exists) {
        YK_TRY(rm, context.rm());
        if (awaited != nullptr) awaited->known = rm.detached;
        std::vector<si::AskName> names;
        names.reserve(asks.size());
        for (const auto& ask : asks) names.push_back(ask_name(ask));
        auto there = find_asks(context, names);
        if (!there.ok()) return there.error();
        std::erase_if(*there, [](const auto& ask) { return ask.second.state == Whereabouts::State::Absent; });
        for (auto& name : names) {
            const auto key = element_key(name.application_id, name.allocation_key);
            const auto found = there->find(key);
            const bool is_pending = found != there->end() && found->second.state != Whereabouts::State::Placed;
            if (awaited != nullptr && is_pending) awaited->asks.emplace(key, std::move(name));
        }
        const auto key_of = [](const auto& ask) {
            const auto name = ask_name(ask);
            return element_key(name.application_id, name.allocation_key);
        };
        leave_existing(asks, *there, "ask", key_of, report);
    }
    return asks.empty() ? std::nullopt : add_batch(context, asks, report, awaited);
}

/// Prints that an ask was placed, and stops waiting for it.
void report_placed(Context& context, Awaited& awaited, const ElementKey& element, const std::string& node) {
    const auto ask = awaited.asks.find(element);
    if (ask == awaited.asks.end()) return;
    if (!context.settings().quiet && context.format() == Format::Table) {
        context.out() << "ask " << printable(ask->second.allocation_key) << " placed on " << printable(node) << "\n";
    }
    awaited.asks.erase(ask);
}

/// Asks the daemon where the asks are, for when the stream no longer has the items about them. Returns how many it does
/// not know.
Answer<std::size_t> look_again(Context& context, Awaited& awaited) {
    std::size_t absent = 0;
    Batches<std::vector<si::AskName>> batches{[&](auto names) -> std::optional<Failure> {
        YK_TRY(found, find_asks(context, std::move(names)));
        for (const auto& [element, where] : found) {
            if (where.state == Whereabouts::State::Placed) report_placed(context, awaited, element, where.node);
            if (where.state == Whereabouts::State::Absent) ++absent;
        }
        return std::nullopt;
    }};
    const auto asks = awaited.asks;
    for (const auto& [element, name] : asks)
        if (auto failure = batches.add(name)) return *std::move(failure);
    if (auto failure = batches.finish()) return *std::move(failure);
    return absent;
}

/// In a daemon that was restarted, whose stream begins anew: where the asks are now.
std::optional<Failure> find_after_restart(Context& context, const std::string& rm, Awaited& awaited) {
    YK_TRY(position, stream_position(context, rm));
    YK_TRY(absent, look_again(context, awaited));
    awaited.next = position.next;
    if (absent == 0) return std::nullopt;
    return Failure{Exit::Refused,
                   fmt::format("{} lost: ykd was restarted and does not have them", pluralize(absent, "ask")),
                   {"detached RMs outlive a restart with  ykd --state DIR"},
                   0,
                   {},
                   {}};
}

/// Reports what was placed since the last call.
std::optional<Failure> take_placements(Context& context, const std::string& rm, Awaited& awaited) {
    if (awaited.next == 0) return find_after_restart(context, rm, awaited);
    YK_TRY(position, stream_position(context, rm));
    YK_TRY(stream, read_stream(context, rm, awaited.next, position.next));
    awaited.next = position.next;
    for (const auto& item : stream.items) {
        for (const auto& placed : member_of(member_of(item, "body"), "new")) {
            const auto element = element_key(text_of(placed, "applicationID"), text_of(placed, "allocationKey"));
            report_placed(context, awaited, element, text_of(placed, "nodeID"));
        }
    }
    if (stream.lost == 0) return std::nullopt;
    const auto looked = look_again(context, awaited);
    return looked.ok() ? std::nullopt : std::optional{looked.error()};
}

/// Reads the stream until every ask is placed or the time is over.
Outcome wait_until_placed(Context& context, Awaited awaited, std::chrono::milliseconds limit) {
    if (!awaited.known)
        return usage_error("--wait: the RM is served by a process; only that one is told of placements");
    YK_TRY(rm, context.rm());
    using Clock = std::chrono::steady_clock;
    const auto deadline = context.begin_wait(limit).end;
    const HeldSignals signals;
    Reconnect reconnect{context, signals};
    while (!awaited.asks.empty()) {
        if (signals.wait(kLookEvery) != 0) return Exit::Interrupted;
        const auto failure = take_placements(context, rm.id, awaited);
        if (reconnect.was_restarted()) {
            context.note("ykd was restarted: looking for the asks in the new one");
            awaited.next = 0;
            continue;
        }
        if (failure) {
            const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
            YK_TRY(signal, reconnect.after(*failure, left));
            if (signal != 0) return Exit::Interrupted;
            continue;
        }
        if (awaited.asks.empty() || Clock::now() < deadline) continue;
        const auto& first = awaited.asks.begin()->second;
        return Failure{
            Exit::NotSatisfied,
            fmt::format("{} not placed within {}", pluralize(awaited.asks.size(), "ask"), duration_text(limit)),
            {"why?  ykctl explain ask " + first.allocation_key + " --app " + first.application_id},
            0,
            {},
            {}};
    }
    return Exit::Ok;
}

Answer<si::AllocationAsk> ask_of(Context& context, const AddOptions& options) {
    YK_TRY(resource, parse_resources(options.resources));
    YK_TRY(tags, parse_pairs(options.tags, "--tag"));
    YK_TRY(devices, parse_devices(options.devices));
    for (const auto& [name, stated] : devices) // the amount need not be said twice
        if (std::none_of(resource.begin(), resource.end(),
                         [&name = name](const auto& each) { return each.first == name; }))
            resource.emplace_back(name, sat_mul(stated.each, stated.count));
    if (options.required_node) put_pair(tags, kRequiredNodeTag, *options.required_node);
    si::AllocationAsk ask;
    ask.application_id = *options.application;
    ask.partition_name = context.settings().partition.value_or("");
    ask.resource_ask = std::move(resource);
    ask.priority = static_cast<std::int32_t>(options.priority.value_or(0));
    ask.tags = std::move(tags);
    ask.task_group_name = options.task_group.value_or("");
    ask.devices = std::move(devices);
    ask.placeholder = options.placeholder;
    if (options.may_preempt || options.preemptable)
        ask.preemption_policy = si::PreemptionPolicy{options.preemptable, options.may_preempt};
    return ask;
}

std::optional<Failure> check_add_options(const AddOptions& options) {
    if (!options.application) return usage_error("ask add: APP or -f FILE is needed");
    if (options.resources.empty() && options.devices.empty())
        return usage_error("ask add: -R is needed", {"for example  -R memory=4Gi,vcore=1"});
    if (options.count && *options.count < 1) return usage_error("-n: at least 1");
    if (options.placeholder && !options.task_group)
        return usage_error("--placeholder: of which group?  --task-group NAME");
    constexpr std::int64_t kLimit = std::numeric_limits<std::int32_t>::max();
    if (options.priority && (*options.priority > kLimit || *options.priority < -kLimit - 1)) {
        return usage_error("--priority: out of range (32 bits)");
    }
    return std::nullopt;
}

Outcome add_asks(Context& context, const AddOptions& options) {
    // Without --timeout a long file may take longer than the wait behind it.
    const bool is_limited = options.wait && context.settings().timeout.has_value();
    const auto limit = is_limited ? context.begin_wait(kDefaultWait).limit : kDefaultWait;
    Awaited awaited;
    auto* const wanted = options.wait ? &awaited : nullptr;
    const auto send = [&](auto batch, Report& report) {
        return create_batch(context, std::move(batch), options, report, wanted);
    };
    Exit added = Exit::Ok;
    if (options.file) {
        if (options.application || !options.resources.empty() || !options.devices.empty()) {
            return usage_error("ask add: either -f FILE, or APP with -R");
        }
        const auto complete = [&](Value ask) {
            if (!ask.contains("partitionName")) context.put_partition(ask);
            return ask;
        };
        YK_TRY(sent, send_file(context, *options.file, ask_spec(), "ask", complete, send));
        added = sent;
    } else {
        if (auto failure = check_add_options(options)) return *failure;
        YK_TRY(ask, ask_of(context, options));
        Report report{context};
        Batches<std::vector<si::AllocationAsk>> batches{[&](auto batch) { return send(std::move(batch), report); }};
        const auto key = options.key.value_or(*options.application + "-" + random_suffix());
        for (std::int64_t i = 1; i <= options.count.value_or(1); ++i) {
            ask.allocation_key = options.count ? key + "-" + std::to_string(i) : key;
            if (auto failure = batches.add(ask)) return report.finish(std::move(failure));
        }
        YK_TRY(sent, report.finish(batches.finish()));
        added = sent;
    }
    if (added != Exit::Ok || !options.wait) return added;
    context.out().flush();
    return wait_until_placed(context, std::move(awaited), limit);
}

struct RemoveOptions {
    std::vector<std::string> keys;
    std::optional<std::string> application;
    bool all = false;
};

si::AllocationAskRelease removal_of(std::string partition, std::string application, std::string key) {
    si::AllocationAskRelease removal;
    removal.partition_name = std::move(partition);
    removal.application_id = std::move(application);
    removal.allocation_key = std::move(key);
    removal.termination_type = si::TerminationType::StoppedByRm;
    return removal;
}

Outcome remove_all_asks(Context& context, const std::string& application) {
    const auto request = [](const std::string& of, const std::string& partition) {
        return si::AllocationReleasesRequest{{}, {removal_of(partition, of, {})}};
    };
    return clear_application(context, application, {"ask", "pendingAsks", "removed", request});
}

Outcome remove_asks(Context& context, const RemoveOptions& options) {
    if (options.all == !options.keys.empty()) return usage_error("ask remove: either KEY or --all");
    if (options.all && !options.application) return usage_error("ask remove --all: of which application?  --app APP");
    if (options.all) return remove_all_asks(context, *options.application);
    std::vector<si::AllocationAskRelease> removals;
    for (const auto& key : distinct(options.keys)) {
        YK_TRY(ask, find_key(context, {"asks"}, key, options.application));
        auto partition = text_of(ask, "partition");
        if (partition.empty()) partition = kDefaultPartition;
        removals.push_back(
            removal_of(std::move(partition), text_of(ask, "applicationId"), text_of(ask, "allocationKey")));
    }
    Report report{context};
    Batches<std::vector<si::AllocationAskRelease>> batches{[&](const auto& batch) -> std::optional<Failure> {
        auto outcomes = send_update(context, si::AllocationReleasesRequest{{}, batch});
        if (!outcomes.ok()) return outcomes.error();
        for (const auto& removal : batch) {
            const auto& key = removal.allocation_key;
            report.add(done(*outcomes, element_key(removal.application_id, key), "ask " + key, key, "removed"));
        }
        return std::nullopt;
    }};
    for (auto& removal : removals) {
        if (auto failure = batches.add(std::move(removal))) return report.finish(std::move(failure));
    }
    return report.finish(batches.finish());
}

std::string ask_text(const Value& ask, std::int64_t now, const Style& style) {
    const auto yes = [&](const char* key) { return std::string{flag_of(ask, key) ? "yes" : "no"}; };
    const std::chrono::nanoseconds age{std::max(now - number_of(ask, "requestTime"), std::int64_t{0})};
    std::vector<std::pair<std::string, std::string>> fields{{"ask", printable(text_of(ask, "allocationKey"))},
                                                            {"app", printable(text_of(ask, "applicationId"))},
                                                            {"queue", printable(text_of(ask, "queueName"))},
                                                            {"size", resource_text(member_of(ask, "resource"))}};
    for (const auto& [name, stated] : member_of(ask, "devices").items())
        fields.emplace_back("devices of " + printable(name),
                            fmt::format("{} x {}", number_of(stated, "count"), number_of(stated, "each")));
    fields.insert(fields.end(), {{"priority", text_of(ask, "priority")},
                                 {"age", duration_text(age)},
                                 {"required node", printable(text_of(ask, "requiredNodeId"))},
                                 {"tried", yes("schedulingAttempted")},
                                 {"asked for scale-up", yes("triggeredScaleUp")}});
    auto text = fields_text(fields, style);
    const auto& log = member_of(ask, "allocationLog");
    if (!log.empty()) {
        const ListLayout layout{
            {{{"LAST"}, [](const Value& entry) { return time_text(number_of(entry, "lastOccurrence")); }},
             number_column("COUNT", "count"),
             text_column("REASON", "message")},
            {},
            ""};
        text += "\n" + list_text(std::vector<Value>(log.begin(), log.end()), layout, Format::Table, style);
    }
    if (const Value& attempt = member_of(ask, "lastPreemption"); attempt.is_object()) {
        text += "\nlast attempt to preempt, " + time_text(number_of(attempt, "time")) + ": " +
                printable(text_of(attempt, "result")) + "; " + std::to_string(number_of(attempt, "candidates")) +
                " candidates, " + std::to_string(number_of(attempt, "nodesTried")) + " nodes tried";
        for (const char* what : {"excludedQueues", "excludedAllocations"})
            for (const auto& [why, count] : member_of(attempt, what).items())
                text += "\n  " + count.dump() + (what[8] == 'Q' ? " queues: " : " allocations: ") + printable(why);
        text += "\n";
    }
    return text + "why is it pending?  ykctl explain ask " + printable(text_of(ask, "allocationKey")) + "\n";
}

void define_add(Command ask, Context& context) {
    const auto command = ask.sub("add", "ask for allocations, from options or from a file");
    const auto options = std::make_shared<AddOptions>();
    command.option("APP", options->application, "the application");
    command.option("-R,--resources", options->resources, "size: memory=4Gi,vcore=1").value("NAME=QUANTITY,...");
    command.option("--devices", options->devices, "so many devices and how much of each: nvidia.com/gpu=2x500")
        .value("NAME=COUNTxAMOUNT,...");
    command.option("-n,--count", options->count, "so many equal asks, KEY-1 and so on");
    command.option("--key", options->key, "allocation key, default APP and a random end").value("KEY");
    command.option("--priority", options->priority, "larger goes first, default 0");
    command.option("--required-node", options->required_node, "only on this node").value("NODE");
    command.option("--task-group", options->task_group, "takes the place of a placeholder of this group").value("NAME");
    command.flag("--placeholder", options->placeholder, "holds the place of a member of --task-group");
    command.flag("--may-preempt", options->may_preempt, "others may have to go for it (allowPreemptOther)");
    command.flag("--preemptable", options->preemptable,
                 "it goes before others when it is the victim (allowPreemptSelf)");
    command.option("--tag", options->tags, "tag").value("KEY=VALUE");
    command.flag("--if-not-exists", options->if_not_exists, "leave those as they are that are pending or placed");
    command
        .option("-f,--file", options->file,
                "asks as YAML, JSON or JSON-lines, or what show -o yaml prints; a directory; - is standard input")
        .value("FILE");
    command.flag("--wait", options->wait, "until all are placed or --timeout (default 30s) is over: exit 7");
    command.run([&context, options] { return add_asks(context, *options); });
}

void define_list(Command command, Context& context) {
    const auto watch = std::make_shared<WatchOptions>();
    const auto application = std::make_shared<std::optional<std::string>>();
    command.option("--app", *application, "only those of this application").value("APP");
    define_watch(command, *watch, FilterKind{"ask", {}, "allocationTags", "tags"});
    command.run([&context, watch, application] {
        return list_or_watch(context, *watch,
                             {{},
                              [&context]() -> Answer<ListLayout> {
                                  YK_TRY(now, daemon_now(context));
                                  return ask_layout(now);
                              },
                              [&context, application](const TakeItems& take) -> std::optional<Failure> {
                                  const auto wanted = application_filter(context, *application);
                                  return wanted.ok() ? list_objects(context, "asks", *wanted, take) : wanted.error();
                              }});
    });
}

void define_show(Command ask, Context& context) {
    const auto command = ask.sub("show", "one pending ask with what stood in its way so far");
    const auto key = std::make_shared<std::string>();
    const auto application = std::make_shared<std::optional<std::string>>();
    command.option("KEY", *key, "allocation key").required();
    command.option("--app", *application, "of this application").value("APP");
    define_show_and_watch(command, context, [&context, key, application]() -> Answer<Shown> {
        YK_TRY(found, find_key(context, {"asks"}, *key, *application));
        YK_TRY(now, daemon_now(context));
        return Shown{found, *key, ask_text(found, now, context.style())};
    });
}

} // namespace

void define_ask(Command root, Context& context) {
    const auto ask = root.sub("ask", "asks: what applications want and do not have yet");
    define_add(ask, context);
    define_list(ask.sub("list", "pending asks").alias("ls"), context);
    define_show(ask, context);
    const auto remove = ask.sub("remove", "withdraw pending asks");
    remove.alias("rm");
    const auto options = std::make_shared<RemoveOptions>();
    remove.option("KEY", options->keys, "allocation keys");
    remove.option("--app", options->application, "of this application").value("APP");
    remove.flag("--all", options->all, "all pending asks of --app");
    remove.run([&context, options] { return remove_asks(context, *options); });
    define_list(root.sub("asks", "ask list").hidden(), context);
}

} // namespace yk::cli
