// Step, Clock, Shutdown (I-351, I-353).

#include <algorithm>

#include "ykd/service/daemon.h"
#include "ykd/service/gather.h"
#include "ykd/service/log.h"
#include "ykd/service/services.h"

namespace yk::service {
namespace {

constexpr std::uint64_t kMaxAdvanceMs = 31ULL * 24 * 3600 * 1000; // one call: a month, so that it ends in seconds

/// `until`: a number of allocations, or {allocations}.
std::uint32_t read_until(const Value& body, wire::BodyReader& reader) {
    const auto given = body.find("until");
    if (given == body.end() || !given->is_object()) return reader.u32("until");
    wire::BodyReader nested = reader.nested("until", *given);
    return nested.u32("allocations");
}

} // namespace

void step(const CallPtr& call) {
    Daemon& daemon = call->daemon();
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const std::uint32_t cycles = reader.u32("cycles", 1);
    const std::uint32_t until = read_until(body, reader);
    if (!call->accepts(reader)) return;
    if (!daemon.settings().manual_schedule)
        return call->fail(ErrorCode::BadState,
                          "the scheduler runs by itself; start ykd with --manual-schedule to step it");
    gather<StepOutcome>(
        daemon.workers(), daemon.rms().all(), Lane::InOrder,
        [cycles, until](RmOwner& owner) { return owner.step(cycles, until); },
        [call](const std::vector<Gathered<StepOutcome>>& all) {
            StepOutcome sum;
            sum.idle = true;
            for (const auto& [rm, outcome] : all) {
                sum.cycles = std::max(sum.cycles, outcome.cycles);
                sum.allocations += outcome.allocations;
                sum.idle = sum.idle && outcome.idle;
            }
            call->ok({{"cycles", sum.cycles}, {"allocations", sum.allocations}, {"idle", sum.idle}});
        });
}

void advance_clock(const CallPtr& call) {
    Daemon& daemon = call->daemon();
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const std::uint64_t advance_ms = reader.u64("advanceMs");
    if (advance_ms > kMaxAdvanceMs) reader.fail(ErrorCode::Invalid, "advanceMs", "at most 31 days at once");
    if (!call->accepts(reader)) return;
    if (!daemon.settings().virtual_clock)
        return call->fail(ErrorCode::BadState, "the clock is real; start ykd with --clock virtual to move it");
    const Instant to = daemon.advance_virtual(std::chrono::milliseconds{advance_ms});
    const wire::Sid sid = call->session->sid;
    std::vector<RmPtr> rms = daemon.rms().all();
    gather<bool>(
        daemon.workers(), rms, Lane::InOrder,
        [to, sid, rms](RmOwner& owner) {
            // Who moves the clock is alive all the way (I-385).
            const auto rm =
                std::find_if(rms.begin(), rms.end(), [&](const RmPtr& one) { return one->id == owner.rm_id(); });
            owner.advance(to, (*rm)->facts().owner == sid);
            return true;
        },
        [call, to](const std::vector<Gathered<bool>>&) {
            call->ok({{"now", to.ns}});
        });
}

void shut_down(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const auto grace = std::chrono::milliseconds{reader.u64(
        "graceMs",
        static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::milliseconds>(call->daemon().settings().shutdown_grace).count()))};
    if (!call->accepts(reader)) return;
    log("core").info("{} asked the daemon to stop", call->session->grant.name);
    call->ok();
    call->daemon().request_stop(std::min<SteadyClock::duration>(grace, std::chrono::minutes{5}));
}

} // namespace yk::service
