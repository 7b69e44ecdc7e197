// SPDX-License-Identifier: Apache-2.0
#pragma once
// How --wait waits: it looks again and again. A daemon that is restarted meanwhile is waited for.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "ykctl/client/context.h"

namespace yk::cli {

/// `look` answers nothing when there is nothing to wait for any more, else how it is, as the failure of a command whose
/// time is over.
[[nodiscard]] Outcome wait_until(Context& context, std::chrono::milliseconds limit,
                                 const std::function<Answer<std::optional<Failure>>()>& look);

/// The failure of a command whose time is over.
[[nodiscard]] Failure unsatisfied(std::string text, std::string hint);

} // namespace yk::cli
