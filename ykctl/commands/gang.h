// SPDX-License-Identifier: Apache-2.0
#pragma once
// The gang options of `app add`: task groups, style and time-out, and the placeholder asks that they stand for (G-001).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"
#include "ykctl/client/updates.h"

namespace yk::cli {

struct GangOptions {
    std::vector<std::string> task_groups; // NAME=COUNT:RESOURCES
    std::optional<std::string> style, timeout;

    [[nodiscard]] bool given() const { return !task_groups.empty() || style || timeout; }
};

void define_gang_options(Command command, GangOptions& options);

/// One task group as it was typed.
struct TaskGroup {
    std::string name;
    std::int64_t count = 0;
    si::Resources resource; // of one member
};
struct Gang {
    std::vector<TaskGroup> groups; // empty: no gang
    bool hard = false;
    std::optional<std::int64_t> timeout_ms;
};

/// The gang that the options describe. Usage errors name the option and the way out.
[[nodiscard]] Answer<Gang> parse_gang(const GangOptions& options);
/// Adds style, time-out and the sum over all placeholders to an AddApplicationRequest.
void put_gang(si::AddApplicationRequest& application, const Gang& gang);
/// Sends the placeholder asks of an application, with the keys `GROUP-ph-0` and so on.
[[nodiscard]] std::optional<Failure> send_placeholders(Context& context, const Gang& gang,
                                                       const std::string& application, Report& report);

} // namespace yk::cli
