// SPDX-License-Identifier: Apache-2.0
#pragma once
// A change event as a message at a broker: its key is the id of the row, its value a little JSON, and headers say where
// the event stands in the change log and which one came before it in its lane (rs R-045, rs R-048).

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/resource_state/ports/change_log.h"

namespace yk::rs {

/// Names of the headers.
inline constexpr const char* kEpochHeader = "epoch";
inline constexpr const char* kPositionHeader = "pos";
inline constexpr const char* kPreviousHeader = "prev";

/// The longest key and value that are read; whatever is longer was not written by a relay.
inline constexpr std::size_t kLongestKey = 1024;
inline constexpr std::size_t kLongestValue = 4096;

/// `{"v":1,"op":2,"uid":"...","version":7}`.
[[nodiscard]] std::string message_value(const ChangeEvent& event);

/// Whether a reader would understand the message of an event. Rows may have any id that a database takes.
[[nodiscard]] bool can_be_carried(const ChangeEvent& event);

/// A message as it came. Views: valid during the call.
struct BrokerMessage {
    std::string_view key;
    std::optional<std::string_view> value; // nullopt: null, which is legal and says "look at this key"
    std::optional<std::string_view> epoch, position, previous; // headers; only a relay writes them
};
struct ReadMessage {
    ChangeEvent event;
    std::string epoch; // of the change log; empty: the message is of a producer that is no relay
};
/// nullopt: it cannot be understood.
[[nodiscard]] std::optional<ReadMessage> read_message(Kind kind, std::size_t lane, const BrokerMessage& message);

/// The kind of events that only say where they stand: nobody has it.
inline constexpr Kind kPassedOver{0};
/// Of a message that is passed over, where it stands in its lane, as an event of kPassedOver: without it the chain of
/// the lane would look broken. nullopt: its headers do not say it.
[[nodiscard]] std::optional<ReadMessage> read_place(std::size_t lane, const BrokerMessage& message);

} // namespace yk::rs
