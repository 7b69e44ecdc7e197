// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/named_contexts.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include <fmt/format.h>

#include "libcore/config_yaml/tree.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"
#include "ykctl/render/output.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using config_yaml::Node;
using Kind = Node::Kind;

constexpr std::size_t kLargestFile = std::size_t{1} << 20U;

/// Reads the tree of one file; errors have its name.
class ContextsReader {
public:
    explicit ContextsReader(const std::string& path) : path_(path) {}

    Answer<NamedContexts> contexts(const Node& tree) const {
        NamedContexts read;
        if (tree.kind == Kind::Null) return read;
        if (tree.kind != Kind::Mapping) return wrong(tree.mark, "must be a map of `used` and `contexts`");
        for (const auto& [key, mark, value] : tree.members) {
            if (key == "used" && value->kind == Kind::Scalar)
                read.used = value->scalar;
            else if (key == "contexts" && value->kind == Kind::Mapping) {
                for (const auto& context : value->members) {
                    YK_TRY(values, context_values(*context.value));
                    read.by_name[context.key] = std::move(values);
                }
            } else
                return wrong(mark, "'" + printable(key) + "': there are `used`, a name, and `contexts`, a map");
        }
        if (!read.used.empty() && read.by_name.count(read.used) == 0)
            return wrong(tree.mark, "used: there is no context '" + printable(read.used) + "'");
        return read;
    }

private:
    Answer<ContextValues> context_values(const Node& tree) const {
        if (tree.kind != Kind::Mapping) return wrong(tree.mark, "a context is a map of " + join(kContextKeys, ", "));
        ContextValues values;
        for (const auto& [key, mark, value] : tree.members) {
            if (std::find(kContextKeys.begin(), kContextKeys.end(), key) == kContextKeys.end())
                return wrong(mark, "unknown key '" + printable(key) + "'" + did_you_mean(key, kContextKeys));
            if (value->kind != Kind::Scalar) return wrong(value->mark, key + " must be one text");
            values[key] = value->scalar;
        }
        return values;
    }

    [[nodiscard]] Failure wrong(const config_yaml::Mark& at, const std::string& what) const {
        return usage_error(fmt::format("{}:{}:{}: {}", path_, at.line, at.column, what),
                           {"mend the file, or remove it: contexts are all that it has"});
    }

    const std::string& path_;
};

} // namespace

Answer<NamedContexts> read_contexts(const std::string& path) {
    std::error_code ignored;
    if (path.empty() || !std::filesystem::exists(path, ignored)) return NamedContexts{};
    std::istringstream no_input;
    YK_TRY(text, read_text(path, no_input, kLargestFile));
    const auto tree = config_yaml::read_tree(text, path, {});
    if (!tree.ok()) return usage_error(tree.error().text());
    return ContextsReader{path}.contexts(**tree);
}

std::optional<Failure> write_contexts(const std::string& path, const NamedContexts& contexts) {
    if (path.empty()) return usage_error("there is no place for contexts", {"set HOME or XDG_CONFIG_HOME"});
    std::error_code failed;
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path(), failed);
    auto file = wire::Value::object();
    if (!contexts.used.empty()) file["used"] = contexts.used;
    file["contexts"] = contexts.by_name;
    return write_text(path, "# Written by `ykctl context`.\n" + yaml_text(file));
}

Answer<ContextValues> context_named(const NamedContexts& contexts, const std::string& name) {
    if (const auto found = contexts.by_name.find(name); found != contexts.by_name.end()) return found->second;
    if (contexts.by_name.empty())
        return not_found("there is no context '" + printable(name) + "'", {"ykctl context add NAME -s URL"});
    std::vector<std::string> names;
    for (const auto& [known, values] : contexts.by_name) names.push_back(known);
    return not_found("there is no context '" + printable(name) + "'" + did_you_mean(name, names),
                     {"there are:  " + join(names, ", ")});
}

} // namespace yk::cli
