// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/wait_until.h"

#include <optional>
#include <utility>

#include "ykctl/client/held_signals.h"
#include "ykctl/client/reconnect.h"

namespace yk::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookEvery{100};

} // namespace

Outcome wait_until(Context& context, std::chrono::milliseconds limit,
                   const std::function<Answer<std::optional<Failure>>()>& look) {
    const auto deadline = context.begin_wait(limit).end;
    const HeldSignals signals;
    Reconnect reconnect{context, signals};
    std::optional<Failure> last; // what was not so yet
    while (true) {
        const auto seen = look();
        if (reconnect.was_restarted()) context.note("ykd was restarted: waiting for what it had");
        if (seen.ok() && !*seen) return Exit::Ok;
        if (seen.ok()) last = *seen;
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        const bool is_stopped = !seen.ok() && seen.error().exit == Exit::Interrupted;
        if (left.count() <= 0 && !is_stopped) return last ? *last : seen.error();
        if (!seen.ok() && seen.error().name != "E_BUSY") { // busy: it reads its database
            YK_TRY(signal, reconnect.after(seen.error(), left));
            if (signal != 0) return Exit::Interrupted;
        }
        if (signals.wait(kLookEvery) != 0) return Exit::Interrupted;
    }
}

Failure unsatisfied(std::string text, std::string hint) {
    return {Exit::NotSatisfied, std::move(text), {std::move(hint)}, 0, {}, {}};
}

} // namespace yk::cli
