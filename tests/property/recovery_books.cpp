// SPDX-License-Identifier: Apache-2.0
#include "tests/property/recovery_books.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tests/support/player.h"

namespace yk::testing {

namespace {

constexpr std::int64_t kStartSeconds = kStart.ns / 1'000'000'000;
constexpr const char* kApplicationCreated = "yunikorn.apache.org/creationTime";

std::string text_of(const ResourceMapView& amounts) {
    std::string text;
    for (const auto& [type, value] : amounts) text += fmt::format("{}{}:{}", text.empty() ? "" : ",", type, value);
    return text;
}

void add(ResourceMapView& sum, const ResourceMapView& other, std::int64_t sign = 1) {
    for (const auto& [type, value] : other) sum[type] += sign * value;
}

Element element_in(const std::string& partition, const char* verb) {
    Element element{verb, {}};
    if (partition != "default") element.fields["part"] = partition;
    return element;
}

recovery::Digest& of(RecoveryDigests& digests, RecoveryKind kind) {
    return digests[static_cast<std::size_t>(kind)];
}

Command command(CommandKind kind, std::string text) {
    Command made;
    made.kind = kind;
    made.text = std::move(text);
    return made;
}

/// When a command of the straight order comes; -1: it stays where it is.
int rank(CommandKind kind, const std::string& verb) {
    constexpr std::array<std::pair<std::string_view, int>, 10> kVerbs{{{"new", 0},
                                                                       {"create", 1},
                                                                       {"createdrain", 1},
                                                                       {"place", 2},
                                                                       {"ask", 3},
                                                                       {"drain", 4},
                                                                       {"schedulable", 4},
                                                                       {"unask", 5},
                                                                       {"release", 5},
                                                                       {"remove", 6}}};
    if (kind == CommandKind::Config || kind == CommandKind::Recovery) return -1;
    for (const auto& [known, at] : kVerbs)
        if (known == verb) return at;
    return 7; // decommission
}

} // namespace

std::vector<Command> straight_order(const std::vector<Command>& commands) {
    std::vector<Command> straight;
    for (const Command& each : commands) {
        if (each.elements.empty()) straight.push_back(each);
        Element node;
        for (const Element& element : each.elements) {
            Command one;
            one.kind = element.verb == "existing" ? CommandKind::Allocations : each.kind;
            one.elements.push_back(element);
            if (element.verb == "existing") {
                one.elements[0].verb = "place";
                one.elements[0].fields["node"] = node.get("id");
                if (node.has("part")) one.elements[0].fields["part"] = node.get("part");
            } else {
                node = element;
            }
            straight.push_back(std::move(one));
        }
    }
    const auto rank_of = [](const Command& each) {
        return rank(each.kind, each.elements.empty() ? "" : each.elements[0].verb);
    };
    std::stable_sort(straight.begin(), straight.end(),
                     [&](const Command& a, const Command& b) { return rank_of(a) < rank_of(b); });
    return straight;
}

RecoveryBooks::RecoveryBooks(std::uint64_t seed) : random_(seed), types_{"vcore"}, partitions_{"default"} {
    if (random_.chance(50)) types_.emplace_back("memory");
    if (random_.chance(30)) partitions_.emplace_back("gpu");
    make_configuration();
    for (const std::string& partition : partitions_) {
        make_nodes(partition);
        for (std::int64_t left = random_.between(1, 7); left > 0; --left) make_application(partition);
    }
    for (const Node& node : nodes_)
        while (random_.chance(30)) make_foreign(node);
    release_some();
    book();
    add_up();
    for (const Application& each : applications_)
        if (!each.removed && !each.changed) add_state(each);
}

// --- the books ------------------------------------------------------------------------------------------------------

RecoveryBooks::Amounts RecoveryBooks::some(std::int64_t least, std::int64_t most) {
    Amounts amounts;
    for (const std::string& type : types_)
        if (type == types_.front() || random_.chance(70)) amounts[type] = random_.between(least, most);
    return amounts;
}

std::string RecoveryBooks::new_id(const char* prefix) {
    return fmt::format("{}{}", prefix, serial_++);
}

/// Limits that what is restored does not keep to (I-222), and queues that rules make.
void RecoveryBooks::make_configuration() {
    std::string text;
    for (const std::string& name : partitions_) {
        const std::string limits = random_.chance(50)
                                       ? fmt::format(", limits: [{{limit: few, users: ['*'], "
                                                     "maxapplications: 1, maxresources: {{vcore: {}m}}}}]",
                                                     random_.between(1, 30))
                                       : "";
        text +=
            fmt::format("{}{{name: {}, queues: [{{name: root, submitacl: '*'{}, queues: [{{name: a, resources: {{max: "
                        "{{vcore: {}m}}}}}}, {{name: g}}, {{name: p, queues: [{{name: c, maxapplications: 1}}, "
                        "{{name: d}}]}}]}}]{}}}",
                        text.empty() ? "" : ", ", name, limits, random_.between(1, 40),
                        random_.chance(40) ? ", placementrules: [{name: provided, create: true}]" : "");
    }
    first_.push_back(command(CommandKind::Config, "partitions: [" + text + "]"));
    first_.push_back(command(CommandKind::Recovery, "begin-forced"));
}

void RecoveryBooks::make_nodes(const std::string& partition) {
    for (std::int64_t left = random_.between(1, 6); left > 0; --left) {
        Node node;
        node.name = {partition, new_id("n")};
        node.drained = random_.chance(30);
        node.schedulable = random_.chance(80);
        node.removed = random_.chance(12);
        node.capacity = some(5, 40);
        if (random_.chance(20)) node.occupied = some(0, 5);
        node.sent = element_in(partition, node.drained ? "createdrain" : "create");
        node.sent.fields["id"] = node.name.second;
        node.sent.fields["res"] = text_of(node.capacity);
        if (!node.occupied.empty()) node.sent.fields["occ"] = text_of(node.occupied);
        nodes_.push_back(std::move(node));
    }
}

void RecoveryBooks::make_application(const std::string& partition) {
    std::vector<std::string> queues{"root.a", "root.a", "root.p.c", "root.p.d", "root.made.here", "root.p", "nowhere"};
    std::vector<std::string> users{"u0", "u1", "u2"}, groups{"g0", "g0,g1", "g1"};
    Application application;
    application.name = {partition, new_id("a")};
    application.removed = random_.chance(12);
    application.sent = element_in(partition, "new");
    auto& fields = application.sent.fields;
    fields["id"] = application.name.second;
    fields["queue"] = random_.of(queues);
    fields["user"] = random_.of(users);
    fields["groups"] = random_.of(groups);
    application.created = kStartSeconds - random_.between(0, 1000);
    fields["tags"] = fmt::format("{}:{}", kApplicationCreated, application.created);
    if (random_.chance(30)) make_gang(application);
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].name.first == partition) near.push_back(i);
    for (std::int64_t left = random_.between(0, 5); left > 0; --left)
        make_allocation(application, nodes_[random_.of(near)], false, some(1, 12));
    for (std::int64_t left = random_.between(0, 3); left > 0; --left) make_ask(application, false, some(1, 12));
    applications_.push_back(std::move(application));
}

