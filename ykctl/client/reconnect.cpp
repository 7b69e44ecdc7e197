// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/reconnect.h"

#include <algorithm>
#include <csignal>

#include <fmt/format.h>

#include "protocol/si/errors.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kFirstPause{50}, kLongestPause{5000}; // between two tries (I-308)
constexpr milliseconds kAnswerTime{1000};                    // of a daemon that takes the connection

/// Whether dialling again may help. Who is refused as a person is refused again.
bool may_come_back(const Failure& failure) {
    return failure.code == 0 || exit_of_code(failure.code) != Exit::Denied;
}

Failure stayed_away(Failure last, milliseconds limit) {
    last.message += fmt::format("; it did not come back within {}", duration_text(limit));
    return last;
}

} // namespace

bool is_gone(const Failure& failure) {
    return failure.exit == Exit::Unreachable || failure.code == static_cast<std::uint32_t>(si::ErrorCode::ShuttingDown);
}

Reconnect::Reconnect(Context& context, const HeldSignals& signals)
    : parts_{[&context](milliseconds limit) -> std::optional<Failure> {
                 if (auto reply = context.call(si::PingRequest{}, limit); !reply.ok()) return std::move(reply).error();
                 return std::nullopt;
             },
             [&signals](milliseconds time) { return signals.wait(time); }, [&context] { return context.boot_id(); },
             [&context](const std::string& text) { context.note(text); }, [] { return Clock::now(); }} {
    context.fail_when_gone();
    boot_id_ = parts_.boot_id();
}

Answer<int> Reconnect::after(const Failure& failure, std::optional<milliseconds> limit) {
    if (failure.exit == Exit::Interrupted) return held_signal();
    if (!is_gone(failure) || parts_.boot_id().empty()) return failure; // a daemon that never answered is an error
    if (boot_id_.empty()) boot_id_ = parts_.boot_id();
    const auto began = parts_.now();
    const auto left = [&] {
        const auto gone = std::chrono::duration_cast<milliseconds>(parts_.now() - began);
        return limit ? *limit - gone : milliseconds::max();
    };
    Failure last = failure;
    parts_.note(fmt::format("{}; dialling again{}; Ctrl-C ends this", last.message,
                            limit ? " for at most " + duration_text(*limit) : ""));
    for (auto pause = kFirstPause; left().count() > 0; pause = std::min(2 * pause, kLongestPause)) {
        if (const int signal = parts_.wait(std::min(pause, left())); signal != 0) return signal;
        auto refused = parts_.ask(std::clamp(left(), milliseconds{1}, kAnswerTime));
        if (!refused) {
            const auto gone = std::chrono::duration_cast<milliseconds>(parts_.now() - began);
            parts_.note("connected again after " + duration_text(gone));
            return 0;
        }
        if (refused->exit == Exit::Interrupted) return held_signal();
        if (!may_come_back(*refused)) return *std::move(refused);
        if (refused->message != last.message) parts_.note(refused->message + "; dialling on");
        last = *std::move(refused);
    }
    return stayed_away(std::move(last), limit.value_or(milliseconds{0}));
}

/// The signal that has ended a request.
int Reconnect::held_signal() const {
    const int signal = parts_.wait(milliseconds{0});
    return signal != 0 ? signal : SIGINT;
}

bool Reconnect::was_restarted() {
    auto now = parts_.boot_id();
    const bool restarted = !boot_id_.empty() && !now.empty() && now != boot_id_;
    if (!now.empty()) boot_id_ = std::move(now);
    return restarted;
}

} // namespace yk::cli
