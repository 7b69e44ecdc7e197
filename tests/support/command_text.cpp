// SPDX-License-Identifier: Apache-2.0
#include "tests/support/command_text.h"

#include <array>
#include <charconv>
#include <utility>

namespace yk::testing {

namespace {

std::int64_t to_number(std::string_view text) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

std::vector<std::string_view> split(std::string_view text, std::string_view divider) {
    std::vector<std::string_view> parts;
    while (true) {
        const auto at = text.find(divider);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + divider.size());
    }
}

constexpr std::array<std::pair<CommandKind, std::string_view>, 8> kWords{{{CommandKind::Config, "config"},
                                                                          {CommandKind::Advance, "advance"},
                                                                          {CommandKind::Cycle, "cycle"},
                                                                          {CommandKind::Recovery, "recover"},
                                                                          {CommandKind::Allocations, "alloc"},
                                                                          {CommandKind::Applications, "apps"},
                                                                          {CommandKind::Nodes, "nodes"},
                                                                          {CommandKind::Answers, "answer"}}};

std::string_view word_of(CommandKind kind) {
    for (const auto& [known, word] : kWords)
        if (known == kind) return word;
    return "";
}

Result<Element> parse_element(std::string_view text) {
    Element element;
    for (const std::string_view part : split(text, " ")) {
        if (part.empty()) continue;
        if (element.verb.empty()) {
            element.verb = part;
            continue;
        }
        const auto at = part.find('=');
        if (at == std::string_view::npos) return Error::of("field without = : " + std::string(part));
        element.fields[std::string(part.substr(0, at))] = part.substr(at + 1);
    }
    if (element.verb.empty()) return Error::of("an element without verb");
    return element;
}

/// `a,b`; none of an empty text.
std::vector<std::string_view> names(std::string_view text) {
    return text.empty() ? std::vector<std::string_view>{} : split(text, ",");
}

/// `key:value,key:value` as tags; a key may hold no colon.
Tags tags(std::string_view text) {
    Tags found;
    if (text.empty()) return found;
    for (const std::string_view part : split(text, ",")) {
        const auto at = part.find(':');
        found.push_back({part.substr(0, at), at == std::string_view::npos ? "" : part.substr(at + 1)});
    }
    return found;
}

/// `gpu:2x500`: two devices with 500 each; `gpu:3@500/4@500`: 500 of device 3 and 500 of device 4.
std::vector<DevicesSpec> devices(std::string_view text) {
    std::vector<DevicesSpec> found;
    for (const std::string_view part : names(text)) {
        const auto at = part.find(':');
        DevicesSpec& made = found.emplace_back(DevicesSpec{part.substr(0, at), 0, 0, {}});
        const std::string_view what = part.substr(at + 1);
        if (const auto by = what.find('x'); by != std::string_view::npos) {
            made.count = static_cast<std::uint32_t>(to_number(what.substr(0, by)));
            made.each = to_number(what.substr(by + 1));
            continue;
        }
        for (const std::string_view each : split(what, "/")) {
            const auto mark = each.find('@');
            made.on.push_back(
                {static_cast<std::uint32_t>(to_number(each.substr(0, mark))), to_number(each.substr(mark + 1))});
        }
    }
    return found;
}

/// `gpu:1000/1000`: two devices.
std::vector<DeviceListSpec> device_lists(std::string_view text) {
    std::vector<DeviceListSpec> found;
    for (const std::string_view part : names(text)) {
        const auto at = part.find(':');
        DeviceListSpec& made = found.emplace_back(DeviceListSpec{part.substr(0, at), {}});
        if (at + 1 == part.size()) continue; // none
        for (const std::string_view size : split(part.substr(at + 1), "/")) made.sizes.push_back(to_number(size));
    }
    return found;
}

AskSpec ask_spec(const Element& element) {
    AskSpec spec;
    spec.partition = element.get("part");
    spec.application = element.get("app");
    spec.key = element.get("key");
    spec.resource = quantities(element.get("res"));
    spec.priority = static_cast<std::int32_t>(element.number("prio"));
    spec.max_allocations = static_cast<std::int32_t>(element.number("max"));
    spec.task_group = element.get("group");
    spec.node = element.get("node");
    spec.tags = tags(element.get("tags"));
    spec.devices = devices(element.get("dev"));
    spec.placeholder = element.has("placeholder");
    spec.originator = element.has("originator");
    spec.allow_preempt_self = element.has("self");
    spec.allow_preempt_other = element.has("other");
    return spec;
}

ReleaseSpec release_spec(const Element& element) {
    return {element.get("part"),    element.get("app"),
            element.get("key"),     static_cast<TerminationType>(element.number("type")),
            element.get("message"), element.has("keep")};
}

NodeAction action_of(const Element& element) {
    constexpr std::array<std::pair<std::string_view, NodeAction>, 6> kActions{
        {{"create", NodeAction::Create},
         {"update", NodeAction::Update},
         {"drain", NodeAction::Drain},
         {"decommission", NodeAction::Decommission},
         {"schedulable", NodeAction::Schedulable},
         {"createdrain", NodeAction::CreateDrain}}};
    for (const auto& [verb, action] : kActions)
        if (verb == element.verb) return action;
    return NodeAction::Unset;
}

NodeSpec node_spec(const Element& element) {
    NodeSpec spec;
    spec.id = element.get("id");
    spec.action = action_of(element);
    if (element.has("part")) spec.attributes = Tags{{"si/node-partition", element.get("part")}};
    if (element.has("groups")) {
        if (!spec.attributes) spec.attributes.emplace();
        spec.attributes->push_back({"ykd.io/device-groups", element.get("groups")});
    }
    if (element.has("dev")) spec.devices = device_lists(element.get("dev"));
    if (element.has("res")) spec.capacity = quantities(element.get("res"));
    if (element.has("occ")) spec.occupied = quantities(element.get("occ"));
    if (element.has("avail") || element.has("count"))
        spec.booked = {quantities(element.get("avail")), static_cast<std::uint64_t>(element.number("count"))};
    return spec;
}

} // namespace