/// Placeholders that are placed, that wait, or that are not there.
void RecoveryBooks::make_gang(Application& application) {
    application.placeholders = random_.between(1, 4);
    const Amounts size = some(1, 5);
    Amounts sum;
    std::vector<std::size_t> near;
    for (std::size_t i = 0; i < nodes_.size(); ++i)
        if (nodes_[i].name.first == application.name.first) near.push_back(i);
    const bool whole = random_.chance(40);
    for (std::int64_t i = 0; i < application.placeholders; ++i) {
        add(sum, size);
        if (whole || random_.chance(50))
            make_allocation(application, nodes_[random_.of(near)], true, size);
        else if (random_.chance(60))
            make_ask(application, true, size);
    }
    application.sent.fields["queue"] = "root.g";
    application.sent.fields["gang"] = text_of(sum);
    application.sent.fields["timeout"] = "3600000";
}

void RecoveryBooks::make_allocation(const Application& application, const Node& node, bool placeholder,
                                    const Amounts& size) {
    make_ask(application, placeholder, size);
    Allocation& made = allocations_.back();
    made.node = node.name;
    made.sent.verb = "place";
    made.sent.fields["node"] = node.name.second;
}

void RecoveryBooks::make_ask(const Application& application, bool placeholder, const Amounts& size) {
    Allocation ask;
    ask.application = application.name;
    ask.key = new_id("k");
    ask.size = size;
    ask.placeholder = placeholder;
    ask.sent = element_in(application.name.first, "ask");
    auto& fields = ask.sent.fields;
    fields["app"] = application.name.second;
    fields["key"] = ask.key;
    fields["res"] = text_of(size);
    ask.created = kStartSeconds - random_.between(0, 1100); // it may be older than its application
    fields["tags"] = fmt::format("creationTime:{}", ask.created);
    if (random_.chance(30)) fields["prio"] = std::to_string(random_.between(-2, 3));
    if (placeholder || random_.chance(10)) fields["group"] = "g";
    if (placeholder) fields["placeholder"] = "1";
    allocations_.push_back(std::move(ask));
}

