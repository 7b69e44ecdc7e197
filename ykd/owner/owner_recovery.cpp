// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/owner_recovery.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "libcore/base/check.h"
#include "libcore/base/pluralize.h"
#include "protocol/wire/codec.h"

namespace yk {

void OwnerRecovery::begin(const si::RecoveryRequest& wish) {
    process_.begin(wish, parts_.now);
    open_core();
}

void OwnerRecovery::open_core() {
    parts_.shared.stream.set_wide(true);
    if (!parts_.gateway->recovery().is_open())
        parts_.gateway->begin_recovery(process_.wish().force_applications, parts_.now);
}

void OwnerRecovery::clear() {
    process_.clear();
    broken_runs_ = broken_invariants_ = 0;
    parts_.shared.stream.set_wide(false);
}

void OwnerRecovery::note_update() {
    process_.note_update(parts_.now);
}

/// The RM is Running from now on; whatever comes after this in the stream was decided by a cycle (I-238).
void OwnerRecovery::end(RmEvent event) {
    parts_.gateway->end_recovery(parts_.now);
    parts_.shared.stream.set_wide(false);
    parts_.report(event, {});
}

Result<si::RecoveryReport> OwnerRecovery::compare(const si::RecoveryDoneRequest& claim) {
    if (auto refused = process_.check(claim, parts_.state.state()); !refused.ok()) return refused.error();
    if (const si::RecoveryReport* same = process_.answered(claim)) return *same;
    note_update();
    const si::RecoveryReport& report =
        process_.compare(claim, parts_.gateway->recovery().view(), parts_.state.state(), parts_.now);
    if (report.result == "running")
        end(RmEvent::RecoverySucceeded);
    else
        parts_.gateway->forget_tombstones(parts_.now); // the report says how many there were
    if (report.result == "failed")
        parts_.report(RmEvent::RecoveryFailed, "recovery failed: attempt " + std::to_string(report.attempt) +
                                                   " did not find the same on both sides");
    parts_.writer.recovery_report(wire::encoded(report));
    return report;
}

/// What the books are replayed from is in them already, so nothing is noted meanwhile. There is one attempt: the books
/// say the same each time.
Result<si::RecoveryReport> OwnerRecovery::replay_books() {
    YK_ASSUME(is(si::CoreState::Recovering) && parts_.books.keeper(), "an RM with books recovers");
    books::ReplaySink sink;
    const auto apply = [this](const auto&... arguments) {
        parts_.gateway->apply(arguments..., parts_.now);
        note_update();
        parts_.flush();
    };
    sink.nodes = apply;
    sink.allocations = apply;
    sink.applications = [&](const si::ApplicationRequest& request) { // whose users were known when it was sent
        apply(request, std::vector<std::string>(request.add.size()));
    };
    parts_.books.set_silent(true);
    auto claim = parts_.books.keeper()->replay(parts_.shared.rm_id, sink);
    parts_.books.set_silent(false);
    if (!claim.ok()) return claim.error();
    claim->id = process_.wish().id;
    claim->attempt = max_attempts_;
    return compare(*claim);
}

void OwnerRecovery::check_timers() {
    if (!parts_.gateway || !is(si::CoreState::Recovering)) return;
    const auto why = process_.timed_out(parts_.now);
    if (!why) return;
    const si::RecoveryReport report = process_.report_failure(parts_.gateway->recovery().view(), *why, parts_.now);
    parts_.report(RmEvent::RecoveryFailed, "recovery failed: " + *why);
    parts_.writer.recovery_report(wire::encoded(report));
}

void OwnerRecovery::note_consistency(const std::string& broken) {
    note(broken_runs_, broken);
}

void OwnerRecovery::note_invariants(const std::string& broken) {
    note(broken_invariants_, broken);
}

void OwnerRecovery::note(int& runs, const std::string& broken) {
    constexpr int kRuns = 2;
    runs = broken.empty() ? 0 : runs + 1;
    if (runs >= kRuns) parts_.report(RmEvent::ConsistencyLost, "consistency is lost: " + broken);
}

void OwnerRecovery::retry() {
    broken_runs_ = broken_invariants_ = 0;
    process_.begin_again(parts_.now);
    open_core();
    parts_.report(RmEvent::RecoveryRetried, {});
}

Result<void> OwnerRecovery::reset(const config::Configuration& configuration) {
    const si::RecoveryRequest wish = process_.wish();
    YK_CHECKED(parts_.remake_core(configuration));
    begin(wish);
    parts_.report(RmEvent::RecoveryRetried, {});
    return {};
}

void OwnerRecovery::accept() {
    broken_runs_ = broken_invariants_ = 0;
    end(RmEvent::RecoveryAccepted);
}

std::optional<RecoveryStatus> OwnerRecovery::status() const {
    if (!parts_.gateway || (!is(si::CoreState::Recovering) && !is(si::CoreState::Failed))) return std::nullopt;
    RecoveryStatus status{process_.wish(),
                          process_.attempt(),
                          parts_.now - process_.started(),
                          parts_.gateway->recovery().progress(),
                          {},
                          {}};
    if (is(si::CoreState::Recovering)) {
        status.total_left = std::max(Duration{0}, process_.total_deadline() - parts_.now);
        status.idle_left = std::max(Duration{0}, process_.idle_deadline() - parts_.now);
    }
    return status;
}

std::string summary_of(const si::RecoveryReport& report) {
    return fmt::format("{} after {} ms ({}, {}, {}; {} in quarantine)", report.result, report.duration_ms,
                       pluralize(report.counts.nodes.actual, "node"),
                       pluralize(report.counts.applications.actual, "application"),
                       pluralize(report.counts.allocations.actual, "allocation"), report.quarantine_total);
}

} // namespace yk
