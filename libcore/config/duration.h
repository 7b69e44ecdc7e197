// SPDX-License-Identifier: Apache-2.0
#pragma once
// Durations in text, as in properties, service settings and the daemon's settings (C-151).

#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "libcore/base/time.h"

namespace yk::config {

/// Optional sign, then one or more of number (digits, optional fraction) and unit `ns us µs ms s m h`, without blanks;
/// a lone `0` too. What is finer than a nanosecond is cut off. Error: what is wrong with `text`, and what is
/// expected.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);

/// The canonical form: `30s`, `1h0m0s`, `1m40s`, `1.5s`, `50ms`, `3µs`, `0s`.
[[nodiscard]] std::string duration_text(Duration duration);

} // namespace yk::config