void RecoveryBooks::make_foreign(const Node& node) {
    Allocation foreign;
    foreign.application = {node.name.first, ""};
    foreign.key = new_id("f");
    foreign.node = node.name;
    foreign.size = some(0, 5);
    foreign.sent = element_in(node.name.first, "place");
    foreign.sent.fields["key"] = foreign.key;
    foreign.sent.fields["node"] = node.name.second;
    foreign.sent.fields["res"] = text_of(foreign.size);
    foreign.sent.fields["tags"] = random_.chance(50) ? "foreign:default" : "foreign:static";
    allocations_.push_back(std::move(foreign));
}

/// A release names nothing that goes with its application or node: it would wait for that in vain.
void RecoveryBooks::release_some() {
    for (Allocation& each : allocations_) {
        bool with_other = false;
        for (const Node& node : nodes_) with_other = with_other || (node.removed && node.name == each.node);
        for (const Application& application : applications_)
            with_other = with_other || (application.removed && application.name == each.application);
        each.released = !with_other && random_.chance(15);
        each.gone = with_other || each.released;
        for (Application& application : applications_)
            application.changed = application.changed || (each.gone && application.name == each.application);
    }
}

/// What the RM has in the end, stated with most nodes (I-221).
void RecoveryBooks::book() {
    for (Node& node : nodes_) {
        if (node.removed || random_.chance(30)) continue;
        Amounts available = node.capacity;
        add(available, node.occupied, -1);
        std::int64_t count = 0;
        for (const Allocation& each : allocations_) {
            if (each.gone || each.node != node.name) continue;
            add(available, each.size, -1);
            ++count;
        }
        node.sent.fields["avail"] = text_of(available);
        node.sent.fields["count"] = std::to_string(count);
    }
}

void RecoveryBooks::add_up() {
    using namespace recovery;
    for (const std::string& partition : partitions_) digests_[partition];
    for (const Node& node : nodes_) {
        const auto& [partition, id] = node.name;
        add(most_[node.name], node.occupied);
        if (!node.removed)
            of(digests_[partition], RecoveryKind::Nodes)
                .add(bucket_of(partition, id),
                     line_hash(node_line(partition, id, resources_text(node.capacity), node.schedulable)));
    }
    for (const Application& application : applications_) {
        const auto& [partition, id] = application.name;
        if (!application.removed)
            of(digests_[partition], RecoveryKind::Applications)
                .add(bucket_of(partition, id), line_hash(application_line(partition, id)));
    }
    for (const Allocation& each : allocations_) {
        const auto& [partition, application] = each.application;
        const bool ask = each.node.second.empty();
        if (!ask) add(most_[each.node], each.size);
        if (each.gone) continue;
        if (ask) {
            ++asks_;
            continue;
        }
        of(digests_[partition], RecoveryKind::Allocations)
            .add(bucket_of(partition, application, each.key),
                 line_hash(allocation_line(partition, application, each.key, each.node.second,
                                           resources_text(each.size), each.placeholder)));
        if (!application.empty()) announced_.insert({each.application, each.key});
    }
}

void RecoveryBooks::add_state(const Application& application) {
    std::int64_t real = 0, placeholders = 0, asks = 0, submitted = application.created;
    for (const Allocation& each : allocations_) {
        if (each.application != application.name) continue;
        submitted = std::min(submitted, each.created);
        ++(each.node.second.empty() ? asks : each.placeholder ? placeholders : real);
    }
    const bool runs = real > 0 || (application.placeholders > 0 && placeholders == application.placeholders);
    submitted_[application.name] = Instant{submitted * 1'000'000'000};
    states_[application.name] = runs ? "Running" : placeholders + asks > 0 ? "Accepted" : "New";
}

// --- an order of the replay -----------------------------------------------------------------------------------------

std::vector<Command> RecoveryBooks::any_order() {
    std::vector<Step> steps;
    Places ends_of_nodes, ends_of_applications;
    add_nodes(steps, ends_of_nodes);
    add_applications(steps, ends_of_applications);
    add_allocations(steps, ends_of_nodes, ends_of_applications);
    std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.at < b.at; });
    return grouped(steps);
}

