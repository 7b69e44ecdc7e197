// SPDX-License-Identifier: Apache-2.0
#pragma once
// A request from within the daemon, without a connection: made here, and given to the dispatcher as a server gives its
// own.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/server/request.h"

namespace yk::service {

/// A part of the process as a peer: its own user, whom Access lets in. `connection` is a number that no server gives:
/// theirs count up from 1. `name` is for logs, and so that it takes turns with the daemon's user as somebody else.
[[nodiscard]] std::shared_ptr<wire::Peer> inside_peer(std::uint32_t connection, std::string name);

/// `answered` is called at most once, by any thread, with the reply; with nullopt when the request was dropped, and
/// nobody knows whether it was carried out.
using InsideAnswer = std::function<void(std::optional<std::string> reply)>;
[[nodiscard]] wire::Request inside_request(std::shared_ptr<const wire::Peer> peer, std::string_view message,
                                           InsideAnswer answered);

} // namespace yk::service
