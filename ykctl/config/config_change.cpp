// SPDX-License-Identifier: Apache-2.0
#include "ykctl/config/config_change.h"

#include <ostream>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/render/text.h"

namespace yk::cli {

using wire::Value;

Answer<ConfigChanges> changes_by(Context& context, const std::string& text, const std::string& name) {
    YK_TRY(rm, context.rm());
    YK_TRY(reply, context.call(si::ValidateConfigurationRequest{.config = text, .rm_id = rm.id, .diff = true}));
    const auto& list = member_of(reply, "changes");
    if (!flag_of(reply, "allowed") && list.empty()) {
        const auto& problems = member_of(reply, "problems");
        if (!problems.empty()) return config_refused({}, name, problems);
        return Failure{Exit::Refused, name + ": " + text_of(reply, "reason"), {}, 0, {}, {}};
    }
    return ConfigChanges{{list.begin(), list.end()},
                         flag_of(reply, "allowed") ? std::string{} : text_of(reply, "reason")};
}

void show_changes(Context& context, const std::vector<Value>& changes) {
    if (context.machine_readable()) {
        context.out() << list_text(changes, {}, context.format(), {});
        return;
    }
    for (const auto& change : changes) context.out() << change_line(change, context.style());
    if (!context.settings().quiet) {
        context.out() << (changes.empty() ? "no changes\n" : pluralize(changes.size(), "change") + "\n");
    }
}

std::string change_line(const Value& change, const Style& style) {
    const auto text = text_of(change, "text");
    if (!text.empty()) return printable(text) + "\n";
    const auto shown = [](const Value& value) {
        if (value.is_null()) return std::string{"-"};
        return value.is_string() ? printable(value.get<std::string>()) : printable(value.dump());
    };
    return fmt::format("{} {}: {} -> {}\n", style.bold(printable(text_of(change, "kind"))),
                       printable(text_of(change, "path")), shown(member_of(change, "old")),
                       shown(member_of(change, "new")));
}

void print_warnings(Context& context, const Value& reply) {
    for (const auto& problem : member_of(reply, "problems"))
        context.note(fmt::format("warning: {}:{}: {}", number_of(problem, "line"), number_of(problem, "column"),
                                 printable(text_of(problem, "path") + ": " + text_of(problem, "message"))));
}

Outcome update_configuration(Context& context, si::UpdateConfigurationRequest request) {
    YK_TRY(rm, context.rm());
    request.rm_id = rm.id;
    const bool dry_run = request.dry_run;
    YK_TRY(reply, context.call_for_rm(std::move(request)));
    print_warnings(context, reply);
    if (dry_run) {
        const auto& changes = member_of(reply, "changes");
        show_changes(context, {changes.begin(), changes.end()});
        return Exit::Ok;
    }
    if (const auto file = text_of(reply, "notFollowed"); !file.empty())
        context.note(printable(
            fmt::format("{} no longer follows {}; back to the file:  {}", rm.id, file, text_of(reply, "wayBack"))));
    const auto text = flag_of(reply, "changed") ? "configuration of " + printable(rm.id) + " reloaded\n"
                                                : "configuration of " + printable(rm.id) + " unchanged\n";
    return context.show_item(reply, text_of(reply, "checksum"), context.settings().quiet ? std::string{} : text);
}

} // namespace yk::cli
