// SPDX-License-Identifier: Apache-2.0
// The command config: show, view-client, and the commands of the files beside this one.

#include "ykctl/config/config_commands.h"

#include <ostream>
#include <sstream>

#include "libcore/config_yaml/dump.h"
#include "libcore/config_yaml/load.h"
#include "ykctl/client/states.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/go_config.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

/// The configuration in a dump of the daemon; nullopt when this ykctl does not understand it.
std::optional<config::Configuration> configuration_of(const Value& page) {
    auto loaded = config_yaml::load(yaml_text({{"partitions", member_of(page, "partitions")}}), "config");
    if (loaded.configuration) loaded.configuration->checksum = text_of(page, "checksum");
    return std::move(loaded.configuration);
}

/// The canonical text of a configuration: loading it gives the same tree and the same text again (C-473). What is not
/// part of the configuration is written in comments.
std::string canonical_text(const Value& page) {
    const auto configuration = configuration_of(page);
    if (!configuration) return yaml_text(page);
    auto text = config_yaml::dump(*configuration);
    if (const auto& extra = member_of(page, "extra"); !extra.empty()) {
        std::istringstream lines{yaml_text({{"extra", extra}})};
        for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
    }
    return text;
}

/// Prints the configuration in the JSON form of yunikorn-core, with Go style names (C-474).
std::optional<Failure> show_go_form(Context& context, const Value& page) {
    const auto configuration = configuration_of(page);
    if (!configuration)
        return Failure{Exit::Refused, "the daemon shows a configuration that this ykctl does not know", {}, 0, {}, {}};
    context.out() << json_line(go_configuration(*configuration, member_of(page, "extra")));
    return std::nullopt;
}

Outcome show_config(Context& context, bool go_form) {
    YK_TRY(pages, context.dump("config"));
    if (pages.size() == 1 && pages.front().is_array()) // several RMs
        pages = {pages.front().begin(), pages.front().end()};
    for (const auto& page : pages) {
        if (go_form) {
            if (auto failure = show_go_form(context, page)) return *failure;
            continue;
        }
        const auto name = context.settings().rm.value_or(text_of(page, "rmID"));
        const auto text = context.machine_readable() ? std::string{} : canonical_text(page);
        const auto heading = pages.size() > 1 ? "# RM " + printable(text_of(page, "rmID")) + "\n" : std::string{};
        YK_TRY(shown, context.show_item(page, name, heading + text));
        if (shown != Exit::Ok) return shown;
    }
    return Exit::Ok;
}

Outcome view_client(Context& context) {
    std::vector<Value> items;
    for (const auto& [name, value, source] : context.settings().origins)
        items.push_back({{"name", name}, {"value", value}, {"source", source}});
    return context.show_list(std::move(items), {{text_column("SETTING", "name"), text_column("VALUE", "value"),
                                                 text_column("FROM", "source")},
                                                [](const Value& item) { return text_of(item, "name"); },
                                                ""});
}

} // namespace

void define_config(Command root, Context& context) {
    const auto config = root.sub("config", "the queue configuration: look at, check, compare, reload, go back");
    const auto show = config.sub("show", "the running configuration with its checksum");
    const auto go_form = std::make_shared<bool>(false);
    show.flag("--go-json", *go_form, "in the JSON form of yunikorn-core's REST interface");
    show.run([&context, go_form] { return show_config(context, *go_form); });
    define_config_check(config, context);
    define_config_diff(config, context);
    define_config_reload(config, context);
    define_config_edit(config, context);
    define_config_history(config, context);
    config.sub("view-client", "the settings of ykctl itself, and where each comes from").run([&context] {
        return view_client(context);
    });
}

} // namespace yk::cli
