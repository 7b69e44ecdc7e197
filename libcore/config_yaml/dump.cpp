// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/dump.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/config/duration.h"
#include "libcore/config/quantity.h"
#include "libcore/config_yaml/characters.h"

namespace yk::config_yaml {

namespace {

using namespace config; // NOLINT(google-build-using-namespace): this file walks config's structs

bool is_alphanumeric(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/// Whether the text can stand without quotes. Far stricter than YAML: any other text is quoted, which is always right.
bool is_plain(std::string_view text) {
    constexpr std::string_view kFurther = "_./@#$+-:";
    if (text.empty() || (!is_alphanumeric(text[0]) && text[0] != '_' && text[0] != '/') || text.back() == ':')
        return false;
    if (text == "null" || text == "Null" || text == "NULL") return false;
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return is_alphanumeric(c) || kFurther.find(c) != std::string_view::npos; });
}

bool needs_escapes(char32_t code) {
    return is_terminal_command(code) || code == 0x2028 || code == 0x2029 || code == 0xFEFF || code >= 0xFFFE;
}

std::string escaped(std::string_view text) {
    std::string result = "\"";
    for_each_character(text, [&](char32_t code, std::string_view bytes) {
        if (code == '"' || code == '\\') result += '\\';
        if (needs_escapes(code))
            result += code <= 0xFF     ? fmt::format("\\x{:02x}", static_cast<std::uint32_t>(code))
                      : code <= 0xFFFF ? fmt::format("\\u{:04x}", static_cast<std::uint32_t>(code))
                                       : fmt::format("\\U{:08x}", static_cast<std::uint32_t>(code));
        else
            result += bytes;
    });
    return result + '"';
}

std::string single_quoted(std::string_view text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "''" : std::string(1, c);
    return result + '\'';
}

/// Writes block style with two blanks per level; the first key of a list item follows its dash.
class Writer {
public:
    [[nodiscard]] std::string take() { return std::move(text_); }

    void configuration(const Configuration& configuration);

private:
    /// `key: value` on a line of its own.
    void line(std::string_view key, std::string_view value) {
        begin_line();
        text_ += fmt::format("{}: {}\n", key, value);
    }
    void text(std::string_view key, const std::string& value) { line(key, scalar_text(value)); }
    void text_if(std::string_view key, const std::string& value) {
        if (!value.empty()) text(key, value);
    }
    void count_if(std::string_view key, std::uint64_t value) {
        if (value != 0) line(key, std::to_string(value));
    }
    /// `key:` and what `content` writes below it.
    template <class Content>
    void block(std::string_view key, Content&& content) {
        begin_line();
        text_ += fmt::format("{}:\n", key);
        ++level_;
        content();
        --level_;
    }
    /// The lines that `content` writes, as one item of a list.
    template <class Content>
    void item(Content&& content) {
        dash_ = true;
        ++level_;
        content();
        --level_;
    }
    template <class List, class Each>
    void list_if(std::string_view key, const List& list, Each&& each) {
        if (list.empty()) return;
        block(key, [&] {
            for (const auto& entry : list) item([&] { each(entry); });
        });
    }
    void begin_line() {
        const std::size_t indent = 2 * (level_ - (dash_ ? 1 : 0));
        text_.append(indent, ' ');
        if (dash_) text_ += "- ";
        dash_ = false;
    }

    void names_if(std::string_view key, const std::vector<std::string>& names);
    void properties_if(const std::map<std::string, std::string>& properties);
    void quantities_if(std::string_view key, const std::optional<ResourceMap>& quantities);
    void resources_if(const Resources& resources);
    void partition(const Partition& partition);
    void node_sort(const Partition& partition);
    void fragmentation(const FragmentationSettings& settings);
    void queue(const Queue& queue);
    void child_template(const ChildTemplate& child_template);
    void limits_if(const std::vector<Limit>& limits);
    void rule(const PlacementRule& rule);

