// Explain of a queue (B-07): each effective value, and where it comes from: a line of the configuration, a queue above,
// a child template, the tags of an application, or the default.

#include <fmt/format.h>

#include <algorithm>

#include "libcore/config/duration.h"
#include "libcore/config/names.h"
#include "ykd/service/daemon.h"
#include "ykd/service/dump_objects.h"
#include "ykd/service/explain_kinds.h"
#include "ykd/service/gather.h"

namespace yk::service {
namespace {

/// One queue of the configuration, or one that is not in it.
struct Level {
    std::string path;
    const config::Queue* config = nullptr;

    [[nodiscard]] std::string place() const {
        return config != nullptr && config->mark.line > 0 ? fmt::format("{} (line {})", path, config->mark.line) : path;
    }
};

/// From the root down to `path`.
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

class Report {
public:
    Report(const QueueView& view, std::vector<Level> levels) : view_(view), levels_(std::move(levels)) {}

    Value values() {
        add_limits();
        add_properties();
        add_access();
        add_template();
        return std::move(values_);
    }

private:
    void add(const std::string& name, Value value, const std::string& from) {
        values_.push_back({{"name", name}, {"value", std::move(value)}, {"from", from}});
    }
    [[nodiscard]] const Level& own() const { return levels_.back(); }

    /// Whose child template a dynamic leaf may have its values from (C-235).
    [[nodiscard]] const Level* template_owner() const {
        for (auto level = levels_.rbegin() + 1; level != levels_.rend(); ++level)
            if (level->config != nullptr && level->config->child_template) return &*level;
        return nullptr;
    }
    [[nodiscard]] std::string origin(bool is_set, bool as_template, bool in_file) const {
        if (view_.managed) return in_file ? own().place() : "not set";
        const Level* owner = template_owner();
        if (is_set && as_template && owner != nullptr) return "childtemplate of " + owner->place();
        return is_set ? "tags of an application, or the childtemplate when it was made" : "not set";
    }

    void add_limits() {
        const config::Resources* file = own().config != nullptr ? &own().config->resources : nullptr;
        const Level* owner = view_.managed ? nullptr : template_owner();
        const config::ChildTemplate* made_from = owner != nullptr ? &*owner->config->child_template : nullptr;
        const auto limit = [&](const char* name, const std::optional<ResourceMapView>& now, auto member) {
            const bool in_file = file != nullptr && (file->*member).has_value();
            const bool as_template = made_from != nullptr && now == made_from->resources.*member;
            add(name, now ? resource_value(*now) : Value(), origin(now.has_value(), as_template, in_file));
        };
        limit("guaranteed", view_.guaranteed, &config::Resources::guaranteed);
        if (view_.parent.empty())
            add("max", view_.max ? resource_value(*view_.max) : Value(), "the nodes of the partition");
        else
            limit("max", view_.max, &config::Resources::max);
        add("effective max", view_.effective_max ? resource_value(*view_.effective_max) : Value(),
            "the least of the queue and all above it");
        const bool in_file = own().config != nullptr && own().config->max_applications != 0;
        const bool as_template = made_from != nullptr && made_from->max_applications == view_.max_applications;
        add("maxapplications", view_.max_applications, origin(view_.max_applications != 0, as_template, in_file));
    }

    void add_properties() {
        for (const auto& [key, text] : view_.properties) add("property " + key, text, property_origin(key, text));
        add("sort policy", view_.sort_policy,
            view_.leaf ? from_property("application.sort.policy") : "a parent always sorts its children fair");
        add("preemption delay", config::duration_text(view_.preemption_delay), from_property("preemption.delay"));
        add("priority offset", view_.priority_offset, from_property("priority.offset"));
    }
    [[nodiscard]] std::string from_property(const std::string& key) const {
        return view_.properties.count(key) != 0 ? "property " + key : "default";
    }
    /// C-153: the nearest queue whose own entries have the key; some keys are replaced on the way down.
    [[nodiscard]] std::string property_origin(const std::string& key, const std::string& text) const {
        if (!view_.managed) {
            const Level* owner = template_owner();
            return owner == nullptr ? "the childtemplate when it was made" : "childtemplate of " + owner->place();
        }
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
            if (level->config == nullptr) continue;
            const auto found = level->config->properties.find(key);
            if (found == level->config->properties.end()) continue;
            if (level == levels_.rbegin()) return level->place();
            return (found->second == text ? "inherited from " : "reset for children of ") + level->place();
        }
        return "default";
    }

