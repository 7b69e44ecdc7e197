// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/admin_service.h"

#include <algorithm>

#include "ykd/process/log.h"
#include "ykd/request/gather.h"

namespace yk::service {
namespace {

constexpr std::uint64_t kMaxAdvanceMs = 31ULL * 24 * 3600 * 1000; // a month in one call, so that it ends in seconds

/// Reads `until`: a number of allocations, or {allocations: number}.
std::uint32_t read_until(const Value& body, wire::BodyReader& reader) {
    const auto given = body.find("until");
    if (given == body.end() || !given->is_object()) return reader.u32("until");
    wire::BodyReader nested = reader.nested("until", *given);
    return nested.u32("allocations");
}

} // namespace

void AdminService::step(const CallPtr& call) {
    const Value body = wire::decode_value(call->envelope.body);
    wire::BodyReader reader(body);
    const std::uint32_t cycles = reader.u32("cycles", 1);
    const std::uint32_t until = read_until(body, reader);
    if (!call->accepts(reader)) return;
    if (!parts_.settings.manual_schedule)
        return call->fail(ErrorCode::BadState,
                          "the scheduler runs by itself; start ykd with --manual-schedule to step it");
    gather<StepOutcome>(
        parts_.workers, parts_.rms.all(), Lane::InOrder,
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

void AdminService::advance_clock(const CallPtr& call) {
    const auto request = call->decode<si::ClockRequest>();
    if (!request) return;
    if (request->advance_ms > kMaxAdvanceMs)
        return call->fail(ErrorCode::Invalid, "at most 31 days at once", "advanceMs");
    if (!parts_.settings.virtual_clock)
        return call->fail(ErrorCode::BadState, "the clock is real; start ykd with --clock virtual to move it");
    const Instant to = parts_.clock.advance(std::chrono::milliseconds{request->advance_ms});
    const wire::Sid sid = call->session->sid;
    std::vector<RmPtr> rms = parts_.rms.all();
    gather<bool>(
        parts_.workers, rms, Lane::InOrder,
        [to, sid, rms](RmOwner& owner) {
            // The RM that moves the clock counts as alive on the whole way (I-385).
            const auto rm =
                std::find_if(rms.begin(), rms.end(), [&](const RmPtr& one) { return one->id == owner.rm_id(); });
            owner.advance(to, (*rm)->facts().owner == sid);
            return true;
        },
        [call, to](const std::vector<Gathered<bool>>&) {
            call->ok({{"now", to.ns}});
        });
}

void AdminService::shut_down(const CallPtr& call) {
    const auto request = call->decode<si::ShutdownRequest>();
    if (!request) return;
    constexpr std::uint64_t kLongest = 5 * 60 * 1000;
    const SteadyClock::duration grace = request->grace_ms
                                            ? std::chrono::milliseconds{std::min(*request->grace_ms, kLongest)}
                                            : parts_.settings.shutdown_grace;
    log("core").info("{} asked the daemon to stop", call->session->grant.name);
    call->ok();
    parts_.request_stop(std::min<SteadyClock::duration>(grace, std::chrono::milliseconds{kLongest}));
}

} // namespace yk::service
