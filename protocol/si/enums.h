// SPDX-License-Identifier: Apache-2.0
#pragma once
// The enums of the messages, with their integers on the wire and their texts. An integer that is not listed is read as
// value 0 (I-007).

#include <cstdint>
#include <optional>
#include <string_view>

namespace yk::si {

/// Why an allocation or ask is released, and so who started it (I-032).
enum class TerminationType : std::uint8_t {
    Unknown = 0,
    StoppedByRm = 1,
    Timeout = 2,
    PreemptedByScheduler = 3,
    PlaceholderReplaced = 4
};

/// What an RM wants done with a node. 0 stands for an absent field, so that absence never means CREATE (I-045).
enum class NodeAction : std::uint8_t {
    Unset = 0,
    Create = 1,
    Update = 2,
    Drain = 3,
    Decommission = 4,
    Schedulable = 5,
    CreateDrain = 6
};

/// The state of an RM; the state of the daemon is derived from those of its RMs (interface.md 3.1, I-200).
enum class CoreState : std::uint8_t { New = 0, Running = 1, Recovering = 2, Failed = 3, Suspended = 4, Lost = 5 };

/// How the scheduler sees the container of an ask, as it reports it to the RM (I-054).
enum class ContainerState : std::uint8_t { Unknown = 0, Skipped = 1, Scheduled = 2, Reserved = 3, Failed = 4 };

/// The kind of object that an EventRecord is about.
enum class EventType : std::uint8_t { Unset = 0, Request = 1, App = 2, Node = 3, Queue = 4, UserGroup = 5, Rm = 6 };
/// What happened to that object.
enum class EventChange : std::uint8_t { None = 0, Set = 1, Add = 2, Remove = 3 };

/// The text of the specification: `STOPPED_BY_RM`, `CREATE_DRAIN`, `Running`, ...
[[nodiscard]] std::string_view text(TerminationType type) noexcept;
[[nodiscard]] std::string_view text(NodeAction action) noexcept;
[[nodiscard]] std::string_view text(CoreState state) noexcept;
[[nodiscard]] std::string_view text(ContainerState state) noexcept;
[[nodiscard]] std::string_view text(EventType type) noexcept;
[[nodiscard]] std::string_view text(EventChange change) noexcept;

/// The enumerator with this text; nullopt when there is none. Node actions are found by their later names, too (I-045).
[[nodiscard]] std::optional<TerminationType> find_termination_type(std::string_view text) noexcept;
[[nodiscard]] std::optional<NodeAction> find_node_action(std::string_view text) noexcept;
[[nodiscard]] std::optional<CoreState> find_core_state(std::string_view text) noexcept;

} // namespace yk::si
