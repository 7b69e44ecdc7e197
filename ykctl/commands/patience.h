#pragma once
// How long ykctl waits for the answer to work, unless --timeout says it.

#include <chrono>

namespace yk::cli {

/// For what has work behind it: a thousand cycles, a large dump, a scenario on a busy machine.
inline constexpr std::chrono::milliseconds kPatience{60000};

/// For a sign of life.
inline constexpr std::chrono::milliseconds kQuick{5000};

} // namespace yk::cli
