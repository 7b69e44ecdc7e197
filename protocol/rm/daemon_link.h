// SPDX-License-Identifier: Apache-2.0
#pragma once
// DaemonLink: how an RmClient reaches its daemon. Programs use a ClientLink; tests put a daemon of their own behind it.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "protocol/client/client.h"

namespace yk::rm {

/// The time-out that a link has of its own.
inline constexpr std::chrono::milliseconds kOwnTimeout{0};

class DaemonLink {
public:
    DaemonLink() = default;
    virtual ~DaemonLink() = default;
    DaemonLink(const DaemonLink&) = delete;
    DaemonLink& operator=(const DaemonLink&) = delete;

    /// Sends one request; the encoded body of its answer. When the connection or the session is lost, the next call
    /// makes another. What the daemon is asked to wait comes on top of `timeout`.
    [[nodiscard]] virtual wire::CallResult<std::string> call(const wire::EncodedRequest& request,
                                                             std::chrono::milliseconds timeout) = 0;
    /// The daemon of the last Hello: another one after each restart.
    [[nodiscard]] virtual std::string boot_id() const = 0;
    /// The session of the last Hello.
    [[nodiscard]] virtual std::string session_id() const = 0;
};

/// The link over a Client, which outlives it. The Client itself dials until a request's time is over, because a daemon
/// may be restarting; once that was in vain, each further request dials once.
class ClientLink final : public DaemonLink {
public:
    /// Called after each request.
    using Watch = std::function<void(std::string_view kind, bool answered, std::chrono::steady_clock::duration took)>;

    explicit ClientLink(wire::Client& client, Watch watch = {}) : client_(client), watch_(std::move(watch)) {}

    [[nodiscard]] wire::CallResult<std::string> call(const wire::EncodedRequest& request,
                                                     std::chrono::milliseconds timeout) override;
    [[nodiscard]] std::string boot_id() const override { return said("bootID"); }
    [[nodiscard]] std::string session_id() const override { return said("sid"); }

private:
    [[nodiscard]] std::string said(const char* key) const;
    [[nodiscard]] Result<void, wire::CallError> dial() const;

    wire::Client& client_;
    const Watch watch_;
    bool is_down_ = false; // nobody listened lately
};

} // namespace yk::rm
