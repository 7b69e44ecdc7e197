// SPDX-License-Identifier: Apache-2.0
#include "ykd/runtime/outbound_stream.h"

#include <algorithm>
#include <utility>

#include "libcore/base/check.h"

namespace yk {
namespace {

/// Packs an Item {n, kind, at, body}, for a call {n, kind, at, call, ttl, body}.
void pack_item(wire::Packer& packer, const OutItem& item) {
    packer.map(item.call == 0 ? 4 : 6);
    packer.key("n");
    packer.natural(item.n);
    packer.field("kind", item.kind);
    packer.key("at");
    packer.integer(item.at.ns);
    if (item.call != 0) {
        packer.key("call");
        packer.natural(item.call);
        packer.key("ttl");
        packer.natural(item.ttl);
    }
    packer.key("body");
    packer.raw(item.head_view());
    packer.raw(item.body.view());
}

} // namespace

void OutboundStream::Outcome::deliver() {
    if (!poller) return;
    if (refusal) return poller->refuse(std::move(*refusal));
    if (answer) poller->answer(std::move(*answer));
}

// --- life ---------------------------------------------------------------------------------------

void OutboundStream::clear() {
    delivered_.clear();
    waiting_base_ += waiting_.size();
    waiting_.clear();
    latest_.clear();
    calls_.clear();
    live_waiting_ = waiting_bytes_ = delivered_bytes_ = event_batches_ = 0;
    lost_ = {};
    congested_ = false;
    beyond_ = {0, 0};
}

void OutboundStream::open(std::uint64_t epoch, std::optional<std::uint32_t> keep) {
    Outcome former;
    {
        const std::lock_guard lock(mutex_);
        former = {std::exchange(parked_, nullptr), std::nullopt,
                  PollRefusal{si::ErrorCode::Superseded, "the resource manager registered again"}};
        clear();
        epoch_ = epoch;
        keep_ = keep;
        acked_ = last_number_ = 0;
        watches_poll_ = false;
        broken_.reset();
    }
    former.deliver();
}

void OutboundStream::break_off(PollRefusal refusal) {
    Outcome outcome;
    {
        const std::lock_guard lock(mutex_);
        clear();
        outcome = {std::exchange(parked_, nullptr), std::nullopt, refusal};
        broken_ = std::move(refusal);
    }
    outcome.deliver();
}

void OutboundStream::finish() {
    Outcome outcome;
    {
        const std::lock_guard lock(mutex_);
        finishing_ = true;
        outcome = answer_parked();
        if (!outcome.poller && parked_)
            outcome = {std::exchange(parked_, nullptr), std::nullopt,
                       PollRefusal{si::ErrorCode::ShuttingDown, "the daemon is stopping"}};
    }
    outcome.deliver();
}

void OutboundStream::supersede(const std::string& message) {
    Outcome outcome;
    {
        const std::lock_guard lock(mutex_);
        outcome = {std::exchange(parked_, nullptr), std::nullopt, PollRefusal{si::ErrorCode::Superseded, message}};
    }
    outcome.deliver();
}

// --- in -----------------------------------------------------------------------------------------

Pressure OutboundStream::append(std::vector<OutItem> items) {
    Outcome outcome;
    Pressure pressure = Pressure::Easing;
    {
        const std::lock_guard lock(mutex_);
        if (broken_) return Pressure::Easing;
        const bool was_relieved = !congested_;
        for (OutItem& item : items) enqueue(std::move(item));
        if (keep_) number_for_log();
        pressure = pressure_locked();
        if (pressure == Pressure::Broken && was_relieved) {
            raise_limits();
            pressure = Pressure::Congested;
        }
        if (pressure == Pressure::Broken) {
            clear();
            ++overflows_;
            broken_ = PollRefusal{si::ErrorCode::ResyncRequired, "stream overflow"};
            outcome = {std::exchange(parked_, nullptr), std::nullopt, broken_};
        } else {
            congested_ = pressure == Pressure::Congested || (congested_ && pressure == Pressure::Crowded);
            if (!congested_) beyond_ = {0, 0};
            outcome = answer_parked();
        }
    }
    outcome.deliver();
    return pressure;
}

void OutboundStream::set_wide(bool wide) {
    constexpr std::uint64_t kWide = 8;
    const std::lock_guard lock(mutex_);
    const std::uint64_t factor = wide ? kWide : 1;
    limits_ = {normal_limits_.items * factor, normal_limits_.bytes * factor};
    if (pressure_locked() != Pressure::Broken) return;
    raise_limits();
    congested_ = true;
}

void OutboundStream::enqueue(OutItem item) {
    if (item.item_class == ItemClass::LatestWins) return replace_or_queue(std::move(item));
    if (item.item_class == ItemClass::CountedLoss) ++event_batches_;
    if (item.item_class == ItemClass::Expiring) calls_[item.call] = waiting_base_ + waiting_.size();
    waiting_bytes_ += item.bytes();
    ++live_waiting_;
    waiting_.push_back(std::move(item));
    if (event_batches_ != 0 && pressure_locked() != Pressure::Easing) drop_events();
}

void OutboundStream::replace_or_queue(OutItem item) {
    const auto [known, added] = latest_.try_emplace(item.key, waiting_base_ + waiting_.size());
    waiting_bytes_ += item.bytes();
    if (!added) {
        OutItem& old = waiting_[known->second - waiting_base_];
        waiting_bytes_ -= old.bytes();
        old = std::move(item);
        return;
    }
    ++live_waiting_;
    waiting_.push_back(std::move(item));
}

/// Drops undelivered event batches, oldest first, until the stream is at most half full or none is left.
void OutboundStream::drop_events() {
    for (OutItem& item : waiting_) {
        if (event_batches_ == 0 || pressure_locked() == Pressure::Easing) return;
        if (item.item_class != ItemClass::CountedLoss || item.kind.empty()) continue;
        lost_.add(item.events);
        waiting_bytes_ -= item.bytes();
        --live_waiting_;
        --event_batches_;
        item = OutItem{};
    }
}

void OutboundStream::expire(std::uint64_t call) {
    const std::lock_guard lock(mutex_);
    const auto found = calls_.find(call);
    if (found == calls_.end()) return;
    OutItem& item = waiting_[found->second - waiting_base_];
    calls_.erase(found);
    waiting_bytes_ -= item.bytes();
    --live_waiting_;
    item = OutItem{};
}

/// For a detached RM: numbers what waits and moves it to the log, of which the newest are kept.
void OutboundStream::number_for_log() {
    YK_ASSUME(keep_, "only the stream of a detached RM has a log");
    for (OutItem& item : waiting_) {
        if (item.kind.empty()) continue;
        item.n = ++last_number_;
        delivered_bytes_ += item.bytes();
        delivered_.push_back(std::move(item));
    }
    acked_ = last_number_;
    waiting_base_ += waiting_.size();
    waiting_.clear();
    latest_.clear();
    calls_.clear();
    live_waiting_ = waiting_bytes_ = event_batches_ = 0;
    while (delivered_.size() > *keep_ || delivered_bytes_ > limits_.bytes) {
        delivered_bytes_ -= delivered_.front().bytes();
        delivered_.pop_front();
    }
}

/// Raises the limits so that all that is queued fits, and a quarter more for what comes while the RM fetches it.
void OutboundStream::raise_limits() {
    const std::uint64_t items = delivered_.size() + live_waiting_, bytes = delivered_bytes_ + waiting_bytes_;
    beyond_.items = std::max(items, limits_.items) - limits_.items + limits_.items / 4;
    beyond_.bytes = std::max(bytes, limits_.bytes) - limits_.bytes + limits_.bytes / 4;
}

Pressure OutboundStream::pressure_locked() const {
    if (keep_) return Pressure::Easing;
    const std::uint64_t items = delivered_.size() + live_waiting_;
    const std::uint64_t bytes = delivered_bytes_ + waiting_bytes_;
    const auto above = [&](std::uint64_t percent) {
        return items * 100 > limits_.items * percent || bytes * 100 > limits_.bytes * percent;
    };
    if (items > limits_.items + beyond_.items || bytes > limits_.bytes + beyond_.bytes) return Pressure::Broken;
    if (items * 4 >= limits_.items * 3 || bytes * 4 >= limits_.bytes * 3) return Pressure::Congested;
    return above(50) ? Pressure::Crowded : Pressure::Easing;
}

Pressure OutboundStream::pressure() const {
    const std::lock_guard lock(mutex_);
    return pressure_locked();
}

EventSpan OutboundStream::take_lost() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lost_, {});
}

