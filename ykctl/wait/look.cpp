// SPDX-License-Identifier: Apache-2.0
#include "ykctl/wait/look.h"

#include "libcore/base/pluralize.h"
#include "protocol/si/enums.h"
#include "protocol/si/errors.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

Answer<Value> find_rm(Context& context, const std::string& id) {
    YK_TRY(status, context.call(si::StatusRequest{}));
    for (const auto& rm : member_of(status, "rms"))
        if (text_of(rm, "rmID") == id) return rm;
    return not_found("RM '" + id + "' is not registered", {"which are there?  ykctl rm list"});
}

/// The queue with the counts of itself and all below it.
Answer<Value> find_counted_queue(Context& context, const Wanted& wanted) {
    YK_TRY(queue, find_queue(context, wanted.name));
    if (wanted.condition != "count") return queue;
    const std::string below = wanted.name + ".";
    std::int64_t applications = 0, asks = 0, allocations = 0;
    auto failure = context.dump_pages("apps", {.brief = true, .state = "active"},
                                      [&](const Value& page) -> std::optional<Failure> {
                                          for (const Value& each : page) {
                                              const std::string path = text_of(each, "queueName");
                                              if (path != wanted.name && !path.starts_with(below)) continue;
                                              ++applications;
                                              asks += number_of(each, "pendingAsks");
                                              allocations += number_of(each, "allocationCount");
                                          }
                                          return std::nullopt;
                                      });
    if (failure) return *std::move(failure);
    queue["applications"] = applications;
    queue["pendingAsks"] = asks;
    queue["allocationCount"] = allocations;
    return queue;
}

Answer<Value> find(Context& context, const Wanted& wanted) {
    if (wanted.noun == "app") return find_application(context, wanted.name, 0);
    if (wanted.noun == "node") return find_node(context, wanted.name, 0);
    if (wanted.noun == "queue") return find_counted_queue(context, wanted);
    if (wanted.noun == "rm") return find_rm(context, wanted.name);
    if (wanted.noun == "ask") return find_key(context, {"asks", "allocations"}, wanted.name, wanted.application);
    return find_key(context, {"allocations"}, wanted.name, wanted.application);
}

std::string state_of(const Wanted& wanted, const Value& object) {
    if (wanted.noun == "app") return text_of(object, "applicationState");
    if (wanted.noun == "rm") return core_state_text(number_of(object, "state"));
    return node_state_text(object);
}

/// Whether an object that is still listed counts as gone: an ended application is listed for days, and an ask that
/// became an allocation is found under the same key.
bool has_left(const Wanted& wanted, const Value& object) {
    if (wanted.noun == "app") return has_ended(state_of(wanted, object));
    return wanted.noun == "ask" && object.contains("nodeId"); // only an allocation has a node
}

/// An application that has ended has nothing pending, and will never have anything.
Look look_at_count(const Wanted& wanted, const Value& object) {
    const std::string& what = wanted.count.what;
    const auto count = number_of(object, what == "pending"       ? "pendingAsks"
                                         : what == "allocations" ? "allocationCount"
                                                                 : "applications");
    const bool holds = wanted.count.holds(count);
    const bool has_ended = wanted.noun == "app" && cli::has_ended(state_of(wanted, object));
    std::string text = "has " + (what == "pending"       ? pluralize(count, "ask") + " pending"
                                 : what == "allocations" ? pluralize(count, "allocation")
                                                         : pluralize(count, "application"));
    if (has_ended) text += " and is " + state_of(wanted, object);
    return {holds, !holds && has_ended, std::move(text)};
}

Look look_at(const Wanted& wanted, const Value& object) {
    if (wanted.condition == "count") return look_at_count(wanted, object);
    if (wanted.condition == "state") {
        const std::string state = state_of(wanted, object);
        const bool is = wanted.states.count(state) != 0;
        return {is, !is && wanted.noun == "app" && has_ended(state), "is " + printable(state)};
    }
    if (wanted.condition == "empty") {
        const auto left = number_of(object, "allocationCount");
        return {left == 0, false, left == 0 ? "is empty" : "has " + pluralize(left, "allocation")};
    }
    if (wanted.condition == "present") return {true, false, "is there"};
    if (wanted.condition == "gone")
        return {has_left(wanted, object), false, has_left(wanted, object) ? "is gone" : "is there"};
    const std::string node = text_of(object, "nodeId");
    return {!node.empty(), false, node.empty() ? "is pending" : "is on " + printable(node)};
}

// --- idle ---------------------------------------------------------------------------------------

/// What an RM has to do still; empty: nothing.
std::string work_of(const Value& rm) {
    const std::string name = "RM " + printable(text_of(rm, "rmID"));
    const auto state = static_cast<si::CoreState>(number_of(rm, "state"));
    if (state == si::CoreState::Recovering) return name + " is recovering";
    if (state == si::CoreState::New || flag_of(rm, "settled")) return {}; // New: the settings alone name it
    const auto waiting = number_of(rm, "inboundItems");
    return waiting > 0 ? name + " has " + pluralize(waiting, "element") + " of updates to take" : name + " is placing";
}

/// What MCS has to do still; empty: nothing, or this daemon keeps no deployments.
Answer<std::string> work_of_mcs(Context& context) {
    const auto status = context.call(si::McsReadRequest{.what = "status"});
    if (!status.ok() && status.error().code == static_cast<std::uint32_t>(si::ErrorCode::BadState))
        return std::string{};
    if (!status.ok()) return status.error();
    if (const std::string state = text_of(*status, "state"); state != "running") return "MCS is " + printable(state);
    std::int64_t left =
        number_of(member_of(*status, "writes"), "waiting") + number_of(member_of(*status, "scheduler"), "unwritten");
    for (const Value& kind : member_of(*status, "kinds"))
        left += number_of(kind, "queued") + number_of(kind, "waiting");
    return left > 0 ? "MCS has " + pluralize(left, "change") + " to handle" : std::string{};
}

Answer<Look> look_for_work(Context& context) {
    YK_TRY(status, context.call(si::StatusRequest{}));
    for (const Value& rm : member_of(status, "rms"))
        if (std::string work = work_of(rm); !work.empty()) return Look{false, false, "not yet: " + work};
    YK_TRY(work, work_of_mcs(context));
    if (!work.empty()) return Look{false, false, "not yet: " + work};
    return Look{true, false, "nothing is left to do"};
}

} // namespace

Answer<Look> look(Context& context, const Wanted& wanted, bool seen_before) {
    if (wanted.noun == "idle") return look_for_work(context);
    const auto object = find(context, wanted);
    if (object.ok()) return look_at(wanted, *object);
    if (object.error().exit != Exit::NotFound) return object.error();
    if (wanted.condition == "gone") return Look{true, false, "is gone"};
    if (wanted.noun == "alloc" || wanted.condition == "present") return Look{false, false, "is not there"};
    if (seen_before) return Look{false, true, "is gone"};
    return object.error();
}

} // namespace yk::cli
