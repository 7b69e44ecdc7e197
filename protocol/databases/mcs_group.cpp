// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/mcs_group.h"

#include "libcore/base/fault_point.h"
#include "protocol/databases/mcs_statements.h"

namespace yk::mcs {
namespace {

/// Another service's rows are refused before the database is asked (rs R-002).
Refused check_owner(const WriteRequest& request) {
    const std::string_view owner = owner_of(request.command);
    if (request.writer.service == owner) return std::nullopt;
    return NotOwner{"only " + std::string{owner} + " writes " + id_of(request.command) + ", not " +
                    request.writer.service};
}

/// Gives the outcome to all that might be written otherwise.
GroupOutcome failed(GroupOutcome group, GroupOutcome::What what, const WriteOutcome& outcome) {
    for (WriteOutcome& each : group.outcomes)
        if (std::holds_alternative<Written>(each)) each = outcome;
    group.what = what;
    return group;
}

GroupOutcome not_begun(GroupOutcome group, const rs::StoreError& error) {
    const bool may_be_repeated = error.fault == rs::StoreFault::Down || error.fault == rs::StoreFault::Transient;
    return failed(std::move(group), may_be_repeated ? GroupOutcome::What::Away : GroupOutcome::What::Answered,
                  outcome_of(error));
}

GroupOutcome undone(GroupOutcome group, const rs::StoreError& error) {
    return failed(std::move(group), GroupOutcome::What::Undone, outcome_of(error));
}

/// A connection that ends before it answers leaves it in doubt.
GroupOutcome not_committed(GroupOutcome group, const rs::StoreError& error) {
    if (error.fault != rs::StoreFault::Down) return undone(std::move(group), error);
    return failed(std::move(group), GroupOutcome::What::Answered, Transient{error.message, true});
}

} // namespace

GroupOutcome WriteGroup::write(Requests requests) {
    GroupOutcome group{GroupOutcome::What::Answered, std::vector<WriteOutcome>(requests.size())};
    std::size_t to_do = 0;
    for (std::size_t at = 0; at < requests.size(); ++at) {
        if (auto refused = check_owner(*requests[at]))
            group.outcomes[at] = *std::move(refused);
        else
            ++to_do; // Written, until something else is known
    }
    if (to_do == 0) return group;
    if (auto done = carry_out(requests, group, Undo::Together)) return *std::move(done);
    return *carry_out(requests, std::move(group), Undo::Each);
}

std::optional<GroupOutcome> WriteGroup::carry_out(Requests requests, GroupOutcome group, Undo undo) {
    raised_.clear();
    leading_.clear();
    flushed_ = {};
    rs::SqlTransaction transaction{connection_, rs::SqlTransaction::Kind::Write};
    if (!transaction.begun().ok()) return not_begun(std::move(group), transaction.begun().error());
    for (std::size_t at = 0; at < requests.size(); ++at) {
        WriteOutcome& outcome = group.outcomes[at];
        if (!std::holds_alternative<Written>(outcome)) continue;
        outcome = undo == Undo::Each ? write_alone(*requests[at]) : write_in_turn(*requests[at]);
        const bool is_written = std::holds_alternative<Written>(outcome);
        if (!connection_.is_in_transaction())
            return undone(std::move(group), {rs::StoreFault::Transient, message_of(outcome)});
        if (undo == Undo::Together && !is_written) {
            const bool is_only_one = requests.size() == 1 && !std::holds_alternative<Transient>(outcome);
            return is_only_one ? std::optional{std::move(group)} : std::nullopt;
        }
    }
    const auto position = end_of_group();
    if (!position.ok()) return undone(std::move(group), position.error());
    YK_FAULT(GroupWritten);
    if (const auto done = transaction.commit(); !done.ok()) return not_committed(std::move(group), done.error());
    YK_FAULT(GroupCommitted);
    for (WriteOutcome& each : group.outcomes)
        if (auto* const written = std::get_if<Written>(&each)) written->position = *position;
    return group;
}

/// What fails undoes everything.
WriteOutcome WriteGroup::write_in_turn(const WriteRequest& request) {
    if (!std::holds_alternative<ChangePlacements>(request.command)) flush(id_of(request.command));
    return fence_and_write(request);
}

WriteOutcome WriteGroup::write_alone(const WriteRequest& request) {
    if (!std::holds_alternative<ChangePlacements>(request.command)) flush(id_of(request.command));
    const RaisedSchedules before = raised_;
    const auto begun = connection_.run("SAVEPOINT one");
    if (!begun.ok()) return outcome_of(begun.error());
    WriteOutcome outcome = fence_and_write(request);
    if (!connection_.is_in_transaction()) return outcome;
    const bool is_kept = std::holds_alternative<Written>(outcome);
    const auto ended = connection_.run(is_kept ? "RELEASE one" : "ROLLBACK TO one; RELEASE one");
    if (!is_kept) raised_ = before;
    if (!is_kept) leading_.clear(); // it may have been seen behind the savepoint
    if (is_kept && !ended.ok()) return outcome_of(ended.error());
    return outcome;
}

/// The lease is looked at in the transaction of the write itself, so that nobody can take it in between (rs R-141).
WriteOutcome WriteGroup::fence_and_write(const WriteRequest& request) {
    const WriterIdentity& writer = request.writer;
    const auto epoch = static_cast<std::int64_t>(writer.lease_epoch);
    const std::pair lease{writer.service, writer.lease_epoch};
    if (holder_.has_leases && writer.service != kApiService && !leading_.contains(lease)) {
        YK_SQL(leads,
               has_row(connection_, "SELECT 1 FROM lease WHERE name = ? AND holder = ? AND epoch = ? /*pg FOR SHARE */",
                       writer.service, holder_.name, epoch));
        if (!leads) return Fenced{holder_.name + " does not lead " + writer.service + " any more"};
        leading_.insert(lease);
    }
    return std::visit(CommandWriter{connection_, writer.lease_epoch, raised_}, request.command);
}

void WriteGroup::flush(const std::string& id) {
    for (auto at = raised_.begin(); at != raised_.end();) {
        if (!id.empty() && at->first != id) {
            ++at;
            continue;
        }
        const auto done = raise_schedule(connection_, at->first, at->second);
        if (!done.ok()) flushed_ = done;
        at = raised_.erase(at);
    }
}

Result<rs::Cursor, rs::StoreError> WriteGroup::end_of_group() {
    flush({});
    if (!flushed_.ok()) return flushed_.error();
    return connection_.log_head(rs::SqlAccess::Write);
}

} // namespace yk::mcs
