// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/body_reader.h"

#include <limits>

#include <fmt/format.h>

#include "protocol/wire/limits.h"

namespace yk::wire {

BodyReader::BodyReader(BodyReader& parent, std::string_view key, const Value& map)
    : map_(&map), path_(fmt::format("{}{}.", parent.path_, key)), fault_(parent.fault_) {}

const Value* BodyReader::find(std::string_view key) const {
    const auto& pairs = map_->get_ref<const Value::object_t&>();
    for (const auto& [name, value] : pairs)
        if (name == key) return value.is_null() ? nullptr : &value;
    return nullptr;
}

void BodyReader::fail(si::ErrorCode code, std::string_view key, std::string message) {
    if (*fault_) return;
    *fault_ = WireError{code, std::move(message), fmt::format("{}{}", path_, key)};
}

const Value* BodyReader::typed(std::string_view key, Presence presence, bool (Value::*is)() const noexcept,
                               std::string_view expected) {
    const Value* value = find(key);
    if (value == nullptr) {
        if (presence == Presence::Required) fail(si::ErrorCode::MissingField, key, missing_message(key));
        return nullptr;
    }
    if ((value->*is)()) return value;
    fail(si::ErrorCode::Type, key, fmt::format("expected {}, got {}", expected, value->type_name()));
    return nullptr;
}

bool BodyReader::check(std::string_view key, std::string_view text, TextRule rule) {
    const TextFault fault = check_text(text, rule);
    if (fault == TextFault::None) return true;
    const WireError error = text_error(fault, text, rule);
    fail(error.code, key, error.message);
    return false;
}

std::string BodyReader::text(std::string_view key, Presence presence, TextRule rule, std::string_view fallback) {
    const Value* value = typed(key, presence, &Value::is_string, "a text");
    if (value == nullptr) return std::string{fallback};
    const auto& found = value->get_ref<const std::string&>();
    if (!check(key, found, rule)) return std::string{fallback};
    if (presence == Presence::Required && found.empty()) fail(si::ErrorCode::MissingField, key, missing_message(key));
    return found;
}

std::optional<std::string> BodyReader::optional_text(std::string_view key, TextRule rule) {
    if (!has(key)) return std::nullopt;
    return text(key, Presence::Optional, rule);
}

std::uint64_t BodyReader::u64(std::string_view key, std::uint64_t fallback) {
    const Value* value = typed(key, Presence::Optional, &Value::is_number_integer, "an integer");
    if (value == nullptr) return fallback;
    if (value->is_number_unsigned() || value->get<std::int64_t>() >= 0) return value->get<std::uint64_t>();
    fail(si::ErrorCode::Type, key, "the integer is negative");
    return fallback;
}

std::uint32_t BodyReader::u32(std::string_view key, std::uint32_t fallback) {
    const std::uint64_t value = u64(key, fallback);
    if (value <= std::numeric_limits<std::uint32_t>::max()) return static_cast<std::uint32_t>(value);
    fail(si::ErrorCode::Type, key, "the integer does not fit 32 bits");
    return fallback;
}

std::int64_t BodyReader::i64(std::string_view key, std::int64_t fallback) {
    const Value* value = typed(key, Presence::Optional, &Value::is_number_integer, "an integer");
    if (value == nullptr) return fallback;
    constexpr auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() <= max) return value->get<std::int64_t>();
    fail(si::ErrorCode::Type, key, "the integer does not fit 64 bits with a sign");
    return fallback;
}

bool BodyReader::flag(std::string_view key, bool fallback) {
    const Value* value = typed(key, Presence::Optional, &Value::is_boolean, "a boolean");
    return value == nullptr ? fallback : value->get<bool>();
}

std::vector<std::string> BodyReader::texts(std::string_view key, TextRule rule) {
    std::vector<std::string> found;
    const Value* elements = list(key);
    if (elements == nullptr) return found;
    for (std::size_t i = 0; i < elements->size(); ++i) {
        const Value& element = (*elements)[i];
        if (element.is_null()) continue; // a nil element is skipped (I-009)
        const std::string element_path = fmt::format("{}[{}]", key, i);
        if (!element.is_string()) {
            fail(si::ErrorCode::Type, element_path, fmt::format("expected a text, got {}", element.type_name()));
            return found;
        }
        if (!check(element_path, element.get_ref<const std::string&>(), rule)) return found;
        found.push_back(element.get<std::string>());
    }
    return found;
}

std::optional<std::vector<std::pair<std::string, std::string>>> BodyReader::text_map(std::string_view key) {
    const Value* entries = map(key);
    if (entries == nullptr) return std::nullopt;
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& [name, value] : entries->get_ref<const Value::object_t&>()) {
        if (!check(key, name, TextRule::Id)) return found;
        if (value.is_null()) continue;
        const std::string element_path = fmt::format("{}.{}", key, name);
        if (!value.is_string()) {
            fail(si::ErrorCode::Type, element_path, fmt::format("expected a text, got {}", value.type_name()));
            return found;
        }
        if (!check(element_path, value.get_ref<const std::string&>(), TextRule::TagValue)) return found;
        found.emplace_back(name, value.get<std::string>());
    }
    return found;
}

const Value* BodyReader::map(std::string_view key, Presence presence) {
    return typed(key, presence, &Value::is_object, "a map");
}

const Value* BodyReader::list(std::string_view key) {
    const Value* found = typed(key, Presence::Optional, &Value::is_array, "a list");
    if (found == nullptr || found->size() <= kMaxListElements) return found;
    fail(si::ErrorCode::Limit, key, list_limit_message(found->size()));
    return nullptr;
}

} // namespace yk::wire
