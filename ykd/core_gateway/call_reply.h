// SPDX-License-Identifier: Apache-2.0
#pragma once
// CallReply: how a call to the RM, such as a predicate check, ended (docs/spec/interface.md 4.9).

#include <cstdint>
#include <string>

#include "protocol/si/messages.h"

namespace yk {

struct CallReply {
    enum class Outcome : std::uint8_t { Answered, Failed, TimedOut, Gone }; // Gone: the registration ended
    Outcome outcome = Outcome::Gone;
    std::string error;       // with Failed: the reason that the RM gave
    si::CallResultBody body; // with Answered: the answer
};

} // namespace yk
