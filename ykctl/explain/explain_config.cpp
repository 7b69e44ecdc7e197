// SPDX-License-Identifier: Apache-2.0
// The command explain config: where a value of the configuration, or of extraConfig, comes from.

#include <algorithm>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/explain/explain_kinds.h"
#include "ykctl/render/table.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

/// A value as YAML on one line: `{memory: 32Gi, vcore: 8}`.
std::string written_text(const Value& value) {
    if (value.is_null()) return "null";
    if (value.is_string()) return printable(value.get<std::string>());
    std::vector<std::string> parts;
    for (const auto& [key, each] : value.items())
        parts.push_back(value.is_object() ? printable(key) + ": " + written_text(each) : written_text(each));
    return value.is_object() ? "{" + join(parts, ", ") + "}" : "[" + join(parts, ", ") + "]";
}

/// The value at the path; only its keys when it is too long.
std::string there_text(const Value& details) {
    if (details.contains("value")) return written_text(details["value"]);
    if (details.contains("keys")) return "the keys " + written_text(details["keys"]);
    return pluralize(number_of(details, "entries"), "item") + " of a list";
}

bool all_are(const Value& map, bool (Value::*is)() const noexcept) {
    return map.is_object() && !map.empty() &&
           std::all_of(map.begin(), map.end(), [is](const Value& each) { return (each.*is)(); });
}

std::string force_text(const Value& value) {
    if (all_are(value, &Value::is_number)) return named_resource_text(value);
    if (all_are(value, &Value::is_string)) return written_text(value);
    if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
    if (value.is_number()) return value.dump();
    if (!value.is_object()) return written_text(value);
    std::vector<std::string> parts; // of a child template
    for (const auto& [name, each] : value.items())
        if (!each.empty()) parts.push_back(printable(name) + " " + force_text(each));
    return or_dash(join(parts, ", "));
}

Outcome explain_config(Context& context, const std::string& path) {
    YK_TRY(answer, ask_to_explain(context, {.what = "config", .config = path}));
    return context.show_item(answer, text_of(answer, "verdict"),
                             config_explanation_text(answer, path, context.style()));
}

} // namespace

std::string config_explanation_text(const Value& answer, const std::string& path, const Style& style) {
    const auto& details = member_of(answer, "details");
    std::vector<std::pair<std::string, std::string>> fields;
    const auto add = [&](const char* name, const char* key) {
        if (const auto text = text_of(details, key); !text.empty()) fields.emplace_back(name, printable(text));
    };
    add("path", "path");
    if (flag_of(details, "written") || !member_of(details, "value").is_null())
        fields.emplace_back("written", there_text(details));
    add("at", "at");
    if (!text_of(details, "change").empty()) add("sent by", "source");
    if (const auto& force = member_of(details, "inForce"); !force.is_null())
        fields.emplace_back("in force", force_text(force));
    if (const auto& max = member_of(details, "effectiveMax"); max.is_object())
        fields.emplace_back("with the queues above", named_resource_text(max));
    add("from", "from");
    add("to change", "change");
    for (const auto& reason : member_of(answer, "reasons"))
        if (text_of(reason, "code") == "WARNING") fields.emplace_back("warning", printable(text_of(reason, "text")));
    return fmt::format("{} is {}\n", printable(path), verdict_text(style, text_of(answer, "verdict"))) +
           fields_text(fields, style);
}

void define_explain_config(Command explain, Context& context) {
    const auto config = explain.sub("config", "where a value of the configuration or of extraConfig comes from");
    const auto path = std::make_shared<std::string>();
    config.option("PATH", *path, "a queue and a key, a path as problems print it, or a key of extraConfig").required();
    config.run([&context, path] { return explain_config(context, *path); });
}

} // namespace yk::cli
