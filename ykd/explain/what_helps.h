// SPDX-License-Identifier: Apache-2.0
#pragma once
// What would help against a reason that stands in the way of an ask. Pure.

#include <string>

#include "libcore/ports/explain.h"

namespace yk::service {

/// A sentence for a person who may do something about it; empty: it goes away by itself, or nothing is in the way.
/// `nodes`: how many the partition has.
[[nodiscard]] std::string what_helps(const ExplainReason& reason, std::int64_t nodes);

} // namespace yk::service
