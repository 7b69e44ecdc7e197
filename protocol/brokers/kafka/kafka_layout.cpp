// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/kafka/kafka_layout.h"

#include <bit>
#include <numeric>

namespace yk::rs {

std::size_t KafkaLayout::lanes() const {
    return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

std::string KafkaLayout::text(const Topics& topics, const std::string& prefix) const {
    std::string line;
    for (std::size_t topic = 0; topic < counts.size(); ++topic)
        line += (topic == 0 ? "" : ",") + prefix + topics[topic].name + ':' + std::to_string(counts[topic]);
    return line;
}

KafkaLanes::KafkaLanes(const KafkaLayout& layout, const std::vector<std::int64_t>& next) {
    numbers_.resize(layout.counts.size());
    for (std::size_t topic = 0; topic < layout.counts.size(); ++topic)
        for (std::size_t part = 0; part < layout.counts[topic]; ++part) {
            numbers_[topic].push_back(lanes_.size());
            lanes_.push_back({topic, part, next.at(lanes_.size())});
        }
}

KafkaLane* KafkaLanes::find(std::size_t topic, std::size_t part) {
    if (topic >= numbers_.size() || part >= numbers_[topic].size()) return nullptr;
    return &lanes_[numbers_[topic][part]];
}

bool KafkaLanes::note_stalls(const std::vector<std::int64_t>& ends) {
    bool any = false;
    for (KafkaLane& lane : lanes_) {
        const std::size_t number = number_of(lane);
        const bool has_more = number < ends.size() && lane.next < ends[number];
        const bool stands = has_more && lane.seen == lane.next;
        lane.seen = has_more ? lane.next : -1;
        lane.stalls = stands ? lane.stalls + 1 : 0;
        any = any || std::has_single_bit(lane.stalls); // what takes long is not begun anew each time
    }
    return any;
}

KafkaLanes::Change KafkaLanes::grow(const KafkaLayout& now, std::vector<std::size_t>& topics) {
    for (std::size_t topic = 0; topic < numbers_.size(); ++topic)
        if (now.counts.at(topic) < numbers_[topic].size()) return Change::Shrunk;
    for (std::size_t topic = 0; topic < numbers_.size(); ++topic) {
        if (now.counts[topic] > numbers_[topic].size()) topics.push_back(topic);
        for (std::size_t part = numbers_[topic].size(); part < now.counts[topic]; ++part) {
            numbers_[topic].push_back(lanes_.size());
            lanes_.push_back({topic, part, 0});
        }
    }
    return topics.empty() ? Change::None : Change::Grown;
}

} // namespace yk::rs
