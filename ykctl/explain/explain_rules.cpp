// SPDX-License-Identifier: Apache-2.0
// The commands explain placement and explain queue: what the configuration means for an application, and for a queue.

#include "ykctl/explain/explain_rules.h"

#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "ykctl/cli/values.h"
#include "ykctl/explain/explain_kinds.h"
#include "ykctl/render/table.h"
#include "ykctl/render/text.h"
#include "ykctl/rm/rm_serve.h"

namespace yk::cli {
namespace {

using wire::Value;

std::string list_text(const Value& list) {
    std::vector<std::string> names;
    for (const auto& name : list)
        if (name.is_string()) names.push_back(printable(name.get<std::string>()));
    return join(names, ", ");
}

std::string value_text(const std::string& name, const Value& value) {
    if (value.is_null()) return name == "guaranteed" ? "none" : "unlimited";
    if (value.is_string()) return printable(value.get<std::string>());
    if (value.is_number()) return name == "maxapplications" && value == 0 ? "unlimited" : value.dump();
    if (name != "childtemplate") return resource_text(value);
    std::vector<std::string> parts;
    if (number_of(value, "maxapplications") > 0)
        parts.push_back(fmt::format("maxapplications {}", number_of(value, "maxapplications")));
    for (const char* key : {"guaranteed", "max"})
        if (!member_of(value, key).empty())
            parts.push_back(std::string{key} + " " + resource_text(member_of(value, key)));
    for (const auto& [key, text] : member_of(value, "properties").items())
        if (text.is_string()) parts.push_back(printable(key) + "=" + printable(text.get<std::string>()));
    for (const char* key : {"applytoexisting", "inheritproperties"})
        if (flag_of(value, key)) parts.emplace_back(key);
    return parts.empty() ? "sets nothing" : join(parts, ", ");
}

// --- placement ----------------------------------------------------------------------------------------------------

struct PlacementOptions {
    std::string user;
    std::vector<std::string> groups, tags;
    std::optional<std::string> queue, file;
};

std::string steps_text(const Value& steps, const Style& style) {
    Table table{{{"RULE"}, {"RESULT"}, {"WHY"}}};
    for (const auto& step : steps) {
        const auto code = text_of(step, "code");
        const auto queue = printable(text_of(step, "queue"));
        const auto why = printable(text_of(step, "text"));
        table.add({printable(text_of(step, "object")), code == "CHOSEN" ? style.green(code) : style.yellow(code),
                   or_dash(why.empty() ? queue : why)});
    }
    return table.empty() ? std::string{} : table.text(style);
}

std::string placement_text(const Value& answer, const Style& style) {
    const auto& details = member_of(answer, "details");
    std::string text = "user " + or_dash(printable(text_of(details, "user")));
    if (const auto groups = list_text(member_of(details, "groups")); !groups.empty())
        text += " (groups " + groups + ")";
    const auto& steps = member_of(answer, "reasons");
    if (text_of(answer, "verdict") == "PLACED") {
        text += " is placed in queue " + style.green(printable(text_of(details, "queue")));
        const auto created = list_text(member_of(details, "creates"));
        text += created.empty() ? "\n" : ", made for it: " + created + "\n";
        return text + steps_text(steps, style);
    }
    text += " is " + style.red("REJECTED");
    if (steps.empty()) text += ": " + printable(text_of(details, "reason"));
    return text + "\n" + steps_text(steps, style);
}

Outcome explain_placement(Context& context, const PlacementOptions& options) {
    YK_TRY(tags, parse_pairs(options.tags, "--tag"));
    si::ExplainRequest query{.what = "placement", .queue = options.queue.value_or(std::string{}), .user = options.user};
    query.groups = split_lists(options.groups);
    query.tags = tags;
    if (options.file) {
        YK_TRY(text, read_configuration(context, *options.file));
        query.config = std::move(text);
    }
    const auto answer = ask_to_explain(context, std::move(query));
    if (!answer.ok()) return options.file ? with_problems(answer.error(), shown_name(*options.file)) : answer.error();
    return context.show_item(*answer, text_of(member_of(*answer, "details"), "queue"),
                             placement_text(*answer, context.style()));
}

// --- queue --------------------------------------------------------------------------------------------------------

std::string queue_text(const Value& answer, const Style& style) {
    const auto& details = member_of(answer, "details");
    std::string text =
        fmt::format("queue {} ({}) is {}", printable(text_of(details, "queue")),
                    flag_of(details, "isLeaf") ? "leaf" : "parent", printable(text_of(answer, "verdict")));
    for (const auto& reason : member_of(answer, "reasons")) text += ": " + printable(text_of(reason, "text"));
    Table table{{{"SETTING"}, {"VALUE"}, {"FROM"}}};
    for (const auto& value : member_of(details, "values")) {
        const auto name = text_of(value, "name");
        table.add({printable(name), or_dash(value_text(name, member_of(value, "value"))),
                   or_dash(printable(text_of(value, "from")))});
    }
    return text + "\n" + table.text(style);
}

Outcome explain_queue(Context& context, const std::string& path) {
    YK_TRY(answer, ask_to_explain(context, {.what = "queue", .queue = path}));
    return context.show_item(answer, path, queue_text(answer, context.style()));
}

} // namespace

std::vector<std::string> split_groups(const std::vector<std::string>& texts) {
    std::vector<std::string> groups;
    for (const std::string& text : texts) {
        for (std::size_t start = 0; start <= text.size();) {
            const std::size_t end = std::min(text.find(',', start), text.size());
            if (end > start) groups.push_back(text.substr(start, end - start));
            start = end + 1;
        }
    }
    return groups;
}

void define_explain_rules(Command explain, Context& context) {
    const auto queue = explain.sub("queue", "each effective value of a queue and where it comes from");
    const auto path = std::make_shared<std::string>();
    queue.option("PATH", *path, "full path, such as root.a.b").required();
    queue.run([&context, path] { return explain_queue(context, *path); });

    const auto placement = explain.sub("placement", "which queue an application would get, rule by rule");
    const auto options = std::make_shared<PlacementOptions>();
    placement.option("--user", options->user, "who submits it").value("USER").required();
    placement.option("--group", options->groups, "its groups, default what the daemon's resolver knows").value("GROUP");
    placement.option("--tag", options->tags, "a tag of the application").value("KEY=VALUE");
    placement.option("--queue", options->queue, "the queue it asks for").value("QUEUE");
    placement
        .option("-f,--file", options->file, "by this configuration instead of the running one; - is standard input")
        .value("FILE");
    placement.run([&context, options] { return explain_placement(context, *options); });
}

} // namespace yk::cli
