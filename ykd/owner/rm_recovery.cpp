// SPDX-License-Identifier: Apache-2.0
#include "ykd/owner/rm_recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace yk {
namespace {

constexpr std::string_view kRunning = "running", kRetry = "retry", kFailed = "failed";

using Counts = std::array<std::uint64_t, kRecoveryKinds.size()>;

template <class Message> // RecoveryCounts or RecoveryDigests
Counts numbers_of(const Message& message) {
    return {message.nodes, message.applications, message.allocations};
}

std::uint64_t& hash_sum(Counts& sums, RecoveryKind kind) {
    return sums[static_cast<std::size_t>(kind)];
}

double seconds_of(Duration duration) {
    return std::chrono::duration<double>(duration).count();
}

si::Resources resources_of(const ResourceMapView& map) {
    return {map.begin(), map.end()};
}

/// Whether the claim of one partition is what the core has in it.
bool is_right(const si::PartitionClaim& claim, const RecoveryView::Partition& has) {
    for (const RecoveryKind kind : kRecoveryKinds) {
        const recovery::Digest& restored = has.restored[static_cast<std::size_t>(kind)];
        if (claim.expected && numbers_of(*claim.expected)[static_cast<std::size_t>(kind)] != restored.count())
            return false;
        if (claim.digest && numbers_of(*claim.digest)[static_cast<std::size_t>(kind)] != restored.sum()) return false;
    }
    return true;
}

/// The partitions whose own claims are not what the core has in them, in words.
std::vector<std::string> wrong_partitions(const si::RecoveryDoneRequest& claim, const RecoveryView& view) {
    std::vector<std::string> wrong;
    if (!claim.partitions) return wrong;
    for (const auto& [name, one] : *claim.partitions) {
        const auto has = view.partitions.find(name);
        if (has == view.partitions.end())
            wrong.push_back(fmt::format("partition {} is unknown", name));
        else if (!is_right(one, has->second))
            wrong.push_back(fmt::format("partition {} does not have what is claimed of it", name));
    }
    return wrong;
}

} // namespace

void RmRecovery::begin(const si::RecoveryRequest& wish, Instant now) {
    wish_ = wish;
    begin_again(now);
}

void RmRecovery::begin_again(Instant now) {
    started_ = last_update_ = now;
    attempt_ = 0;
    last_.reset();
    timed_out_.reset();
}

void RmRecovery::clear() {
    wish_ = {};
    attempt_ = 0;
    last_.reset();
    timed_out_.reset();
}

Duration RmRecovery::timeout() const {
    return wish_.timeout_seconds ? Duration{std::chrono::seconds{*wish_.timeout_seconds}} : limits_.timeout;
}

Duration RmRecovery::idle_timeout() const {
    return wish_.idle_seconds ? Duration{std::chrono::seconds{*wish_.idle_seconds}} : limits_.idle_timeout;
}

Instant RmRecovery::deadline() const {
    return std::min(total_deadline(), idle_deadline());
}

std::optional<std::string> RmRecovery::timed_out(Instant now) const {
    if (now < deadline()) return std::nullopt;
    if (now >= total_deadline()) return fmt::format("timeout: it took longer than {:.15g} s", seconds_of(timeout()));
    return fmt::format("timeout: no update came for {:.15g} s", seconds_of(idle_timeout()));
}

Result<void> RmRecovery::check(const si::RecoveryDoneRequest& claim, si::CoreState state) const {
    const bool under_way = state == si::CoreState::Recovering || state == si::CoreState::Failed;
    if (wish_.id.empty() && !under_way)
        return Error::at("rmID", fmt::format("RM {} has no recovery: it registered without", rm_id_));
    if (!wish_.id.empty() && claim.id != wish_.id)
        return Error::at("id",
                         fmt::format("the recovery of RM {} has the id '{}', not '{}'", rm_id_, wish_.id, claim.id));
    if (answered(claim) != nullptr) return {};
    if (!under_way) return Error::of(fmt::format("RM {} is {}, its recovery has ended", rm_id_, si::text(state)));
    if (claim.attempt <= attempt_)
        return Error::at("attempt", fmt::format("attempt {} of recovery '{}' was answered before; the next one is {}",
                                                claim.attempt, wish_.id, attempt_ + 1));
    return {};
}

const si::RecoveryReport* RmRecovery::answered(const si::RecoveryDoneRequest& claim) const {
    return last_ && last_->attempt == claim.attempt && last_->id == claim.id ? &*last_ : nullptr;
}

