#pragma once
// CallReply: how a call to the RM ended (interface.md 4.9).

#include <cstdint>
#include <string>

#include "protocol/si/messages.h"

namespace yk {

struct CallReply {
    enum class Outcome : std::uint8_t { Answered, Failed, TimedOut, Gone }; // Gone: the registration is
    Outcome outcome = Outcome::Gone;
    std::string error; // Failed: what the RM said
    si::CallResultBody body;
};

} // namespace yk
