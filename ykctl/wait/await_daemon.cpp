// SPDX-License-Identifier: Apache-2.0
#include "ykctl/wait/await_daemon.h"

#include <algorithm>

#include "ykctl/client/held_signals.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/render/text.h"

namespace yk::cli {

Outcome await_daemon(Context& context, std::chrono::milliseconds limit) {
    using Clock = std::chrono::steady_clock;
    using std::chrono::milliseconds;
    constexpr milliseconds kLookEvery{50}, kAnswerTime{1000};
    const HeldSignals signals;
    const auto end = Clock::now() + limit;
    context.fail_when_gone();
    while (true) {
        const auto reply = context.call(si::PingRequest{}, kAnswerTime);
        if (reply.ok()) return Exit::Ok;
        Failure failure = reply.error();
        if (!is_gone(failure)) return failure;
        const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
        if (left.count() <= 0) {
            failure.exit = Exit::NotSatisfied;
            failure.message += "; tried for " + duration_text(limit);
            return failure;
        }
        if (signals.wait(std::min(left, kLookEvery)) != 0) return Exit::Interrupted;
    }
}

} // namespace yk::cli
