// SPDX-License-Identifier: Apache-2.0
// The command log level: the levels of the loggers of the daemon, and their change while it runs.

#include <algorithm>
#include <ostream>

#include "ykctl/cli/suggest.h"
#include "ykctl/client/states.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

const std::vector<std::string> kLevels{"debug", "info", "warn", "error", "fatal"};
constexpr const char* kDefault = "default"; // what extraConfig says, as if no level had been set
constexpr const char* kAll = "all";         // stands for loggers without a level of their own

std::string logger_name(const Value& item) {
    const auto name = text_of(item, "logger");
    return name.empty() ? kAll : name;
}

ListLayout level_layout() {
    return {{{{"LOGGER"}, [](const Value& item) { return printable(logger_name(item)); }},
             text_column("LEVEL", "level"),
             {{"SET"}, [](const Value& item) { return std::string{flag_of(item, "set") ? "yes" : "-"}; }}},
            logger_name,
            "the daemon has no loggers"};
}

Answer<std::vector<Value>> all_levels(Context& context) {
    YK_TRY(pages, context.dump("loglevels"));
    std::vector<Value> items;
    for (const auto& page : pages) items.insert(items.end(), page.begin(), page.end());
    return items;
}

struct LevelOptions {
    std::optional<std::string> logger;
    std::optional<std::string> level;
};

/// The levels of all loggers, or of one, which the daemon has to know.
Answer<std::vector<Value>> levels_of(Context& context, const std::optional<std::string>& logger) {
    YK_TRY(items, all_levels(context));
    if (!logger) return items;
    std::vector<std::string> names;
    for (const auto& item : items) {
        names.push_back(logger_name(item));
        if (names.back() == *logger) return std::vector<Value>{item};
    }
    const bool is_level = std::find(kLevels.begin(), kLevels.end(), *logger) != kLevels.end();
    return not_found(
        "there is no logger '" + *logger + "'" + did_you_mean(*logger, names),
        {is_level ? "of all loggers?  ykctl log level all " + *logger : "which are there?  ykctl log level"});
}

Outcome log_level(Context& context, const LevelOptions& options) {
    if (options.level) {
        YK_TRY(known, levels_of(context, options.logger));
        const auto logger = text_of(known.front(), "logger");
        const auto key = logger.empty() ? std::string{"log.level"} : "log." + logger + ".level";
        const auto level = *options.level == kDefault ? std::string{} : *options.level;
        YK_TRY(done, context.call(si::SetExtraConfigRequest{{{{key, level}}}}));
        if (!flag_of(done, "kept"))
            context.note("until the daemon ends; to keep it, say " + key +
                         " in extraConfig, or start ykd with --state");
        else if (!level.empty())
            context.note("also after a restart; back to what extraConfig says:  ykctl log level " +
                         options.logger.value_or(kAll) + " " + kDefault);
    }
    YK_TRY(items, levels_of(context, options.logger));
    return context.show_list(std::move(items), level_layout());
}

} // namespace

void define_log(Command root, Context& context) {
    const auto log = root.sub("log", "the daemon's log: how much its loggers say");
    const auto level = log.sub("level", "the levels in force; with LEVEL, set one");
    const auto options = std::make_shared<LevelOptions>();
    level.option("LOGGER", options->logger, "such as core.config; all: those without a level of their own");
    auto choices = kLevels;
    choices.emplace_back(kDefault);
    level.option("LEVEL", options->level, "the level that it gets from now on; default: that of extraConfig")
        .choices(choices);
    level.run([&context, options] { return log_level(context, *options); });
}

} // namespace yk::cli