    std::string text_;
    std::size_t level_ = 0;
    bool dash_ = false; // the next line begins an item
};

void Writer::configuration(const Configuration& configuration) {
    if (configuration.partitions.empty()) line("partitions", "[]");
    list_if("partitions", configuration.partitions, [&](const Partition& each) { partition(each); });
    text_if("checksum", configuration.checksum);
}

void Writer::partition(const Partition& partition) {
    text("name", partition.name);
    block("queues", [&] { item([&] { queue(partition.root); }); });
    list_if("placementrules", partition.placement_rules, [&](const PlacementRule& each) { rule(each); });
    limits_if(partition.limits);
    if (!partition.preemption_enabled || partition.quota_preemption_enabled) {
        block("preemption", [&] {
            if (!partition.preemption_enabled) line("enabled", "false");
            if (partition.quota_preemption_enabled) line("quotapreemptionenabled", "true");
        });
    }
    node_sort(partition);
    if (!partition.user_group_resolver.empty())
        block("usergroupresolver", [&] { text("type", partition.user_group_resolver); });
}

void Writer::node_sort(const Partition& partition) {
    const NodeSortPolicy& policy = *partition.node_sort_policy;
    const bool is_plain = partition.resource_weights.empty() && partition.fragmentation == FragmentationSettings{};
    if (&policy == &default_node_sort_policy() && is_plain) return;
    block("nodesortpolicy", [&] {
        line("type", std::string{policy.name});
        if (!partition.resource_weights.empty())
            block("resourceweights", [&] {
                for (const auto& [type, weight] : partition.resource_weights)
                    line(scalar_text(type), fmt::format("{}", weight));
            });
        if (partition.fragmentation != FragmentationSettings{})
            block("fragmentation", [&] { fragmentation(partition.fragmentation); });
    });
}

void Writer::fragmentation(const FragmentationSettings& settings) {
    if (settings.half_life != FragmentationSettings::kDefaultHalfLife)
        line("halflife", duration_text(settings.half_life));
    text_if("resource", settings.resource);
    names_if("others", settings.others);
    list_if("workload", settings.workload, [&](const ExpectedAsks& each) {
        quantities_if("resources", each.resources);
        if (!each.devices.empty())
            block("devices", [&] {
                for (const auto& [name, devices] : each.devices)
                    line(scalar_text(name), fmt::format("{}x{}", devices.count, devices.each));
            });
        if (!each.attributes.empty())
            block("attributes", [&] {
                for (const auto& [name, value] : each.attributes) line(scalar_text(name), scalar_text(value));
            });
        count_if("weight", each.weight);
    });
}

void Writer::queue(const Queue& queue) {
    text("name", queue.name);
    if (queue.parent) line("parent", "true");
    resources_if(queue.resources);
    count_if("maxapplications", queue.max_applications);
    properties_if(queue.properties);
    text_if("adminacl", queue.admin_acl);
    text_if("submitacl", queue.submit_acl);
    if (queue.child_template) block("childtemplate", [&] { child_template(*queue.child_template); });
    list_if("queues", queue.children, [&](const Queue& child) { this->queue(child); });
    limits_if(queue.limits);
}

void Writer::child_template(const ChildTemplate& child_template) {
    count_if("maxapplications", child_template.max_applications);
    properties_if(child_template.properties);
    resources_if(child_template.resources);
    if (child_template.apply_to_existing) line("applytoexisting", "true");
    if (child_template.inherit_properties) line("inheritproperties", "true");
}

void Writer::limits_if(const std::vector<Limit>& limits) {
    list_if("limits", limits, [&](const Limit& limit) {
        text("limit", limit.description);
        names_if("users", limit.users);
        names_if("groups", limit.groups);
        quantities_if("maxresources", limit.max_resources);
        count_if("maxapplications", limit.max_applications);
    });
}

void Writer::rule(const PlacementRule& rule) {
    text("name", rule.name);
    if (rule.create) line("create", "true");
    if (!rule.filter.type.empty() || !rule.filter.users.empty() || !rule.filter.groups.empty()) {
        block("filter", [&] {
            text("type", rule.filter.type);
            names_if("users", rule.filter.users);
            names_if("groups", rule.filter.groups);
        });
    }
    for (const PlacementRule& parent : rule.parent) block("parent", [&] { this->rule(parent); });
    text_if("value", rule.value);
}

void Writer::names_if(std::string_view key, const std::vector<std::string>& names) {
    if (names.empty()) return;
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + scalar_text(name);
    line(key, '[' + list + ']');
}

void Writer::properties_if(const std::map<std::string, std::string>& properties) {
    if (properties.empty()) return;
    block("properties", [&] {
        for (const auto& [key, value] : properties) text(scalar_text(key), value);
    });
}

void Writer::quantities_if(std::string_view key, const std::optional<ResourceMap>& quantities) {
    if (!quantities || quantities->empty()) return;
    block(key, [&] {
        for (const auto& [type, value] : *quantities) line(scalar_text(type), quantity_text(type, value));
    });
}

void Writer::resources_if(const Resources& resources) {
    const auto is_set = [](const std::optional<ResourceMap>& map) { return map && !map->empty(); };
    if (!is_set(resources.guaranteed) && !is_set(resources.max)) return;
    block("resources", [&] {
        quantities_if("guaranteed", resources.guaranteed);
        quantities_if("max", resources.max);
    });
}

} // namespace

std::string scalar_text(const std::string& text) {
    if (is_plain(text)) return text;
    bool escapes = false;
    for_each_character(text, [&](char32_t code, std::string_view) { escapes = escapes || needs_escapes(code); });
    return escapes ? escaped(text) : single_quoted(text);
}

std::string dump(const Configuration& configuration) {
    Writer writer;
    writer.configuration(configuration);
    return writer.take();
}

} // namespace yk::config_yaml
