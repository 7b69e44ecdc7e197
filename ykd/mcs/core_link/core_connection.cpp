// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_connection.h"

#include <limits>
#include <utility>

#include "ykd/request/inside_request.h"

namespace yk::service {

CoreConnection::CoreConnection(Parts parts)
    : give_(std::move(parts.give)),
      inbox_(std::make_shared<Inbox>(Inbox{std::move(parts.post), {}})),
      peer_(inside_peer(std::numeric_limits<std::uint32_t>::max(), "mcs")) {}

CoreConnection::~CoreConnection() {
    peer_->gone->store(true);
}

void CoreConnection::send(std::uint64_t number, std::string_view message) {
    const auto answered = [weak = std::weak_ptr(inbox_), number](std::optional<std::string> bytes) {
        const std::shared_ptr<Inbox> inbox = weak.lock();
        if (!inbox) return;
        inbox->post([weak, reply = Reply{number, std::move(bytes)}] {
            if (const auto still = weak.lock()) still->replies.push_back(reply);
        });
    };
    give_(inside_request(peer_, message, answered));
}

std::optional<CoreConnection::Reply> CoreConnection::next() {
    if (inbox_->replies.empty()) return std::nullopt;
    Reply first = std::move(inbox_->replies.front());
    inbox_->replies.pop_front();
    return first;
}

} // namespace yk::service