// --- out ----------------------------------------------------------------------------------------

std::optional<PollRefusal> OutboundStream::check_epoch(const Poller& poller) const {
    if (poller.epoch == epoch_) return std::nullopt;
    return PollRefusal{si::ErrorCode::StreamEpoch, "the stream's epoch is " + std::to_string(epoch_), epoch_};
}

std::optional<PollRefusal> OutboundStream::check_poll(const Poller& poller) const {
    if (broken_) return broken_;
    if (poller.ack < acked_)
        return PollRefusal{si::ErrorCode::AckOld, "ack " + std::to_string(poller.ack) + " is below " +
                                                      std::to_string(acked_) + ", which was acknowledged before"};
    if (poller.ack > last_number_)
        return PollRefusal{si::ErrorCode::AckFuture, "ack " + std::to_string(poller.ack) + " is beyond " +
                                                         std::to_string(last_number_) + ", the last item delivered"};
    return std::nullopt;
}

void OutboundStream::acknowledge(std::uint64_t ack) {
    while (!delivered_.empty() && delivered_.front().n <= ack) {
        delivered_bytes_ -= delivered_.front().bytes();
        delivered_.pop_front();
    }
    acked_ = ack;
}

void OutboundStream::poll(std::shared_ptr<Poller> poller, bool may_wait) {
    Outcome older, outcome;
    bool notify = false;
    {
        const std::lock_guard lock(mutex_);
        if (auto refusal = check_epoch(*poller)) {
            outcome = {std::move(poller), std::nullopt, std::move(refusal)};
        } else {
            older = {std::exchange(parked_, nullptr), std::nullopt,
                     PollRefusal{si::ErrorCode::Superseded, "a newer poll took over"}};
            if ((refusal = check_poll(*poller)))
                outcome = {std::move(poller), std::nullopt, std::move(refusal)};
            else
                outcome = take(std::move(poller), may_wait, notify);
        }
    }
    older.deliver();
    outcome.deliver();
    if (notify && listener_) listener_();
}

