// SPDX-License-Identifier: Apache-2.0
#pragma once
// The options that say what a deployment is, and how many replicas it may have: of those that commands share.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/si/tool_requests.h"
#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

/// What runs, and for whom.
struct SpecOptions {
    std::optional<std::string> queue, user, delete_mode;
    std::vector<std::string> resources, groups, tags;
    std::optional<std::int64_t> priority;
    std::optional<std::string> command, restart; // what runs on nodes of kind local
    std::vector<std::string> variables;

    /// Whether it says anything of the command.
    [[nodiscard]] bool has_work() const { return command || restart || !variables.empty(); }
    /// Whether it names the command itself, also as the tag that it is kept as.
    [[nodiscard]] bool has_command() const;
};
/// `is_new`: of a deployment that is created; else of one that is changed.
void define_spec(Command command, SpecOptions& options, bool is_new);
/// Has the body say what the options name, and nothing else. `tags`: those that it has already; what the options say of
/// the command is changed in them, unless the options name all tags.
[[nodiscard]] Answer<si::McsBody> body_of(const SpecOptions& options, si::StringMap tags = {});

/// Between which numbers, and what decides.
struct ScalingOptions {
    std::optional<std::int64_t> least, most;
    std::vector<std::string> metrics, schedules;
    std::optional<std::string> policy; // a file
};
void define_scaling(Command command, ScalingOptions& options);
[[nodiscard]] Answer<void> take_scaling(Context& context, const ScalingOptions& options, si::McsBody& body);

void define_delete_mode(Command command, const char* name, std::optional<std::string>& into, const char* help);

/// A number of replicas as it is sent; nullopt: none was given.
[[nodiscard]] Answer<std::optional<std::uint64_t>> replicas_of(const char* option,
                                                               const std::optional<std::int64_t>& given);

} // namespace yk::cli
