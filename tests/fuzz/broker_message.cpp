// SPDX-License-Identifier: Apache-2.0
// Fuzzes messages of brokers: never a crash, and an event that was read is written as a message that reads the same.
// The parts of a message are divided by line feeds: epoch, position, previous position, key; the value is the rest.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "libcore/base/check.h"
#include "protocol/brokers/broker_message.h"

namespace {

/// The text before the next line feed; nullopt: there is none, and the part is absent.
std::optional<std::string_view> next_part(std::string_view& rest) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view part = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    return part;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    std::string_view rest(reinterpret_cast<const char*>(data), size); // bytes as characters
    yk::rs::BrokerMessage message;
    message.epoch = next_part(rest);
    message.position = next_part(rest);
    message.previous = next_part(rest);
    message.key = next_part(rest).value_or("");
    if (!rest.empty()) message.value = rest;
    const auto read = yk::rs::read_message(yk::rs::Kind{1}, 3, message);
    if (!read) return 0;
    const yk::rs::ChangeEvent& event = read->event;
    YK_CHECK(event.id == message.key && event.version >= 0, "the key is the id");
    YK_CHECK(event.previous.has_value() == !read->epoch.empty(), "a relay says all of it");
    const std::string value = yk::rs::message_value(event);
    const std::string at = event.at.text(), previous = event.previous.value_or(yk::rs::Position{}).text();
    const auto again = yk::rs::read_message(yk::rs::Kind{1}, 3, {event.id, value, read->epoch, at, previous});
    if (read->epoch.empty()) return 0; // as headers of a relay they would not do
    YK_CHECK(value.size() > yk::rs::kLongestValue || (again && again->event.uid == event.uid), "it reads the same");
    if (again) YK_CHECK(again->event.op == event.op && again->event.version == event.version, "it reads the same");
    return 0;
}