/// Sets `notify` when the listener is to be called.
OutboundStream::Outcome OutboundStream::take(std::shared_ptr<Poller> poller, bool may_wait, bool& notify) {
    acknowledge(poller->ack);
    ++polls_;
    notify = std::exchange(watches_poll_, false);
    if (!poller->is_gone()) reader_ = poller->connection();
    may_wait = may_wait && !poller->is_gone(); // disconnected() would come too early to end its wait
    if (congested_ && pressure_locked() == Pressure::Easing) {
        congested_ = false;
        beyond_ = {0, 0};
        notify = true;
    }
    parked_ = std::move(poller);
    Outcome outcome = answer_parked();
    if (outcome.poller) return outcome;
    if (finishing_)
        return {std::exchange(parked_, nullptr), std::nullopt,
                PollRefusal{si::ErrorCode::ShuttingDown, "the daemon is stopping; all callbacks are delivered"}};
    if (may_wait) return {};
    PollAnswer nothing = make_answer(*parked_);
    return {std::exchange(parked_, nullptr), std::move(nothing), std::nullopt};
}

OutboundStream::Outcome OutboundStream::answer_parked() {
    if (!parked_ || keep_ || !answerable()) return {};
    PollAnswer answer = make_answer(*parked_);
    return {std::exchange(parked_, nullptr), std::move(answer), std::nullopt};
}

