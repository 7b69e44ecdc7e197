// SPDX-License-Identifier: Apache-2.0
#include "ykd/observe/watches.h"

#include <fmt/format.h>

#include <cmath>

#include "ykd/process/log.h"
#include "ykd/runtime/clears.h"

namespace yk::service {

void MemoryWatch::look() {
    const std::uint64_t own = own_memory();
    if (own > 0) parts_.guard.note(own);
    std::uint64_t held = 0;
    for (const RmPtr& rm : parts_.rms.all()) held += rm->owner.memory();
    if (trim_.take(parts_.guard.is_near(), own, held, SteadyClock::now())) parts_.workers.post([this] { trim_.run(); });
    if (!parts_.guard.is_short()) {
        if (parts_.degraded.clear("memory")) log("core").info("memory: there is room again");
        return;
    }
    const std::string sentence = parts_.guard.sentence() +
                                 ": what makes a resource manager grow is refused with E_BUSY until others removed "
                                 "something; ykctl rm list -o wide shows who has most";
    if (parts_.degraded.set("memory", sentence)) log("core").error("{}", sentence);
}

/// Without an RM no timer depends on the time, which then jumps to the machine's clock at once.
void ClockWatch::look() {
    constexpr Duration kSmall = std::chrono::seconds{2};
    Duration ahead{};
    if (!rms_.if_empty([&] { ahead = follow_wall_clock(true); })) ahead = follow_wall_clock(false);
    if (std::abs(ahead.count()) < kSmall.count()) {
        if (degraded_.clear("clock")) log("core").info("the times of ykd agree with the machine's clock again");
        return;
    }
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
    const auto left =
        std::chrono::duration_cast<std::chrono::minutes>(ahead / RealClock::kSlew * std::chrono::seconds{1});
    const std::string sentence =
        fmt::format("the machine's clock was set while ykd ran: times of ykd are {} s {}, and follow slowly, for "
                    "timers hang on them; "
                    "they agree in {} min, or at once when no RM is registered or ykd is restarted",
                    std::abs(seconds), seconds > 0 ? "behind it" : "ahead of it", std::abs(left.count()) + 1);
    if (degraded_.set("clock", sentence)) log("core").warn("{}", sentence);
}

/// Logs only when other checks fail than the last time: the same line every 30 s would fill the log.
void HealthWatch::log_changes(const wire::Value& result) {
    std::set<std::string> failed;
    std::string text;
    for (const wire::Value& check : result["HealthChecks"]) {
        if (check["Succeeded"].get<bool>()) continue;
        failed.insert(check["Name"].get<std::string>());
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", check["Name"].get<std::string>(),
                            check["DiagnosisMessage"].get<std::string>());
    }
    if (failed == failed_) return;
    failed_ = std::move(failed);
    if (text.empty())
        log("core.scheduler.health").info("healthy again");
    else
        log("core.scheduler.health").warn("unhealthy: {}", text);
}

/// Plans the next look. The interval may change at any time (C-462), so it is read at least once a second.
void HealthWatch::start() {
    constexpr Duration kLook = std::chrono::seconds{1};
    const Duration interval = effective_.current().service.health_interval;
    deadlines_.call_after(interval > Duration{0} ? std::min(interval, kLook) : kLook, [this] {
        const Duration wanted = effective_.current().service.health_interval;
        const auto last = keeper_.last();
        const Duration age = last ? real_now() - Instant{(*last)["At"].get<std::int64_t>()} : wanted;
        const bool due = wanted > Duration{0} && (age >= wanted || age < Duration{0}); // the clock was set back
        if (due && !is_checking_.exchange(true))                                       // a slow one is not begun again
            keeper_.run(HealthKeeper::Thorough::Small, [this](const wire::Value& result) {
                const Clears at_the_end{is_checking_};
                log_changes(result);
            });
        start();
    });
}

} // namespace yk::service
