#pragma once
// The message of a step, complete: repeats expanded, defaults filled in, rmID added.

#include <string>
#include <string_view>

#include "ykctl/scenario/scenario.h"

namespace yk::scenario {

/// The request kind of a call (interface.md 4.6). REQUIRES: the action is a call.
[[nodiscard]] std::string_view kind_of(Action action);

/// REQUIRES: the action is a call. `rm_id` is the sender.
[[nodiscard]] Value message_of(const Step& step, const std::string& rm_id, const RmSettings& settings);

} // namespace yk::scenario
