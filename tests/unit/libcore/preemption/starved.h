// SPDX-License-Identifier: Apache-2.0
#pragma once
// A queue below its guarantee, and beside it one that has what it needs.

#include <string>

#include <fmt/format.h>

#include "tests/support/cluster.h"

namespace yk::testing {

/// Of an ask: it may preempt, and is old enough for any delay.
inline constexpr const char* kOther = "other=1 tags=creationTime:1000";

/// Leaf c2 with a guarantee and `properties` for application `x`, leaf c1 without for `v`.
inline Cluster starved(const std::string& guaranteed, const std::string& properties = {}) {
    Cluster c{fmt::format("[{{name: c2, resources: {{guaranteed: {{{}}}}}, properties: {{{}}}}}, {{name: c1}}]",
                          guaranteed, properties)};
    c.application("x", "root.c2").application("v", "root.c1");
    return c;
}

} // namespace yk::testing
