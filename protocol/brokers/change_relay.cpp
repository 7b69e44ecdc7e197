// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/change_relay.h"

#include <algorithm>
#include <utility>

#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/murmur2.h"

namespace yk::rs {
namespace {

/// Any row of the kind may have changed.
ChangeEvent relist_of(Kind kind, const Position& at) {
    return {kind, kEveryId, Op::Relist, {}, 0, 0, at, {}};
}

} // namespace

bool ChangeRelay::turn(Instant now) {
    if (!has_begun_ || under_way() >= settings_.window) log_.hear(); // it is not polled
    if (is_fenced_ || now < retry_) return false;
    if (!has_begun_) return begin(now);
    if (!collect(now) || !save(now) || !read(now) || !send(now)) return false;
    return unsent_.empty() && under_way() < settings_.window && next_read() <= now;
}

std::optional<Instant> ChangeRelay::next_due() const {
    if (is_fenced_) return std::nullopt;
    if (!has_begun_) return retry_;
    std::optional<Instant> due;
    const auto earliest = [&](Instant other) { due = std::min(due.value_or(other), other); };
    if (under_way() < settings_.window) earliest(next_read());
    if (under_way() > 0) earliest(looked_at_ + look_pause_);
    if (is_unsaved_) earliest(saved_at_ + settings_.save_every);
    return std::max(due.value_or(retry_), retry_);
}

RelayStatus ChangeRelay::status() const {
    RelayStatus status = counts_;
    status.is_running = has_begun_;
    status.is_fenced = is_fenced_;
    status.trouble = trouble_;
    status.safe = saved_;
    status.under_way = under_way();
    if (!sent_.empty()) status.waiting_since = moved_at_;
    return status;
}

// --- the beginning ---------------------------------------------------------------------------------------------------

/// The lease is looked at when the state is read, so before anything is sent, also when another relay has written in
/// between (rs R-167).
bool ChangeRelay::begin(Instant now) {
    if (!keep_progress(now)) return false;
    unsent_.clear();
    sent_.clear();
    look_pause_ = settings_.look.base;
    if (const auto begun = broker_.begin(); !begun.ok()) return fail(begun.error().message, now), false;
    auto state = store_.load(broker_.identity());
    if (!state.ok()) return fail(state.error(), now), false;
    if (state->has_value() && !has_kept(**state)) state->reset();
    saved_ = state->has_value() ? std::optional{(*state)->cursor} : std::nullopt;
    if (const auto opened = open_log(*std::move(state)); !opened.ok()) return fail(opened.error(), now), false;
    has_begun_ = true;
    is_unsaved_ = false;
    trouble_.clear();
    pace_.wake();
    return true;
}

/// What became safe before the broker failed is noted, so that a broker that fails again and again is further each
/// time. It is tried once: afterwards the publisher may have begun with another broker.
bool ChangeRelay::keep_progress(Instant now) {
    if (!std::exchange(is_unsaved_, false)) return true;
    const auto saved = store_.save(broker_.identity(), safe_);
    if (saved.ok() || saved.error().fault != StoreFault::Fenced) return true;
    return fail(saved.error(), now), false;
}

bool ChangeRelay::has_kept(const RelayState& state) const {
    return std::all_of(state.last.begin(), state.last.end(), [&](const auto& lane) {
        return broker_.still_has(lane.first, state.cursor.epoch, lane.second);
    });
}

Result<void, LogFault> ChangeRelay::open_log(std::optional<RelayState> state) {
    if (state) {
        const auto opened = log_.open(CapturedCursor::resumed(state->cursor));
        if (!opened.ok() && opened.error().what == LogFault::What::Down) return opened.error();
        const bool is_same_log = opened.ok() || opened.error().reason != RelistReason::Epoch;
        safe_ = is_same_log ? *std::move(state) : RelayState{};
        chain_ = safe_.last;
        epoch_ = safe_.cursor.epoch;
        if (opened.ok()) return {};
    } else {
        safe_ = {};
        chain_.clear();
    }
    return announce_all();
}

/// Whoever reads a kind after one of these sees everything that was committed before the capture; what is committed
/// after it is sent. The capture is noted as reached only when all of them are safe.
Result<void, LogFault> ChangeRelay::announce_all() {
    YK_TRY(latest, log_.capture());
    YK_CHECKED(log_.open(latest));
    const Cursor& cursor = latest.cursor();
    epoch_ = cursor.epoch;
    ++counts_.gaps;
    for (const Topic& topic : topics_) {
        unsent_.push_back(
            {relist_of(topic.kind, cursor.lanes.at(0)), std::nullopt, {broker_.lanes(topic.kind).topic, 0}, 0, false});
    }
    if (!unsent_.empty()) unsent_.back().reached = cursor;
    return {};
}

// --- the way of an event ---------------------------------------------------------------------------------------------

bool ChangeRelay::read(Instant now) {
    if (under_way() >= settings_.window || next_read() > now) return true;
    pace_.begin();
    auto batch = log_.poll(settings_.window - under_way());
    if (!batch.ok()) return read_failed(batch.error(), now);
    if (std::exchange(read_failures_, 0) > 0) trouble_.clear();
    for (ChangeEvent& event : batch->events) {
        const Cursor reached{epoch_, {event.at}};
        const bool is_sent = has_topic(event.kind);
        if (is_sent && !can_be_carried(event)) event = relist_of(event.kind, event.at);
        const Lanes lanes = is_sent ? broker_.lanes(event.kind) : Lanes{};
        const LaneName lane{lanes.topic, is_sent ? part_of(event.id, lanes.count) : 0};
        unsent_.push_back({std::move(event), reached, lane, 0, false});
    }
    pace_.ended(!batch->events.empty(), batch->may_have_more, now);
    return true;
}

/// A log that is away for a while is asked again, while what was read goes its way.
bool ChangeRelay::read_failed(const LogFault& fault, Instant now) {
    if (fault.what == LogFault::What::Gap) return fail(fault, now), false;
    trouble_ = fault.message;
    read_retry_ = now + backoff(settings_.retry, read_failures_++, chance_);
    return true;
}

bool ChangeRelay::send(Instant now) {
    while (!unsent_.empty()) {
        Entry& entry = unsent_.front();
        entry.number = next_number_++;
        if (entry.lane.topic.empty()) {
            entry.is_safe = true; // of a kind that nobody wants
        } else {
            const auto previous = chain_.find(entry.lane);
            const Position before = previous == chain_.end() ? Position{} : previous->second;
            const auto taken = broker_.send({entry.number, entry.event, entry.lane, epoch_, before});
            if (!taken.ok()) return fail(taken.error().message, now), false;
            if (!*taken) return true;
            chain_.insert_or_assign(entry.lane, entry.event.at);
            ++counts_.sent;
            look_pause_ = settings_.look.base;
        }
        if (sent_.empty()) moved_at_ = now;
        sent_.push_back(std::move(entry));
        unsent_.pop_front();
    }
    return true;
}

bool ChangeRelay::collect(Instant now) {
    looked_at_ = now;
    const auto numbers = broker_.take_acknowledged();
    if (!numbers.ok()) return fail(numbers.error().message, now), false;
    note(*numbers);
    look_pause_ = numbers->empty() ? std::min(2 * look_pause_, settings_.look.most) : settings_.look.base;
    if (!numbers->empty()) moved_at_ = now;
    while (!sent_.empty() && sent_.front().is_safe) {
        const Entry& first = sent_.front();
        if (!first.lane.topic.empty()) safe_.last.insert_or_assign(first.lane, first.event.at);
        if (first.reached) {
            safe_.cursor = *first.reached;
            is_unsaved_ = true;
        }
        sent_.pop_front();
    }
    return true;
}

/// Numbers ascend in sent_.
void ChangeRelay::note(const std::vector<BrokerPublisher::Number>& numbers) {
    for (const auto number : numbers) {
        const auto found = std::lower_bound(sent_.begin(), sent_.end(), number,
                                            [](const Entry& entry, auto wanted) { return entry.number < wanted; });
        if (found == sent_.end() || found->number != number || found->is_safe) continue;
        found->is_safe = true;
        ++counts_.confirmed;
        failures_ = 0;
    }
}

bool ChangeRelay::save(Instant now) {
    if (!is_unsaved_ || now < saved_at_ + settings_.save_every) return true;
    saved_at_ = now;
    const auto saved = store_.save(broker_.identity(), safe_);
    if (!saved.ok()) {
        trouble_ = saved.error().message;
        if (saved.error().fault != StoreFault::Fenced) return true; // it is tried again
        return fail(saved.error(), now), false;
    }
    saved_ = safe_.cursor;
    is_unsaved_ = false;
    trouble_.clear();
    return true;
}

bool ChangeRelay::has_topic(Kind kind) const {
    return std::any_of(topics_.begin(), topics_.end(), [&](const Topic& topic) { return topic.kind == kind; });
}

// --- failures --------------------------------------------------------------------------------------------------------

/// Begins again from what the database has. What was sent and is not noted comes again.
void ChangeRelay::fail(std::string why, Instant now) {
    has_begun_ = false;
    trouble_ = std::move(why);
    retry_ = now + backoff(settings_.retry, failures_++, chance_);
    ++counts_.beginnings;
}

void ChangeRelay::fail(const StoreError& error, Instant now) {
    is_fenced_ = error.fault == StoreFault::Fenced;
    fail(error.message, now);
}

void ChangeRelay::fail(const LogFault& fault, Instant now) {
    fail(fault.message, now);
}

} // namespace yk::rs
