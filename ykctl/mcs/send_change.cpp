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
