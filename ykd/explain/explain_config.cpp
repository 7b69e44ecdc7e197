// SPDX-License-Identifier: Apache-2.0
// Explain of a location in the configuration (I-354): what is written there, on which line, and what is in force. A key
// of extraConfig is explained by explain_setting.cpp.

#include <fmt/format.h>

#include "libcore/config/names.h"
#include "libcore/config/properties.h"
#include "libcore/config_yaml/load.h"
#include "libcore/config_yaml/locations.h"
#include "libcore/reports/snapshot.h"
#include "ykd/explain/explain_kinds.h"
#include "ykd/explain/queue_settings.h"
#include "ykd/request/gather.h"
#include "ykd/request/rm_checks.h"

namespace yk::service {
namespace {

using config_yaml::Location;
using config_yaml::NodePtr;

constexpr std::size_t kShownNodes = 100; // of a written value; of a larger one only the keys are shown
constexpr std::size_t kShownHeight = 8;  // levels; the same

/// What is asked, and the text that is in force.
struct Question {
    std::string path;
    RmPtr rm;
    ConfigurationPtr configuration;
    std::size_t partition = 0; // its index, when the path does not name it
    NodePtr root;              // of the text that is in force
    std::string source;        // of the text, for people
    bool in_file = false;      // the source is a file
};

/// The location, and the queue that it is about as it runs. Made on the owner thread.
struct Found {
    std::optional<Result<Location>> location;
    std::optional<QueueView> queue;
};

// --- what is written ------------------------------------------------------------------------------------------------

Value written_value(const config_yaml::Node& node) {
    if (node.kind == config_yaml::Node::Kind::Null) return {};
    if (node.kind == config_yaml::Node::Kind::Scalar) return node.scalar;
    if (node.kind == config_yaml::Node::Kind::Sequence) {
        Value list = Value::array();
        for (const NodePtr& item : node.items) list.push_back(written_value(*item));
        return list;
    }
    Value map = Value::object();
    for (const config_yaml::Member& member : node.members) map[member.key] = written_value(*member.value);
    return map;
}

void put_written(const Question& question, const Location& location, Value& details) {
    details["written"] = location.value != nullptr;
    if (location.value == nullptr) return;
    details["line"] = location.mark.line;
    details["column"] = location.mark.column;
    const config_yaml::Node& node = *location.value;
    if (node.nodes <= kShownNodes && node.height <= kShownHeight) {
        details["value"] = written_value(node);
    } else if (!node.members.empty()) {
        Value keys = Value::array();
        for (const config_yaml::Member& member : node.members) keys.push_back(member.key);
        details["keys"] = std::move(keys);
    } else {
        details["entries"] = node.items.size();
    }
    details["at"] =
        question.in_file
            ? fmt::format("{}:{}:{}", question.source, location.mark.line, location.mark.column)
            : fmt::format("line {}, column {} of the {}", location.mark.line, location.mark.column, question.source);
}

// --- what is in force -----------------------------------------------------------------------------------------------

/// The setting of a queue that a key of the configuration names.
struct SettingName {
    std::string name;               // of QueueSetting
    std::vector<std::string> below; // the keys down to the part of its value that is meant
};

/// The rest of `key` after `head` and a dot; empty when the key is `head`; nothing when it does not begin with it.
std::optional<std::string> after(const std::string& key, std::string_view head) {
    if (key == head) return std::string{};
    if (key.size() <= head.size() || key.compare(0, head.size(), head) != 0 || key[head.size()] != '.')
        return std::nullopt;
    return key.substr(head.size() + 1);
}

/// Nothing: the key names no setting that has a value in force.
std::optional<SettingName> setting_name(const std::string& key) {
    for (const char* name : {"maxapplications", "submitacl", "adminacl"})
        if (key == name) return SettingName{key, {}};
    for (const char* name : {"max", "guaranteed"})
        if (const auto type = after(key, std::string{"resources."} + name))
            return SettingName{name, type->empty() ? std::vector<std::string>{} : std::vector{*type}};
    if (const auto property = after(key, "properties"); property && !property->empty())
        return SettingName{"property " + *property, {}};
    const auto of_template = after(key, "childtemplate");
    if (!of_template) return std::nullopt;
    for (const char* name : {"properties", "resources.max", "resources.guaranteed"}) {
        const std::string last = std::string{name}.substr(std::string{name}.rfind('.') + 1);
        if (const auto below = after(*of_template, name))
            return SettingName{"childtemplate", below->empty() ? std::vector{last} : std::vector{last, *below}};
    }
    for (const char* name : {"maxapplications", "applytoexisting", "inheritproperties"})
        if (*of_template == name) return SettingName{"childtemplate", {name}};
    return of_template->empty() ? std::optional{SettingName{"childtemplate", {}}} : std::nullopt;
}

/// The part of a value that is meant; amounts keep the name of their type.
Value part_of(const Value& value, const SettingName& name) {
    const Value* at = &value;
    for (const std::string& key : name.below) {
        if (!at->is_object() || at->find(key) == at->end()) return {};
        at = &(*at)[key];
    }
    const bool amount = at->is_number() && !name.below.empty() && name.below.back() != "maxapplications";
    return amount ? Value{{name.below.back(), *at}} : *at;
}

/// What holds for a setting that queue_settings() does not list: the default, or nothing.
QueueSetting missing(const SettingName& name, const QueueView& view) {
    constexpr std::string_view kProperty = "property ";
    if (name.name.rfind(kProperty, 0) == 0)
        if (const auto fallback = config::property_default(name.name.substr(kProperty.size()))) {
            const bool sorts = name.name == "property application.sort.policy" && !view.leaf;
            return {name.name, sorts ? Value("fair") : Value(std::string{*fallback}),
                    sorts ? "a parent always sorts its children fair" : "default", Origin::Default};
        }
    return {name.name, {}, "not set", Origin::NotSet};
}

/// What holds for the queue, whether it is written at the location or not.
QueueSetting in_force(const Question& question, const std::string& key, const QueueView& view, Value& details) {
    if (key == "parent")
        return {key, !view.leaf, view.leaf ? "the queue has no queues" : "the queue has or takes queues",
                Origin::Computed};
    const auto name = setting_name(key);
    if (!name) return {key, {}, "not set", Origin::NotSet};
    QueueSetting setting = missing(*name, view);
    bool found = false;
    const std::string partition = question.configuration->partitions[question.partition].name;
    for (const QueueSetting& each : queue_settings(view, *question.configuration, partition)) {
        if (each.name == name->name && !found) setting = each;
        found = found || each.name == name->name;
        if (each.name == "effective max" && name->name == "max") details["effectiveMax"] = part_of(each.value, *name);
    }
    if (!found) return setting;
    setting.value = part_of(setting.value, *name);
    if (setting.value.is_null()) return {key, {}, "not set", Origin::NotSet};
    return setting;
}

/// The default of a key that belongs to a partition and not to a queue.
QueueSetting partition_default(const std::string& key) {
    static const std::map<std::string, std::string, std::less<>> kDefaults{
        {"name", "default"},
        {"preemption.enabled", "true"},
        {"preemption.quotapreemptionenabled", "false"},
        {"nodesortpolicy.type", "fair"},
        {"nodesortpolicy.resourceweights", "vcore 1, memory 1"},
        {"nodesortpolicy.resourceweights.vcore", "1"},
        {"nodesortpolicy.resourceweights.memory", "1"},
        {"nodesortpolicy.fragmentation.halflife", "24h"},
        {"nodesortpolicy.fragmentation.others", "vcore"},
        {"nodesortpolicy.fragmentation.resource", "the first that comes in devices"},
        {"nodesortpolicy.fragmentation.workload", "learnt from the asks that arrive"}};
    const auto found = kDefaults.find(key);
    if (found == kDefaults.end()) return {key, {}, "not set", Origin::NotSet};
    return {key, found->second, "default", Origin::Default};
}

std::string verdict_of(const Location& location, Origin origin) {
    if (location.value != nullptr) return "SET";
    switch (origin) {
    case Origin::Inherited: return "INHERITED";
    case Origin::Template: return "TEMPLATE";
    case Origin::Computed: return "COMPUTED";
    case Origin::Default: return "DEFAULT";
    case Origin::Written: // at the queue, but not in the text at this location
    case Origin::NotSet: break;
    }
    return "NOT_SET";
}

// --- the answer -----------------------------------------------------------------------------------------------------

/// What is wrong with a property that is not written and that nobody knows: it was hardly meant (B-04). Empty: the
/// location is no such property.
std::string property_fault(const Location& location) {
    const auto property = after(location.key, "properties");
    if (location.value != nullptr || location.queue.empty() || !property || property->empty()) return {};
    return config::property_default(*property) ? std::string{} : config::property_warning(*property, {});
}

Value location_value(const Question& question, const Location& location, const std::optional<QueueView>& queue) {
    Value details{{"rmID", question.rm->id}, {"partition", question.configuration->partitions[question.partition].name},
                  {"path", location.path},   {"queue", location.queue},
                  {"key", location.key},     {"source", question.source}};
    put_written(question, location, details);
    QueueSetting force{location.key, {}, "not set", Origin::NotSet};
    if (location.queue.empty() && location.value == nullptr) force = partition_default(location.key);
    if (!location.queue.empty() && queue && queue->path == location.queue)
        force = in_force(question, location.key, *queue, details);
    if (!force.value.is_null()) details["inForce"] = force.value;
    if (force.origin != Origin::NotSet) details["from"] = force.from;
    const std::string verdict = verdict_of(location, force.origin);
    const std::string text = location.value != nullptr
                                 ? "written at " + details["at"].get<std::string>()
                                 : "not written there" + (verdict == "NOT_SET" ? "" : "; in force: " + force.from);
    return {{"verdict", verdict},
            {"reasons", Value::array({{{"code", verdict}, {"object", question.path}, {"text", text}}})},
            {"details", std::move(details)}};
}

void answer(const CallPtr& call, Question question, const Found& found) {
    if (!found.location) return call->fail(ErrorCode::RmUnknown, "the RM is not registered any more", "rmID");
    const auto not_found = [&](const std::string& text) { call->fail(ErrorCode::NotFound, text, "config"); };
    if (!found.location->ok()) return not_found(found.location->error().message);
    const Location& location = **found.location;
    if (const std::string fault = property_fault(location); !fault.empty()) return not_found(fault);
    question.partition = location.partition;
    call->ok(location_value(question, location, found.queue));
}

/// The longest beginning of `path` that is the path of a running queue, in lower case; empty: none.
std::string deepest_queue(const PartitionState& state, const std::string& path) {
    std::string deepest;
    for (std::size_t dot = path.find('.');; dot = path.find('.', dot + 1)) {
        const std::string part = config::lower(path.substr(0, dot));
        if (state.queues.find(part) == nullptr) return deepest;
        deepest = part;
        if (dot == std::string::npos) return deepest;
    }
}

/// Finds the location and its queue. Thread: the owner thread.
Found look_up(RmOwner& owner, const Question& question) {
    const std::vector<config::Partition>& partitions = question.configuration->partitions;
    const PartitionState* state = owner.read(partitions[question.partition].name);
    Found found;
    found.location =
        config_yaml::find_location(question.root, question.path, question.partition,
                                   state == nullptr ? std::string{} : deepest_queue(*state, question.path));
    if (!found.location->ok() || (**found.location).queue.empty() || (**found.location).partition >= partitions.size())
        return found;
    if (const PartitionState* there = owner.read(partitions[(**found.location).partition].name))
        found.queue = queue_view(*there, (**found.location).queue, false);
    return found;
}

// --- the question ---------------------------------------------------------------------------------------------------

/// Chooses the RM whose configuration is meant: the one that is named, or the only one. False: the call was answered.
bool choose_rm(const ExplainParts& parts, const CallPtr& call, const std::string& rm_id, Question& question) {
    auto rms = rms_to_explain(parts, call, rm_id);
    if (!rms) return false;
    std::erase_if(*rms, [](const RmPtr& rm) { return rm->facts().configuration == nullptr; });
    std::vector<std::string> names;
    for (const RmPtr& rm : *rms) names.push_back(rm->id);
    if (names.empty()) {
        call->fail(ErrorCode::NotFound, "no RM is registered, so there is no configuration", "rmID");
    } else if (names.size() > 1) {
        call->fail(ErrorCode::Invalid, fmt::format("there are several RMs, say which: {}", fmt::join(names, ", ")),
                   "rmID");
    } else {
        question.rm = rms->front();
        question.configuration = question.rm->facts().configuration;
    }
    return question.rm != nullptr;
}

/// Chooses the partition that is meant: by its name, short or full, or the only one. False: the call was answered.
bool choose_partition(const CallPtr& call, const std::string& wanted, Question& question) {
    const std::vector<config::Partition>& partitions = question.configuration->partitions;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < partitions.size(); ++i) {
        names.push_back(partitions[i].name);
        if (wanted == names.back() || wanted == fmt::format("[{}]{}", question.rm->id, names.back())) {
            question.partition = i;
            return true;
        }
    }
    const bool names_it = question.path.rfind("partitions", 0) == 0;
    if (wanted.empty() && (names_it || partitions.size() == 1)) return true;
    if (wanted.empty())
        call->fail(ErrorCode::Invalid,
                   fmt::format("there are several partitions, say which: {}", fmt::join(names, ", ")), "partition");
    else
        call->fail(ErrorCode::NotFound, fmt::format("the configuration has no partition {}", wanted), "partition");
    return false;
}

/// Parses the text that the RM's configuration was made of. False: the call was answered.
bool obtain_text(const ConfigHistory& history, const CallPtr& call, Question& question) {
    constexpr std::string_view kFile = "file ";
    const auto kept = history.find(question.rm->id, question.configuration->checksum);
    if (!kept) {
        call->busy(fmt::format("RM {} was unregistered or configured anew meanwhile: ask again", question.rm->id));
        return false;
    }
    question.in_file = kept->origin.rfind(kFile, 0) == 0;
    question.source = question.in_file      ? kept->origin.substr(kFile.size())
                      : kept->text->empty() ? "built-in default"
                                            : "configuration (" + kept->origin + ")";
    config::Report report;
    question.root = config_yaml::parse_tree(kept->text->empty() ? config_yaml::default_text() : *kept->text, report);
    return true;
}

} // namespace

void explain_config(const ExplainParts& parts, const CallPtr& call, wire::BodyReader& reader) {
    Question question;
    question.path = reader.text("config", wire::Presence::Required, wire::TextRule::Message);
    const std::string partition = reader.text("partition", wire::Presence::Optional, wire::TextRule::Queue);
    const std::string rm_id = reader.text("rmID");
    if (!call->accepts(reader)) return;
    if (!config_yaml::is_location(question.path)) return explain_setting(parts, call, question.path);
    if (!choose_rm(parts, call, rm_id, question) || !choose_partition(call, partition, question) ||
        !obtain_text(parts.config_history, call, question))
        return;
    gather<Found>(
        parts.workers, {question.rm}, Lane::Control,
        [question](RmOwner& owner) { return owner.context() == nullptr ? Found{} : look_up(owner, question); },
        [call, question](const std::vector<Gathered<Found>>& all) {
            all.empty() ? rm_left(call, question.rm->id)() : answer(call, question, all.front().answer);
        });
}

} // namespace yk::service
