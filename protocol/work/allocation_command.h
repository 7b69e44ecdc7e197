// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the tags of an allocation say of the command that it starts, and the environment in which that runs.
//
//   command      the text for /bin/sh -c; without it nothing is started
//   env.NAME     a variable of its environment
//   restart      never, on-failure or always
//   restarts     how often at most

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/si/messages.h"
#include "protocol/work/cgroups.h"

namespace yk::work {

/// When a command that ended is started again in place.
enum class Restart : std::uint8_t { Never, OnFailure, Always };
[[nodiscard]] std::optional<Restart> find_restart(std::string_view text);

struct RestartPolicy {
    Restart when = Restart::Never;
    std::optional<std::uint32_t> most{}; // restarts; absent: any number
};

/// PATH, HOME, LANG and USER of this process, and nothing else of its environment.
[[nodiscard]] std::vector<std::string> base_environment();

/// The text of the command; nullopt: it has none.
[[nodiscard]] std::optional<std::string> command_of(const si::Allocation& allocation);
using Variables = std::map<std::string, std::string>;

/// YK_RM_ID, YK_PARTITION, YK_APPLICATION_ID, YK_ALLOCATION_KEY, YK_NODE_ID and YK_RESOURCE_<NAME>.
[[nodiscard]] Variables variables_of(const si::Allocation& allocation, const std::string& rm_id);
/// Adds the variables that the tags name. An error: one cannot be a variable, or begins with YK_.
[[nodiscard]] Result<void> add_tagged_variables(const si::Allocation& allocation, Variables& variables);
/// `base`, and over it these, as NAME=value.
[[nodiscard]] std::vector<std::string> environment(const std::vector<std::string>& base, const Variables& variables);
/// By its tags, else `standard`. An error: a tag has another value.
[[nodiscard]] Result<RestartPolicy> restart_policy_of(const si::Allocation& allocation, Restart standard);
/// Whether a command is started for an allocation with this tag. An error says what is wrong with it.
[[nodiscard]] Result<void> check_tag(const std::string& tag, const std::string& value);
/// Its memory in bytes, its vcore in thousandths.
[[nodiscard]] Limits limits_of(const si::Allocation& allocation);

} // namespace yk::work
