// SPDX-License-Identifier: Apache-2.0
#pragma once
// The way from the settings to a connection.

#include <memory>

#include "protocol/client/client.h"
#include "ykctl/cli/failure.h"
#include "ykctl/cli/settings.h"

namespace yk::cli {

/// Connects to the daemon at the address of the settings. A failure names the address.
[[nodiscard]] Answer<std::unique_ptr<wire::Client>> connect(const Settings& settings);

} // namespace yk::cli
