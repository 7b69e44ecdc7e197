// SPDX-License-Identifier: Apache-2.0
// The commands sched step, clock show, clock advance: for daemons started with --manual-schedule and --clock virtual.

#include <limits>
#include <ostream>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

Answer<Value> call_with_hint(Context& context, const wire::EncodedRequest& request, const char* hint) {
    auto reply = context.call(request);
    if (reply.ok() || reply.error().name != "E_BAD_STATE") return reply;
    auto failure = reply.error();
    failure.hints = {hint};
    return failure;
}

Outcome step(Context& context, std::int64_t cycles, std::optional<std::int64_t> until) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
    if (cycles < 1) return usage_error("sched step: at least 1 cycle");
    if (cycles > kMost) return usage_error("sched step: out of range (32 bits)");
    if (until && (*until < 0 || *until > kMost)) return usage_error("--until: out of range (32 bits)");
    YK_TRY(reply, call_with_hint(context,
                                 si::StepRequest{static_cast<std::uint32_t>(cycles),
                                                 {static_cast<std::uint32_t>(until.value_or(0))}},
                                 "only a daemon started with --manual-schedule can be stepped"));
    const auto text = fmt::format("{}, {}{}\n", pluralize(number_of(reply, "cycles"), "cycle"),
                                  pluralize(number_of(reply, "allocations"), "allocation"),
                                  flag_of(reply, "idle") ? ", nothing more to do" : "");
    return context.show_item(reply, std::to_string(number_of(reply, "allocations")),
                             context.settings().quiet ? std::string{} : text);
}

Outcome show_now(Context& context, std::int64_t now) {
    return context.show_item({{"now", now}, {"text", time_text(now)}}, std::to_string(now), time_text(now) + "\n");
}

Outcome advance(Context& context, std::chrono::milliseconds by) {
    YK_TRY(reply, call_with_hint(context, si::ClockRequest{static_cast<std::uint64_t>(by.count())},
                                 "only the clock of a daemon started with --clock virtual can be advanced"));
    return show_now(context, number_of(reply, "now"));
}

} // namespace

void define_sched(Command root, Context& context) {
    const auto sched = root.sub("sched", "drive a daemon that schedules by hand (ykd --manual-schedule)");
    const auto one = sched.sub("step", "run scheduling cycles; each places at most one allocation per partition");
    const auto cycles = std::make_shared<std::int64_t>(1);
    const auto until = std::make_shared<std::optional<std::int64_t>>();
    one.option("N", *cycles, "so many cycles, default 1");
    one.option("--until", *until, "stop after so many allocations");
    one.run([&context, cycles, until] { return step(context, *cycles, *until); });

    const auto clock = root.sub("clock", "the daemon's clock (advance: ykd --clock virtual)");
    clock.sub("show", "what time the daemon has").run([&context]() -> Outcome {
        YK_TRY(now, daemon_now(context));
        return show_now(context, now);
    });
    const auto forward = clock.sub("advance", "let time pass; due timers fire before this returns");
    const auto by = std::make_shared<std::chrono::milliseconds>(0);
    forward.option("DURATION", *by, "such as 30s or 15m").required();
    forward.run([&context, by] { return advance(context, *by); });
}

} // namespace yk::cli
