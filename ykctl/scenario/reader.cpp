// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/scenario.h"

#include "ykctl/cli/values.h"
#include "ykctl/scenario/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iostream>

namespace yk::scenario {
namespace {

const Shape kPreemptionPolicy{"preemptionPolicy",
                              {{"allowPreemptSelf", FieldType::Boolean}, {"allowPreemptOther", FieldType::Boolean}}};

// Asks and allocations that the RM reports are sent in one list, `allocations`, which keeps their order. So asks have
// the field names of that list.
const Shape kAsk{"an ask",
                 {{"allocationKey"},
                  {"applicationID"},
                  {"partitionName"},
                  {"resourceAsk", FieldType::Resources, nullptr, "resourcePerAlloc"},
                  {"resourcePerAlloc", FieldType::Resources},
                  {"priority", FieldType::Int32},
                  {"tags", FieldType::Texts, nullptr, "allocationTags"},
                  {"taskGroupName"},
                  {"placeholder", FieldType::Boolean},
                  {"originator", FieldType::Boolean},
                  {"preemptionPolicy", FieldType::Map, &kPreemptionPolicy},
                  {"nodeID"},
                  {"devices", FieldType::Devices},
                  {"repeat", FieldType::Count}}};

const Shape kNodeRecovery{"recovery of a node",
                          {{"availableResource", FieldType::Resources}, {"allocations", FieldType::Count}}};

const Shape kNode{"a node",
                  {{"nodeID"},
                   {"action", FieldType::NodeAction},
                   {"attributes", FieldType::Texts},
                   {"schedulableResource", FieldType::Resources},
                   {"occupiedResource", FieldType::Resources},
                   {"existingAllocations", FieldType::List, &kAsk},
                   {"recovery", FieldType::Map, &kNodeRecovery},
                   {"devices", FieldType::IntegerLists},
                   {"repeat", FieldType::Count}}};

const Shape kUser{"ugi", {{"user"}, {"groups", FieldType::TextList}}};
const Shape kNewApplication{"a new application",
                            {{"applicationID"},
                             {"queueName"},
                             {"partitionName"},
                             {"ugi", FieldType::Map, &kUser},
                             {"tags", FieldType::Texts},
                             {"executionTimeoutMilliSeconds", FieldType::Int64},
                             {"placeholderAsk", FieldType::Resources},
                             {"gangSchedulingStyle"}}};
const Shape kRemoveApplication{"an application to remove", {{"applicationID"}, {"partitionName"}}};
const Shape kApplications{
    "applications", {{"new", FieldType::List, &kNewApplication}, {"remove", FieldType::List, &kRemoveApplication}}};

const Shape kRelease{
    "a release",
    {{"applicationID"}, {"allocationKey"}, {"partitionName"}, {"terminationType", FieldType::Termination}}};
const Shape kReleases{
    "releases",
    {{"allocationsToRelease", FieldType::List, &kRelease}, {"allocationAsksToRelease", FieldType::List, &kRelease}}};

const Shape kWantedApplication{"an expected application",
                               {{"exists", FieldType::Boolean},
                                {"state"},
                                {"queue"},
                                {"allocated", FieldType::WantedResources},
                                {"placeholder", FieldType::WantedResources},
                                {"pending", FieldType::WantedResources},
                                {"reservations", FieldType::Count}}};
const Shape kWantedQueue{"an expected queue",
                         {{"exists", FieldType::Boolean},
                          {"state"},
                          {"allocated", FieldType::WantedResources},
                          {"pending", FieldType::WantedResources},
                          {"max", FieldType::WantedResources},
                          {"guaranteed", FieldType::WantedResources},
                          {"preempting", FieldType::WantedResources},
                          {"maxApplications", FieldType::Int64},
                          {"runningApplications", FieldType::Count},
                          {"applications", FieldType::Count},
                          {"leaf", FieldType::Boolean},
                          {"managed", FieldType::Boolean}}};
const Shape kWantedNode{"an expected node",
                        {{"exists", FieldType::Boolean},
                         {"schedulable", FieldType::Boolean},
                         {"reserved", FieldType::Boolean},
                         {"capacity", FieldType::WantedResources},
                         {"occupied", FieldType::WantedResources},
                         {"allocated", FieldType::WantedResources},
                         {"available", FieldType::WantedResources},
                         {"usedDevices", FieldType::IntegerLists},
                         {"lostDevices", FieldType::IntegerLists},
                         {"deviceConflict", FieldType::Boolean}}};
const Shape kWantedPartition{"an expected partition",
                             {{"exists", FieldType::Boolean},
                              {"state"},
                              {"capacity", FieldType::WantedResources},
                              {"allocated", FieldType::WantedResources},
                              {"applications", FieldType::Count},
                              {"nodes", FieldType::Count},
                              {"allocations", FieldType::Count}}};
const Shape kExpect{"expect",
                    {{"within", FieldType::Nanoseconds},
                     {"partition"},
                     {"acceptedApplications", FieldType::TextList},
                     {"rejectedApplications", FieldType::TextList},
                     {"acceptedNodes", FieldType::TextList},
                     {"rejectedNodes", FieldType::TextList},
                     {"rejectedAsks", FieldType::TextList},
                     {"allocations", FieldType::Count},
                     {"allocationNodes", FieldType::Texts},
                     {"allocationsOf", FieldType::Counts},
                     {"allocationsOn", FieldType::Counts},
                     {"released", FieldType::WantedTerminations},
                     {"applications", FieldType::MapOf, &kWantedApplication},
                     {"queues", FieldType::MapOf, &kWantedQueue},
                     {"nodes", FieldType::MapOf, &kWantedNode},
                     {"partitions", FieldType::MapOf, &kWantedPartition}}};

const Shape kRm{"rm",
                {{"rmID"},
                 {"policyGroup"},
                 {"version"},
                 {"confirmReleases", FieldType::Boolean},
                 {"extraConfig", FieldType::Texts}}};
const Shape kRegister{"register", {{"rmID"}, {"policyGroup"}, {"config", FieldType::Config}}};

constexpr std::int64_t kMaxCycles = 1'000'000;

constexpr std::array<std::string_view, 9> kActions{"register", "nodes",  "applications", "asks",  "releases",
                                                   "config",   "cycles", "wait",         "expect"};

std::optional<Action> find_action(std::string_view key) {
    for (std::size_t i = 0; i < kActions.size(); ++i)
        if (kActions[i] == key) return static_cast<Action>(i);
    return std::nullopt;
}

bool is_call(Action action) {
    return action != Action::Cycles && action != Action::Wait && action != Action::Expect;
}

/// Reads one file. Used once.
class ScenarioReader {
public:
    explicit ScenarioReader(std::string_view file) : shapes_(file) {}

