// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/core_link/core_answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>

#include "libcore/base/pluralize.h"
#include "protocol/wire/body_reader.h"
#include "protocol/wire/codec.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

/// Why it has gone, for people.
std::string reason_of(const si::AllocationRelease& released) {
    const auto said = [&](const char* what) {
        return released.message.empty() ? std::string{what} : fmt::format("{}: {}", what, released.message);
    };
    switch (released.termination_type) {
    case si::TerminationType::Timeout: return said("its time is over");
    case si::TerminationType::PreemptedByScheduler: return said("preempted");
    case si::TerminationType::PlaceholderReplaced: return said("replaced");
    case si::TerminationType::Unknown:
    case si::TerminationType::StoppedByRm: break;
    }
    return released.message.empty() ? "released" : released.message;
}

/// Whether the core has refused an ask because there is nothing that it could belong to.
bool has_no_application(const si::RejectedAllocation& rejected) {
    return rejected.code == static_cast<std::uint32_t>(si::ElementCode::AppUnknown) ||
           rejected.code == static_cast<std::uint32_t>(si::ElementCode::AppTerminal);
}

/// Whether the core waits for the release to be confirmed (I-033).
bool is_to_confirm(const si::AllocationRelease& released) {
    return released.termination_type != si::TerminationType::Unknown &&
           released.termination_type != si::TerminationType::StoppedByRm;
}

mcs::RecoveryAnswered::Result result_of(const std::string& text) {
    using Result = mcs::RecoveryAnswered::Result;
    if (text == "running") return Result::Running;
    return text == "retry" ? Result::Retry : Result::Failed;
}

/// What differs, for people.
std::string difference_in(const si::RecoveryReport& report) {
    std::vector<std::string> parts;
    const auto compare = [&](const char* kind, const si::RecoveryCountPair& count, bool is_equal) {
        if (count.expected != count.actual)
            parts.push_back(fmt::format("{} {} of {}", count.actual, kind, count.expected));
        else if (!is_equal)
            parts.push_back(fmt::format("other {}", kind));
    };
    compare("nodes", report.counts.nodes, report.digest_match.nodes);
    compare("applications", report.counts.applications, report.digest_match.applications);
    compare("allocations", report.counts.allocations, report.digest_match.allocations);
    if (report.quarantine_total != 0) parts.push_back(fmt::format("{} set aside", report.quarantine_total));
    if (const auto nodes = report.incomplete_nodes.size(); nodes != 0)
        parts.push_back(pluralize(nodes, "incomplete node"));
    if (report.unused_tombstones != 0)
        parts.push_back(pluralize(report.unused_tombstones, "release") + " of what is not there");
    parts.insert(parts.end(), report.faults.begin(), report.faults.end());
    return fmt::format("{}", fmt::join(parts, "; "));
}

} // namespace

void CoreAnswers::expect(const CoreBatch& sent) {
    for (const mcs::CoreRequest& each : sent)
        if (const auto* release = std::get_if<mcs::ReleaseReplica>(&each))
            released_.emplace(release->application_id, release->allocation_key);
}

std::vector<si::AllocationRelease> CoreAnswers::take_confirmations() {
    constexpr std::ptrdiff_t kMost = 1000;
    const auto end = confirmations_.begin() + std::min(kMost, static_cast<std::ptrdiff_t>(confirmations_.size()));
    std::vector<si::AllocationRelease> taken{confirmations_.begin(), end};
    confirmations_.erase(confirmations_.begin(), end);
    return taken;
}

void CoreAnswers::add(si::AllocationRelease confirmation) {
    confirmation.message.clear();
    confirmations_.push_back(std::move(confirmation));
}

void CoreAnswers::clear() {
    released_.clear();
    confirmations_.clear();
}

template <class Message>
void CoreAnswers::read_as(const si::StreamItem& item, Notices& notices) {
    const wire::DecodeOptions of_daemon{false, false};
    const auto scanned = wire::scan_body(item.body.bytes);
    const auto message =
        scanned.ok() ? wire::decode<Message>(*scanned, of_daemon) : wire::WireResult<Message>{scanned.error()};
    if (!message.ok()) // a bug: the daemon wrote it
        return log("mcs").error("item {} ({}) of the core cannot be read: {}", item.n, item.kind,
                                message.error().message);
    read(*message, notices);
}

