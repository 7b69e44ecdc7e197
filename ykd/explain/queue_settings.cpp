// SPDX-License-Identifier: Apache-2.0
#include "ykd/explain/queue_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "libcore/config/duration.h"
#include "libcore/config/names.h"
#include "ykd/dump/dump_objects.h"

namespace yk::service {
namespace {

/// One queue on the way from the root.
struct Level {
    std::string path;
    const config::Queue* config = nullptr; // nullptr: it is not in the configuration

    /// For people: the path, and the line on which it is written.
    [[nodiscard]] std::string location() const {
        return config != nullptr && config->mark.line > 0 ? fmt::format("{} (line {})", path, config->mark.line) : path;
    }
};

/// The queues from the root down to `path`.
std::vector<Level> levels_of(const config::Configuration& configuration, const std::string& partition,
                             const std::string& path) {
    const config::Queue* at = nullptr;
    for (const config::Partition& each : configuration.partitions)
        if (each.name == partition) at = &each.root;
    std::vector<Level> levels;
    for (std::size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
        levels.push_back({path.substr(0, dot), at});
        if (dot == std::string::npos) return levels;
        const std::string next = path.substr(dot + 1, path.find('.', dot + 1) - dot - 1);
        const config::Queue* below = nullptr;
        for (std::size_t i = 0; at != nullptr && i < at->children.size(); ++i)
            if (config::lower(at->children[i].name) == next) below = &at->children[i];
        at = below;
    }
}

/// Gathers the settings of one queue.
class Report {
public:
    Report(const QueueView& view, std::vector<Level> levels) : view_(view), levels_(std::move(levels)) {}

    std::vector<QueueSetting> settings() {
        add_limits();
        add_properties();
        add_access();
        add_template();
        return std::move(settings_);
    }

private:
    struct Source {
        Origin origin;
        std::string from;
    };
    void add(const std::string& name, Value value, const Source& source) {
        settings_.push_back({name, std::move(value), source.from, source.origin});
    }
    [[nodiscard]] const Level& own() const { return levels_.back(); }

    /// The nearest queue above with a child template: a dynamic leaf may have its values from that (C-235). nullptr:
    /// none.
    [[nodiscard]] const Level* template_owner() const {
        for (auto level = levels_.rbegin() + 1; level != levels_.rend(); ++level)
            if (level->config != nullptr && level->config->child_template) return &*level;
        return nullptr;
    }
    /// Where a value comes from. `by_tags`, `as_template`: how a dynamic queue came to it; `in_file`: a configured
    /// queue has it written.
    [[nodiscard]] Source source(bool is_set, bool by_tags, bool as_template, bool in_file) const {
        Source none{Origin::NotSet, "not set"};
        if (view_.managed) return in_file ? Source{Origin::Written, own().location()} : none;
        if (!is_set) return none;
        if (by_tags) return {Origin::Template, "tags of an application"};
        return as_template ? of_template() : former_template();
    }
    [[nodiscard]] Source of_template() const {
        return {Origin::Template, "childtemplate of " + template_owner()->location()};
    }
    [[nodiscard]] static Source former_template() { return {Origin::Template, "the childtemplate when it was made"}; }

    void add_limits() {
        const config::Resources* file = own().config != nullptr ? &own().config->resources : nullptr;
        const Level* owner = view_.managed ? nullptr : template_owner();
        const config::ChildTemplate* made_from = owner != nullptr ? &*owner->config->child_template : nullptr;
        const auto limit = [&](const char* name, const std::optional<ResourceMapView>& now, bool by_tags, auto member) {
            const bool in_file = file != nullptr && (file->*member).has_value();
            const bool as_template = made_from != nullptr && now == made_from->resources.*member;
            add(name, now ? resource_value(*now) : Value(), source(now.has_value(), by_tags, as_template, in_file));
        };
        limit("guaranteed", view_.guaranteed, view_.tags_set_guaranteed, &config::Resources::guaranteed);
        if (view_.parent.empty())
            add("max", view_.max ? resource_value(*view_.max) : Value(),
                {Origin::Computed, "the nodes of the partition"});
        else
            limit("max", view_.max, view_.tags_set_max, &config::Resources::max);
        add("effective max", view_.effective_max ? resource_value(*view_.effective_max) : Value(),
            {Origin::Computed, "the least of the queue and all above it"});
        const bool in_file = own().config != nullptr && own().config->max_applications != 0;
        const bool as_template = made_from != nullptr && made_from->max_applications == view_.max_applications;
        add("maxapplications", view_.max_applications,
            source(view_.max_applications != 0, view_.tags_set_max_applications, as_template, in_file));
    }

