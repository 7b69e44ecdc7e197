// SPDX-License-Identifier: Apache-2.0
#pragma once
// CoreConnection: a connection to the daemon from within it, without a socket: requests are given to the daemon as a
// server gives them, and the answers come back on the thread that asked.
//
// Owner: CoreSession. Thread: that of MCS. Workers and owner threads answer; what they use outlives this, and an answer
// that comes after its end goes nowhere.

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/server/request.h"

namespace yk::service {

class CoreConnection {
public:
    struct Parts {
        std::function<void(wire::Request)> give;         // to the daemon
        std::function<void(std::function<void()>)> post; // has it called on the thread of MCS; any thread
    };
    struct Reply {
        std::uint64_t number = 0;         // of the request
        std::optional<std::string> bytes; // nullopt: it was dropped, and nobody knows whether it was carried out
    };

    explicit CoreConnection(Parts parts);
    ~CoreConnection();
    CoreConnection(const CoreConnection&) = delete;
    CoreConnection& operator=(const CoreConnection&) = delete;

    /// Gives a request, whose reply is to come under this number.
    void send(std::uint64_t number, std::string_view message);
    /// The next reply that has come; nullopt: none.
    [[nodiscard]] std::optional<Reply> next();

private:
    struct Inbox {
        const std::function<void(std::function<void()>)> post;
        std::deque<Reply> replies; // of the thread of MCS
    };

    const std::function<void(wire::Request)> give_;
    std::shared_ptr<Inbox> inbox_;
    std::shared_ptr<const wire::Peer> peer_;
};

} // namespace yk::service
