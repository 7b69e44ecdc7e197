// SPDX-License-Identifier: Apache-2.0
#pragma once
// The configurations that RMs had, which the daemon keeps (B-12).

#include <string>
#include <vector>

#include "ykctl/client/context.h"

namespace yk::cli {

/// The configurations of the RM of -r, or of all, the newest first; without their texts.
[[nodiscard]] Answer<std::vector<wire::Value>> history_of(Context& context);

/// The text of a configuration that the RM of the settings has, or had: by its checksum or how that begins. Empty: the
/// active one. A not-found failure when it is not kept.
[[nodiscard]] Answer<std::string> kept_text(Context& context, const std::string& checksum);

} // namespace yk::cli
