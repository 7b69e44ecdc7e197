// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long ykctl waits for an answer, unless --timeout is given.

#include <chrono>

namespace yk::cli {

/// For requests that take work: a thousand cycles, a large dump, a scenario on a busy machine.
inline constexpr std::chrono::milliseconds kPatience{60000};

/// For commands that wait for something to come about: wait, --wait.
inline constexpr std::chrono::milliseconds kDefaultWait{30000};

/// For requests that are answered at once.
inline constexpr std::chrono::milliseconds kQuick{5000};

} // namespace yk::cli
