// SPDX-License-Identifier: Apache-2.0
#include "protocol/client/connection.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "protocol/client/dial.h"
#include "protocol/transport/ipc_path.h"

namespace yk::wire {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = ExchangeFailure::Kind;

constexpr std::uint32_t kRequestBit = 0x80000000U;
constexpr std::chrono::milliseconds kLookAgain{5}, kDialAgain{50};

std::array<char, kRequestNumber> bytes_of(std::uint32_t number) {
    return {static_cast<char>(number >> 24U), static_cast<char>(number >> 16U), static_cast<char>(number >> 8U),
            static_cast<char>(number)};
}

bool is_nobody(int code) {
    return code == ECONNREFUSED || code == ENOENT || code == ENOTDIR;
}

} // namespace

Connection::Connection(ConnectionOptions options)
    : options_(std::move(options)),
      is_ipc_(!ipc_path_of(options_.url).empty()),
      request_(std::random_device{}() | kRequestBit) {}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionOptions& options, Deadline deadline) {
    YK_CHECKED(check_address(options.url, options.wait_for_socket));
    std::unique_ptr<Connection> connection{new Connection(options)};
    YK_CHECKED(connection->connect(deadline, options.wait_for_socket));
    return connection;
}

/// With `waits_for_listener` it tries until the deadline while nobody listens.
Result<void> Connection::connect(Deadline deadline, bool waits_for_listener) {
    while (true) {
        auto stream = connect_stream(options_.url, options_.tls_ca, deadline, options_.stopped);
        if (stream) {
            stream_ = std::move(stream).value();
            reader_.emplace(kRepGreeting, is_ipc_, options_.max_message == 0 ? SIZE_MAX : options_.max_message);
            return {};
        }
        const auto again = options_.wait_for_socket ? kLookAgain : kDialAgain;
        if (!waits_for_listener || !is_nobody(stream.error().code) || Clock::now() + again >= deadline)
            return std::move(stream).error();
        if (options_.stopped && options_.stopped()) return Error::coded(ECANCELED, "interrupted");
        if (options_.tries_again && !options_.tries_again("no answer from " + options_.url + "; dialling again"))
            return std::move(stream).error();
        std::this_thread::sleep_for(again);
    }
}

Result<std::string, ExchangeFailure> Connection::exchange(std::string_view request, Deadline deadline) {
    YK_CHECKED(be_connected(deadline));
    YK_CHECKED(greet(deadline));
    YK_CHECKED(send(request, deadline));
    return receive(deadline);
}

Connection::Done Connection::be_connected(Deadline deadline) {
    if (stream_ && stream_->is_cut()) stream_.reset();
    if (stream_) return {};
    if (auto connected = connect(deadline, options_.redials); !connected)
        return Failure{connected.error().code == ECANCELED ? Kind::Stopped : Kind::NotConnected,
                       std::move(connected).error().message, false};
    return {};
}

/// Both ends send which protocol they speak. A request goes only to a peer that answered as a REP.
Connection::Done Connection::greet(Deadline deadline) {
    if (reader_->is_greeted()) return {};
    std::size_t written = 0;
    const int fault = stream_->write(kReqGreeting, {}, deadline, written);
    auto read = fault == 0 ? Done{} : Done{cut(fault, false)};
    while (read.ok() && !reader_->is_greeted()) {
        read = read_more(deadline);
        if (read.ok() && reader_->next(true).fault == FrameReader::Fault::Greeting)
            read = Failure{Kind::NotConnected,
                           fmt::format("something listens on {}, but does not answer as a ykd would", options_.url),
                           false};
    }
    if (read.ok()) return {};
    stream_.reset();                                      // a greeting that comes later would be taken for a reply
    const bool is_tls = options_.url.starts_with("tls+"); // TLS shakes hands with the first bytes
    if (is_tls && read.error().kind == Kind::Lost) return Failure{Kind::NotConnected, why_no_tls(options_.url), false};
    return read;
}

Connection::Done Connection::send(std::string_view request, Deadline deadline) {
    request_ = (request_ + 1) | kRequestBit;
    std::string head{FrameHead{is_ipc_, kRequestNumber + request.size()}.bytes()};
    const auto number = bytes_of(request_);
    head.append(number.begin(), number.end());
    std::size_t written = 0;
    const int fault = stream_->write(head, request, deadline, written);
    if (fault == 0) return {};
    if (fault != ETIMEDOUT && fault != ECANCELED) return cut(fault, written != 0);
    if (written == 0 && fault == ECANCELED) return Failure{Kind::Stopped, "interrupted", false};
    if (written == 0) return Failure{Kind::TimedOut, "the daemon takes nothing: it is slow or stopped", false};
    stream_.reset();
    return Failure{Kind::Stuck, "the request could not be sent in time", true};
}

/// Returns the reply to the last request; replies to earlier requests, which were given up, are skipped.
Result<std::string, ExchangeFailure> Connection::receive(Deadline deadline) {
    const auto number = bytes_of(request_);
    const std::string_view ours{number.data(), number.size()};
    while (true) {
        const FrameReader::Next next = reader_->next(true);
        if (next.fault) return cut(*next.fault == FrameReader::Fault::Memory ? ENOMEM : EPROTO, true);
        if (!next.message) {
            YK_CHECKED(read_more(deadline));
        } else if (next.message->head() == ours) {
            return std::string{next.message->body()};
        }
    }
}

/// Reads at least one byte.
Connection::Done Connection::read_more(Deadline deadline) {
    const auto buffer = reader_->free_space();
    const ReadOutcome got = stream_->read(buffer.data(), buffer.size(), deadline);
    if (got.fault == ECANCELED) return Failure{Kind::Stopped, "interrupted", reader_->is_greeted()};
    if (got.fault == ETIMEDOUT) return Failure{Kind::TimedOut, "no answer in time", reader_->is_greeted()};
    if (got.fault != 0) return cut(got.fault, reader_->is_greeted());
    reader_->took(got.bytes);
    return {};
}

ExchangeFailure Connection::cut(int fault, bool sent) {
    stream_.reset();
    return {Kind::Lost, fmt::format("the connection was cut: {}", std::strerror(fault)), sent};
}

} // namespace yk::wire
