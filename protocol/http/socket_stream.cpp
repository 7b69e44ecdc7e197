// SPDX-License-Identifier: Apache-2.0
#include "protocol/http/socket_stream.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace yk::http {
namespace {

constexpr std::size_t kBuffered = std::size_t{16} << 10; // bytes of an answer that wait to be sent together
constexpr auto kFarewell = std::chrono::seconds{1};

} // namespace

SocketStream::SocketStream(int descriptor, std::string peer, SSL_CTX* tls, StreamLimits limits)
    : descriptor_(descriptor), peer_(std::move(peer)), limits_(limits), tls_(tls == nullptr ? nullptr : SSL_new(tls)) {
    if (tls_) SSL_set_fd(tls_.get(), descriptor_);
    broken_ = tls != nullptr && !tls_;
}

SocketStream::~SocketStream() {
    ::close(descriptor_);
}

void SocketStream::wake() const {
    ::shutdown(descriptor_, SHUT_RDWR);
}

// --- waiting ------------------------------------------------------------------------------------

SocketStream::Wait SocketStream::wait(For what, Time until) const {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
        if (left.count() <= 0) return Wait::Over;
        pollfd one{descriptor_, static_cast<short>(what == For::Reading ? POLLIN : POLLOUT), 0};
        const int ready = ::poll(&one, 1, static_cast<int>(std::min<std::int64_t>(left.count(), 3'600'000)));
        if (ready > 0) return Wait::Ready;
        if (ready < 0 && errno != EINTR) return Wait::Over;
    }
}

bool SocketStream::wait_for_tls(int outcome, Time until) const {
    switch (SSL_get_error(tls_.get(), outcome)) {
    case SSL_ERROR_WANT_READ: return wait(For::Reading, until) == Wait::Ready;
    case SSL_ERROR_WANT_WRITE: return wait(For::Writing, until) == Wait::Ready;
    default: return false;
    }
}

bool SocketStream::greet() {
    if (!tls_) return !broken_;
    const Time until = std::chrono::steady_clock::now() + limits_.request_time;
    for (;;) {
        ERR_clear_error();
        const int outcome = SSL_accept(tls_.get());
        if (outcome == 1) return true;
        if (wait_for_tls(outcome, until)) continue;
        broken_ = true;
        return false;
    }
}

bool SocketStream::await_request() {
    taken_ = 0;
    head_ = {};
    answered_ = 0;
    sending_ = {};
    if (input_begin_ == input_end_) {
        const ssize_t got = receive(input_.data(), input_.size(), std::chrono::steady_clock::now() + limits_.idle_time);
        if (got <= 0) return false;
        input_begin_ = 0;
        input_end_ = static_cast<std::size_t>(got);
    }
    request_end_ = std::chrono::steady_clock::now() + limits_.request_time;
    return true;
}

// --- reading ------------------------------------------------------------------------------------

/// Returns the number of bytes, 0 at the end, -1 when there is a fault or the time is over.
ssize_t SocketStream::receive(char* to, std::size_t size, Time until) {
    while (!broken_) {
        if (tls_) {
            ERR_clear_error();
            const int got = SSL_read(tls_.get(), to, static_cast<int>(size));
            if (got > 0) return got;
            if (SSL_get_error(tls_.get(), got) == SSL_ERROR_ZERO_RETURN) return 0;
            broken_ = !wait_for_tls(got, until);
            continue;
        }
        const ssize_t got = ::recv(descriptor_, to, size, 0);
        if (got >= 0) return got;
        if (errno == EINTR) continue;
        broken_ = errno != EAGAIN || wait(For::Reading, until) == Wait::Over;
    }
    return -1;
}

ssize_t SocketStream::read(char* to, size_t size) {
    if (is_too_long()) return -1;
    if (input_begin_ == input_end_) {
        if (!flush()) return -1; // the client may wait for a `100 Continue` before it sends more
        const ssize_t got = receive(input_.data(), input_.size(), request_end_);
        if (got <= 0) return got;
        input_begin_ = 0;
        input_end_ = static_cast<std::size_t>(got);
    }
    const std::size_t taken = std::min(size, input_end_ - input_begin_);
    std::memcpy(to, input_.data() + input_begin_, taken);
    for (std::size_t at = 0; at < taken && !head_.is_over(); ++at) head_.take(to[at]);
    input_begin_ += taken;
    taken_ += taken;
    return broken_ || is_too_long() ? -1 : static_cast<ssize_t>(taken);
}

bool SocketStream::is_cut() {
    if (broken_) return true;
    char byte = 0;
    const ssize_t got = ::recv(descriptor_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR);
}

// --- writing ------------------------------------------------------------------------------------

ssize_t SocketStream::send(const char* from, std::size_t size, Time until) {
    while (!broken_) {
        if (tls_) {
            ERR_clear_error();
            const int sent = SSL_write(tls_.get(), from, static_cast<int>(size));
            if (sent > 0) return sent;
            broken_ = !wait_for_tls(sent, until);
            continue;
        }
        const ssize_t sent = ::send(descriptor_, from, size, MSG_NOSIGNAL);
        if (sent >= 0) return sent;
        if (errno == EINTR) continue;
        broken_ = errno != EAGAIN || wait(For::Writing, until) == Wait::Over;
    }
    return -1;
}

/// A client that takes a byte now and then would have a thread for as long as it likes: the longer an answer is being
/// sent, the more of it must have been taken. Pauses between the parts of an answer do not count.
bool SocketStream::send_all(std::string_view bytes) {
    while (!bytes.empty()) {
        const Time begin = std::chrono::steady_clock::now();
        const auto by_rate = std::chrono::milliseconds(answered_ * 1000 / std::max<std::size_t>(1, limits_.least_rate));
        const auto left = std::chrono::steady_clock::duration{limits_.send_time} + by_rate - sending_;
        const ssize_t sent = send(bytes.data(), bytes.size(),
                                  begin + std::min<std::chrono::steady_clock::duration>(left, limits_.send_time));
        if (sent < 0) return false;
        sending_ += std::chrono::steady_clock::now() - begin;
        bytes.remove_prefix(static_cast<std::size_t>(sent));
        answered_ += static_cast<std::size_t>(sent);
    }
    return true;
}

ssize_t SocketStream::write(const char* from, size_t size) {
    if (output_.size() + size <= kBuffered) {
        output_.append(from, size);
        return broken_ ? -1 : static_cast<ssize_t>(size);
    }
    return flush() && send_all({from, size}) ? static_cast<ssize_t>(size) : -1;
}

bool SocketStream::flush() {
    const bool sent = send_all(output_);
    output_.clear();
    return sent;
}

/// Closing with bytes unread would have the kernel reset the connection, and the client might lose the answer.
void SocketStream::finish() {
    if (broken_) return;
    if (tls_) SSL_shutdown(tls_.get());
    ::shutdown(descriptor_, SHUT_WR);
    const Time until = std::chrono::steady_clock::now() + kFarewell;
    while (wait(For::Reading, until) == Wait::Ready)
        if (::recv(descriptor_, input_.data(), input_.size(), 0) <= 0) return;
}

// --- for the library ----------------------------------------------------------------------------

void SocketStream::get_remote_ip_and_port(std::string& ip, int& port) const {
    ip = peer_;
    port = 0;
}

void SocketStream::get_local_ip_and_port(std::string& ip, int& port) const {
    ip.clear();
    port = 0;
}

} // namespace yk::http
