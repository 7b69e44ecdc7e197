// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/row_writer.h"

#include <utility>

#include "libcore/base/check.h"

namespace yk::mcs {
namespace {

[[nodiscard]] rs::HandlerResult result_of(const Conflict& conflict, bool is_delete) {
    switch (conflict.what) {
    case Conflict::What::Exists:
    case Conflict::What::OwnerGone:
    case Conflict::What::NotOrphaned: return rs::HandlerResult::ok();
    case Conflict::What::RowGone:
        if (is_delete) return rs::HandlerResult::ok();
        break;
    case Conflict::What::RowChanged:
    case Conflict::What::NameTaken: break;
    }
    return rs::HandlerResult::conflict(std::string{name_of(conflict.what)} + ": " + conflict.message);
}

} // namespace

std::optional<rs::HandlerResult> RowWriter::refusal(std::string_view id, const rs::Lease& lease) const {
    if (is_fenced(lease)) return rs::HandlerResult::ok();
    // Without a lease that is valid for sure another instance may write by now (rs R-142).
    if (!lease.is_valid) return rs::HandlerResult::retry("the lease could not be renewed");
    if (is_writing(id)) return rs::HandlerResult::conflict("another write of the row is under way");
    return std::nullopt;
}

void RowWriter::write(const rs::Lease& lease, WriteCommand command, Take take) {
    const std::string id = id_of(command);
    YK_CHECK(writing_.insert(id).second, "a row is written once at a time");
    queue_.add({service_, lease.epoch}, std::move(command),
               [this, id, epoch = lease.epoch, take = std::move(take)](const WriteOutcome& outcome, Instant now) {
                   writing_.erase(id);
                   refused_.see(outcome, epoch);
                   take(outcome, now);
               });
}

rs::HandlerResult result_of(const WriteOutcome& outcome, bool is_delete) {
    if (std::holds_alternative<Written>(outcome) || std::holds_alternative<Fenced>(outcome))
        return rs::HandlerResult::ok();
    if (const auto* const conflict = std::get_if<Conflict>(&outcome)) return result_of(*conflict, is_delete);
    if (std::holds_alternative<Transient>(outcome)) return rs::HandlerResult::retry(message_of(outcome));
    return rs::HandlerResult::permanent(message_of(outcome));
}

} // namespace yk::mcs
