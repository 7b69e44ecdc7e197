// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/fallback_change_log.h"

#include <algorithm>

namespace yk::rs {
namespace {

LogFault change_over(std::string message) {
    return {LogFault::What::Gap, RelistReason::Epoch, std::move(message)};
}

} // namespace

Result<Cursor, LogFault> FallbackChangeLog::read_latest() {
    if (on_broker_) {
        const auto latest = broker_.capture();
        if (latest.ok()) return latest->cursor();
        if (!is_time_to_leave(latest.error())) return latest.error();
        leave_broker();
    } else if (const auto latest = broker_is_back()) {
        return *latest;
    }
    YK_TRY(captured, database_.capture());
    database_epoch_ = captured.cursor().epoch;
    return captured.cursor();
}

/// A cursor of the log that was left since its capture is of no use.
Result<void, LogFault> FallbackChangeLog::open(const CapturedCursor& from) {
    const bool is_of_broker = from.cursor().epoch != database_epoch_;
    if (is_of_broker != on_broker_) return change_over("the change log is another one since the capture");
    if (!on_broker_) return database_.open(from);
    auto opened = broker_.open(from);
    if (opened.ok()) {
        answered();
    } else if (is_time_to_leave(opened.error())) {
        leave_broker();
        return change_over("the broker is away, and the change log of the database is read");
    }
    return opened;
}

Result<EventBatch, LogFault> FallbackChangeLog::poll(std::size_t most) {
    if (!on_broker_) {
        static_cast<void>(look_at_relay(now_()));
        if (broker_is_back()) return change_over("the broker is back");
        return database_.poll(most);
    }
    const Instant now = now_();
    if (look_at_relay(now) && settings_.after > Duration{} && lag_.lag(now) >= settings_.after) {
        leave_broker();
        return change_over("the relay does not reach the broker, and the change log of the database is read");
    }
    auto batch = broker_.poll(most);
    if (batch.ok()) {
        answered();
    } else if (is_time_to_leave(batch.error())) {
        leave_broker();
        return change_over("the broker is away, and the change log of the database is read");
    }
    return batch;
}

bool FallbackChangeLog::is_time_to_leave(const LogFault& fault) {
    if (fault.what != LogFault::What::Down) {
        answered();
        return false;
    }
    const Instant now = last_down_ = now_();
    trouble_ = fault.message;
    if (!down_since_) down_since_ = now;
    return settings_.after > Duration{} && now - *down_since_ >= settings_.after;
}

/// One answer among failures does not make it well.
void FallbackChangeLog::answered() {
    if (down_since_ && now_() - last_down_ >= settings_.settled) is_well();
}

void FallbackChangeLog::is_well() {
    down_since_.reset();
    trouble_.clear();
}

/// False: it is not time to, and what is known of the relay is of earlier.
bool FallbackChangeLog::look_at_relay(Instant now) {
    if (!progress_ || now < next_progress_) return false;
    next_progress_ = now + settings_.look;
    lag_.note(progress_(), now);
    return true;
}

void FallbackChangeLog::leave_broker() {
    const Instant now = now_();
    const bool has_stayed = !back_since_ || now - *back_since_ >= settings_.most_look;
    look_ = has_stayed ? settings_.look : std::min(2 * look_, settings_.most_look);
    on_broker_ = false;
    next_look_ = now + look_;
}

Result<void, LogFault> FallbackChangeLog::find_broker() {
    YK_TRY(latest, broker_.capture());
    found_ = std::move(latest);
    return {};
}

/// Its latest position, if it lets itself be read from there and the relay has caught up with what was there at the
/// last look. It is asked for that with one call, and opened with the next, so that other work can be done in between.
std::optional<Cursor> FallbackChangeLog::broker_is_back() {
    const Instant now = now_();
    if (!found_ && now < next_look_) return std::nullopt;
    const auto latest = std::exchange(found_, std::nullopt);
    next_look_ = now + look_;
    if (lag_.lag(now) >= settings_.look) return std::nullopt;
    const auto opened = latest ? broker_.open(*latest) : find_broker();
    if (!opened.ok()) {
        trouble_ = opened.error().message;
        last_down_ = now;
        if (!down_since_) down_since_ = now;
    }
    if (!opened.ok() || !latest) return std::nullopt;
    on_broker_ = true;
    back_since_ = now;
    is_well();
    return latest->cursor();
}

} // namespace yk::rs
