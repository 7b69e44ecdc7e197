// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/send_change.h"

#include <fmt/format.h>

#include "ykctl/render/text.h"

namespace yk::cli {

Failure with_way_out(Failure failure, const std::string& kind) {
    if (!failure.hints.empty()) return failure;
    if (failure.exit == Exit::NotFound)
        failure.hints = {"which are there?  ykctl " + std::string{kind == "node" ? "mcs " : ""} + kind + " list"};
    if (failure.name == "E_BUSY") failure.hints = {"what is wrong?  ykctl mcs status"};
    return failure;
}

Answer<void> check_queue(Context& context, const wire::Value& item, const si::McsBody& body) {
    const std::string queue = body.queue.value_or("");
    if (queue.empty() || queue == text_of(item, "queue")) return {};
    const auto status = context.call(si::McsReadRequest{.what = "status"});
    if (!status.ok()) return status.error();
    si::ExplainRequest query{.what = "placement", .partition = text_of(item, "partition"), .queue = queue};
    query.rm_id = text_of(member_of(*status, "scheduler"), "rmID");
    query.user = body.user.value_or(text_of(item, "user"));
    if (body.groups)
        query.groups = *body.groups;
    else
        for (const auto& group : member_of(item, "groups")) query.groups.push_back(group.get<std::string>());
    const auto answer = context.call(query);
    if (!answer.ok() || text_of(*answer, "verdict") != "REJECTED") return {};
    return Failure{Exit::Refused,
                   fmt::format("{} stays as it is, since it would not be placed in queue {}: {}",
                               printable(text_of(item, "name")), printable(queue),
                               printable(text_of(member_of(*answer, "details"), "reason"))),
                   {fmt::format("why?  ykctl -r {} explain placement --user {} --queue {}", printable(query.rm_id),
                                printable(query.user), printable(queue))},
                   0,
                   {},
                   {}};
}

Answer<wire::Value> send_change(Context& context, const si::McsWriteRequest& request, const std::string& done) {
    auto reply = context.call(request);
    if (!reply.ok()) return with_way_out(std::move(reply).error(), request.kind);
    const std::string name = text_of(*reply, reply->contains("name") ? "name" : "id");
    YK_CHECKED(context.show_item(
        *reply, name,
        context.settings().quiet ? std::string{} : fmt::format("{} {} {}\n", request.kind, printable(name), done)));
    return reply;
}

} // namespace yk::cli
