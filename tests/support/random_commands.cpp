// SPDX-License-Identifier: Apache-2.0
#include "tests/support/random_commands.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tests/support/player.h"

namespace yk::testing {

namespace {

constexpr std::int64_t kStartSeconds = kStart.ns / 1'000'000'000;

std::vector<std::string> some_types(Random& random) {
    switch (random.between(0, 3)) {
    case 0: return {"vcore"};
    case 1: return {"vcore", "memory"};
    case 2: return {"memory", "gpu"};
    default: return {"vcore", "memory", "gpu"};
    }
}

/// The fields as the other has them.
void copy_fields(const Element& from, Element& to, std::initializer_list<const char*> fields) {
    for (const char* field : fields) {
        to.fields.erase(field);
        if (const auto known = from.fields.find(field); known != from.fields.end()) to.fields.insert(*known);
    }
}

Command request(CommandKind kind, Element element) {
    Command command;
    command.kind = kind;
    command.elements.push_back(std::move(element));
    return command;
}

} // namespace

RandomCommands::RandomCommands(std::uint64_t seed, Mix mix)
    : random_(seed),
      types_(some_types(random_)),
      node_size_(random_.between(10, 100)),
      config_(random_, types_, node_size_, mix == Mix::Preemption) {
    ask_most_ = std::max<std::int64_t>(2, node_size_ / random_.between(1, 8));
    most_nodes_ = static_cast<std::size_t>(random_.chance(50) ? random_.between(1, 6) : random_.between(6, 40));
    most_apps_ = static_cast<std::size_t>(random_.chance(50) ? random_.between(1, 6) : random_.between(6, 30));
    old_asks_ = random_.chance(50);
    priorities_ = random_.chance(50);
    required_ = random_.chance(40);
    rare_type_ = random_.chance(40);
    devices_ = types_.size() > 1 && types_.back() == "gpu" && random_.chance(60);
    gangs_ = mix == Mix::Gangs;
    preemption_ = mix == Mix::Preemption;
    if (!preemption_) return;
    most_nodes_ = static_cast<std::size_t>(random_.between(1, 5)); // full at once
    ask_most_ = std::max<std::int64_t>(2, node_size_ / random_.between(1, 3));
}

std::vector<Command> RandomCommands::run(std::size_t length) {
    std::vector<Command> commands;
    Command config;
    config.kind = CommandKind::Config;
    config.text = config_.text();
    commands.push_back(config);
    const std::size_t first_nodes = most_nodes_ / 2, first_apps = most_apps_ / 2;
    for (std::size_t i = 0; i < first_nodes; ++i) commands.push_back(request(CommandKind::Nodes, new_node()));
    for (std::size_t i = 0; i < first_apps; ++i) commands.push_back(request(CommandKind::Applications, new_app()));
    while (commands.size() < length) commands.push_back(next());
    return commands;
}

Command RandomCommands::next() {
    if (gangs_ && random_.chance(35)) return random_.chance(50) ? gang() : confirm();
    const std::int64_t dice = random_.between(0, 99);
    if (dice < 32) return Command{CommandKind::Cycle, {}, random_.between(1, 8), {}};
    if (dice < 54) return asks();
    if (dice < 61) return applications();
    if (dice < 71) return nodes();
    if (dice < 76) return changed_ask();
    if (dice < 80) return placement();
    if (dice < 88) return release();
    if (dice < 90) return foreign();
    if (dice < 95) return advance();
    if (dice < 97) return nonsense();
    config_.change();
    return Command{CommandKind::Config, config_.text(), 0, {}};
}

Element RandomCommands::in(const std::string& partition, std::string verb) {
    Element element;
    element.verb = std::move(verb);
    if (partition != "default") element.fields["part"] = partition;
    return element;
}

std::string RandomCommands::resource(std::int64_t least, std::int64_t most, bool all_types) {
    std::string text;
    for (const std::string& type : types_) {
        if (!all_types && !text.empty() && random_.chance(30)) continue;
        const std::int64_t value = random_.chance(4) ? 0 : random_.between(least, most);
        text += fmt::format("{}{}:{}", text.empty() ? "" : ",", type, value);
    }
    return text;
}

std::string RandomCommands::ask_size() {
    if (random_.chance(2)) return resource(node_size_ * 2, node_size_ * 3, true);
    if (random_.chance(30)) return resource(std::max<std::int64_t>(1, ask_most_ / 2), ask_most_, true); // many equal
    const std::string size = resource(1, ask_most_, false);
    return rare_type_ && random_.chance(20) ? size + fmt::format(",tape:{}", random_.between(1, 3)) : size;
}

/// A few devices of mostly one size; now and then one is not there.
std::string RandomCommands::device_list() {
    std::string text;
    const std::int64_t size = random_.chance(80) ? 4 : 6;
    for (std::int64_t left = random_.between(0, 6); left > 0; --left)
        text += fmt::format("{}{}", text.empty() ? "" : "/", random_.chance(90) ? size : random_.between(0, 5));
    return text;
}

/// Most nodes have devices, and no capacity of their type but these.
void RandomCommands::add_devices(Element& node) {
    if (!devices_ || !random_.chance(75)) return;
    node.fields["dev"] = "gpu:" + device_list();
    std::string& capacity = node.fields["res"];
    if (const auto at = capacity.find(",gpu:"); at != std::string::npos) capacity.resize(at);
    if (capacity.empty()) node.fields.erase("res");
    if (random_.chance(5)) node.fields["dev"] = "";
    if (random_.chance(20)) node.fields["groups"] = "[[0,2],[1,3]]";
}

/// A share, whole devices, what is neither, or devices that it states.
void RandomCommands::add_device_ask(Element& element) {
    if (!devices_ || !random_.chance(80)) return;
    std::string& size = element.fields["res"];
    if (const auto at = size.find(",gpu:"); at != std::string::npos) size.resize(at);
    if (size.rfind("gpu:", 0) == 0) size.clear();
    constexpr std::array<std::int64_t, 10> kAmounts{1, 1, 2, 2, 3, 4, 4, 8, 12, 6};
    std::int64_t amount = kAmounts[static_cast<std::size_t>(random_.between(0, 9))];
    element.fields.erase("dev");
    if (random_.chance(25)) {
        const std::int64_t count = random_.between(1, 3), each = random_.between(1, 4);
        amount = random_.chance(95) ? count * each : amount;
        element.fields["dev"] = fmt::format("gpu:{}x{}", count, each);
    }
    size += fmt::format("{}gpu:{}", size.empty() ? "" : ",", amount);
}

RandomCommands::SentApp* RandomCommands::some_app() {
    return apps_.empty() ? nullptr : &random_.of(apps_);
}

const RandomCommands::SentNode* RandomCommands::some_node(const std::string& partition) {
    for (int attempt = 0; attempt < 5 && !nodes_.empty(); ++attempt)
        if (const SentNode& node = random_.of(nodes_); node.partition == partition) return &node;
    return nullptr;
}

const Element* RandomCommands::some_ask(SentApp*& app) {
    for (int attempt = 0; attempt < 5; ++attempt) {
        app = some_app();
        if (app != nullptr && !app->asks.empty()) return &random_.of(app->asks);
    }
    return nullptr;
}

// --- nodes ----------------------------------------------------------------------------------------------------------

Element RandomCommands::new_node() {
    auto partitions = config_.partitions();
    SentNode node{fmt::format("n{}", serial_++), random_.of(partitions)};
    if (nodes_.size() < most_nodes_)
        nodes_.push_back(node);
    else
        node = random_.of(nodes_); // it may be known: refused
    Element element = in(node.partition, random_.chance(90) ? "create" : "createdrain");
    element.fields["id"] = node.id;
    element.fields["res"] = resource(random_.chance(70) ? node_size_ : node_size_ / 2, node_size_, true);
    if (random_.chance(10)) element.fields["occ"] = resource(0, node_size_ / 4, false);
    add_devices(element);
    return element;
}

Command RandomCommands::nodes() {
    if (nodes_.size() < most_nodes_ && random_.chance(40)) {
        Command command = request(CommandKind::Nodes, new_node());
        if (SentApp* app = some_app(); app != nullptr && random_.chance(10)) {
            Element existing = new_ask(*app);
            existing.verb = "existing";
            if (app->partition == nodes_.back().partition) command.elements.push_back(existing);
        }
        while (random_.chance(40)) command.elements.push_back(new_node());
        return command;
    }
    return request(CommandKind::Nodes, nodes_.empty() ? new_node() : changed_node());
}

Element RandomCommands::changed_node() {
    const SentNode& node = random_.of(nodes_);
    Element element = in(node.partition, "update");
    element.fields["id"] = node.id;
    const std::int64_t dice = random_.between(0, 9);
    if (random_.chance(5)) element.fields["part"] = random_.chance(50) ? "nowhere" : "second"; // I-175: it stays
    if (dice < 3)
        element.fields["res"] =
            resource(node_size_ / 4, node_size_ * 2, true) + (rare_type_ && random_.chance(10) ? ",tape:2" : "");
    else if (dice < 4 && devices_ && random_.chance(70))
        element.fields["dev"] = random_.chance(90) ? "gpu:" + device_list() : "";
    else if (dice < 4)
        element.fields["occ"] = resource(0, node_size_ / 3, false);
    else if (dice < 6)
        element.verb = "drain";
    else if (dice < 8)
        element.verb = "schedulable";
    else if (dice < 9)
        element.verb = "decommission";
    else
        element = new_node();
    return element;
}

// --- applications ---------------------------------------------------------------------------------------------------

Element RandomCommands::new_app() {
    auto partitions = config_.partitions();
    SentApp app{fmt::format("a{}", serial_++), random_.of(partitions), {}, {}};
    if (apps_.size() < most_apps_)
        apps_.push_back(app);
    else
        app = random_.of(apps_); // it may live: refused
    Element element = in(app.partition, "new");
    element.fields["id"] = app.id;
    element.fields["queue"] = config_.some_queue(app.partition);
    if (gangs_ && random_.chance(60)) {
        constexpr std::array<int, 4> kTimeouts{10, 700, 2000, 30'000};
        element.fields["gang"] = resource(1, node_size_, false);
        if (random_.chance(60)) element.fields["style"] = random_.chance(60) ? "Hard" : "Soft";
        if (random_.chance(80))
            element.fields["timeout"] = std::to_string(kTimeouts[static_cast<std::size_t>(random_.between(0, 3))]);
    }
    if (random_.chance(5)) return element;
    auto users = RandomConfig::users(), groups = RandomConfig::groups();
    element.fields["user"] = random_.of(users);
    std::string& own = element.fields["groups"]; // in any order; a name twice does no harm
    for (std::int64_t i = random_.between(0, 3); i > 0; --i) own += (own.empty() ? "" : ",") + random_.of(groups);
    return element;
}

Command RandomCommands::applications() {
    Command command = request(CommandKind::Applications, new_app());
    if (SentApp* app = some_app(); app != nullptr && random_.chance(25)) {
        Element element = in(app->partition, "remove");
        element.fields["id"] = app->id;
        if (random_.chance(80)) command.elements.clear();
        command.elements.push_back(std::move(element));
    }
    while (random_.chance(20)) command.elements.insert(command.elements.begin(), new_app());
    return command;
}

// --- gangs ----------------------------------------------------------------------------------------------------------

/// A placeholder, or a real ask of a task group: as large as most, larger, smaller, or for a required node.
Element RandomCommands::new_member(SentApp& app, bool placeholder) {
    Element element = new_ask(app);
    if (app.member.empty()) app.member = resource(1, ask_most_, true);
    if (random_.chance(85)) element.fields["res"] = app.member;
    if (!random_.chance(10)) element.fields.erase("prio");
    element.fields["group"] = random_.chance(80) ? "g" : "h";
    if (placeholder) element.fields["placeholder"] = "1";
    if (const SentNode* node = some_node(app.partition); !placeholder && node != nullptr && random_.chance(30))
        element.fields["tags"] = "yunikorn.apache.org/requiredNode:" + node->id;
    app.asks.back() = element;
    return element;
}

Command RandomCommands::gang() {
    SentApp* app = some_app();
    if (app == nullptr) return request(CommandKind::Applications, new_app());
    const bool placeholder = random_.chance(60);
    Command command = request(CommandKind::Allocations, new_member(*app, placeholder));
    for (std::int64_t more = random_.between(0, 5); more > 0; --more)
        command.elements.push_back(new_member(*app, random_.chance(85) == placeholder));
    const SentNode* node = some_node(app->partition);
    if (node != nullptr && random_.chance(5)) { // reported as placed: recovery
        command.elements.front().verb = "place";
        command.elements.front().fields["node"] = node->id;
    }
    return command;
}

/// The RM says that placeholders are gone, whether it was asked to or not.
Command RandomCommands::confirm() {
    SentApp* app = nullptr;
    if (some_ask(app) == nullptr) return gang();
    Command command;
    command.kind = CommandKind::Allocations;
    constexpr std::array<int, 10> kTypes{4, 4, 4, 4, 4, 4, 2, 2, 1, 3};
    for (const Element& ask : app->asks) {
        if (!random_.chance(ask.has("placeholder") ? 50 : 3)) continue;
        Element element = in(app->partition, "release");
        element.fields["app"] = app->id;
        element.fields["key"] = ask.get("key");
        element.fields["type"] = std::to_string(kTypes[static_cast<std::size_t>(random_.between(0, 9))]);
        command.elements.push_back(std::move(element));
    }
    return command.elements.empty() ? gang() : command;
}

// --- asks -----------------------------------------------------------------------------------------------------------

Element RandomCommands::new_ask(SentApp& app) {
    Element element = in(app.partition, "ask");
    element.fields["app"] = app.id;
    const bool again = !app.asks.empty() && random_.chance(3); // a key of before, perhaps released
    element.fields["key"] = again ? std::string(random_.of(app.asks).get("key")) : fmt::format("k{}", serial_++);
    element.fields["res"] = ask_size();
    add_device_ask(element);
    if (priorities_ && random_.chance(50)) element.fields["prio"] = std::to_string(random_.between(-2, 3));
    std::string tags;
    if (random_.chance(old_asks_ ? 60 : 5))
        tags = fmt::format("creationTime:{}", kStartSeconds - random_.between(0, 20));
    if (required_ && random_.chance(10)) {
        const SentNode* node = some_node(app.partition);
        tags += fmt::format("{}yunikorn.apache.org/requiredNode:{}", tags.empty() ? "" : ",",
                            node == nullptr || random_.chance(5) ? "nowhere" : node->id);
    }
    if (!tags.empty()) element.fields["tags"] = tags;
    if (preemption_ && random_.chance(70)) element.fields["other"] = "1";
    if (preemption_ && random_.chance(70)) element.fields["self"] = "1";
    if (preemption_ && random_.chance(10)) element.fields["originator"] = "1";
    const std::string_view key = element.get("key");
    app.asks.erase(
        std::remove_if(app.asks.begin(), app.asks.end(), [&](const Element& e) { return e.get("key") == key; }),
        app.asks.end());
    app.asks.push_back(element);
    return element;
}

Command RandomCommands::asks() {
    SentApp* app = some_app();
    if (app == nullptr) return request(CommandKind::Applications, new_app());
    Command command = request(CommandKind::Allocations, new_ask(*app));
    const bool equal = random_.chance(30); // a batch of equal ones
    const std::int64_t more = random_.between(0, 6);
    for (std::int64_t i = 0; i < more; ++i) {
        if (random_.chance(30)) app = some_app();
        Element element = new_ask(*app);
        if (equal && element.fields["key"] != command.elements.front().fields["key"])
            copy_fields(command.elements.front(), element, {"res", "dev"});
        app->asks.back() = element;
        command.elements.push_back(std::move(element));
    }
    return command;
}

/// A known key again: the same message, another size or another priority.
Command RandomCommands::changed_ask() {
    SentApp* app = nullptr;
    const Element* sent = some_ask(app);
    if (sent == nullptr) return asks();
    Element element = *sent;
    if (random_.chance(60)) {
        element.fields["res"] = ask_size();
        element.fields.erase("dev");
        add_device_ask(element);
    }
    if (priorities_ && random_.chance(30)) element.fields["prio"] = std::to_string(random_.between(-2, 3));
    for (Element& old : app->asks)
        if (old.get("key") == element.get("key")) old = element;
    return request(CommandKind::Allocations, std::move(element));
}

/// The RM says where something runs: a new key or one that waits.
Command RandomCommands::placement() {
    SentApp* app = some_app();
    const Element* waiting = random_.chance(40) ? some_ask(app) : nullptr;
    if (app == nullptr) return asks();
    Element element = waiting != nullptr ? *waiting : new_ask(*app);
    const SentNode* node = some_node(app->partition);
    if (node == nullptr) return asks();
    element.verb = "place";
    element.fields["node"] = node->id;
    if (devices_ && random_.chance(50)) {
        const std::int64_t amount = random_.between(1, 4), index = random_.between(0, 4);
        element.fields["res"] = fmt::format("{}:1,gpu:{}", types_.front(), amount);
        element.fields["dev"] = fmt::format("gpu:{}@{}", index, amount);
    }
    return request(CommandKind::Allocations, std::move(element));
}

Command RandomCommands::release() {
    SentApp* app = nullptr;
    const Element* sent = some_ask(app);
    if (sent == nullptr) return asks();
    if (random_.chance(15)) return release_everything(*app);
    Command command;
    command.kind = CommandKind::Allocations;
    const std::int64_t count = random_.between(1, 4);
    for (std::int64_t i = 0; i < count; ++i) {
        Element element = in(app->partition, random_.chance(80) ? "release" : "unask");
        element.fields["app"] = app->id;
        if (!random_.chance(6)) element.fields["key"] = random_.of(app->asks).get("key");
        constexpr std::array<int, 8> kKinds{1, 1, 1, 1, 1, 0, 3, 2};
        const int kind = kKinds[static_cast<std::size_t>(random_.between(0, 7))];
        element.fields["type"] = std::to_string(element.has("key") ? kind : 1);
        command.elements.push_back(std::move(element));
        if (random_.chance(30) && some_ask(app) == nullptr) break;
    }
    return command;
}

/// One key after the other, and then what is left: an application that is Completing by then is told once more.
Command RandomCommands::release_everything(const SentApp& app) {
    Command command;
    command.kind = CommandKind::Allocations;
    Element element = in(app.partition, "release");
    element.fields["app"] = app.id;
    element.fields["type"] = "1";
    if (random_.chance(70))
        for (const Element& ask : app.asks) {
            element.fields["key"] = ask.get("key");
            command.elements.push_back(element);
        }
    element.fields.erase("key");
    for (std::int64_t i = random_.between(1, 3); i > 0; --i) command.elements.push_back(element);
    return command;
}

Command RandomCommands::foreign() {
    if (!foreign_.empty() && random_.chance(30)) {
        Element element = in("default", "release");
        element.fields["key"] = random_.of(foreign_);
        return request(CommandKind::Allocations, std::move(element));
    }
    const SentNode* node = some_node("default");
    if (node == nullptr) return asks();
    Element element = in("default", "place");
    if (foreign_.empty() || random_.chance(60)) foreign_.push_back(fmt::format("f{}", serial_++));
    element.fields["key"] = random_.of(foreign_);
    element.fields["node"] = node->id;
    element.fields["res"] = resource(0, node_size_ / 3, false);
    if (devices_ && random_.chance(50)) {
        const std::int64_t amount = random_.between(1, 4);
        element.fields["res"] = fmt::format("gpu:{}", amount);
        if (random_.chance(50)) element.fields["dev"] = fmt::format("gpu:{}@{}", random_.between(0, 4), amount);
    }
    element.fields["tags"] = random_.chance(50) ? "foreign:default" : "foreign:static";
    return request(CommandKind::Allocations, std::move(element));
}

Command RandomCommands::advance() {
    constexpr std::array<std::int64_t, 10> kSteps{10, 500, 1000, 1600, 2100, 2500, 11'000, 31'000, 31'000, 3'601'000};
    std::int64_t by = kSteps[static_cast<std::size_t>(random_.between(0, 9))];
    if (random_.chance(2)) by = std::int64_t{73} * 3'600'000;
    return Command{CommandKind::Advance, {}, by, {}};
}

/// What must be refused or ignored, and change nothing else.
Command RandomCommands::nonsense() {
    Element element;
    switch (random_.between(0, 8)) {
    case 0: element = {"ask", {{"app", "nobody"}, {"key", "k"}, {"res", types_[0] + ":1"}}}; break;
    case 1: element = {"ask", {{"part", "nowhere"}, {"app", "a"}, {"key", "k"}, {"res", types_[0] + ":1"}}}; break;
    case 2: element = {"release", {{"app", "nobody"}, {"key", "k"}, {"type", "1"}}}; break;
    case 3: return request(CommandKind::Nodes, {"drain", {{"id", "nowhere"}}});
    case 4: return request(CommandKind::Nodes, {"nothing", {{"id", "nowhere"}}});
    case 5: return request(CommandKind::Applications, {"remove", {{"id", "nobody"}}});
    default: {
        SentApp* app = some_app();
        if (app == nullptr) return request(CommandKind::Nodes, {"drain", {{"id", "nowhere"}}});
        element = in(app->partition, random_.chance(50) ? "ask" : "place");
        element.fields.insert({{"app", app->id}, {"key", fmt::format("k{}", serial_++)}, {"res", types_[0] + ":1"}});
        switch (random_.between(0, 4)) {
        case 0: element.fields["res"] = types_[0] + ":0"; break;
        case 1: element.fields["res"] = types_[0] + ":-3"; break;
        case 2: element.fields["node"] = "nowhere"; break;
        case 3: element.fields["placeholder"] = "1"; break;
        default: element.fields["max"] = "2"; break;
        }
    }
    }
    return request(CommandKind::Allocations, std::move(element));
}

} // namespace yk::testing
