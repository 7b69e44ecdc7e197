// SPDX-License-Identifier: Apache-2.0
#pragma once
// The request kinds (interface.md 4.6) and the kinds of callback items (4.8), as one table each.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace yk::si {

/// What a session may do, from the least to the most.
enum class Role : std::uint8_t { Observer, Rm, Admin };

[[nodiscard]] std::string_view text(Role role) noexcept; // observer, rm, admin
[[nodiscard]] std::optional<Role> find_role(std::string_view text) noexcept;

enum class Kind : std::uint8_t {
    Hello,
    Bye,
    Ping,
    Status,
    RegisterResourceManager,
    UnregisterResourceManager,
    UpdateAllocation,
    UpdateApplication,
    UpdateNode,
    UpdateConfiguration,
    ValidateConfiguration,
    Reload,
    Poll,
    CallResult,
    Sync,
    RecoveryDone,
    RecoveryList,
    ResolveRecovery,
    Dump,
    Events,
    EventStream,
    Metrics,
    Health,
    Explain,
    StreamLog,
    Audit,
    Step,
    Clock,
    SetExtraConfig,
    McsRead,
    McsWatch,
    McsWrite,
    Shutdown
};

inline constexpr std::size_t kKindCount = static_cast<std::size_t>(Kind::Shutdown) + 1;

/// One row of the table of kinds.
struct KindInfo {
    Kind kind;
    std::string_view name;
    bool mutating; // it changes something and needs a sequence number (I-330)
    Role role;     // the lowest role that may send it
};

/// The row of `kind`.
[[nodiscard]] const KindInfo& info(Kind kind) noexcept;
/// The kind with this name; nullopt when there is none, which is answered with E_KIND (I-350).
[[nodiscard]] std::optional<Kind> find_kind(std::string_view name) noexcept;

/// The kinds of callback items.
namespace item {
inline constexpr std::string_view kUpdateAllocation = "UpdateAllocation";
inline constexpr std::string_view kUpdateApplication = "UpdateApplication";
inline constexpr std::string_view kUpdateNode = "UpdateNode";
inline constexpr std::string_view kPredicates = "Predicates";
inline constexpr std::string_view kPreemptionPredicates = "PreemptionPredicates";
inline constexpr std::string_view kReSyncSchedulerCache = "ReSyncSchedulerCache";
inline constexpr std::string_view kSendEvent = "SendEvent";
inline constexpr std::string_view kUpdateContainerSchedulingState = "UpdateContainerSchedulingState";
inline constexpr std::string_view kUpdateConfiguration = "UpdateConfiguration";
inline constexpr std::string_view kGetStateDump = "GetStateDump";
inline constexpr std::string_view kRecoveryReport = "RecoveryReport";
inline constexpr std::string_view kNotice = "Notice";
} // namespace item

} // namespace yk::si
