#pragma once
// Connection: one nng REQ socket to one address, one request at a time, every wait with a deadline (ecosystem.md 2.3).
//
// nng resends nothing (I-306): a cut connection fails the request at once and the caller decides. The receive is posted
// in the completion of the send, so that a reply is not lost when the daemon leaves right after it; only the receive
// has a timeout, because nng 1.5 crashes when a send is cancelled (#1702). nng_close is never called, it can hang: a
// socket lives as long as the process, and a Connection that is dropped leaves one descriptor behind.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "protocol/transport/nng_raii.h"

namespace yk::wire {

struct ConnectionOptions {
    std::string url;
    std::string tls_ca;            // tls+tcp; empty: the system's bundle
    std::uint32_t max_message = 0; // what may be received
    bool wait_for_socket = false;  // a missing socket file is "not yet"
};

struct ExchangeFailure {
    enum class Kind {
        NotConnected, // nothing was sent
        Lost,         // sent or in the middle of it, then cut
        TimedOut,     // sent, no reply in time
        Stuck         // the transport took the request and does not get rid of it: open another Connection
    };
    Kind kind = Kind::NotConnected;
    std::string text;
};

class Connection {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    /// Starts dialling. Errors: an address that nng or this system cannot use, a missing socket file, no permission.
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(const ConnectionOptions& options);

    /// Waits for the connection. The error says, as far as can be found out, why there is none.
    [[nodiscard]] Result<void> wait_connected(Deadline deadline);
    /// Sends and waits for the reply. Waits for the connection first, if it is cut.
    [[nodiscard]] Result<NngMessage, ExchangeFailure> exchange(std::string_view request, Deadline deadline);

    /// What nng's threads work on: leaked, see above.
    struct State;

private:
    Connection(State& state, ConnectionOptions options) : state_(&state), options_(std::move(options)) {}

    State* state_;
    ConnectionOptions options_;
};

} // namespace yk::wire
