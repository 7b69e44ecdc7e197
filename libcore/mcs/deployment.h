// SPDX-License-Identifier: Apache-2.0
#pragma once
// Deployment: what a user wants to run: so many equal replicas of an application, in a queue. Only the front end that
// users reach writes these rows; the Autoscaler and the Scheduler follow them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/shared.h"
#include "libcore/mcs/kinds.h"

namespace yk::mcs {

/// Values of new Deployments, kept once.
[[nodiscard]] const Shared<std::string>& default_partition(); // "default"
[[nodiscard]] const Shared<std::string>& no_policy();         // "{}"

/// What many Deployments have in common is kept once for all of them (rs R-057).
struct Deployment {
    rs::ResourceMeta meta; // `generation` counts every change, since all of a Deployment is written by users
    std::string name;      // no other Deployment has it (rs R-019)
    Shared<std::string> partition = default_partition();
    Shared<std::string> queue;
    Shared<std::string> user;
    Shared<std::vector<std::string>> groups;
    Shared<Amounts> resource;                 // of one replica
    Shared<std::string> policy = no_policy(); // how the Autoscaler decides: canonical JSON that it alone reads
    Shared<Texts> tags;
    std::int64_t min_replicas = 0;
    std::int64_t max_replicas = 0;
    std::optional<std::int64_t> replicas; // that a user asked for; nullopt: the policy decides
    std::int32_t priority = 0;
    bool is_paused = false; // its scale stays as it is
    DeleteMode delete_mode = DeleteMode::Cascade;
    RowTimes times;
};

} // namespace yk::mcs

template <>
struct yk::rs::ResourceTraits<yk::mcs::Deployment> {
    static constexpr Kind kKind = mcs::kDeploymentKind;
    static constexpr std::string_view kName = mcs::name_of(mcs::kDeploymentKind);
    static constexpr std::string_view kOwner = mcs::kApiService;
    static const ResourceMeta& meta(const mcs::Deployment& row) { return row.meta; }
    static std::uint64_t content_hash(const mcs::Deployment& row);
};
