// SPDX-License-Identifier: Apache-2.0
#pragma once
// KafkaChangeLog: change events from the topics of Kafka that a relay, or anybody else, writes. Each partition is a
// lane; the position in one is the offset of its next message. Every instance reads all partitions from offsets that it
// names itself: there is no group, no committed offset, and nothing that a broker could move by itself (rs R-049).
//
// Events may be missing, and it says so: if messages were removed before they were read, if a topic was made anew, or
// if they come from another change log than before. What is missing between two that came, the framework finds by their
// chain. A partition that is added is read from its first message, and its kind is read anew, since keys move (rs
//
//
// Owner: the program. Thread: one call at a time.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libcore/resource_state/ports/change_log.h"
#include "protocol/brokers/kafka/kafka_client.h"
#include "protocol/brokers/relay_epoch.h"
#include "protocol/simulation/steady_clock.h"

namespace yk::rs {

class KafkaChangeLog final : public ChangeLog {
public:
    /// Brokers need not be there; an Error is one in the settings.
    [[nodiscard]] static Result<std::unique_ptr<KafkaChangeLog>> make(const KafkaSettings& settings);
    ~KafkaChangeLog() override;

    [[nodiscard]] Result<void, LogFault> open(const CapturedCursor& from) override;
    [[nodiscard]] Result<EventBatch, LogFault> poll(std::size_t most) override;

private:
    explicit KafkaChangeLog(const KafkaSettings& settings, std::unique_ptr<KafkaClient> client)
        : settings_(settings), client_(std::move(client)) {}

    [[nodiscard]] Result<Cursor, LogFault> read_latest() override;
    [[nodiscard]] Result<std::string, LogFault> epoch_of(const KafkaLayout& layout);
    [[nodiscard]] Result<void, LogFault> check_ends(const std::vector<std::int64_t>& ends);
    [[nodiscard]] Result<void, LogFault> look(bool is_drained);
    [[nodiscard]] Result<std::vector<std::int64_t>, LogFault> ends_by_lane();
    [[nodiscard]] Result<void, LogFault> say_what_stands_still();
    [[nodiscard]] Result<void, LogFault> assign();
    [[nodiscard]] Result<void, LogFault> fill(EventBatch& batch, std::size_t most);
    [[nodiscard]] Result<void, LogFault> take(const rd_kafka_message_s& message, EventBatch& batch);
    [[nodiscard]] Result<void, LogFault> take_event(const rd_kafka_message_s& message, KafkaLane& lane,
                                                    EventBatch& batch);
    [[nodiscard]] Result<void, LogFault> look_for_partitions(EventBatch& batch);
    void passed(KafkaLane& lane);

    const KafkaSettings settings_;
    const std::unique_ptr<KafkaClient> client_;
    Cursor position_;  // of the lanes that were captured
    KafkaLanes lanes_; // with those that came later
    KafkaLayout layout_;
    RelayEpoch relay_;
    std::optional<LogFault> late_fault_; // of the next poll
    std::string refusal_;                // the last one of a broker
    SteadyClock::time_point looked_, refreshed_;
};

} // namespace yk::rs
