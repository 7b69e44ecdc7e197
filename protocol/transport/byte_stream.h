#pragma once
// ByteStream: a connected Unix or TCP socket, or TLS over TCP, of a client; everything has a deadline.

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "libcore/base/result.h"

namespace yk::wire {

/// What a read brought: at least one byte, or why none (errno; ETIMEDOUT: the deadline is over. A socket goes on after
/// it, TLS is cut).
struct ReadOutcome {
    std::size_t bytes = 0;
    int fault = 0;
};

/// Thread: one at a time. The destructor closes.
class ByteStream {
public:
    using Deadline = std::chrono::steady_clock::time_point;

    ByteStream() = default;
    virtual ~ByteStream() = default;
    ByteStream(const ByteStream&) = delete;
    ByteStream& operator=(const ByteStream&) = delete;

    /// Writes `head`, then `body`, all of both. 0, or errno; `written` counts what went out all the same.
    [[nodiscard]] virtual int write(std::string_view head, std::string_view body, Deadline deadline,
                                    std::size_t& written) = 0;
    [[nodiscard]] virtual ReadOutcome read(char* to, std::size_t size, Deadline deadline) = 0;
    /// Whether the peer is known to have closed, without waiting.
    [[nodiscard]] virtual bool is_cut() const = 0;
};

/// Connects once. The error's code is errno: ECONNREFUSED when nobody listens, ENOENT when the socket file is missing,
/// ETIMEDOUT when the deadline was over; its message says what to do.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_stream(const std::string& url, const std::string& tls_ca,
                                                                 ByteStream::Deadline deadline);

/// The three kinds of it. `path`: of a socket file; `host` without brackets.
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_ipc(const std::string& path, ByteStream::Deadline deadline);
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_tcp(const std::string& host, const std::string& port,
                                                              ByteStream::Deadline deadline);
[[nodiscard]] Result<std::unique_ptr<ByteStream>> connect_tls(const std::string& url, const std::string& tls_ca,
                                                              ByteStream::Deadline deadline);

/// Milliseconds until then, for poll() and nng: from 1 to an hour.
[[nodiscard]] int left_until(ByteStream::Deadline deadline);

} // namespace yk::wire
