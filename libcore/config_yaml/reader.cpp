// SPDX-License-Identifier: Apache-2.0
#include "libcore/config_yaml/reader.h"

#include "libcore/config_yaml/scalars.h"
#include "libcore/config_yaml/schema.h"

namespace yk::config_yaml {

namespace {

using namespace config; // NOLINT(google-build-using-namespace): this file fills config's document structs

/// Whether the value of a key of a queue is refused and the queue then lacks access or children that it was to have.
bool is_refused(const std::string& key, const Node& value) {
    const bool collection = value.kind == Node::Kind::Sequence || value.kind == Node::Kind::Mapping;
    if (key == "submitacl" || key == "adminacl") return collection;
    return key == "queues" && value.kind != Node::Kind::Sequence && value.kind != Node::Kind::Null;
}

/// Walks the tree. A value that is refused counts as absent, so that one mistake is reported once.
class Reader {
public:
    explicit Reader(Report& report) : report_(report) {}

    [[nodiscard]] Document document(const Node& root);

private:
    /// Calls `on_member(key, value, path)` for each member that the type knows; false when something was refused.
    template <class OnMember>
    bool members(const Node& node, const std::string& path, const MappingType& type, OnMember&& on_member);
    /// Calls `on_item(item, path)` for each item of a list.
    template <class OnItem>
    void items(const Node& node, const std::string& path, std::string_view go_type, OnItem&& on_item);
    bool refuse(const Node& node, const std::string& path, std::string_view expected, std::string_view go_type);

    [[nodiscard]] bool boolean(const Node& node, const std::string& path, bool fallback);
    [[nodiscard]] Count count(const Node& node, const std::string& path);
    [[nodiscard]] Text text(const Node& node, const std::string& path);
    [[nodiscard]] std::vector<Text> texts(const Node& node, const std::string& path);
    [[nodiscard]] std::optional<Entries> entries(const Node& node, const std::string& path);

    [[nodiscard]] PartitionDocument partition(const Node& node, const std::string& path);
    bool partition_member(PartitionDocument& into, const std::string& key, const Node& value, const std::string& path);
    [[nodiscard]] QueueDocument queue(const Node& node, const std::string& path);
    bool queue_member(QueueDocument& into, const std::string& key, const Node& value, const std::string& path);
    [[nodiscard]] std::vector<QueueDocument> queues(const Node& node, const std::string& path);
    [[nodiscard]] ResourcesDocument resources(const Node& node, const std::string& path);
    [[nodiscard]] std::optional<TemplateDocument> child_template(const Node& node, const std::string& path);
    [[nodiscard]] std::vector<LimitDocument> limits(const Node& node, const std::string& path);
    [[nodiscard]] LimitDocument limit(const Node& node, const std::string& path);
    [[nodiscard]] std::vector<RuleDocument> rules(const Node& node, const std::string& path);
    [[nodiscard]] RuleDocument rule(const Node& node, const std::string& path);
    [[nodiscard]] FilterDocument filter(const Node& node, const std::string& path);
    void node_sort(PartitionDocument& into, const Node& node, const std::string& path);
    [[nodiscard]] FragmentationDocument fragmentation(const Node& node, const std::string& path);
    [[nodiscard]] ExpectedAsksDocument expected_asks(const Node& node, const std::string& path);

