// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_connection.h"

#include <unistd.h>

#include <cstring>
#include <limits>
#include <utility>

namespace yk::service {
namespace {

/// The daemon's own user, whom Access lets in as admin. Its number is one that no server gives: theirs count up from 1.
std::shared_ptr<const wire::Peer> own_peer() {
    auto peer = std::make_shared<wire::Peer>();
    peer->connection = std::numeric_limits<std::uint32_t>::max();
    peer->uid = ::geteuid();
    peer->gid = ::getegid();
    peer->pid = ::getpid();
    peer->is_inside = true;
    peer->address = "mcs"; // for logs, and so that it takes turns with the daemon's user as somebody else
    return peer;
}

wire::SpMessage message_of(std::string_view bytes) {
    wire::Bytes copy = wire::make_bytes(bytes.size());
    std::memcpy(copy.get(), bytes.data(), bytes.size());
    return {std::move(copy), bytes.size(), 0};
}

} // namespace

/// Where the answer to one request goes. Owner: the request. Thread: any.
class CoreConnection::Ticket final : public wire::ReplyTarget {
public:
    Ticket(std::weak_ptr<Inbox> inbox, std::shared_ptr<const wire::Peer> peer, std::uint64_t number)
        : inbox_(std::move(inbox)), peer_(std::move(peer)), number_(number) {}

    [[nodiscard]] const std::shared_ptr<const wire::Peer>& peer() const noexcept override { return peer_; }
    void reply(const wire::SpMessage& /*request*/, wire::TransportBudget::Charge /*charge*/,
               std::span<const std::string_view> parts) override {
        std::string bytes;
        for (const std::string_view part : parts) bytes += part;
        deliver(std::move(bytes));
    }
    void drop(wire::TransportBudget::Charge /*charge*/) override { deliver(std::nullopt); }
    void give_up(wire::TransportBudget::Charge /*charge*/, const char* /*why*/) override { deliver(std::nullopt); }
    void trust() override {}

private:
    void deliver(std::optional<std::string> bytes) {
        const std::shared_ptr<Inbox> inbox = inbox_.lock();
        if (!inbox) return;
        inbox->post([weak = inbox_, reply = Reply{number_, std::move(bytes)}] {
            if (const auto still = weak.lock()) still->replies.push_back(reply);
        });
    }

    const std::weak_ptr<Inbox> inbox_;
    const std::shared_ptr<const wire::Peer> peer_;
    const std::uint64_t number_;
};

CoreConnection::CoreConnection(Parts parts)
    : give_(std::move(parts.give)),
      inbox_(std::make_shared<Inbox>(Inbox{std::move(parts.post), {}})),
      peer_(own_peer()) {}

CoreConnection::~CoreConnection() {
    peer_->gone->store(true);
}

void CoreConnection::send(std::uint64_t number, std::string_view message) {
    give_(wire::Request{std::make_shared<Ticket>(inbox_, peer_, number), message_of(message), {}});
}

std::optional<CoreConnection::Reply> CoreConnection::next() {
    if (inbox_->replies.empty()) return std::nullopt;
    Reply first = std::move(inbox_->replies.front());
    inbox_->replies.pop_front();
    return first;
}

} // namespace yk::service
