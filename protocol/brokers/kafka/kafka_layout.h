// SPDX-License-Identifier: Apache-2.0
#pragma once
// How many partitions each topic has, and which lane each of them is. Values; pure.

#include <cstddef>
#include <string>
#include <vector>

#include "protocol/brokers/topics.h"

namespace yk::rs {

struct KafkaLayout {
    std::vector<std::size_t> counts; // by topic, in the order of Topics

    [[nodiscard]] std::size_t lanes() const;
    /// `gns.a:4,gns.b:2`.
    [[nodiscard]] std::string text(const Topics& topics, const std::string& prefix) const;
    friend bool operator==(const KafkaLayout&, const KafkaLayout&) = default;
};

/// Which partition a lane is, and the offset of its next message.
struct KafkaLane {
    std::size_t topic = 0, part = 0;
    std::int64_t next = 0;
    std::int64_t seen = -1; // `next` at the last look, if there was more of it then
    unsigned stalls = 0;    // looks in a row that found more of it, and it where it was
};

/// The lanes that are consumed: those of a layout, topic by topic, and behind them those of partitions that came later,
/// so that a lane keeps its number. Keys move between partitions when there are more of them (rs R-053).
class KafkaLanes {
public:
    KafkaLanes() = default;
    /// `next`: as many as the layout has lanes.
    KafkaLanes(const KafkaLayout& layout, const std::vector<std::int64_t>& next);

    [[nodiscard]] std::vector<KafkaLane>& all() { return lanes_; }
    /// nullptr: no such partition is consumed.
    [[nodiscard]] KafkaLane* find(std::size_t topic, std::size_t part);
    [[nodiscard]] std::size_t number_of(const KafkaLane& lane) const {
        return static_cast<std::size_t>(&lane - lanes_.data());
    }

    /// What a look found: `ends`, by lane, is behind the last message of each. Counts the stalls of those that have not
    /// moved since the last look, though they might have. True: one of them is to be begun anew, which it is after its
    /// 1st, 2nd, 4th, 8th... stall in a row.
    [[nodiscard]] bool note_stalls(const std::vector<std::int64_t>& ends);

    enum class Change { None, Grown, Shrunk };
    /// Adds what `now` has more, from its first message on, and names the topics. Shrunk: some are gone, and nothing
    /// was changed.
    [[nodiscard]] Change grow(const KafkaLayout& now, std::vector<std::size_t>& topics);

private:
    std::vector<KafkaLane> lanes_;
    std::vector<std::vector<std::size_t>> numbers_; // by topic and partition
};

} // namespace yk::rs
