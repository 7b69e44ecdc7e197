// SPDX-License-Identifier: Apache-2.0
#pragma once
// Connection: the client's end of one connection, one request at a time, every wait with a deadline (I-305, I-306).
//
// It speaks REQ of the Scalability Protocols itself, over a stream of its own: the REQ socket of nng 1.5 loses the
// message that is sent while its pipe is being closed (req0_ctx_send() may hand a copy to a pipe whose send aio
// req0_pipe_close() has stopped already, before it takes the pipe from the ready ones; nni_aio_begin() then drops the
// operation without its callback, and nobody frees the copy), dials on for ever after an address that refuses, cannot
// cancel a send (#1702), and its sockets cannot be closed safely.
//
// A cut connection fails the request at once and the caller decides; the next request connects again.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/result.h"
#include "protocol/transport/byte_stream.h"
#include "protocol/transport/sp_frames.h"

namespace yk::wire {

struct ConnectionOptions {
    std::string url;
    std::string tls_ca;            // tls+tcp; empty: the system's bundle
    std::uint32_t max_message = 0; // what may be received
    bool wait_for_socket = false;  // when nobody listens, try until the deadline
    bool redials = true;           // the same after a cut; false: the exchange fails at once
    StopCheck stopped = {};        // ends every wait
    RetryCheck tries_again = {};   // asked before each further try to connect
};

struct ExchangeFailure {
    enum class Kind {
        NotConnected, // nobody listens, or not a ykd
        Lost,         // the connection was cut
        TimedOut,     // no reply in time
        Stopped,      // ConnectionOptions::stopped said so
        Stuck         // only a part of the request was sent: this Connection cannot be used any more, open another
    };
    Kind kind = Kind::NotConnected;
    std::string text;
    bool sent = false; // the request, or a part of it, went out: it may have been carried out
};

class Connection {
public:
    using Deadline = ByteStream::Deadline;

    /// Connects. Fails for an address that this system cannot use, without permission, and when nobody listens. With
    /// `wait_for_socket` it tries until the deadline while nobody listens or the socket file is missing.
    [[nodiscard]] static Result<std::unique_ptr<Connection>> open(const ConnectionOptions& options, Deadline deadline);

    /// Sends a request and waits for its reply. If the connection was cut it connects again first, and with `redials`
    /// keeps trying until the deadline, because the daemon may be restarting.
    [[nodiscard]] Result<std::string, ExchangeFailure> exchange(std::string_view request, Deadline deadline);

    void set_redials(bool on) { options_.redials = on; }

private:
    using Failure = ExchangeFailure;
    using Done = Result<void, Failure>;

    explicit Connection(ConnectionOptions options);

    [[nodiscard]] Result<void> connect(Deadline deadline, bool waits_for_listener);
    [[nodiscard]] Done be_connected(Deadline deadline);
    [[nodiscard]] Done greet(Deadline deadline);
    [[nodiscard]] Done send(std::string_view request, Deadline deadline);
    [[nodiscard]] Result<std::string, Failure> receive(Deadline deadline);
    [[nodiscard]] Done read_more(Deadline deadline);
    [[nodiscard]] Failure cut(int fault, bool sent);

    ConnectionOptions options_;
    const bool is_ipc_;
    std::unique_ptr<ByteStream> stream_; // nullptr: not connected
    std::optional<FrameReader> reader_;  // takes the bytes of stream_ apart
    std::uint32_t request_ = 0;          // the number of the last request, highest bit set
};

} // namespace yk::wire