std::string_view Element::get(const std::string& field) const {
    const auto found = fields.find(field);
    return found == fields.end() ? std::string_view{} : std::string_view{found->second};
}

std::int64_t Element::number(const std::string& field) const {
    return to_number(get(field));
}

Quantities quantities(std::string_view text) {
    Quantities found;
    if (text.empty()) return found;
    for (const std::string_view part : split(text, ",")) {
        const auto at = part.find(':');
        found.push_back({part.substr(0, at), at == std::string_view::npos ? 0 : to_number(part.substr(at + 1))});
    }
    return found;
}

std::string print(const Command& command) {
    std::string line{word_of(command.kind)};
    if (command.kind == CommandKind::Config || command.kind == CommandKind::Recovery) return line + " " + command.text;
    if (command.kind == CommandKind::Advance) return line + " " + std::to_string(command.count) + "ms";
    if (command.kind == CommandKind::Cycle) return line + " " + std::to_string(command.count);
    for (std::size_t i = 0; i < command.elements.size(); ++i) {
        line += (i == 0 ? " " : " | ") + command.elements[i].verb;
        for (const auto& [name, value] : command.elements[i].fields) line += " " + name + "=" + value;
    }
    return line;
}

std::string print(const std::vector<Command>& commands) {
    std::string text;
    for (const Command& command : commands) text += print(command) + "\n";
    return text;
}

Result<Command> parse_command(std::string_view line) {
    const auto blank = line.find(' ');
    const std::string_view word = line.substr(0, blank);
    const std::string_view rest = blank == std::string_view::npos ? "" : line.substr(blank + 1);
    Command command;
    bool known = false;
    for (const auto& [kind, text] : kWords) {
        if (text != word) continue;
        command.kind = kind;
        known = true;
    }
    if (!known) return Error::of("unknown command: " + std::string(word));
    if (command.kind == CommandKind::Config || command.kind == CommandKind::Recovery) {
        command.text = rest;
    } else if (command.kind == CommandKind::Advance || command.kind == CommandKind::Cycle) {
        command.count = to_number(rest);
    } else {
        for (const std::string_view part : split(rest, " | ")) {
            YK_TRY(element, parse_element(part));
            command.elements.push_back(std::move(element));
        }
    }
    return command;
}

Result<std::vector<Command>> parse_commands(std::string_view text) {
    std::vector<Command> commands;
    for (const std::string_view line : split(text, "\n")) {
        if (line.empty() || line.front() == '#') continue;
        YK_TRY(command, parse_command(line));
        commands.push_back(std::move(command));
    }
    return commands;
}

AllocationRequest allocation_request(const Command& command) {
    AllocationRequest request;
    for (const Element& element : command.elements) {
        if (element.verb == "place") request.allocations.push_back(ask_spec(element));
        if (element.verb == "ask") request.asks.push_back(ask_spec(element));
        if (element.verb == "unask") request.ask_releases.push_back(release_spec(element));
        if (element.verb == "release") request.releases.push_back(release_spec(element));
    }
    return request;
}

ApplicationRequest application_request(const Command& command) {
    ApplicationRequest request;
    for (const Element& element : command.elements) {
        if (element.verb == "remove") {
            request.remove.push_back({element.get("part"), element.get("id")});
            continue;
        }
        ApplicationSpec spec;
        spec.partition = element.get("part");
        spec.id = element.get("id");
        spec.queue = element.get("queue");
        spec.placeholder_ask = quantities(element.get("gang"));
        spec.gang_style = element.get("style");
        spec.execution_timeout_ms = element.number("timeout");
        spec.user = element.has("user") ? element.get("user") : "testuser";
        spec.groups = element.has("groups") ? names(element.get("groups")) : std::vector<std::string_view>{"testgroup"};
        spec.tags = tags(element.get("tags"));
        spec.user_fault = element.get("fault");
        if (element.has("tagmax")) spec.queue_tags.max = quantities(element.get("tagmax"));
        if (element.has("tagguaranteed")) spec.queue_tags.guaranteed = quantities(element.get("tagguaranteed"));
        spec.queue_tags.max_applications = static_cast<std::uint64_t>(element.number("tagapps"));
        request.add.push_back(std::move(spec));
    }
    return request;
}

/// `existing` elements belong to the node element before them.
NodeRequest node_request(const Command& command) {
    NodeRequest request;
    for (const Element& element : command.elements) {
        if (element.verb == "existing" && !request.nodes.empty())
            request.nodes.back().existing.push_back(ask_spec(element));
        else
            request.nodes.push_back(node_spec(element));
    }
    return request;
}

std::vector<CallAnswer> call_answers(const Command& command) {
    std::vector<CallAnswer> answers;
    for (const Element& element : command.elements) {
        CallAnswer& answer = answers.emplace_back();
        answer.call = static_cast<std::uint64_t>(element.number("call"));
        answer.error = element.get("error");
        if (element.verb == "failed") answer.outcome = CallAnswer::Outcome::Failed;
        if (element.verb == "timeout") answer.outcome = CallAnswer::Outcome::TimedOut;
        for (const std::string_view node : names(element.get("yes"))) answer.nodes.push_back({node, true, {}});
        for (const Tag& refused : tags(element.get("no"))) answer.nodes.push_back({refused.key, false, refused.value});
        answer.success = element.has("index");
        if (answer.success) answer.index = element.number("index");
    }
    return answers;
}

} // namespace yk::testing
