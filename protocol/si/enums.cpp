// SPDX-License-Identifier: Apache-2.0
#include "protocol/si/enums.h"

#include <array>

namespace yk::si {

namespace {

template <class Enum>
struct Row {
    Enum value;
    std::string_view text;
};

constexpr std::array kTerminationTypes{
    Row<TerminationType>{TerminationType::Unknown, "UNKNOWN"},
    Row<TerminationType>{TerminationType::StoppedByRm, "STOPPED_BY_RM"},
    Row<TerminationType>{TerminationType::Timeout, "TIMEOUT"},
    Row<TerminationType>{TerminationType::PreemptedByScheduler, "PREEMPTED_BY_SCHEDULER"},
    Row<TerminationType>{TerminationType::PlaceholderReplaced, "PLACEHOLDER_REPLACED"},
};

// The first row of a value has its text; further ones are aliases, which are read only.
constexpr std::array kNodeActions{
    Row<NodeAction>{NodeAction::Unset, "UNSET"},
    Row<NodeAction>{NodeAction::Unset, "UNKNOWN_ACTION_FROM_RM"},
    Row<NodeAction>{NodeAction::Create, "CREATE"},
    Row<NodeAction>{NodeAction::Update, "UPDATE"},
    Row<NodeAction>{NodeAction::Drain, "DRAIN"},
    Row<NodeAction>{NodeAction::Drain, "DRAIN_NODE"},
    Row<NodeAction>{NodeAction::Decommission, "DECOMISSION"},
    Row<NodeAction>{NodeAction::Schedulable, "SCHEDULABLE"},
    Row<NodeAction>{NodeAction::Schedulable, "DRAIN_TO_SCHEDULABLE"},
    Row<NodeAction>{NodeAction::CreateDrain, "CREATE_DRAIN"},
};

constexpr std::array kCoreStates{
    Row<CoreState>{CoreState::New, "New"},
    Row<CoreState>{CoreState::Running, "Running"},
    Row<CoreState>{CoreState::Recovering, "Recovering"},
    Row<CoreState>{CoreState::Failed, "Failed"},
    Row<CoreState>{CoreState::Suspended, "Suspended"},
    Row<CoreState>{CoreState::Lost, "Lost"},
};

constexpr std::array kContainerStates{
    Row<ContainerState>{ContainerState::Unknown, "UNKNOWN"},
    Row<ContainerState>{ContainerState::Skipped, "SKIPPED"},
    Row<ContainerState>{ContainerState::Scheduled, "SCHEDULED"},
    Row<ContainerState>{ContainerState::Reserved, "RESERVED"},
    Row<ContainerState>{ContainerState::Failed, "FAILED"},
};

constexpr std::array kEventTypes{
    Row<EventType>{EventType::Unset, "UNSET"}, Row<EventType>{EventType::Request, "REQUEST"},
    Row<EventType>{EventType::App, "APP"},     Row<EventType>{EventType::Node, "NODE"},
    Row<EventType>{EventType::Queue, "QUEUE"}, Row<EventType>{EventType::UserGroup, "USERGROUP"},
    Row<EventType>{EventType::Rm, "RM"},
};

constexpr std::array kEventChanges{
    Row<EventChange>{EventChange::None, "NONE"},
    Row<EventChange>{EventChange::Set, "SET"},
    Row<EventChange>{EventChange::Add, "ADD"},
    Row<EventChange>{EventChange::Remove, "REMOVE"},
};

template <class Table, class Enum>
std::string_view text_in(const Table& table, Enum value) noexcept {
    for (const auto& row : table)
        if (row.value == value) return row.text;
    return {};
}

template <class Enum, class Table>
std::optional<Enum> find_in(const Table& table, std::string_view text) noexcept {
    for (const auto& row : table)
        if (row.text == text) return row.value;
    return std::nullopt;
}

} // namespace

std::string_view text(TerminationType type) noexcept {
    return text_in(kTerminationTypes, type);
}
std::string_view text(NodeAction action) noexcept {
    return text_in(kNodeActions, action);
}
std::string_view text(CoreState state) noexcept {
    return text_in(kCoreStates, state);
}
std::string_view text(ContainerState state) noexcept {
    return text_in(kContainerStates, state);
}
std::string_view text(EventType type) noexcept {
    return text_in(kEventTypes, type);
}
std::string_view text(EventChange change) noexcept {
    return text_in(kEventChanges, change);
}

std::optional<TerminationType> find_termination_type(std::string_view text) noexcept {
    return find_in<TerminationType>(kTerminationTypes, text);
}
std::optional<NodeAction> find_node_action(std::string_view text) noexcept {
    return find_in<NodeAction>(kNodeActions, text);
}
std::optional<CoreState> find_core_state(std::string_view text) noexcept {
    return find_in<CoreState>(kCoreStates, text);
}

} // namespace yk::si
