// SPDX-License-Identifier: Apache-2.0
#pragma once
// An owner for nng's messages, and readers for them.
//
// There is no owner for sockets: nng 1.5 can hang in nng_close when a large message is in flight, so who opens a socket
// decides whether it is ever closed.

#include <cstring>
#include <memory>
#include <string_view>

#include <nng/nng.h>

namespace yk::wire {

struct FreeMessage {
    void operator()(nng_msg* message) const noexcept { nng_msg_free(message); }
};
using NngMessage = std::unique_ptr<nng_msg, FreeMessage>;

[[nodiscard]] inline std::string_view bytes_of(const NngMessage& message) noexcept {
    return {static_cast<const char*>(nng_msg_body(message.get())), nng_msg_len(message.get())};
}

/// A message with a copy of `bytes`; empty when there is no memory for it.
[[nodiscard]] inline NngMessage make_message(std::string_view bytes) noexcept {
    nng_msg* message = nullptr;
    if (nng_msg_alloc(&message, bytes.size()) != 0) return {};
    if (!bytes.empty()) std::memcpy(nng_msg_body(message), bytes.data(), bytes.size());
    return NngMessage{message};
}

} // namespace yk::wire
