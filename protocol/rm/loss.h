// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an RM has lost when a request of its failed, and so what it does next (interface.md 3.7, I-356).

#include <cstdint>

#include "protocol/client/client.h"

namespace yk::rm {

enum class Loss : std::uint8_t {
    Nothing,      // the daemon is busy: the same again, a little later
    Daemon,       // nobody answers: dial again and again
    Registration, // the daemon does not know the RM, or not this stream of it: register again
    Everything    // another process serves the RM, or it is not let in: give up
};

/// `is_same_session`: no Hello was needed since the RM was registered. With another session it owns nothing, which the
/// daemon answers as if the RM were somebody else's.
[[nodiscard]] Loss loss_of(const wire::CallError& error, bool is_same_session);

} // namespace yk::rm
