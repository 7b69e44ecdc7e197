// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_notices.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/base/check.h"
#include "libcore/base/pluralize.h"
#include "libcore/base/text.h"
#include "libcore/mcs/kinds.h"

namespace yk::service {
namespace {

using rs::NoticeKind;

constexpr std::size_t kLines = 5; // a minute, of one kind

spdlog::level::level_enum level_of(NoticeKind what) {
    switch (what) {
    case NoticeKind::StoreDown:
    case NoticeKind::LogDown:
    case NoticeKind::StartSlow:
    case NoticeKind::Repair:
    case NoticeKind::SameVersion:
    case NoticeKind::Broken:
    case NoticeKind::DeadLetter:
    case NoticeKind::Stalled:
    case NoticeKind::ReconcilerFailed: return spdlog::level::warn;
    case NoticeKind::ResyncDone:
    case NoticeKind::StaleRead: return spdlog::level::debug;
    default: return spdlog::level::info;
    }
}

} // namespace

McsNotices::~McsNotices() {
    for (const std::string& key : faults_) degraded_.clear(key);
}

void McsNotices::notice(const rs::Notice& notice) {
    switch (notice.what) {
    case NoticeKind::StoreDown:
    case NoticeKind::StoreUp: note_database(store_fault_, notice); break;
    case NoticeKind::LogDown:
    case NoticeKind::LogUp:
        if (!has_broker_) note_database(log_fault_, notice);
        break;
    case NoticeKind::DeadLetter:
    case NoticeKind::DeadLetterGone: note_dead_letter(notice); break;
    default: break;
    }
    write_line(notice);
}

/// Rows and log are of one database here, but each has a connection of its own, and one may be well while the other is
/// not.
void McsNotices::note_database(std::string& fault, const rs::Notice& notice) {
    fault = notice.text;
    note("database", store_fault_.empty() ? log_fault_ : store_fault_);
}

bool McsNotices::note(std::string_view part, const std::string& fault) {
    const std::string key = fmt::format("mcs {}", part);
    if (fault.empty()) {
        if (faults_.erase(key) != 0) degraded_.clear(key);
        return false;
    }
    degraded_.set(key, fmt::format("MCS, {}: {}", part, printable(fault)));
    return faults_.insert(key).second;
}

void McsNotices::note_dead_letter(const rs::Notice& notice) {
    const auto kind = mcs::find_kind(notice.kind);
    YK_CHECK(kind, "a notice of a kind that is none of MCS");
    mcs::DeadLetterKey key{*kind, std::string{notice.id}, std::string{notice.handler}};
    if (notice.what == NoticeKind::DeadLetter) {
        dead_letters_.insert(key);
        house_.put_dead_letter(std::move(key), notice.attempts, std::string{notice.text});
    } else {
        dead_letters_.erase(key);
        house_.remove_dead_letter(std::move(key));
    }
    note("handlers", dead_letters_.empty()
                         ? std::string{}
                         : pluralize(dead_letters_.size(), "change") +
                               " cannot be acted on, and is tried again every few minutes; ykctl mcs dead-letters");
}

void McsNotices::write_line(const rs::Notice& notice) {
    std::string line{rs::name_of(notice.what)};
    for (const std::string_view part : {notice.kind, notice.id, notice.handler})
        if (!part.empty()) line += " " + printable(part);
    if (!notice.text.empty()) line += ": " + printable(notice.text);
    if (!is_line_due(std::string{rs::name_of(notice.what)}, line)) return;
    const auto level = level_of(notice.what);
    log("mcs").log(level, "{}", line);
    if (level >= spdlog::level::info) event_(line);
}

bool McsNotices::is_line_due(const std::string& what, std::string& line) {
    const std::size_t count = lines_.note(what);
    if (count == kLines) line += "; more of this kind is left out for a minute";
    return count <= kLines;
}

void McsNotices::say(const std::string& what, std::string_view text, spdlog::level::level_enum level) {
    std::string line = fmt::format("{}: {}", what, text);
    if (!is_line_due(what, line)) return;
    log("mcs").log(level, "{}", line);
    event_(line);
}

} // namespace yk::service
