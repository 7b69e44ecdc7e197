// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dead letters as the protocol has them. Pure.

#include <optional>
#include <string>

#include "protocol/databases/housekeeping/mcs_dead_letters.h"
#include "protocol/wire/value.h"

namespace yk::service {

[[nodiscard]] wire::Value value_of(const mcs::DeadLetter& letter);
/// What the next page goes on from after it.
[[nodiscard]] std::string cursor_of(const mcs::DeadLetter& letter);
/// The key behind a cursor, and one before all others of none (empty); nullopt: nobody has handed that out.
[[nodiscard]] std::optional<mcs::DeadLetterKey> dead_letter_after(const std::string& cursor);

} // namespace yk::service
