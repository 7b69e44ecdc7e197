// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/ports/notices.h"

#include "libcore/base/check.h"
#include "libcore/resource_state/ports/change_log.h"
#include "libcore/resource_state/ports/resource_store.h"

namespace yk::rs {

std::string_view name_of(NoticeKind kind) {
    switch (kind) {
    case NoticeKind::StoreDown: return "store-down";
    case NoticeKind::StoreUp: return "store-up";
    case NoticeKind::LogDown: return "log-down";
    case NoticeKind::LogUp: return "log-up";
    case NoticeKind::Gap: return "gap";
    case NoticeKind::Relist: return "relist";
    case NoticeKind::StartAgain: return "start-again";
    case NoticeKind::StartSlow: return "start-slow";
    case NoticeKind::Synced: return "synced";
    case NoticeKind::ResyncDone: return "resync-done";
    case NoticeKind::Repair: return "repair";
    case NoticeKind::SameVersion: return "same-version";
    case NoticeKind::StaleRead: return "stale-read";
    case NoticeKind::Broken: return "broken-row";
    case NoticeKind::Mended: return "mended-row";
    case NoticeKind::DeadLetter: return "dead-letter";
    case NoticeKind::DeadLetterGone: return "dead-letter-gone";
    case NoticeKind::Stalled: return "handler-stalled";
    case NoticeKind::ReconcilerFailed: return "reconciler-failed";
    }
    YK_UNREACHABLE("a kind of notice without a name");
}

std::string_view name_of(RelistReason reason) {
    switch (reason) {
    case RelistReason::Purged: return "purged";
    case RelistReason::Epoch: return "epoch";
    case RelistReason::Chain: return "chain";
    case RelistReason::Announced: return "announced";
    case RelistReason::Unreadable: return "unreadable";
    case RelistReason::OlderVersions: return "older-versions";
    }
    YK_UNREACHABLE("a reason without a name");
}

std::string_view name_of(StoreFault fault) {
    switch (fault) {
    case StoreFault::Down: return "down";
    case StoreFault::Transient: return "transient";
    case StoreFault::Conflict: return "conflict";
    case StoreFault::Fenced: return "fenced";
    case StoreFault::NotOwner: return "not-owner";
    case StoreFault::Fatal: return "fatal";
    }
    YK_UNREACHABLE("a fault without a name");
}

} // namespace yk::rs