    Report& report_;
};

bool Reader::refuse(const Node& node, const std::string& path, std::string_view expected, std::string_view go_type) {
    report_.error(node.mark, path, "expected " + std::string{expected} + ": " + cannot_unmarshal(node, go_type));
    return false;
}

template <class OnMember>
bool Reader::members(const Node& node, const std::string& path, const MappingType& type, OnMember&& on_member) {
    if (node.kind == Node::Kind::Null) return true;
    if (node.kind != Node::Kind::Mapping) return refuse(node, path, "a mapping", type.go_type);
    bool good = true;
    for (const Member& member : node.members) {
        const std::string below = (path.empty() ? "" : path + '.') + member.key;
        if (knows(type, member.key)) {
            on_member(member.key, *member.value, below);
        } else {
            report_.error(member.mark, below, unknown_key_message(type, member.key));
            good = false;
        }
    }
    return good;
}

template <class OnItem>
void Reader::items(const Node& node, const std::string& path, std::string_view go_type, OnItem&& on_item) {
    if (node.kind == Node::Kind::Null) return;
    if (node.kind != Node::Kind::Sequence) {
        refuse(node, path, "a list", go_type);
        return;
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) on_item(*node.items[i], path + '[' + std::to_string(i) + ']');
}

bool Reader::boolean(const Node& node, const std::string& path, bool fallback) {
    if (node.kind == Node::Kind::Null) return fallback;
    const auto value = to_bool(node);
    if (!value) refuse(node, path, "true or false", "bool");
    return value.value_or(fallback);
}

Count Reader::count(const Node& node, const std::string& path) {
    if (node.kind == Node::Kind::Null) return {0, node.mark};
    const auto value = to_unsigned(node);
    if (!value) refuse(node, path, "a whole number from 0 to 18446744073709551615", "uint64");
    return {value.value_or(0), node.mark};
}

Text Reader::text(const Node& node, const std::string& path) {
    if (node.kind == Node::Kind::Sequence || node.kind == Node::Kind::Mapping) refuse(node, path, "a text", "string");
    return {node.scalar, node.mark};
}

std::vector<Text> Reader::texts(const Node& node, const std::string& path) {
    std::vector<Text> list;
    items(node, path, "[]string",
          [&](const Node& item, const std::string& below) { list.push_back(text(item, below)); });
    return list;
}

/// Absent when null; a refused value counts as an empty map, so that presence (C-047) stays visible.
std::optional<Entries> Reader::entries(const Node& node, const std::string& path) {
    if (node.kind == Node::Kind::Null) return std::nullopt;
    Entries map{node.mark, path, {}};
    if (node.kind != Node::Kind::Mapping) refuse(node, path, "a mapping of names to texts", "map[string]string");
    for (const Member& member : node.members) {
        const Text value = text(*member.value, path + '.' + member.key);
        map.entries.push_back({{member.key, member.mark}, value.value, value.mark});
    }
    return map;
}

Document Reader::document(const Node& root) {
    Document document;
    const bool good =
        members(root, {}, kDocumentType, [&](const std::string& key, const Node& value, const std::string& path) {
            if (key == "checksum") {
                static_cast<void>(text(value, path)); // accepted and ignored (C-011)
                return;
            }
            if (value.kind == Node::Kind::Scalar || value.kind == Node::Kind::Mapping) document.unreadable = true;
            items(value, path, "[]configs.PartitionConfig", [&](const Node& item, const std::string& below) {
                document.partitions.push_back(partition(item, below));
            });
        });
    document.unreadable = document.unreadable || !good;
    return document;
}

PartitionDocument Reader::partition(const Node& node, const std::string& path) {
    PartitionDocument into;
    into.mark = node.mark;
    into.path = path;
    into.name.mark = node.mark;
    bool unreadable = false;
    const bool good =
        members(node, path, kPartitionType, [&](const std::string& key, const Node& value, const std::string& below) {
            if (!partition_member(into, key, value, below)) unreadable = true;
        });
    into.unreadable = unreadable || !good;
    return into;
}

/// False: the value was refused and its absence would be reported as another problem.
bool Reader::partition_member(PartitionDocument& into, const std::string& key, const Node& value,
                              const std::string& path) {
    if (key == "name") {
        into.name = text(value, path);
    } else if (key == "queues") {
        if (value.kind != Node::Kind::Null) into.queues = queues(value, path);
        return value.kind == Node::Kind::Null || value.kind == Node::Kind::Sequence;
    } else if (key == "placementrules") {
        into.placement_rules = rules(value, path);
    } else if (key == "limits") {
        into.limits = limits(value, path);
    } else if (key == "nodesortpolicy") {
        node_sort(into, value, path);
    } else if (key == "usergroupresolver") {
        members(value, path, kResolverType, [&](const std::string&, const Node& type, const std::string& below) {
            into.user_group_resolver = text(type, below);
        });
    } else { // preemption
        members(value, path, kPreemptionType, [&](const std::string& flag, const Node& set, const std::string& below) {
            bool& target = flag == "enabled" ? into.preemption_enabled : into.quota_preemption_enabled;
            target = boolean(set, below, target);
        });
    }
    return true;
}

void Reader::node_sort(PartitionDocument& into, const Node& node, const std::string& path) {
    members(node, path, kNodeSortType, [&](const std::string& key, const Node& value, const std::string& below) {
        if (key == "type") {
            into.node_sort_type = text(value, below);
            return;
        }
        if (key == "fragmentation") {
            into.fragmentation = fragmentation(value, below);
            return;
        }
        if (value.kind != Node::Kind::Mapping && value.kind != Node::Kind::Null)
            refuse(value, below, "a mapping of names to numbers", "map[string]float64");
        for (const Member& member : value.members) {
            const auto weight = to_double(*member.value);
            if (!weight && member.value->kind != Node::Kind::Null)
                refuse(*member.value, below + '.' + member.key, "a number", "float64");
            into.resource_weights.push_back({{member.key, member.value->mark}, weight.value_or(0)});
        }
    });
}

FragmentationDocument Reader::fragmentation(const Node& node, const std::string& path) {
    FragmentationDocument into;
    into.path = path;
    members(node, path, kFragmentationType, [&](const std::string& key, const Node& value, const std::string& below) {
        if (key == "halflife")
            into.half_life = text(value, below);
        else if (key == "resource")
            into.resource = text(value, below);
        else if (key == "others")
            into.others = texts(value, below);
        else
            items(value, below, "[]configs.ExpectedAsks", [&](const Node& item, const std::string& place) {
                into.workload.push_back(expected_asks(item, place));
            });
    });
    return into;
}

ExpectedAsksDocument Reader::expected_asks(const Node& node, const std::string& path) {
    ExpectedAsksDocument into;
    into.mark = node.mark;
    into.path = path;
    members(node, path, kExpectedAsksType, [&](const std::string& key, const Node& value, const std::string& below) {
        if (key == "resources")
            into.resources = entries(value, below);
        else if (key == "devices")
            into.devices = entries(value, below);
        else if (key == "attributes")
            into.attributes = entries(value, below);
        else
            into.weight = count(value, below);
    });
    return into;
}

std::vector<QueueDocument> Reader::queues(const Node& node, const std::string& path) {
    std::vector<QueueDocument> list;
    items(node, path, "[]configs.QueueConfig",
          [&](const Node& item, const std::string& below) { list.push_back(queue(item, below)); });
    return list;
}

QueueDocument Reader::queue(const Node& node, const std::string& path) {
    QueueDocument into;
    into.mark = node.mark;
    into.path = path;
    into.name.mark = node.mark;
    bool refused = false;
    const bool good =
        members(node, path, kQueueType, [&](const std::string& key, const Node& value, const std::string& below) {
            if (!queue_member(into, key, value, below)) into.limits = limits(value, below);
            refused = refused || is_refused(key, value);
        });
    into.unreadable = refused || !good;
    return into;
}

/// False for the one key it leaves to the caller, `limits`.
bool Reader::queue_member(QueueDocument& into, const std::string& key, const Node& value, const std::string& path) {
    if (key == "name")
        into.name = text(value, path);
    else if (key == "parent")
        into.parent = boolean(value, path, false);
    else if (key == "resources")
        into.resources = resources(value, path);
    else if (key == "maxapplications")
        into.max_applications = count(value, path);
    else if (key == "properties")
        into.properties = entries(value, path).value_or(Entries{});
    else if (key == "adminacl")
        into.admin_acl = text(value, path);
    else if (key == "submitacl")
        into.submit_acl = text(value, path);
    else if (key == "childtemplate")
        into.child_template = child_template(value, path);
    else if (key == "queues")
        into.queues = queues(value, path);
    else
        return false;
    return true;
}

ResourcesDocument Reader::resources(const Node& node, const std::string& path) {
    ResourcesDocument into;
    members(node, path, kResourcesType, [&](const std::string& key, const Node& value, const std::string& below) {
        (key == "max" ? into.max : into.guaranteed) = entries(value, below);
    });
    return into;
}

std::optional<TemplateDocument> Reader::child_template(const Node& node, const std::string& path) {
    if (node.kind == Node::Kind::Null) return std::nullopt;
    TemplateDocument into;
    into.mark = node.mark;
    into.path = path;
    members(node, path, kTemplateType, [&](const std::string& key, const Node& value, const std::string& below) {
        if (key == "maxapplications")
            into.max_applications = count(value, below);
        else if (key == "properties")
            into.properties = entries(value, below).value_or(Entries{});
        else if (key == "resources")
            into.resources = resources(value, below);
        else
            (key == "applytoexisting" ? into.apply_to_existing : into.inherit_properties) =
                boolean(value, below, false);
    });
    return into;
}

std::vector<LimitDocument> Reader::limits(const Node& node, const std::string& path) {
    std::vector<LimitDocument> list;
    items(node, path, "[]configs.Limit",
          [&](const Node& item, const std::string& below) { list.push_back(limit(item, below)); });
    return list;
}

LimitDocument Reader::limit(const Node& node, const std::string& path) {
    LimitDocument into;
    into.mark = node.mark;
    into.path = path;
    members(node, path, kLimitType, [&](const std::string& key, const Node& value, const std::string& below) {
        if (key == "limit")
            into.description = text(value, below);
        else if (key == "users")
            into.users = texts(value, below);
        else if (key == "groups")
            into.groups = texts(value, below);
        else if (key == "maxresources")
            into.max_resources = entries(value, below);
        else
            into.max_applications = count(value, below);
    });
    return into;
}

std::vector<RuleDocument> Reader::rules(const Node& node, const std::string& path) {
    std::vector<RuleDocument> list;
    items(node, path, "[]configs.PlacementRule",
          [&](const Node& item, const std::string& below) { list.push_back(rule(item, below)); });
    return list;
}

RuleDocument Reader::rule(const Node& node, const std::string& path) {
    RuleDocument into;
    into.mark = node.mark;
    into.path = path;
    into.name.mark = node.mark;
    members(node, path, kRuleType, [&](const std::string& key, const Node& value, const std::string& below) {
        if (key == "name")
            into.name = text(value, below);
        else if (key == "create")
            into.create = boolean(value, below, false);
        else if (key == "value")
            into.value = text(value, below);
        else if (key == "filter")
            into.filter = filter(value, below);
        else if (value.kind != Node::Kind::Null)
            into.parent.push_back(rule(value, below));
    });
    return into;
}

FilterDocument Reader::filter(const Node& node, const std::string& path) {
    FilterDocument into;
    members(node, path, kFilterType, [&](const std::string& key, const Node& value, const std::string& below) {
        if (key == "type")
            into.type = text(value, below);
        else
            (key == "users" ? into.users : into.groups) = texts(value, below);
    });
    return into;
}

} // namespace

Document read_document(const Node& root, Report& report) {
    return Reader{report}.document(root);
}

} // namespace yk::config_yaml
