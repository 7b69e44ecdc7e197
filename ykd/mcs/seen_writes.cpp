// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/seen_writes.h"

#include <algorithm>
#include <utility>

namespace yk::service {

bool SeenWrites::is_seen(rs::Kind kind, std::string_view id, const rs::Cursor& position) const {
    const auto is_read = [&](const auto& informer) {
        return !informer.reconciler().queue().contains(id) &&
               (sources_.has_broker ||
                (rs::reaches(sources_.manager.position(), position) && !informer.resync().is_relisting()));
    };
    return kind == mcs::kNodeKind ? is_read(sources_.nodes) : is_read(sources_.deployments);
}

void SeenWrites::wait_for_row(rs::Kind kind, std::string id, rs::Cursor position, Instant until,
                              std::function<void()> answer) {
    rows_.push_back({kind, std::move(id), std::move(position), until, std::move(answer)});
}

bool SeenWrites::wait_for_position(rs::Cursor position, Instant until, Reader reader, Instant now) {
    WaitingReader waiting{std::move(position), until, std::move(reader), std::nullopt};
    if (const auto seen = look(waiting, read_up_to(), now)) {
        waiting.reader.call(*seen);
        return true;
    }
    std::erase_if(readers_, [](const WaitingReader& each) { return each.reader.is_gone(); });
    const auto of_one = std::count_if(readers_.begin(), readers_.end(), [&](const WaitingReader& each) {
        return each.reader.identity == waiting.reader.identity;
    });
    if (readers_.size() >= kMostReaders || static_cast<std::size_t>(of_one) >= kMostOfOne) return false;
    readers_.push_back(std::move(waiting));
    return true;
}

/// Every row that was queued before this was read since.
Instant SeenWrites::read_up_to() const {
    const auto of = [](const auto& informer) { return informer.reconciler().queue().done_before(); };
    return std::min({of(sources_.deployments), of(sources_.scales), of(sources_.schedules), of(sources_.nodes)});
}

/// Whether events were lost, and all rows are being read for that.
bool SeenWrites::is_relisting() const {
    const auto is = [](const auto& informer) { return informer.resync().is_relisting(); };
    return is(sources_.deployments) || is(sources_.scales) || is(sources_.schedules) || is(sources_.nodes);
}

/// While the log cannot be asked, the position may be of a newer one, as after a failover that was not noticed here.
bool SeenWrites::is_of_another_log(const rs::Cursor& position, Instant now) const {
    const rs::Cursor& here = sources_.manager.position();
    const bool is_other = position.epoch != here.epoch || position.lanes.size() != here.lanes.size();
    return is_other && sources_.manager.is_log_up() && sources_.manager.staleness(now) == Duration{};
}

/// nullopt: it has time yet.
std::optional<SeenWrites::Seen> SeenWrites::look(WaitingReader& waiting, Instant read_up_to, Instant now) const {
    if (is_relisting())
        waiting.reached.reset(); // what it finds is queued meanwhile
    else if (!waiting.reached && rs::reaches(sources_.manager.position(), waiting.position))
        waiting.reached = now;
    if (waiting.reached && *waiting.reached < read_up_to) return Seen::Yes;
    if (now < waiting.until) return std::nullopt;
    return is_of_another_log(waiting.position, now) ? Seen::Never : Seen::Late;
}

bool SeenWrites::turn(Instant now) {
    const auto row = std::find_if(rows_.begin(), rows_.end(), [&](const Row& each) {
        return now >= each.until || is_seen(each.kind, each.id, each.position);
    });
    if (row != rows_.end()) {
        const auto answer = std::move(row->answer);
        rows_.erase(row);
        answer();
        return true;
    }
    if (readers_.empty()) return false;
    const Instant up_to = read_up_to();
    std::optional<Seen> seen;
    const auto reader = std::find_if(readers_.begin(), readers_.end(), [&](WaitingReader& each) {
        seen = look(each, up_to, now);
        return seen.has_value();
    });
    if (reader == readers_.end()) return false;
    const auto call = std::move(reader->reader.call);
    readers_.erase(reader);
    call(*seen);
    return true;
}

std::optional<Instant> SeenWrites::next_due() const {
    std::optional<Instant> due;
    for (const Row& each : rows_) due = std::min(due.value_or(each.until), each.until);
    for (const WaitingReader& each : readers_) due = std::min(due.value_or(each.until), each.until);
    return due;
}

void SeenWrites::stop() {
    for (const Row& each : std::exchange(rows_, {})) each.answer();
    for (const WaitingReader& each : std::exchange(readers_, {})) each.reader.call(Seen::Late);
}

} // namespace yk::service