    Result<Scenario> read(const Node& node);

private:
    void read_top(const Member& member);
    void read_rm(const Node& node);
    void read_steps(const Node& node);
    Step read_step(const Node& node);
    void read_step_member(const Member& member, Step& step, const Node*& action);
    void read_action(const Node& node, Step& step);
    void read_register(const Node& node, Step& step);
    void read_expect(const Node& node, Step& step);
    std::string read_choice(const Node& node, std::string_view first, std::string_view second);
    bool expect_kind(const Node& node, Node::Kind kind, std::string_view message);

    ShapeReader shapes_;
    Scenario scenario_;
};

Result<Scenario> ScenarioReader::read(const Node& node) {
    const Node* steps = nullptr;
    if (expect_kind(node, Node::Kind::Mapping, "a scenario is a map with the keys name and steps")) {
        for (const Member& member : node.members) {
            if (member.key == "steps")
                steps = member.value.get();
            else
                read_top(member);
        }
    }
    // The schedule decides whether `cycles` is allowed, so the steps are read last, wherever they are in the file.
    if (steps != nullptr)
        read_steps(*steps);
    else
        shapes_.fail(node.mark, "the key \"steps\" is missing");
    if (scenario_.name.empty()) shapes_.fail(node.mark, "the key \"name\" is missing or empty");
    if (shapes_.failed()) return shapes_.error();
    return std::move(scenario_);
}

bool ScenarioReader::expect_kind(const Node& node, Node::Kind kind, std::string_view message) {
    if (node.kind != kind) shapes_.fail(node.mark, std::string{message});
    return node.kind == kind;
}

void ScenarioReader::read_top(const Member& member) {
    const Node& value = *member.value;
    if (member.key == "name")
        scenario_.name = shapes_.text(value);
    else if (member.key == "summary")
        scenario_.summary = shapes_.text(value);
    else if (member.key == "schedule")
        scenario_.manual_schedule = read_choice(value, "manual", "auto") == "manual";
    else if (member.key == "clock")
        scenario_.virtual_clock = read_choice(value, "real", "virtual") == "virtual";
    else if (member.key == "rm")
        read_rm(value);
    else if (member.key == "config")
        scenario_.config = shapes_.config(value);
    else
        shapes_.fail(
            member.mark,
            fmt::format("unknown key \"{}\" (known: name, summary, schedule, clock, rm, config, steps)", member.key));
}

std::string ScenarioReader::read_choice(const Node& node, std::string_view first, std::string_view second) {
    std::string text = shapes_.text(node);
    if (text != first && text != second)
        shapes_.fail(node.mark, fmt::format("\"{}\" is neither {} nor {}", text, first, second));
    return text;
}

void ScenarioReader::read_rm(const Node& node) {
    const Value read = shapes_.read(node, kRm);
    if (shapes_.failed()) return;
    RmSettings& rm = scenario_.rm;
    rm.rm_id = read.value("rmID", rm.rm_id);
    rm.policy_group = read.value("policyGroup", rm.policy_group);
    rm.version = read.value("version", rm.version);
    rm.confirm_releases = read.value("confirmReleases", rm.confirm_releases);
    if (read.contains("extraConfig")) rm.extra_config = read["extraConfig"].get<std::map<std::string, std::string>>();
}

void ScenarioReader::read_steps(const Node& node) {
    if (!expect_kind(node, Node::Kind::Sequence, "steps must be a list")) return;
    for (const config_yaml::NodePtr& item : node.items) {
        scenario_.steps.push_back(read_step(*item));
        if (shapes_.failed()) return;
    }
}

Step ScenarioReader::read_step(const Node& node) {
    Step step;
    const Node* action = nullptr;
    expect_kind(node, Node::Kind::Mapping, "a step must be a map");
    for (const Member& member : node.members) read_step_member(member, step, action);
    if (action == nullptr) {
        shapes_.fail(node.mark, fmt::format("a step without an action (known: {})", fmt::join(kActions, ", ")));
        return step;
    }
    if (step.refused && !is_call(step.action))
        shapes_.fail(node.mark,
                     fmt::format("refused says how a call is answered; {} is no call", action_name(step.action)));
    if (!shapes_.failed()) read_action(*action, step);
    return step;
}

void ScenarioReader::read_step_member(const Member& member, Step& step, const Node*& action) {
    if (member.key == "rm") {
        step.rm = shapes_.text(*member.value);
    } else if (member.key == "refused") {
        step.refused = shapes_.boolean(*member.value);
    } else if (const auto found = find_action(member.key)) {
        if (action != nullptr)
            shapes_.fail(member.mark, fmt::format("a second action \"{}\"; a step has exactly one", member.key));
        action = member.value.get();
        step.action = *found;
    } else {
        shapes_.fail(member.mark, fmt::format("unknown action \"{}\" (known: {}, and beside them rm and refused)",
                                              member.key, fmt::join(kActions, ", ")));
    }
}

void ScenarioReader::read_action(const Node& node, Step& step) {
    switch (step.action) {
    case Action::Register: read_register(node, step); return;
    case Action::Nodes: step.message["nodes"] = shapes_.read_list(node, kNode); return;
    case Action::Applications: step.message = shapes_.read(node, kApplications); return;
    case Action::Asks: step.message["allocations"] = shapes_.read_list(node, kAsk); return;
    case Action::Releases: step.message["releases"] = shapes_.read(node, kReleases); return;
    case Action::Config: step.message["config"] = shapes_.config(node); return;
    case Action::Cycles:
        step.cycles = static_cast<std::uint32_t>(shapes_.integer(node, 0, kMaxCycles));
        if (!scenario_.manual_schedule) shapes_.fail(node.mark, "cycles needs schedule: manual");
        return;
    case Action::Wait: step.duration = shapes_.duration(node); return;
    case Action::Expect: read_expect(node, step); return;
    }
}

void ScenarioReader::read_register(const Node& node, Step& step) {
    step.message = node.kind == Node::Kind::Null ? Value::object() : shapes_.read(node, kRegister);
    if (!step.message.contains("rmID")) return;
    step.rm = step.message["rmID"].get<std::string>();
    step.message.erase("rmID");
}

void ScenarioReader::read_expect(const Node& node, Step& step) {
    step.duration = std::chrono::seconds{1};
    step.partition = "default";
    step.wanted = shapes_.read(node, kExpect);
    if (shapes_.failed()) return;
    if (step.wanted.contains("within")) step.duration = Duration{step.wanted["within"].get<std::int64_t>()};
    if (step.wanted.contains("partition")) step.partition = step.wanted["partition"].get<std::string>();
    step.wanted.erase("within");
    step.wanted.erase("partition");
}

} // namespace

std::string_view action_name(Action action) {
    return kActions[static_cast<std::size_t>(action)];
}

Result<Scenario> read_scenario(std::string_view text, std::string_view file) {
    YK_TRY(root, config_yaml::read_tree(text, file));
    return ScenarioReader{file}.read(*root);
}

Result<Scenario> load_scenario(const std::string& path) {
    const auto text = cli::read_text(path, std::cin, config_yaml::kMaxTextBytes);
    if (!text) return Error::of(text.error().message);
    return read_scenario(*text, path);
}

} // namespace yk::scenario
