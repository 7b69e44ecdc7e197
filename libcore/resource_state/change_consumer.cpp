// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/change_consumer.h"

#include <algorithm>

namespace yk::rs {

void ResourceChangeConsumer::on_events(const EventBatch& batch, Instant now) {
    for (const ChangeEvent& event : batch.events) on_event(event, now);
    for (const Kind kind : batch.unreadable) on_unreadable(kind, now);
    for (const auto& [kind, informer] : informers_) informer->on_consumed(batch.position, now);
}

void ResourceChangeConsumer::on_event(const ChangeEvent& event, Instant now) {
    ++counters_.events;
    const Link link = check_chain(event);
    // What is missing may be of any kind in the lane.
    if (link == Link::Broken) relist(std::nullopt, RelistReason::Chain, now);
    if (event.op == Op::Relist && link != Link::Older) return relist(event.kind, RelistReason::Announced, now);
    const auto found = informers_.find(event.kind);
    if (found == informers_.end()) {
        ++counters_.foreign;
        return;
    }
    if (event.op != Op::Relist) found->second->on_event(event, now);
}

/// A transport that can lose events silently says with each one which came before it (rs R-048).
ResourceChangeConsumer::Link ResourceChangeConsumer::check_chain(const ChangeEvent& event) {
    if (!event.previous) {
        ++counters_.unchained;
        return Link::Fits;
    }
    const auto [last, is_first] = chain_.emplace(event.lane, event.at);
    if (is_first) return Link::Fits;
    if (event.at <= last->second) {
        ++counters_.repeated;
        return event.at < last->second ? Link::Older : Link::Same;
    }
    const bool fits = *event.previous == last->second;
    last->second = event.at;
    return fits ? Link::Fits : Link::Broken;
}

void ResourceChangeConsumer::on_unreadable(Kind kind, Instant now) {
    ++counters_.unreadable;
    const auto last = last_unreadable_.find(kind);
    if (last != last_unreadable_.end() && now - last->second < settings_.unreadable_relist) {
        put_off_.emplace(kind, last->second + settings_.unreadable_relist);
        return;
    }
    last_unreadable_.insert_or_assign(kind, now);
    relist(kind, RelistReason::Unreadable, now);
}

void ResourceChangeConsumer::relist(std::optional<Kind> kind, RelistReason reason, Instant now) {
    ++counters_.relists[reason];
    for (const auto& [each, informer] : informers_) {
        if (kind && *kind != each) continue;
        notices_.notice({NoticeKind::Relist, informer->name(), {}, {}, name_of(reason)});
        informer->request_scan(ScanKind::Relist, now);
    }
}

bool ResourceChangeConsumer::turn(Instant now) {
    const auto due =
        std::find_if(put_off_.begin(), put_off_.end(), [&](const auto& each) { return each.second <= now; });
    if (due == put_off_.end()) return false;
    const Kind kind = due->first;
    put_off_.erase(due);
    last_unreadable_.insert_or_assign(kind, now);
    relist(kind, RelistReason::Unreadable, now);
    return true;
}

std::optional<Instant> ResourceChangeConsumer::next_due() const {
    std::optional<Instant> due;
    for (const auto& [kind, when] : put_off_) due = std::min(due.value_or(when), when);
    return due;
}

} // namespace yk::rs
