// SPDX-License-Identifier: Apache-2.0
#pragma once
// Why a call of the operating system failed, as a value.

#include <string>

#include "libcore/base/result.h"

namespace yk {

/// To be called right after the call that failed: `what` and the text of errno, which is the error's code.
[[nodiscard]] Error system_error(const std::string& what);

} // namespace yk
