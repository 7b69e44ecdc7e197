// SPDX-License-Identifier: Apache-2.0
#pragma once
// How strictly a message is decoded.

namespace yk::wire {

struct DecodeOptions {
    bool strict = false; // an unknown key is E_INVALID (I-312)
    // Off for messages of the daemon: its full partition names may be longer than an identifier that a client may send.
    bool check_texts = true;
};

} // namespace yk::wire
