// SPDX-License-Identifier: Apache-2.0
#pragma once
// deployment apply: has the deployments of a file be as it says.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/si/tool_requests.h"
#include "protocol/wire/value.h"
#include "ykctl/apply/differences.h"
#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"

namespace yk::cli {

/// A deployment of a file. What it does not name stays as it is, and is the default of one that is made.
struct WantedDeployment {
    std::string id;  // which one it is, or which one is made; empty: the one with the name, or one with an id made up
    std::string uid; // of the one that the file was made of; empty: not said
    std::uint64_t version = 0; // likewise; 0: not said
    si::McsBody body;
};
/// All of a text that YAML, JSON or JSON-lines holds, as `deployment show` and `list` print them, too. A failure names
/// file, line and column.
[[nodiscard]] Answer<std::vector<WantedDeployment>> read_deployments(std::string_view text, const std::string& file);

/// What of a deployment, as McsRead describes it, is not as it is wanted.
[[nodiscard]] std::vector<Difference> changes_of(const wire::Value& item, const WantedDeployment& wanted);

/// Why what is there is not the one that is wanted; empty: it is.
[[nodiscard]] std::string mismatch_of(const wire::Value& item, const WantedDeployment& wanted);
/// Why the file was made of an older state of what is there; empty: it was not, or does not say.
[[nodiscard]] std::string staleness_of(const wire::Value& item, const WantedDeployment& wanted);

void define_deployment_apply(Command command, Context& context);

} // namespace yk::cli
