// SPDX-License-Identifier: Apache-2.0
#pragma once
// WireError: why bytes were not accepted (interface.md I-310 to I-317).

#include <string>
#include <utility>

#include "libcore/base/result.h"
#include "protocol/si/errors.h"

namespace yk::wire {

/// A fault in a message, and where it is.
struct WireError {
    si::ErrorCode code = si::ErrorCode::Decode;
    std::string message;
    std::string path; // relative to the body (`asks[3].allocationKey`), or an envelope key; empty: the whole message
};

template <class T>
using WireResult = Result<T, WireError>;

} // namespace yk::wire
