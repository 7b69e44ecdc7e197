// SPDX-License-Identifier: Apache-2.0
// The command config diff.

#include <filesystem>

#include "libcore/config/diff.h"
#include "libcore/config_yaml/load.h"
#include "ykctl/cli/values.h"
#include "ykctl/config/config_change.h"
#include "ykctl/config/config_commands.h"
#include "ykctl/config/history.h"
#include "ykctl/render/text.h"
#include "ykctl/rm/rm_serve.h"

namespace yk::cli {
namespace {

using wire::Value;

/// The text of a file, or of a configuration of the history when there is no file of that name.
Answer<std::string> file_or_kept(Context& context, const std::string& name) {
    std::error_code ignored;
    const bool is_checksum = name.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (!is_checksum || name.empty() || std::filesystem::exists(name, ignored))
        return read_configuration(context, name);
    return kept_text(context, name);
}

/// Shows what a reload of the daemon's own file would change.
Outcome diff_own(Context& context) {
    YK_TRY(rm, context.rm());
    si::UpdateConfigurationRequest request;
    request.rm_id = rm.id;
    request.dry_run = true;
    auto reply = context.call_for_rm(std::move(request));
    if (!reply.ok()) return with_problems(std::move(reply).error(), {});
    const auto& changes = member_of(*reply, "changes");
    show_changes(context, {changes.begin(), changes.end()});
    return changes.empty() ? Exit::Ok : Exit::Different;
}

/// The changes from what is active to one that is named.
Outcome diff_active(Context& context, const std::string& name) {
    YK_TRY(text, file_or_kept(context, name));
    YK_TRY(changes, changes_by(context, text, shown_name(name)));
    show_changes(context, changes.list);
    if (!changes.refusal.empty())
        return Failure{Exit::Refused, name + ": a reload would be refused: " + changes.refusal, {}, 0, {}, {}};
    return changes.list.empty() ? Exit::Ok : Exit::Different;
}

Answer<config::Configuration> loaded(Context& context, const std::string& name) {
    YK_TRY(text, file_or_kept(context, name));
    auto outcome = config_yaml::load_or_default(text, shown_name(name));
    if (!outcome.configuration) return usage_error(outcome.first_error().text());
    return *std::move(outcome.configuration);
}

/// The changes from one to another, whatever is active.
Outcome diff_two(Context& context, const std::string& before, const std::string& now) {
    YK_TRY(old_one, loaded(context, before));
    YK_TRY(new_one, loaded(context, now));
    std::vector<Value> changes;
    for (const config::Difference& one : config::diff(old_one, new_one))
        changes.push_back({{"kind", config::kind_name(one.kind)},
                           {"partition", one.partition},
                           {"path", one.path},
                           {"old", one.old_value},
                           {"new", one.new_value},
                           {"text", one.text}});
    show_changes(context, changes);
    return changes.empty() ? Exit::Ok : Exit::Different;
}

} // namespace

void define_config_diff(Command config, Context& context) {
    const auto command = config.sub("diff", "what a reload would change, or between two; exit 8 when something");
    const auto names = std::make_shared<std::vector<std::string>>();
    command
        .option("FILE", *names,
                "the new configuration, default the daemon's file: a file, - for standard input, or a checksum of the "
                "history; of two the first is the old one")
        .value("FILE");
    command.run([&context, names]() -> Outcome {
        if (names->empty()) return diff_own(context);
        if (names->size() == 1) return diff_active(context, names->front());
        if (names->size() > 2) return usage_error("config diff: at most two, the old one and the new one");
        return diff_two(context, names->front(), names->back());
    });
}

} // namespace yk::cli