/// What the core has, without any comparison.
si::RecoveryReport RmRecovery::report_on(const RecoveryView& view, Instant now) const {
    si::RecoveryReport report;
    report.rm_id = rm_id_;
    report.id = wish_.id;
    report.attempt = attempt_;
    report.counts.nodes.actual = view.restored(RecoveryKind::Nodes).count();
    report.counts.applications.actual = view.restored(RecoveryKind::Applications).count();
    report.counts.allocations.actual = view.restored(RecoveryKind::Allocations).count();
    for (const IncompleteNodeView& node : view.incomplete)
        report.incomplete_nodes.push_back({node.node, node.partition, resources_of(node.missing),
                                           resources_of(node.surplus), node.booked_allocations, node.allocations});
    for (const QuarantineView& object : view.quarantine)
        report.quarantine.push_back({std::string{name_of(object.kind)}, object.partition, object.node,
                                     object.application, object.key, std::string{text_of(object.reason)},
                                     object.since.ns});
    report.quarantine_total = view.quarantine_total;
    report.unused_tombstones = view.unused_tombstones;
    report.duration_ms =
        static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(now - started_).count());
    report.truncated = view.incomplete.size() < view.incomplete_total || view.quarantine.size() < view.quarantine_total;
    report.faults = view.faults;
    return report;
}

const si::RecoveryReport& RmRecovery::compare(const si::RecoveryDoneRequest& claim, const RecoveryView& view,
                                              si::CoreState state, Instant now) {
    attempt_ = claim.attempt;
    wish_.id = claim.id; // of an RM that failed without having registered with recovery this is the first one
    si::RecoveryReport report = report_on(view, now);
    report.counts.nodes.expected = claim.expected.nodes;
    report.counts.applications.expected = claim.expected.applications;
    report.counts.allocations.expected = claim.expected.allocations;
    bool equal = view.incomplete_total == 0 && view.unused_tombstones == 0 && view.faults.empty();
    if (claim.expected.asks) {
        report.counts.asks = {*claim.expected.asks, view.pending_asks()};
        equal = equal && *claim.expected.asks == view.pending_asks();
    }
    // What waits in quarantine is missing in the core. If so much of it is all right, it alone may be missing (I-255).
    const bool may_miss = view.quarantine_total > 0 && view.quarantine_total <= wish_.auto_accept.max_quarantined;
    equal = equal && (view.quarantine_total == 0 || may_miss);
    Counts expected = numbers_of(claim.expected), sums = numbers_of(claim.digest);
    std::array<bool, kRecoveryKinds.size()> same{};
    si::RecoveryBuckets buckets;
    const std::array<std::optional<si::Binary>*, kRecoveryKinds.size()> bucket_of{&buckets.nodes, &buckets.applications,
                                                                                  &buckets.allocations};
    for (const RecoveryKind kind : kRecoveryKinds) {
        const auto at = static_cast<std::size_t>(kind);
        const recovery::Digest restored = view.restored(kind), &missing = view.quarantined[at];
        same[at] = hash_sum(sums, kind) == restored.sum();
        const bool but_for_missing = may_miss && expected[at] - missing.count() == restored.count() &&
                                     sums[at] - missing.sum() == restored.sum();
        equal = equal && (may_miss ? but_for_missing : same[at] && expected[at] == restored.count());
        if (!same[at]) *bucket_of[at] = si::Binary{restored.bucket_bytes()};
    }
    if (!may_miss) { // a claim of one partition does not say what of it waits in quarantine
        const std::vector<std::string> wrong = wrong_partitions(claim, view);
        equal = equal && wrong.empty();
        report.faults.insert(report.faults.end(), wrong.begin(), wrong.end());
    }
    report.digest_match = {same[0], same[1], same[2]};
    if (!(same[0] && same[1] && same[2])) report.buckets = std::move(buckets);
    const bool may_retry = claim.attempt < limits_.max_attempts && !timed_out(now);
    const bool failed = state == si::CoreState::Failed || (!equal && !may_retry);
    report.result = failed ? kFailed : equal ? kRunning : kRetry;
    last_ = std::move(report);
    timed_out_.reset();
    return *last_;
}

const si::RecoveryReport& RmRecovery::report_failure(const RecoveryView& view, const std::string& why, Instant now) {
    si::RecoveryReport report = report_on(view, now);
    if (wish_.expected) {
        report.counts.nodes.expected = wish_.expected->nodes;
        report.counts.applications.expected = wish_.expected->applications;
        report.counts.allocations.expected = wish_.expected->allocations;
    }
    report.result = kFailed;
    report.faults.insert(report.faults.begin(), why);
    return timed_out_.emplace(std::move(report));
}

} // namespace yk