    void add_properties() {
        for (const auto& [key, text] : view_.properties) add("property " + key, text, property_origin(key, text));
        add("sort policy", view_.sort_policy,
            view_.leaf ? from_property("application.sort.policy")
                       : Source{Origin::Default, "a parent always sorts its children fair"});
        add("preemption delay", config::duration_text(view_.preemption_delay), from_property("preemption.delay"));
        add("priority offset", view_.priority_offset, from_property("priority.offset"));
    }
    [[nodiscard]] Source from_property(const std::string& key) const {
        if (view_.properties.count(key) != 0) return {Origin::Computed, "property " + key};
        return {Origin::Default, "default"};
    }
    /// Where a property comes from: the nearest queue with the key among its own entries. On the way down some keys get
    /// another value (C-153).
    [[nodiscard]] Source property_origin(const std::string& key, const std::string& text) const {
        if (!view_.managed) {
            const Level* owner = template_owner();
            if (owner == nullptr) return former_template();
            const config::ChildTemplate& from = *owner->config->child_template;
            const auto own = from.properties.find(key);
            if (view_.leaf && own != from.properties.end() && own->second == text) return of_template();
            if (!from.inherit_properties) return former_template();
        }
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
            if (level->config == nullptr) continue;
            const auto found = level->config->properties.find(key);
            if (found == level->config->properties.end()) continue;
            if (level == levels_.rbegin()) return {Origin::Written, level->location()};
            return {Origin::Inherited,
                    (found->second == text ? "inherited from " : "reset for children of ") + level->location()};
        }
        return {Origin::Default, "default"};
    }

    /// Adds every ACL on the way up, as each can only add users (C-135).
    void add_access() {
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
            if (level->config == nullptr) continue;
            const Source source{level == levels_.rbegin() ? Origin::Written : Origin::Inherited, level->location()};
            if (!level->config->submit_acl.empty()) add("submitacl", level->config->submit_acl, source);
            if (!level->config->admin_acl.empty()) add("adminacl", level->config->admin_acl, source);
        }
    }

    void add_template() {
        if (!view_.child_template) return;
        const TemplateView& made = *view_.child_template;
        const auto owner =
            std::find_if(levels_.begin(), levels_.end(), [&](const Level& level) { return level.path == made.owner; });
        Value properties = Value::object();
        for (const auto& [key, text] : made.properties) properties[key] = text;
        add("childtemplate",
            {{"maxapplications", made.max_applications},
             {"guaranteed", resource_value(made.guaranteed)},
             {"max", resource_value(made.max)},
             {"properties", std::move(properties)},
             {"applytoexisting", made.apply_to_existing},
             {"inheritproperties", made.inherit_properties}},
            {made.owner == view_.path ? Origin::Written : Origin::Inherited,
             owner == levels_.end() ? made.owner : owner->location()});
    }

    const QueueView& view_;
    const std::vector<Level> levels_;
    std::vector<QueueSetting> settings_;
};

} // namespace

std::vector<QueueSetting> queue_settings(const QueueView& view, const config::Configuration& configuration,
                                         const std::string& partition) {
    return Report(view, levels_of(configuration, partition, view.path)).settings();
}

} // namespace yk::service
