// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/use_history.h"

#include <algorithm>

namespace yk::service {

void UseHistory::add(const std::string& partition, const QueueShares& shares, Instant now) {
    if (!partitions_.contains(partition) && partitions_.size() >= kMostPartitions)
        partitions_.erase(
            std::min_element(partitions_.begin(), partitions_.end(),
                             [](const auto& one, const auto& other) { return one.second.last < other.second.last; }));
    Partition& kept = partitions_[partition];
    kept.last = now;
    for (std::size_t at = 0; at < kSpans.size(); ++at) add(kept.rings[at], kSpans[at], shares, now);
}

void UseHistory::add(Ring& ring, const Span& span, const QueueShares& shares, Instant now) {
    for (const auto& [queue, share] : shares) {
        auto found = ring.queues.find(queue);
        if (found == ring.queues.end()) {
            if (ring.queues.size() >= kMostQueues) continue;
            found = ring.queues.try_emplace(queue).first;
        }
        found->second.sum += share;
        ++found->second.count;
    }
    if (++ring.taken < span.samples) return;
    ring.taken = 0;
    ring.end = now;
    ring.length = std::min(ring.length + 1, span.size);
    for (auto each = ring.queues.begin(); each != ring.queues.end();) {
        Series& series = each->second;
        series.values.push_back(series.count == 0 ? kNone : static_cast<std::int16_t>(series.sum / series.count));
        series.sum = series.count = 0;
        if (series.values.size() > ring.length) series.values.pop_front();
        const bool is_gone =
            std::all_of(series.values.begin(), series.values.end(), [](auto value) { return value == kNone; });
        each = is_gone ? ring.queues.erase(each) : std::next(each);
    }
}

std::optional<wire::Value> UseHistory::value(const std::string& partition, std::string_view span) const {
    const auto wanted = std::find_if(kSpans.begin(), kSpans.end(), [&](const Span& each) { return each.name == span; });
    if (wanted == kSpans.end()) return std::nullopt;
    wire::Value queues = wire::Value::object();
    Instant end;
    if (const auto found = partitions_.find(partition); found != partitions_.end()) {
        const Ring& ring = found->second.rings[static_cast<std::size_t>(wanted - kSpans.begin())];
        end = ring.end;
        for (const auto& [queue, series] : ring.queues) {
            if (series.values.empty()) continue;
            wire::Value values = wire::Value::array();
            for (std::size_t before = series.values.size(); before < ring.length; ++before) values.push_back(nullptr);
            for (const std::int16_t value : series.values)
                values.push_back(value == kNone ? wire::Value(nullptr) : wire::Value(value));
            queues[queue] = std::move(values);
        }
    }
    return wire::Value{
        {"every", wanted->samples * kEvery}, {"end", end.ns / 1'000'000'000}, {"queues", std::move(queues)}};
}

} // namespace yk::service
