// SPDX-License-Identifier: Apache-2.0
// The commands context add, use, list, remove: the user's daemons by name.

#include <algorithm>
#include <filesystem>
#include <utility>

#include "ykctl/cli/named_contexts.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::size_t kLongestContextName = 64;

Answer<NamedContexts> own_contexts(const Context& context) {
    return read_contexts(context.settings().contexts_file);
}

Outcome write_own(Context& context, const NamedContexts& contexts, const std::string& said) {
    if (auto failure = write_contexts(context.settings().contexts_file, contexts)) return *std::move(failure);
    context.note(said);
    return Exit::Ok;
}

/// The value as it means the same in every folder.
std::string anywhere(const std::string& key, const std::string& value) {
    const bool is_path =
        key == "token-file" || key == "tls-ca" || (key == "socket" && value.find("://") == std::string::npos);
    return is_path ? std::filesystem::absolute(value).lexically_normal().string() : value;
}

/// What the options of this command line say.
ContextValues typed_values(const Context& context) {
    ContextValues values;
    for (const auto& [name, value, source] : context.settings().origins)
        if (source.starts_with("--") && std::find(kContextKeys.begin(), kContextKeys.end(), name) != kContextKeys.end())
            values[name] = anywhere(name, value);
    return values;
}

Outcome add_context(Context& context, const std::string& name, bool replace) {
    if (name.empty() || name.size() > kLongestContextName || name != printable(name) || name.starts_with('-') ||
        name.find_first_of(" \t") != std::string::npos)
        return usage_error("'" + printable(name) + "' is no name for a context",
                           {"up to 64 characters without blanks, not beginning with a dash"});
    auto values = typed_values(context);
    if (values.count("socket") == 0) return usage_error("context " + name + " needs a daemon's address", {"-s URL"});
    YK_TRY(contexts, own_contexts(context));
    if (contexts.by_name.count(name) != 0 && !replace)
        return usage_error("there is a context " + name + " already", {"--replace, or another name"});
    contexts.by_name[name] = std::move(values);
    return write_own(context, contexts, "context " + name + " added; it is used after  ykctl context use " + name);
}

Outcome use_context(Context& context, const std::string& name, bool none) {
    if (none == !name.empty()) return usage_error("context use: a name, or --none");
    YK_TRY(contexts, own_contexts(context));
    if (!none)
        if (auto found = context_named(contexts, name); !found.ok()) return std::move(found).error();
    contexts.used = name;
    return write_own(context, contexts, none ? "no context is used" : "context " + name + " is used");
}

Outcome remove_context(Context& context, const std::string& name) {
    YK_TRY(contexts, own_contexts(context));
    if (auto found = context_named(contexts, name); !found.ok()) return std::move(found).error();
    contexts.by_name.erase(name);
    if (contexts.used == name) contexts.used.clear();
    return write_own(context, contexts, "context " + name + " removed");
}

ListLayout context_layout() {
    const auto value = [](const char* heading, const char* key) {
        return Column{{heading}, [key](const Value& item) { return or_dash(printable(text_of(item, key))); }};
    };
    return {{value("NAME", "name"),
             {{"USED"}, [](const Value& item) { return flag_of(item, "used") ? "yes" : "-"; }},
             value("ADDRESS", "socket"),
             value("RM", "rm"),
             value("PARTITION", "partition"),
             value("TOKEN FILE", "token-file"),
             value("TLS CA", "tls-ca")},
            [](const Value& item) { return text_of(item, "name"); },
            "no contexts; one is made by  ykctl context add NAME -s URL"};
}

Outcome list_contexts(Context& context) {
    YK_TRY(contexts, own_contexts(context));
    std::vector<Value> items;
    for (const auto& [name, values] : contexts.by_name) {
        Value item = values;
        item["name"] = name;
        item["used"] = name == contexts.used;
        items.push_back(std::move(item));
    }
    return context.show_list(std::move(items), context_layout());
}

} // namespace

void define_context(Command root, Context& context) {
    const auto noun = root.sub("context", "daemons by name, for --context; kept in contexts.yaml beside config.yaml");
    const auto name = std::make_shared<std::string>();
    const auto is_set = std::make_shared<bool>(false); // the flag of the command

    const auto add = noun.sub("add", "give a name to what -s, -r, -p, --token-file and --tls-ca say on this line");
    add.option("NAME", *name, "its name").required();
    add.flag("--replace", *is_set, "also when there is one of that name");
    add.run([&context, name, is_set] { return add_context(context, *name, *is_set); });

    const auto use = noun.sub("use", "from now on mean this daemon where no other one is named");
    use.option("NAME", *name, "its name");
    use.flag("--none", *is_set, "mean no daemon of these");
    use.run([&context, name, is_set] { return use_context(context, *name, *is_set); });

    noun.sub("list", "all contexts").alias("ls").run([&context] { return list_contexts(context); });

    const auto remove = noun.sub("remove", "forget a context").alias("rm");
    remove.option("NAME", *name, "its name").required();
    remove.run([&context, name] { return remove_context(context, *name); });
}

} // namespace yk::cli
