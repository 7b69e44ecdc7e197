// SPDX-License-Identifier: Apache-2.0
#pragma once
// ByteStream: a connected Unix or TCP socket, or TLS over TCP, of a client; everything has a deadline.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::wire {

/// What a read brought: at least one byte, or in `fault` the errno why there is none. ETIMEDOUT means that the deadline
/// is over, ECANCELED that who waits was stopped; a socket can be read again afterwards, a TLS stream is closed.
struct ReadOutcome {
    std::size_t bytes = 0;
    int fault = 0;
};

/// Whether who waits wants to wait no longer, because of a signal for instance. Asked ten times a second; empty: never.
using StopCheck = std::function<bool()>;

/// Whether something is tried once more, and `why` it has to be, as `no answer from ADDRESS; dialling again`. Empty: it
/// is.
using RetryCheck = std::function<bool(const std::string& why)>;

/// Thread: any, but one at a time. The destructor closes the connection.
class ByteStream {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    ByteStream() = default;
    virtual ~ByteStream() = default;
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    /// Writes all of `head`, then all of `body`. Returns 0 or errno; `written` is the number of bytes that were sent,
    /// also after a fault.
    [[nodiscard]] virtual int write(std::string_view head, std::string_view body, Deadline deadline,
                                    std::size_t& written) = 0;
    /// Waits for at least one byte and stores at most `size` bytes at `to`.
    [[nodiscard]] virtual ReadOutcome read(char* to, std::size_t size, Deadline deadline) = 0;
    /// Whether the peer is known to have closed, without waiting.
    [[nodiscard]] virtual bool is_cut() const = 0;
};

/// Connects once. The error's code is errno: ECONNREFUSED when nobody listens, ENOENT when the socket file is missing,
/// ETIMEDOUT when the deadline was over; its message names the way out.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_stream(const std::string& url, const std::string& tls_ca,
                                                                 ByteStream::Deadline deadline,
                                                                 const StopCheck& stopped = {});

/// The streams of the three schemes. `path` is that of the socket file; `host` comes without brackets.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_ipc(const std::string& path, ByteStream::Deadline deadline,
                                                              const StopCheck& stopped);
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_tcp(const std::string& host, const std::string& port,
                                                              ByteStream::Deadline deadline, const StopCheck& stopped);
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_tls(const std::string& url, const std::string& tls_ca,
                                                              ByteStream::Deadline deadline, const StopCheck& stopped);

/// Milliseconds until the deadline, for poll() and nng: at least 1, at most an hour.
[[nodiscard]] int left_until(ByteStream::Deadline deadline);
/// The end of a wait of at most a tenth of a second, after which `stopped` is asked; the deadline when there is none.
[[nodiscard]] ByteStream::Deadline next_look(ByteStream::Deadline deadline, const StopCheck& stopped);

} // namespace yk::wire
