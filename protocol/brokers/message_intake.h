// SPDX-License-Identifier: Apache-2.0
#pragma once
// take_message(): what becomes of a message that a reader of a broker has: an event, or one that only keeps the chain
// of its lane whole.

#include <optional>
#include <utility>

#include "protocol/brokers/broker_message.h"
#include "protocol/brokers/log_answers.h"
#include "protocol/brokers/relay_epoch.h"

namespace yk::rs {

/// Adds the message to the batch. `kind`: nullopt: of a kind that nobody here wants. One that cannot be understood, or
/// that nobody wants, is passed over, but where it stands is handed on: else the next one of its lane would seem to
/// follow on a loss (rs R-048). A gap: it is of another change log than those before it.
[[nodiscard]] inline Result<void, LogFault> take_message(std::optional<Kind> kind, std::size_t lane,
                                                         const BrokerMessage& message, RelayEpoch& epoch,
                                                         EventBatch& batch) {
    auto read = kind ? read_message(*kind, lane, message) : std::nullopt;
    if (kind && !read) batch.unreadable.push_back(*kind);
    if (!read) read = read_place(lane, message);
    if (!read) return {};
    if (!epoch.fits(read->epoch)) return gap(RelistReason::Epoch, "the events are of another change log");
    batch.events.push_back(std::move(read->event));
    return {};
}

} // namespace yk::rs
