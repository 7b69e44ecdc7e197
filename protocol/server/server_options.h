// SPDX-License-Identifier: Apache-2.0
#pragma once
// ServerOptions: where a server listens, and what its clients may cost.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "protocol/server/transport_budget.h"

namespace yk::wire {

struct ServerOptions {
    std::string url;                       // ipc://, tcp://, tls+tcp://
    std::uint32_t max_message = 16U << 20; // bytes that the peer may send in one message (I-305)
    mode_t socket_mode = 0600;             // ipc
    std::string socket_group;              // ipc; empty: unchanged
    bool allow_plaintext = false;          // tcp on a non-loopback address (I-341)
    std::string tls_cert, tls_key, tls_client_ca;

    std::uint32_t max_connections = 4096;
    std::uint32_t kept_connections = 64;             // of these, seats for peers with Admittance::Privileged
    std::uint32_t max_in_flight = 64;                // requests of a connection; 1 before trust()
    std::chrono::milliseconds send_time{30'000};     // a peer has to read or send at least one byte in it
    std::chrono::milliseconds greeting_time{10'000}; // a peer has to send its greeting in it
    std::shared_ptr<TransportBudget> budget;         // shared by all servers; nullptr: one of its own
};

/// The name of nng's TLS engine; empty when it has none, so that tls+tcp is not available.
[[nodiscard]] std::string tls_engine();

} // namespace yk::wire
