// SPDX-License-Identifier: Apache-2.0
#include "ykd/request/inside_request.h"

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <utility>

namespace yk::service {
namespace {

/// Where the answer goes. Owner: the request. Thread: any.
class InsideTarget final : public wire::ReplyTarget {
public:
    InsideTarget(std::shared_ptr<const wire::Peer> peer, InsideAnswer answered)
        : peer_(std::move(peer)), answered_(std::move(answered)) {}

    [[nodiscard]] const std::shared_ptr<const wire::Peer>& peer() const noexcept override { return peer_; }
    void reply(const wire::SpMessage& /*request*/, wire::TransportBudget::Charge /*charge*/,
               std::span<const std::string_view> parts) override {
        std::size_t size = 0;
        for (const std::string_view part : parts) size += part.size();
        std::string bytes;
        bytes.reserve(size);
        for (const std::string_view part : parts) bytes += part;
        deliver(std::move(bytes));
    }
    void drop(wire::TransportBudget::Charge /*charge*/) override { deliver(std::nullopt); }
    void give_up(wire::TransportBudget::Charge /*charge*/, const char* /*why*/) override { deliver(std::nullopt); }
    void trust() override {}

private:
    void deliver(std::optional<std::string> reply) {
        if (!is_answered_.exchange(true)) answered_(std::move(reply));
    }

    const std::shared_ptr<const wire::Peer> peer_;
    const InsideAnswer answered_;
    std::atomic<bool> is_answered_{false};
};

} // namespace

std::shared_ptr<wire::Peer> inside_peer(std::uint32_t connection, std::string name) {
    auto peer = std::make_shared<wire::Peer>();
    peer->connection = connection;
    peer->uid = ::geteuid();
    peer->gid = ::getegid();
    peer->pid = ::getpid();
    peer->is_inside = true;
    peer->address = std::move(name);
    return peer;
}

wire::Request inside_request(std::shared_ptr<const wire::Peer> peer, std::string_view message, InsideAnswer answered) {
    wire::Bytes copy = wire::make_bytes(message.size());
    std::memcpy(copy.get(), message.data(), message.size());
    return {std::make_shared<InsideTarget>(std::move(peer), std::move(answered)),
            wire::SpMessage{std::move(copy), message.size(), 0},
            {}};
}

} // namespace yk::service
