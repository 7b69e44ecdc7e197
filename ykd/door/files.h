#pragma once
// What the daemon's own files need: a name after the time, and all of a text in the file.

#include <string>
#include <string_view>

#include "libcore/base/time.h"

namespace yk {

/// `20251120T215042.123Z`.
[[nodiscard]] std::string utc_stamp(Instant at);

/// 0, or errno of what went wrong; then a part may be written.
[[nodiscard]] int write_all(int file, std::string_view text);

} // namespace yk
