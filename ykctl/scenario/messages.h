// SPDX-License-Identifier: Apache-2.0
#pragma once
// Makes the complete message of a step: repeats expanded, defaults filled in, rmID added.

#include <string>
#include <string_view>

#include "ykctl/scenario/scenario.h"

namespace yk::scenario {

/// The request kind of an action that is a call (interface.md 4.6).
[[nodiscard]] std::string_view kind_of(Action action);

/// The body of the request that the step sends for the RM `rm_id`. Its action is a call.
[[nodiscard]] Value message_of(const Step& step, const std::string& rm_id, const RmSettings& settings);

} // namespace yk::scenario