    /// C-135: every ACL on the way up can only add.
    void add_access() {
        for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
            if (level->config == nullptr) continue;
            if (!level->config->submit_acl.empty()) add("submitacl", level->config->submit_acl, level->place());
            if (!level->config->admin_acl.empty()) add("adminacl", level->config->admin_acl, level->place());
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
             {"properties", std::move(properties)}},
            owner == levels_.end() ? made.owner : owner->place());
    }

    const QueueView& view_;
    const std::vector<Level> levels_;
    Value values_ = Value::array();
};

struct Found {
    std::string partition;
    QueueView view;
};

std::string state_text(const QueueView& view) {
    if (view.state == "Draining") return "it is not in the configuration any more and goes when it is empty";
    return view.managed ? "it is in the configuration" : "it was made by a placement rule and goes when it is empty";
}

Value found_value(const RmPtr& rm, const Found& found) {
    const auto configuration = rm->facts().configuration;
    static const config::Configuration kNone;
    Report report(found.view, levels_of(configuration ? *configuration : kNone, found.partition, found.view.path));
    Value reasons = Value::array({{{"code", "STATE"}, {"object", found.view.path}, {"text", state_text(found.view)}}});
    return {{"verdict", found.view.state},
            {"reasons", std::move(reasons)},
            {"details",
             {{"rmID", rm->id},
              {"partition", found.partition},
              {"queue", found.view.path},
              {"isLeaf", found.view.leaf},
              {"isManaged", found.view.managed},
              {"values", report.values()}}}};
}

std::vector<Found> queues_of(RmOwner& owner, const std::string& partition, const std::string& path) {
    std::vector<Found> found;
    const ClusterContext* context = owner.context();
    if (context == nullptr) return found;
    for (const std::string& name : context->partition_names()) {
        if (!partition.empty() && partition != name && partition != context->full_name(name)) continue;
        if (auto view = context->queue_view(name, path, false)) found.push_back({name, *std::move(view)});
    }
    return found;
}

} // namespace

void explain_queue(const CallPtr& call, wire::BodyReader& reader) {
    const std::string partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    const std::string rm_id = reader.text("rmID");
    const std::string path = reader.text("queue", wire::Presence::Required, wire::TextRule::Queue);
    if (!call->accepts(reader)) return;
    std::vector<RmPtr> rms = call->daemon().rms().all();
    std::erase_if(rms, [&](const RmPtr& rm) { return !rm_id.empty() && rm->id != rm_id; });
    gather<std::vector<Found>>(
        call->daemon().workers(), std::move(rms), Lane::Control,
        [partition, path](RmOwner& owner) { return queues_of(owner, partition, path); },
        [call, path](const std::vector<Gathered<std::vector<Found>>>& all) {
            std::vector<std::string> places;
            Value value;
            for (const auto& one : all)
                for (const Found& found : one.answer) {
                    places.push_back(fmt::format("[{}]{}", one.rm->id, found.partition));
                    if (places.size() == 1) value = found_value(one.rm, found);
                }
            if (places.size() == 1) return call->ok(value);
            if (places.empty())
                return call->fail(ErrorCode::NotFound, fmt::format("there is no queue {}", path), "queue");
            call->fail(ErrorCode::Invalid,
                       fmt::format("queue {} is in several partitions, say which: {}", path, fmt::join(places, ", ")),
                       "partition");
        });
}

} // namespace yk::service
