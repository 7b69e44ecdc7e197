// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the error codes of PostgreSQL mean for whoever asked (rs R-033). Pure.

#include <string>
#include <string_view>

#include "libcore/resource_state/ports/resource_store.h"

namespace yk::rs {

/// Of an SQLSTATE. What no line names is Transient: tried again, but by whoever counts the tries.
[[nodiscard]] StoreFault fault_of(std::string_view state);

/// A message of libpq, which may have several lines, some indented, and ends with a line feed: `FIRST; SECOND`.
[[nodiscard]] std::string one_line(std::string_view message);

} // namespace yk::rs
