// SPDX-License-Identifier: Apache-2.0
#pragma once
// Body: a part of a message whose structure scan() has accepted, and how strictly it is decoded.

#include <string_view>

namespace yk::wire {

/// One map inside a scanned message. Views the message. Whoever holds a Body need not check the structure again.
class Body {
public:
    Body() noexcept = default;
    /// REQUIRES: scan() has accepted the message that `map` is a map of.
    [[nodiscard]] static Body of_scanned(std::string_view map) noexcept {
        Body body;
        body.bytes_ = map;
        return body;
    }
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }

private:
    std::string_view bytes_ = "\x80"; // an empty map
};

struct DecodeOptions {
    bool strict = false; // an unknown key is E_INVALID (I-312)
    // Off for messages of the daemon: its full partition names may be longer than an identifier that a client may send.
    bool check_texts = true;
};

} // namespace yk::wire
