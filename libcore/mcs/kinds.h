// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the four kinds of rows of the Autoscaler and the Scheduler have in common: their numbers, who writes them, and
// the types of columns that more than one of them has (section 3 of docs/spec/resource-state.md). Plain values.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/resource_state/ports/resource.h"

namespace yk::mcs {

/// The numbers of the kinds in the change log.
inline constexpr rs::Kind kDeploymentKind{1}, kScaleKind{2}, kScheduleKind{3}, kNodeKind{4};
inline constexpr std::array kKinds{kDeploymentKind, kScaleKind, kScheduleKind, kNodeKind};
/// REQUIRES: it is one of kKinds.
[[nodiscard]] constexpr std::string_view name_of(rs::Kind kind) {
    constexpr std::array<std::string_view, kKinds.size()> kNames{"deployment", "deploymentscale", "deploymentschedule",
                                                                 "node"};
    return kNames[static_cast<std::size_t>(kind) - 1];
}
[[nodiscard]] std::optional<rs::Kind> find_kind(std::string_view name);

/// The services that write rows: each kind belongs to one (rs R-002).
inline constexpr std::string_view kApiService = "api"; // the front end that users reach; it needs no lease
inline constexpr std::string_view kAutoscalerService = "autoscaler";
inline constexpr std::string_view kSchedulerService = "scheduler";

/// Amounts by resource type, under the names and in the units of the scheduler interface: memory in bytes, vcore in
/// thousandths (rs R-018).
using Amounts = std::map<std::string, std::int64_t, std::less<>>;

/// Tags and attributes.
using Texts = std::map<std::string, std::string, std::less<>>;

/// When a row was made and last written, in milliseconds since 1970 by the clock of the database. For display only: the
/// database writes them, and they are not part of a row's content.
struct RowTimes {
    std::int64_t created_ms = 0;
    std::int64_t updated_ms = 0;
};

/// The row that a child belongs to. An id that is created again has another uid, and is not the same owner (rs R-138).
struct Owner {
    rs::Kind kind = kDeploymentKind;
    std::string id;
    std::string uid; // empty: the child was released on purpose, and goes on without an owner

    friend bool operator==(const Owner&, const Owner&) = default;
};

/// What becomes of the children of a Deployment when it is deleted (section 14). The numbers are those in the database.
enum class DeleteMode : std::uint8_t {
    Owners = 0,  // the services that own the children delete them
    Cascade = 1, // they go in the same transaction
    Orphan = 2   // they stay, without an owner, until a new Deployment adopts them
};
[[nodiscard]] std::string_view name_of(DeleteMode mode); // cascade, owners, orphan
[[nodiscard]] std::optional<DeleteMode> find_delete_mode(std::string_view name);

} // namespace yk::mcs
