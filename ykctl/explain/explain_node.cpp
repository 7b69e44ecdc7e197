// SPDX-License-Identifier: Apache-2.0
// The command explain node: why nothing is placed on it.

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/client/watch.h"
#include "ykctl/explain/explain_kinds.h"
#include "ykctl/render/table.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

std::string applications_text(const Value& applications) {
    std::vector<std::string> parts;
    for (const auto& one : applications)
        parts.push_back(
            fmt::format("{} ({})", printable(text_of(one, "applicationID")), number_of(one, "allocations")));
    return or_dash(join(parts, ", "));
}

std::string reservation_text(const Value& one) {
    return fmt::format("{} of app {} (queue {}): {}", printable(text_of(one, "allocationKey")),
                       printable(text_of(one, "applicationID")), printable(text_of(one, "queue")),
                       resource_text(member_of(one, "resource")));
}

/// How many pending asks the node could take: `5 pending asks could go there, 2 fit now`.
std::string pending_text(const Value& pending) {
    const auto asks = number_of(pending, "asks");
    if (asks == 0) return "no ask is pending that could go there";
    const auto fitting = number_of(pending, "fitting");
    return fmt::format("{} could go there, {} {} now", pluralize(asks, "pending ask"), fitting,
                       fitting == 1 ? "fits" : "fit");
}

Answer<Shown> explain_node(Context& context, const std::string& id) {
    YK_TRY(answer, ask_to_explain(context, {.what = "node", .node = id}));
    return Shown{answer, text_of(answer, "verdict"), node_explanation_text(answer, context.style())};
}

} // namespace

std::string node_explanation_text(const Value& answer, const Style& style) {
    const auto& details = member_of(answer, "details");
    std::vector<std::pair<std::string, std::string>> fields;
    for (const char* name : {"capacity", "occupied", "allocated", "available"})
        fields.emplace_back(name, resource_text(member_of(details, name)));
    fields.emplace_back("allocations", fmt::format("{}, and {} foreign", number_of(details, "allocations"),
                                                   number_of(details, "foreign")));
    fields.emplace_back("applications", applications_text(member_of(details, "applications")));
    for (const auto& one : member_of(details, "reservations"))
        fields.emplace_back("reserved for", reservation_text(one));
    return fmt::format("node {} is {}; {}\n", printable(text_of(details, "nodeID")),
                       verdict_text(style, text_of(answer, "verdict")), pending_text(member_of(details, "pending"))) +
           reasons_text(member_of(answer, "reasons"), Value(), style) + fields_text(fields, style);
}

void define_explain_node(Command explain, Context& context) {
    const auto node = explain.sub("node", "why a node takes nothing");
    const auto id = std::make_shared<std::string>();
    node.option("NODE", *id, "name of the node").required();
    define_show_and_watch(node, context, [&context, id] { return explain_node(context, *id); });
}

} // namespace yk::cli
