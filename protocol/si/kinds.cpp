// SPDX-License-Identifier: Apache-2.0
#include "protocol/si/kinds.h"

#include <algorithm>
#include <array>

namespace yk::si {

namespace {

constexpr bool kMutating = true;
constexpr bool kReading = false;

constexpr std::array kKinds{
    KindInfo{Kind::Hello, "Hello", kReading, Role::Observer},
    KindInfo{Kind::Bye, "Bye", kReading, Role::Observer},
    KindInfo{Kind::Ping, "Ping", kReading, Role::Observer},
    KindInfo{Kind::Status, "Status", kReading, Role::Observer},
    KindInfo{Kind::RegisterResourceManager, "RegisterResourceManager", kMutating, Role::Rm},
    KindInfo{Kind::UnregisterResourceManager, "UnregisterResourceManager", kMutating, Role::Rm},
    KindInfo{Kind::UpdateAllocation, "UpdateAllocation", kMutating, Role::Rm},
    KindInfo{Kind::UpdateApplication, "UpdateApplication", kMutating, Role::Rm},
    KindInfo{Kind::UpdateNode, "UpdateNode", kMutating, Role::Rm},
    KindInfo{Kind::UpdateConfiguration, "UpdateConfiguration", kMutating, Role::Rm},
    KindInfo{Kind::ValidateConfiguration, "ValidateConfiguration", kReading, Role::Observer},
    KindInfo{Kind::Reload, "Reload", kMutating, Role::Rm},
    KindInfo{Kind::Poll, "Poll", kReading, Role::Rm},
    KindInfo{Kind::CallResult, "CallResult", kReading, Role::Rm},
    KindInfo{Kind::Sync, "Sync", kReading, Role::Rm},
    KindInfo{Kind::RecoveryDone, "RecoveryDone", kMutating, Role::Rm},
    KindInfo{Kind::RecoveryList, "RecoveryList", kReading, Role::Observer},
    KindInfo{Kind::ResolveRecovery, "ResolveRecovery", kMutating, Role::Rm},
    KindInfo{Kind::Dump, "Dump", kReading, Role::Observer},
    KindInfo{Kind::Events, "Events", kReading, Role::Observer},
    KindInfo{Kind::EventStream, "EventStream", kReading, Role::Observer},
    KindInfo{Kind::Metrics, "Metrics", kReading, Role::Observer},
    KindInfo{Kind::Health, "Health", kReading, Role::Observer},
    KindInfo{Kind::Explain, "Explain", kReading, Role::Observer},
    KindInfo{Kind::StreamLog, "StreamLog", kReading, Role::Observer},
    KindInfo{Kind::Audit, "Audit", kReading, Role::Admin},
    KindInfo{Kind::Step, "Step", kMutating, Role::Admin},
    KindInfo{Kind::Clock, "Clock", kMutating, Role::Admin},
    KindInfo{Kind::SetExtraConfig, "SetExtraConfig", kMutating, Role::Admin},
    KindInfo{Kind::McsRead, "McsRead", kReading, Role::Observer},
    KindInfo{Kind::McsWatch, "McsWatch", kReading, Role::Observer},
    KindInfo{Kind::McsWrite, "McsWrite", kMutating, Role::Admin},
    KindInfo{Kind::Shutdown, "Shutdown", kMutating, Role::Admin},
};
static_assert(kKinds.size() == kKindCount, "each kind has its row");

constexpr std::array<std::string_view, 3> kRoles{"observer", "rm", "admin"};

} // namespace

const KindInfo& info(Kind kind) noexcept {
    return kKinds[static_cast<std::size_t>(kind)];
}

std::optional<Kind> find_kind(std::string_view name) noexcept {
    const auto row = std::find_if(kKinds.begin(), kKinds.end(), [name](const KindInfo& k) { return k.name == name; });
    if (row == kKinds.end()) return std::nullopt;
    return row->kind;
}

std::string_view text(Role role) noexcept {
    return kRoles[static_cast<std::size_t>(role)];
}

std::optional<Role> find_role(std::string_view text) noexcept {
    const auto found = std::find(kRoles.begin(), kRoles.end(), text);
    if (found == kRoles.end()) return std::nullopt;
    return static_cast<Role>(found - kRoles.begin());
}

} // namespace yk::si
