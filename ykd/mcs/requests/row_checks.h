// SPDX-License-Identifier: Apache-2.0
#pragma once
// What holds of every row that a user writes. Pure.

#include <string>

#include "libcore/base/result.h"
#include "libcore/mcs/kinds.h"
#include "protocol/si/errors.h"
#include "protocol/si/messages.h"

namespace yk::service {

/// An error with the code of the wire.
[[nodiscard]] Error fault(si::ErrorCode code, std::string message, std::string path);
/// Whether it may be the id or the name of a row.
[[nodiscard]] Result<void> check_name(const std::string& name, const char* path);
/// Amounts that are not negative.
[[nodiscard]] Result<mcs::Amounts> amounts_of(const si::Resources& resource);

} // namespace yk::service