std::vector<mcs::CoreNotice> CoreAnswers::read(const si::StreamItem& item) {
    Notices notices;
    if (item.kind == si::item::kUpdateAllocation) read_as<si::AllocationResponse>(item, notices);
    if (item.kind == si::item::kUpdateApplication) read_as<si::ApplicationResponse>(item, notices);
    if (item.kind == si::item::kUpdateNode) read_as<si::NodeResponse>(item, notices);
    if (item.kind == si::item::kRecoveryReport) read_as<si::RecoveryReport>(item, notices);
    return notices;
}

void CoreAnswers::read(const si::NodeResponse& answer, Notices& notices) {
    for (const si::AcceptedNode& each : answer.accepted) notices.emplace_back(mcs::NodeAccepted{each.node_id});
    for (const si::RejectedNode& each : answer.rejected)
        notices.emplace_back(mcs::NodeRefused{each.node_id, each.reason, true});
    for (const si::FailedNode& each : answer.failed)
        notices.emplace_back(mcs::NodeRefused{each.node_id, each.reason, false});
}

/// Of the states an application goes through only the two at its end matter. That it expires, days after that, is none:
/// by then another one may have its id.
void CoreAnswers::read(const si::ApplicationResponse& answer, Notices& notices) {
    for (const si::AcceptedApplication& each : answer.accepted)
        notices.emplace_back(mcs::ApplicationAccepted{each.application_id});
    for (const si::RejectedApplication& each : answer.rejected) {
        if (each.code == static_cast<std::uint32_t>(si::ElementCode::AppExists))
            notices.emplace_back(mcs::ApplicationAccepted{each.application_id});
        else
            notices.emplace_back(mcs::ApplicationRejected{each.application_id, each.reason});
    }
    for (const si::UpdatedApplication& each : answer.updated)
        if (each.state == "Completed" || each.state == "Failed")
            notices.emplace_back(mcs::ApplicationEnded{
                each.application_id,
                each.message.empty() ? each.state : fmt::format("{}: {}", each.state, each.message)});
}

/// In the order in which the lists of one message are to be read (I-104). Foreign allocations are nobody's replicas.
void CoreAnswers::read(const si::AllocationResponse& answer, Notices& notices) {
    for (const si::Allocation& each : answer.made)
        if (!each.application_id.empty())
            notices.emplace_back(mcs::ReplicaPlaced{each.application_id, each.allocation_key, each.node_id});
    for (const auto* rejected : {&answer.rejected, &answer.rejected_allocations})
        for (const si::RejectedAllocation& each : *rejected)
            notices.emplace_back(
                mcs::ReplicaRejected{each.application_id, each.allocation_key, each.reason, has_no_application(each)});
    for (const si::AllocationRelease& each : answer.released) {
        released_.erase({each.application_id, each.allocation_key});
        notices.emplace_back(mcs::ReplicaGone{each.application_id, each.allocation_key, reason_of(each)});
        if (is_to_confirm(each) && (gate_ == nullptr || !gate_->holds(each))) add(each);
    }
    for (const si::IgnoredRelease& each : answer.ignored_releases)
        if (released_.erase({each.application_id, each.allocation_key}) != 0)
            notices.emplace_back(mcs::ReplicaGone{each.application_id, each.allocation_key, "no longer asked for"});
}

void CoreAnswers::read(const si::RecoveryReport& report, Notices& notices) {
    mcs::RecoveryAnswered answered;
    answered.result = result_of(report.result);
    if (report.result != "running") answered.reason = difference_in(report);
    for (const si::QuarantinedObject& each : report.quarantine)
        answered.set_aside.push_back({each.partition_name, each.application_id, each.allocation_key, each.node_id});
    for (const si::IncompleteNode& each : report.incomplete_nodes)
        answered.set_aside.push_back({each.partition_name, {}, {}, each.node_id});
    notices.emplace_back(std::move(answered));
}

} // namespace yk::service