/// `ends`: of a node that was removed, when both its creation and its removal have come.
void RecoveryBooks::add_nodes(std::vector<Step>& steps, Places& ends) {
    for (const Node& node : nodes_) {
        const auto action = [&steps, &name = node.name](const char* verb, std::int64_t at) {
            Element element = element_in(name.first, verb);
            element.fields["id"] = name.second;
            steps.push_back({CommandKind::Nodes, {std::move(element)}, at});
        };
        std::int64_t created = anywhere();
        steps.push_back({CommandKind::Nodes, {node.sent}, created});
        if (node.removed) {
            const std::int64_t removed = anywhere();
            action("decommission", removed);
            ends[node.name] = std::max(created, removed);
            continue;
        }
        if (random_.chance(15)) {
            const std::int64_t again = anywhere();
            steps.push_back({CommandKind::Nodes, {node.sent}, again});
            created = std::min(created, again);
        }
        if (node.schedulable == node.drained) // after its creation: else it fails, and the RM sends it again
            action(node.schedulable ? "schedulable" : "drain", random_.between(created + 1, kLast + 1));
    }
}

void RecoveryBooks::add_applications(std::vector<Step>& steps, Places& ends) {
    for (const Application& application : applications_) {
        const std::int64_t at = anywhere();
        steps.push_back({CommandKind::Applications, {application.sent}, at});
        if (application.removed) {
            const std::int64_t removed = anywhere();
            Element element = element_in(application.name.first, "remove");
            element.fields["id"] = application.name.second;
            steps.push_back({CommandKind::Applications, {std::move(element)}, removed});
            ends[application.name] = std::max(at, removed);
        } else if (random_.chance(15)) {
            steps.push_back({CommandKind::Applications, {application.sent}, anywhere()}); // again
        }
    }
}

/// What is removed with its application or node comes before these are gone: after that nobody knows of it.
void RecoveryBooks::add_allocations(std::vector<Step>& steps, const Places& ends_of_nodes,
                                    const Places& ends_of_applications) {
    const auto before = [](const Places& ends, const Name& name) {
        const auto found = ends.find(name);
        return found == ends.end() ? kLast : found->second - 1;
    };
    for (const Allocation& each : allocations_) {
        const std::int64_t last = before(ends_of_applications, each.application);
        const auto node = std::find_if(steps.begin(), steps.end(), [&](const Step& step) {
            return step.kind == CommandKind::Nodes && step.elements[0].has("res") &&
                   step.elements[0].get("id") == each.node.second;
        });
        if (node != steps.end() && random_.chance(40) && node->at <= last) {
            node->elements.push_back(each.sent);
            node->elements.back().verb = "existing";
            node->elements.back().fields.erase("node");
        } else {
            steps.push_back({CommandKind::Allocations,
                             {each.sent},
                             random_.between(1, std::min(last, before(ends_of_nodes, each.node)))});
        }
        if (!each.gone && random_.chance(10)) // again
            steps.push_back({CommandKind::Allocations, {each.sent}, anywhere()});
        if (!each.released) continue;
        constexpr std::array<const char*, 6> kTerminations{"1", "1", "1", "0", "2", "3"};
        const bool ask = each.node.second.empty();
        Element release = element_in(each.application.first, ask && random_.chance(50) ? "unask" : "release");
        if (!each.application.second.empty()) release.fields["app"] = each.application.second;
        release.fields["key"] = each.key;
        release.fields["type"] = ask ? "1" : kTerminations[static_cast<std::size_t>(random_.between(0, 5))];
        steps.push_back({CommandKind::Allocations, {std::move(release)}, anywhere()});
    }
}

/// Some requests have several elements. None creates a node and removes it.
std::vector<Command> RecoveryBooks::grouped(const std::vector<Step>& steps) {
    std::vector<Command> commands = first_;
    for (const Step& step : steps) {
        const bool removes = step.elements[0].verb == "decommission";
        if (!removes && commands.back().kind == step.kind && commands.back().elements[0].verb != "decommission" &&
            random_.chance(60)) {
            auto& elements = commands.back().elements;
            elements.insert(elements.end(), step.elements.begin(), step.elements.end());
            continue;
        }
        commands.push_back({step.kind, {}, 0, step.elements});
    }
    return commands;
}

} // namespace yk::testing
