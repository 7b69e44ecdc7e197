// SPDX-License-Identifier: Apache-2.0
// The commands config history and config rollback.

#include "ykctl/config/history.h"

#include <algorithm>

#include "ykctl/client/states.h"
#include "ykctl/config/config_change.h"
#include "ykctl/config/config_commands.h"
#include "ykctl/render/text.h"

namespace yk::cli {

using wire::Value;

Answer<std::vector<Value>> history_of(Context& context) {
    YK_TRY(pages, context.dump("confighistory"));
    std::vector<Value> entries;
    for (const auto& page : pages) entries.insert(entries.end(), page.begin(), page.end());
    return entries;
}

Answer<std::string> kept_text(Context& context, const std::string& checksum) {
    YK_TRY(rm, context.rm());
    si::DumpRequest query{.rm_id = rm.id};
    if (!checksum.empty()) query.names = {checksum};
    YK_TRY(pages, context.dump("configtext", query));
    for (const Value& page : pages)
        for (const Value& each : page) return text_of(each, "text");
    return not_found("no configuration " + printable(checksum) + " of RM " + printable(rm.id) + " is kept",
                     {"which are?  ykctl config history"});
}

namespace {

ListLayout history_layout() {
    const auto checksum = [](const Value& entry) { return text_of(entry, "checksum").substr(0, 12); };
    return {{{{"CHECKSUM"}, checksum},
             {{"SINCE"}, [](const Value& entry) { return time_text(number_of(entry, "at")); }},
             {{"ACTIVE"}, [](const Value& entry) { return flag_of(entry, "active") ? "yes" : "no"; }},
             text_column("ORIGIN", "origin"),
             text_column("RM", "rmID"),
             number_column("BYTES", "bytes", true)},
            checksum,
            "no configuration was loaded yet"};
}

Outcome show_history(Context& context) {
    YK_TRY(entries, history_of(context));
    return context.show_list(entries, history_layout());
}

struct RollbackOptions {
    std::optional<std::string> checksum;
    std::string message;
    bool dry_run = false;
};

/// Goes back to the configuration with a checksum; without one, to the configuration before the current one.
Outcome roll_back(Context& context, const RollbackOptions& options) {
    si::UpdateConfigurationRequest request;
    request.dry_run = options.dry_run;
    request.message = options.message;
    request.checksum = options.checksum;
    if (options.checksum) return update_configuration(context, std::move(request));
    YK_TRY(rm, context.rm());
    YK_TRY(entries, history_of(context));
    entries.erase(std::remove_if(entries.begin(), entries.end(),
                                 [&](const Value& entry) { return text_of(entry, "rmID") != rm.id; }),
                  entries.end());
    if (entries.size() < 2)
        return not_found("there is no configuration before the active one", {"which are kept?  ykctl config history"});
    request.checksum = text_of(entries[1], "checksum");
    return update_configuration(context, std::move(request));
}

} // namespace

void define_config_history(Command config, Context& context) {
    config.sub("history", "the configurations that were active, newest first").run([&context] {
        return show_history(context);
    });
    const auto rollback = config.sub("rollback", "go back to a configuration of the history");
    const auto options = std::make_shared<RollbackOptions>();
    rollback.option("CHECKSUM", options->checksum,
                    "its checksum or how it begins, default: the one before the active one");
    rollback.option("-m,--message", options->message, "why, for config history");
    rollback.flag("--dry-run", options->dry_run, "only say what it would change");
    rollback.run([&context, options] { return roll_back(context, *options); });
}

} // namespace yk::cli
