#include "protocol/transport/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <thread>

#include "protocol/transport/dial.h"
#include "protocol/transport/ipc_path.h"

namespace yk::wire {

namespace {

using Clock = std::chrono::steady_clock;
using Kind = ExchangeFailure::Kind;

constexpr std::string_view kGreeting{"\0SP\0\0\x30\0\0", 8}; // REQ
constexpr std::string_view kWelcome{"\0SP\0\0\x31\0\0", 8};  // REP
constexpr char kMessage = 1;                                 // type of a frame on ipc
constexpr std::size_t kLengthBytes = 8, kRequestBytes = 4;
constexpr std::uint32_t kRequestBit = 0x80000000U;
constexpr std::size_t kRoom = std::size_t{64} << 10U; // of the inbox; more is given back
constexpr std::chrono::milliseconds kLookAgain{5}, kDialAgain{50};

void put(std::string& to, std::uint64_t value, std::size_t bytes) {
    for (std::size_t i = bytes; i-- > 0;) to += static_cast<char>(value >> (8 * i) & 0xFFU);
}

std::uint64_t number_at(const char* from, std::size_t bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8U | static_cast<unsigned char>(from[i]);
    return value;
}

bool is_nobody(int code) {
    return code == ECONNREFUSED || code == ENOENT || code == ENOTDIR;
}

} // namespace

Connection::Connection(ConnectionOptions options)
    : options_(std::move(options)),
      type_bytes_(ipc_path_of(options_.url).empty() ? 0 : 1),
      request_(std::random_device{}() | kRequestBit) {}

Result<std::unique_ptr<Connection>> Connection::open(const ConnectionOptions& options, Deadline deadline) {
    YK_CHECKED(check_address(options.url, options.wait_for_socket));
    std::unique_ptr<Connection> connection{new Connection(options)};
    YK_CHECKED(connection->connect(deadline, options.wait_for_socket));
    return connection;
}

/// `patient`: that nobody listens is waited out.
Result<void> Connection::connect(Deadline deadline, bool patient) {
    while (true) {
        auto stream = connect_stream(options_.url, options_.tls_ca, deadline);
        if (stream) {
            stream_ = std::move(stream).value();
            greeted_ = false;
            filled_ = 0;
            return {};
        }
        const auto again = options_.wait_for_socket ? kLookAgain : kDialAgain;
        if (!patient || !is_nobody(stream.error().code) || Clock::now() + again >= deadline)
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
    if (auto connected = connect(deadline, true); !connected)
        return Failure{Kind::NotConnected, std::move(connected).error().message, false};
    return {};
}

/// Both ends say which protocol they speak. Nothing is told to somebody who does not answer as a REP.
Connection::Done Connection::greet(Deadline deadline) {
    if (greeted_) return {};
    std::size_t written = 0;
    const int fault = stream_->write(kGreeting, {}, deadline, written);
    auto read = fault == 0 ? read_until(kWelcome.size(), deadline) : Done{cut(fault, false)};
    if (!read) {
        stream_.reset();                                        // a greeting that comes later would be in the way
        const bool is_tls = options_.url.rfind("tls+", 0) == 0; // which shakes hands with the first bytes
        if (is_tls && read.error().kind == Kind::Lost)
            return Failure{Kind::NotConnected, why_no_tls(options_.url), false};
        return read;
    }
    if (take(kWelcome.size()) != kWelcome) {
        stream_.reset();
        return Failure{Kind::NotConnected,
                       fmt::format("something listens on {}, but does not answer as a ykd would", options_.url), false};
    }
    greeted_ = true;
    return {};
}

Connection::Done Connection::send(std::string_view request, Deadline deadline) {
    request_ = (request_ + 1) | kRequestBit;
    std::string head(type_bytes_, kMessage);
    put(head, request.size() + kRequestBytes, kLengthBytes);
    put(head, request_, kRequestBytes);
    std::size_t written = 0;
    const int fault = stream_->write(head, request, deadline, written);
    if (fault == 0) return {};
    if (fault != ETIMEDOUT) return cut(fault, written != 0);
    if (written == 0) return Failure{Kind::TimedOut, "the daemon takes nothing: it is slow or stopped", false};
    stream_.reset();
    return Failure{Kind::Stuck, "the request could not be sent in time", true};
}

/// The reply to the last request; replies to those that were given up are skipped.
Result<std::string, ExchangeFailure> Connection::receive(Deadline deadline) {
    const std::size_t head = type_bytes_ + kLengthBytes;
    while (true) {
        YK_CHECKED(read_until(head, deadline));
        const std::uint64_t length = number_at(inbox_.data() + type_bytes_, kLengthBytes);
        const bool is_message = type_bytes_ == 0 || inbox_[0] == kMessage;
        if (!is_message || length < kRequestBytes || (options_.max_message != 0 && length > options_.max_message))
            return cut(EPROTO, true);
        YK_CHECKED(read_until(head + length, deadline));
        const bool is_ours = number_at(inbox_.data() + head, kRequestBytes) == request_;
        std::string frame = take(head + length);
        if (!is_ours) continue;
        frame.erase(0, head + kRequestBytes);
        return frame;
    }
}

/// Until the inbox holds so many bytes.
Connection::Done Connection::read_until(std::size_t size, Deadline deadline) {
    if (inbox_.size() < std::max(size, kRoom)) inbox_.resize(std::max(size, kRoom));
    while (filled_ < size) {
        const ReadOutcome got = stream_->read(inbox_.data() + filled_, inbox_.size() - filled_, deadline);
        if (got.fault == ETIMEDOUT) return Failure{Kind::TimedOut, "no answer in time", greeted_};
        if (got.fault != 0) return cut(got.fault, greeted_);
        filled_ += got.bytes;
    }
    return {};
}

std::string Connection::take(std::size_t size) {
    std::string taken(inbox_.data(), size);
    filled_ -= size;
    std::memmove(inbox_.data(), inbox_.data() + size, filled_);
    if (inbox_.size() > kRoom && filled_ <= kRoom) {
        inbox_.resize(kRoom);
        inbox_.shrink_to_fit();
    }
    return taken;
}

ExchangeFailure Connection::cut(int fault, bool sent) {
    stream_.reset();
    return {Kind::Lost, fmt::format("the connection was cut: {}", std::strerror(fault)), sent};
}

} // namespace yk::wire