/// An answer with the items from ack + 1 on: first those delivered before, then new ones, which are numbered here.
PollAnswer OutboundStream::make_answer(const Poller& poller) {
    PollAnswer answer;
    wire::Packer packer(answer.list);
    std::uint64_t answered_bytes = 0;
    const auto fits = [&](const OutItem& item) {
        return answer.items == 0 ||
               (answer.items < poller.max_items && answer.list.size() + item.bytes() <= poller.max_bytes);
    };
    const auto add = [&](const OutItem& item) {
        answer.list.reserve(item.bytes());
        pack_item(packer, item);
        answered_bytes += item.bytes();
        ++answer.items;
    };
    bool full = false;
    for (const OutItem& item : delivered_) {
        if (!fits(item)) {
            full = true;
            break;
        }
        add(item);
        ++redelivered_;
    }
    while (!full && !waiting_.empty() && (waiting_.front().kind.empty() || fits(waiting_.front()))) {
        OutItem& item = waiting_.front();
        if (!item.kind.empty()) {
            item.n = ++last_number_;
            waiting_bytes_ -= item.bytes();
            --live_waiting_;
            if (item.item_class == ItemClass::CountedLoss) --event_batches_;
            if (item.item_class == ItemClass::LatestWins) latest_.erase(item.key);
            if (item.call != 0) calls_.erase(item.call);
            delivered_bytes_ += item.bytes();
            add(item);
            delivered_.push_back(std::move(item));
        }
        waiting_.pop_front();
        ++waiting_base_;
    }
    answer.epoch = epoch_;
    answer.backlog = delivered_.size() + live_waiting_ - answer.items;
    answer.backlog_bytes = delivered_bytes_ + waiting_bytes_ - answered_bytes;
    answer.congested = congested_;
    return answer;
}

void OutboundStream::watch_next_poll() {
    const std::lock_guard lock(mutex_);
    watches_poll_ = true;
}

void OutboundStream::wait_over(const Poller* poller) {
    Outcome outcome;
    {
        const std::lock_guard lock(mutex_);
        if (parked_.get() != poller) return;
        PollAnswer nothing = make_answer(*parked_);
        outcome = {std::exchange(parked_, nullptr), std::move(nothing), std::nullopt};
    }
    outcome.deliver();
}

void OutboundStream::disconnected(std::uint32_t connection) {
    std::shared_ptr<Poller> dropped; // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    if (reader_ == connection) reader_.reset();
    if (parked_ && parked_->connection() == connection) dropped = std::exchange(parked_, nullptr);
}

StreamStatus OutboundStream::status() const {
    const std::lock_guard lock(mutex_);
    StreamStatus status;
    status.epoch = epoch_;
    status.next = last_number_ + live_waiting_ + 1;
    status.ack = acked_;
    status.backlog = live_waiting_;
    status.items = keep_ ? 0 : delivered_.size() + live_waiting_;
    status.bytes = keep_ ? 0 : delivered_bytes_ + waiting_bytes_;
    status.congested = congested_;
    status.broken = broken_.has_value();
    status.poll_parked = parked_ != nullptr;
    status.polls = polls_;
    status.overflows = overflows_;
    status.redelivered = redelivered_;
    return status;
}

bool OutboundStream::drained() const {
    const std::lock_guard lock(mutex_);
    return keep_ || broken_ || live_waiting_ == 0 || !reader_;
}

OutboundStream::Log OutboundStream::read_log(std::uint64_t after, std::uint32_t count, std::size_t max_bytes) const {
    Log log;
    log.next = after;
    wire::Packer packer(log.list);
    const std::lock_guard lock(mutex_);
    if (!keep_) return log;
    const auto start = std::partition_point(delivered_.begin(), delivered_.end(),
                                            [&](const OutItem& item) { return item.n <= after; });
    for (auto it = start; it != delivered_.end() && log.items < count; ++it) {
        if (log.items != 0 && log.list.size() + it->bytes() > max_bytes) break;
        pack_item(packer, *it);
        ++log.items;
        log.next = it->n;
    }
    return log;
}

} // namespace yk
