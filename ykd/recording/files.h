// SPDX-License-Identifier: Apache-2.0
#pragma once
// Helpers for the files that the daemon writes: names that begin with the time, and writes that are not cut short.

#include <string>
#include <string_view>

#include "libcore/base/time.h"

namespace yk {

/// The time in UTC as a part of a file name, to the millisecond: `20251120T215042.123Z`.
[[nodiscard]] std::string utc_stamp(Instant at);

/// Writes the whole of `text` to the descriptor `file`. Returns 0, or the errno of the failed write; then a part of the
/// text may be in the file. May wait for the disk.
[[nodiscard]] int write_all(int file, std::string_view text);

} // namespace yk
