// SPDX-License-Identifier: Apache-2.0
#pragma once
// Values as a person reads them: quantities, ages, times. The machine formats have the exact numbers.

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/text.h"
#include "protocol/wire/value.h"

namespace yk::cli {

/// An amount of a resource: `memory` in binary units (`64Gi`, `1.4Ti`), `vcore` in cores (`0.5`), anything else as the
/// integer.
[[nodiscard]] std::string quantity_text(std::string_view resource, std::int64_t amount);

/// A whole resource map: `64Gi 16 vcore 4 gpu`, memory and vcore first; `-` for none.
[[nodiscard]] std::string resource_text(const wire::Value& resource);
/// The same with a name for every amount: `memory 64Gi, vcore 16`.
[[nodiscard]] std::string named_resource_text(const wire::Value& resource);

/// A duration: `4m12s`, `3h5m`, `2d4h`; `850ms` below a second; `-` for a negative one.
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds duration);
/// A time as RFC 3339 in UTC with microseconds, so that all have one width; `-` for 0.
[[nodiscard]] std::string time_text(std::int64_t unix_nanoseconds);

using yk::escaped_lines;
using yk::printable; // texts from a daemon may contain control characters, which a terminal would obey
using yk::printable_lines;
using yk::shortened;
/// One character of a text, and how many columns it takes.
struct ShownCharacter {
    std::string_view bytes;
    std::size_t width;
};
/// Takes the first character off. REQUIRES: the text is not empty.
[[nodiscard]] ShownCharacter take_character(std::string_view& text);
/// The number of columns `text` takes on a terminal: two for a wide character, none for one that is put over another.
[[nodiscard]] std::size_t display_width(std::string_view text);
/// `-` for the empty text.
[[nodiscard]] std::string or_dash(std::string text);
[[nodiscard]] std::string join(const std::vector<std::string>& parts, std::string_view separator);

} // namespace yk::cli
