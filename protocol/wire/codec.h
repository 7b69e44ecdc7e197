#pragma once
// decode<T>() and encode() for the messages of protocol/si: field by field, straight between bytes and structs.
// Which field has which name, rule and duty is data: protocol/wire/schema.h.

#include "protocol/si/messages.h"
#include "protocol/wire/error.h"
#include "protocol/wire/packer.h"
#include "protocol/wire/scan.h"

namespace yk::wire {

struct DecodeOptions {
    bool strict = false; // an unknown key is E_INVALID (I-312)
    // Off for what the daemon says: its full partition names may be longer than an identifier that a client may send.
    bool check_texts = true;
};

/// The message in `body`. Errors: E_TYPE, E_MISSING_FIELD, E_LIMIT, E_INVALID, always with the path (I-113, I-317).
/// T: every struct of messages.h that is a body, a list element or a callback body.
template <class T>
[[nodiscard]] WireResult<T> decode(Body body, DecodeOptions options = {});

/// Appends the message as one map; fields with the value they have when absent are left out, required ones are not.
template <class T>
void encode(Buffer& out, const T& message);

template <class T>
[[nodiscard]] std::string encoded(const T& message) {
    Buffer out;
    encode(out, message);
    return out.str();
}

} // namespace yk::wire
