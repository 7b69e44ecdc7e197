// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/network.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "tests/sim/daemon_host.h"

namespace yk::sim {
namespace {

constexpr std::uint32_t kLastNumber = 0x80000000U; // marks a request number as the last one of its message

wire::SpMessage framed(std::uint32_t number, std::string_view message) {
    wire::Bytes bytes = wire::make_bytes(wire::kRequestNumber + message.size());
    const std::uint32_t marked = number | kLastNumber;
    for (unsigned i = 0; i < wire::kRequestNumber; ++i)
        bytes.get()[i] = static_cast<char>(static_cast<unsigned char>(marked >> (24U - 8U * i)));
    std::memcpy(bytes.get() + wire::kRequestNumber, message.data(), message.size());
    return {std::move(bytes), wire::kRequestNumber + message.size(), wire::kRequestNumber};
}

std::uint32_t number_of(const wire::SpMessage& request) {
    std::uint32_t number = 0;
    for (const char c : request.head()) number = number << 8U | static_cast<unsigned char>(c);
    return number & ~kLastNumber;
}

} // namespace

std::shared_ptr<Connection> Connection::open(World& world, DaemonHost& host, Client client) {
    if (!host.is_up()) return nullptr;
    auto connection = std::make_shared<Connection>(world, host, std::move(client));
    host.know(connection);
    return connection;
}

Connection::Connection(World& world, DaemonHost& host, Client client)
    : world_(world),
      host_(host),
      client_(std::move(client)),
      writable_peer_(std::make_shared<wire::Peer>()),
      peer_(writable_peer_),
      incarnation_(host.incarnation()) {
    writable_peer_->connection = host.next_connection();
    writable_peer_->uid = ::geteuid();
    writable_peer_->gid = ::getegid();
    writable_peer_->address = "uid of the simulation";
}

Nanoseconds Connection::delay() {
    const NetworkFaults& faults = host_.network();
    if (world_.chance(faults.slow)) {
        cover("network: slow message");
        return world_.between(milliseconds{100}, faults.slowest);
    }
    return world_.between(Nanoseconds{1000}, faults.usual);
}

Nanoseconds Connection::delay_of_request() {
    const Nanoseconds time = delay();
    if (world_.now() + time < last_arrival_) cover("network: request overtakes another");
    last_arrival_ = std::max(last_arrival_, world_.now() + time);
    return time;
}

void Connection::cover(std::string_view fault) {
    const Counters& counters = client_.counters;
    if (counters.rm_id.empty()) return;
    world_.cover(fmt::format("{} while {}", fault, host_.state_of(counters.rm_id)));
    if (counters.state) world_.cover(fmt::format("{}, the RM was {}", fault, counters.state()));
}

// --- to the daemon --------------------------------------------------------------------------------------------------

void Connection::send(std::uint32_t number, std::string message) {
    if (!open_) return;
    const NetworkFaults& faults = host_.network();
    const int copies = world_.chance(faults.duplicate) ? 2 : 1;
    if (copies == 2) cover("network: request twice");
    if (world_.sabotages(sabotage::kOtherRequest, 0.01))
        if (const auto at = message.rfind("-ask-"); at != std::string::npos) message[at + 1] = 'x';
    for (int i = 0; i < copies; ++i)
        world_.after(delay_of_request(),
                     [self = shared_from_this(), number, message] { self->arrive(number, message); });
    if (world_.chance(faults.cut)) world_.after(delay(), [self = shared_from_this()] { self->cut(); });
}

void Connection::arrive(std::uint32_t number, const std::string& message) {
    if (!alive_ || !host_.is_up() || host_.incarnation() != incarnation_) return;
    host_.handlers().request(wire::Request{shared_from_this(), framed(number, message), {}});
}

void Connection::close() {
    open_ = false;
    client_ = {};
    if (!alive_) return;
    alive_ = false;
    world_.after(delay(), [self = shared_from_this()] {
        self->writable_peer_->gone->store(true);
        if (self->host_.is_up() && self->host_.incarnation() == self->incarnation_)
            self->host_.handlers().closed(self->peer_->connection);
    });
}

// --- to the client --------------------------------------------------------------------------------------------------

void Connection::reply(const wire::SpMessage& request, wire::TransportBudget::Charge charge,
                       std::span<const std::string_view> parts) {
    static_cast<void>(charge);
    if (!alive_) return;
    std::string bytes;
    for (const std::string_view part : parts) bytes += part;
    const std::uint32_t number = number_of(request);
    if (world_.chance(host_.network().cut)) {
        cover("network: cut instead of a reply");
        return cut();
    }
    world_.after(delay(), [self = shared_from_this(), number, bytes = std::move(bytes)] {
        if (self->open_ && self->client_.replied) self->client_.replied(number, bytes);
    });
}

void Connection::give_up(wire::TransportBudget::Charge charge, const char* /*why*/) {
    static_cast<void>(charge);
    cut();
}

void Connection::cut() {
    if (!alive_) return;
    alive_ = false;
    cover("network: cut");
    writable_peer_->gone->store(true);
    world_.after(delay(), [self = shared_from_this()] {
        if (self->host_.is_up() && self->host_.incarnation() == self->incarnation_)
            self->host_.handlers().closed(self->peer_->connection);
    });
    end_at_client();
}

void Connection::daemon_died() {
    if (!std::exchange(alive_, false)) return;
    writable_peer_->gone->store(true);
    end_at_client();
}

void Connection::end_at_client() {
    world_.after(delay(), [self = shared_from_this()] {
        if (!std::exchange(self->open_, false)) return;
        const auto cut = std::move(self->client_.cut);
        self->client_ = {};
        if (cut) cut();
    });
}

} // namespace yk::sim
