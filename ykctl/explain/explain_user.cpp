// SPDX-License-Identifier: Apache-2.0
// The command explain user: what a user, and the group that applies, may still use at each queue up to the root (B-09).

#include <fmt/format.h>

#include "ykctl/client/watch.h"
#include "ykctl/explain/explain_kinds.h"
#include "ykctl/render/table.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

std::string bounds_text(const Value& bounds) {
    return bounds.is_object() ? resource_text(bounds) : "unlimited";
}

std::string applications_text(const Value& level) {
    const auto max = number_of(level, "maxApplications");
    return fmt::format("{}/{}", number_of(level, "running"), max == 0 ? std::string{"-"} : std::to_string(max));
}

/// The entry of a limit that applies: that of the user or group, or the one for everybody.
std::string entry_text(const Value& level) {
    return or_dash(printable(text_of(level, "entry")));
}

std::string levels_text(const Value& levels, const Style& style) {
    Table table{{{"QUEUE"}, {"WHO"}, {"ENTRY"}, {"MAX"}, {"USED"}, {"HEADROOM"}, {"APPS run/max"}}};
    for (const auto& level : levels)
        table.add({printable(text_of(level, "queue")),
                   printable(text_of(level, "kind")) + " " + printable(text_of(level, "name")), entry_text(level),
                   bounds_text(member_of(level, "max")), resource_text(member_of(level, "used")),
                   bounds_text(member_of(level, "headroom")), applications_text(level)});
    return table.text(style);
}

std::string group_text(const Value& details) {
    const auto group = printable(text_of(details, "group"));
    if (group.empty()) return "counts for no group";
    return fmt::format("counts for group {} (limits of {})", group, printable(text_of(details, "groupFrom")));
}

struct UserOptions {
    std::string user, path;
    std::vector<std::string> groups;
};

Answer<Shown> explain_user(Context& context, const UserOptions& options) {
    YK_TRY(answer,
           ask_to_explain(
               context,
               {.what = "user", .queue = options.path, .user = options.user, .groups = split_groups(options.groups)}));
    return Shown{answer, text_of(answer, "verdict"), user_explanation_text(answer, context.style())};
}

} // namespace

std::string user_explanation_text(const Value& answer, const Style& style) {
    const auto& details = member_of(answer, "details");
    auto text = fmt::format("user {} in queue {}{} is {}; {}\n", printable(text_of(details, "user")),
                            printable(text_of(details, "queue")), flag_of(details, "exists") ? "" : " (not made yet)",
                            verdict_text(style, text_of(answer, "verdict")), group_text(details));
    if (const auto fault = text_of(details, "fault"); !fault.empty())
        text += "an application of this user would be rejected: " + printable(fault) + "\n";
    text += reasons_text(member_of(answer, "reasons"), Value(), style);
    text += levels_text(member_of(details, "levels"), style);
    return text + "headroom of all levels: " + bounds_text(member_of(details, "headroom")) + "\n";
}

void define_explain_user(Command explain, Context& context) {
    const auto user = explain.sub("user", "what a user may still use at each queue up to the root");
    const auto options = std::make_shared<UserOptions>();
    user.option("USER", options->user, "name of the user").required();
    user.option("PATH", options->path, "full path of the queue, which need not be there yet").required();
    user.option("--group", options->groups, "the user's groups, default what the daemon's resolver knows")
        .value("GROUP");
    define_show_and_watch(user, context, [&context, options] { return explain_user(context, *options); });
}

} // namespace yk::cli
