// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reconnect: lets a command that runs on outlive its daemon. When the daemon goes away it says so on standard error,
// dials again until the daemon is back, and says whether that is the same process.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "ykctl/cli/failure.h"
#include "ykctl/client/context.h"
#include "ykctl/client/held_signals.h"

namespace yk::cli {

/// What Reconnect works with. Tests have their own.
struct RedialParts {
    std::function<std::optional<Failure>(std::chrono::milliseconds limit)> ask; // nothing: the daemon has answered
    std::function<int(std::chrono::milliseconds time)> wait; // returns the signal that ended it, or 0
    std::function<std::string()> boot_id;
    std::function<void(const std::string& text)> note;
    std::function<std::chrono::steady_clock::time_point()> now;
};

/// Whether the daemon is gone, stops, or does not answer.
[[nodiscard]] bool is_gone(const Failure& failure);

/// Owner: the command. Thread: main.
class Reconnect {
public:
    /// From now on requests of `context` fail at once when the daemon is gone. To be made while `signals` are held
    /// back.
    Reconnect(Context& context, const HeldSignals& signals);
    explicit Reconnect(RedialParts parts) : parts_(std::move(parts)) {}

    /// To be called with the failure of a request. If the daemon is gone, or does not answer, it returns 0 when the
    /// daemon is back, and the number of a signal that ends the command. Any other failure is returned as it is, and so
    /// is the last one when the daemon stays away for longer than `limit` (nothing: for ever).
    [[nodiscard]] Answer<int> after(const Failure& failure, std::optional<std::chrono::milliseconds> limit);

    /// Whether the daemon was restarted since the last call, noticed or not. To be called after each request, before
    /// its answer is used: a quick restart makes no request fail.
    [[nodiscard]] bool was_restarted();

private:
    [[nodiscard]] int held_signal() const;

    RedialParts parts_;
    std::string boot_id_; // of the run of the daemon that the command knows
};

} // namespace yk::cli
