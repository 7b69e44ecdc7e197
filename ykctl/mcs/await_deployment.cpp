// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/await_deployment.h"

#include <fmt/format.h>

#include <optional>

#include "libcore/base/pluralize.h"
#include "ykctl/client/states.h"
#include "ykctl/mcs/wait_until.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

Failure not_placed(const Value& deployment, std::chrono::milliseconds limit) {
    const Value& schedule = member_of(deployment, "schedule");
    const std::string name = printable(text_of(deployment, "name"));
    const std::string message = printable(text_of(schedule, "message"));
    return unsatisfied(fmt::format("deployment {} has {} of {} replicas placed after {}{}", name,
                                   number_of(schedule, "placed"), number_of(member_of(deployment, "scale"), "desired"),
                                   duration_text(limit), message.empty() ? "" : ": " + message),
                       "why?  ykctl deployment show " + name);
}

Failure not_begun(const Value& deployment, const std::string& what) {
    const std::string name = printable(text_of(deployment, "name"));
    return unsatisfied(fmt::format("deployment {} is placed, but {}", name, what),
                       "which?  ykctl deployment show " + name);
}

} // namespace

CommandsLook look_at_commands(const Value& deployment) {
    CommandsLook found;
    for (const Value& placement : member_of(member_of(deployment, "schedule"), "placements")) {
        const Value& command = member_of(placement, "command");
        const std::string state = text_of(command, "state");
        if (state == "waiting") ++found.waiting;
        if (state == "refused" && found.refused++ == 0) found.why = text_of(command, "why");
    }
    return found;
}

bool is_settled(const Value& deployment) {
    const Value& scale = member_of(deployment, "scale");
    const Value& schedule = member_of(deployment, "schedule");
    if (!scale.is_object() || !schedule.is_object()) return false;
    const std::int64_t desired = number_of(scale, "desired");
    return number_of(scale, "observedGeneration") >= number_of(deployment, "generation") &&
           number_of(schedule, "desired") == desired && number_of(schedule, "placed") == desired &&
           text_of(schedule, "state") == "Scheduled" && flag_of(schedule, "current");
}

Outcome wait_until_placed(Context& context, const ChangedDeployment& changed, std::chrono::milliseconds limit) {
    return wait_until(context, limit, [&]() -> Answer<std::optional<Failure>> {
        YK_TRY(reply, context.call(si::McsReadRequest{.what = "describe", .kind = "deployment", .id = changed.id}));
        const Value& item = member_of(reply, "item");
        if (number_of(item, "version") < changed.version || !is_settled(item))
            return std::optional{not_placed(item, limit)};
        const auto commands = look_at_commands(item);
        if (commands.refused > 0)
            return not_begun(
                item, fmt::format("{} refused: {}", pluralize(commands.refused, "command"), printable(commands.why)));
        if (commands.waiting > 0)
            return std::optional{
                not_begun(item, fmt::format("{} not begun after {}", pluralize(commands.waiting, "command"),
                                            duration_text(limit)))};
        return std::optional<Failure>{};
    });
}

Outcome wait_until_gone(Context& context, const Value& deleted, std::chrono::milliseconds limit) {
    const Value& schedule = member_of(deleted, "schedule");
    if (!schedule.is_object()) return Exit::Ok;
    const std::string application = text_of(schedule, "applicationID");
    const si::DumpRequest request{
        .what = "app", .rm_id = text_of(schedule, "rmID"), .brief = true, .application = application};
    return wait_until(context, limit, [&]() -> Answer<std::optional<Failure>> {
        const auto reply = context.call(request);
        if (!reply.ok() && reply.error().exit == Exit::NotFound) return std::optional<Failure>{};
        if (!reply.ok()) return reply.error();
        return std::optional{unsatisfied(fmt::format("deployment {} still has its application after {}",
                                                     printable(text_of(deleted, "name")), duration_text(limit)),
                                         "what is left?  ykctl app show " + application)};
    });
}

Outcome wait_until_deleted(Context& context, const std::string& name, std::chrono::milliseconds limit) {
    const si::McsReadRequest request{.what = "describe", .kind = "deployment", .id = name};
    return wait_until(context, limit, [&]() -> Answer<std::optional<Failure>> {
        const auto reply = context.call(request);
        if (!reply.ok() && reply.error().exit == Exit::NotFound) return std::optional<Failure>{};
        if (!reply.ok()) return reply.error();
        return std::optional{
            unsatisfied(fmt::format("deployment {} is there after {}", printable(name), duration_text(limit)),
                        "what deletes it?  ykctl deployment delete " + printable(name))};
    });
}

} // namespace yk::cli
