// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/broker_message.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "libcore/base/text.h"

namespace yk::rs {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kFormat = 1;

std::optional<Op> op_of(std::int64_t number) {
    switch (number) {
    case 1: return Op::Insert;
    case 2: return Op::Update;
    case 3: return Op::Delete;
    case 9: return Op::Relist;
    default: return std::nullopt;
    }
}

bool is_key(std::string_view key) {
    return !key.empty() && key.size() <= kLongestKey && is_utf8(key);
}

/// `otherwise` where there is no such field, nullopt where it is no whole number of 64 bits.
std::optional<std::int64_t> number_in(const Json& object, const char* name, std::int64_t otherwise) {
    const auto found = object.find(name);
    if (found == object.end() || found->is_null()) return otherwise;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() > INT64_MAX) return std::nullopt;
    if (!found->is_number_integer()) return std::nullopt;
    return found->get<std::int64_t>();
}

/// Fields that are not known are passed over, another format is not.
bool read_value(std::string_view text, ChangeEvent& event) {
    if (text.size() > kLongestValue) return false;
    const Json value = Json::parse(text, nullptr, false);
    if (!value.is_object()) return false;
    const auto format = number_in(value, "v", 0), op = number_in(value, "op", 0),
               version = number_in(value, "version", 0);
    if (!format || *format != kFormat || !op || !version || *version < 0) return false;
    const auto known = op_of(*op);
    if (!known) return false;
    if (const auto uid = value.find("uid"); uid != value.end() && !uid->is_null()) {
        if (!uid->is_string()) return false;
        event.uid = uid->get<std::string>();
    }
    event.op = *known;
    event.version = *version;
    return true;
}

} // namespace

std::string message_value(const ChangeEvent& event) {
    nlohmann::ordered_json value;
    value["v"] = kFormat;
    value["op"] = static_cast<int>(event.op);
    value["uid"] = event.uid;
    value["version"] = event.version;
    return value.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

bool can_be_carried(const ChangeEvent& event) {
    return is_key(event.id) && op_of(static_cast<std::int64_t>(event.op)) && event.version >= 0 &&
           message_value(event).size() <= kLongestValue;
}

/// Without all three headers it is a message of somebody else, who says nothing of what came before.
std::optional<ReadMessage> read_message(Kind kind, std::size_t lane, const BrokerMessage& message) {
    if (!is_key(message.key)) return std::nullopt;
    ReadMessage read;
    if (message.epoch && message.position && message.previous) {
        auto place = read_place(lane, message);
        if (!place) return std::nullopt;
        read = *std::move(place);
    }
    read.event.kind = kind;
    read.event.id = message.key;
    read.event.lane = lane;
    if (message.value && !read_value(*message.value, read.event)) return std::nullopt;
    return read;
}

std::optional<ReadMessage> read_place(std::size_t lane, const BrokerMessage& message) {
    if (!message.epoch || !message.position || !message.previous) return std::nullopt;
    const auto at = Position::parse(*message.position), previous = Position::parse(*message.previous);
    if (message.epoch->empty() || message.epoch->size() > kLongestKey || !at || !previous) return std::nullopt;
    ReadMessage read;
    read.event.kind = kPassedOver;
    read.event.lane = lane;
    read.event.at = *at;
    read.event.previous = *previous;
    read.epoch = *message.epoch;
    return read;
}

} // namespace yk::rs
