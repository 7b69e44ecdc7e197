// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/canonical_json.h"

#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

namespace yk::mcs {
namespace {

using Json = nlohmann::json; // its objects keep their keys sorted

/// Bytes that are no UTF-8 cannot be written as JSON; they become the replacement character rather than an exception.
std::string dump(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Json, std::string> parse(std::string_view json, Json::value_t type) {
    Json value = Json::parse(json, nullptr, /*allow_exceptions=*/false);
    if (value.is_discarded()) return std::string{"it is no JSON"};
    if (value.type() != type)
        return std::string{type == Json::value_t::array ? "it is no JSON list" : "it is no JSON object"};
    return value;
}

bool fits_amount(const Json& value) {
    if (value.is_number_unsigned()) // nlohmann takes every number without a sign for one of these
        return value.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
    return value.is_number_integer();
}

} // namespace

std::string json_of(const Amounts& amounts) {
    Json object = Json::object();
    for (const auto& [name, amount] : amounts) object[name] = amount;
    return dump(object);
}

std::string json_of(const Texts& texts) {
    Json object = Json::object();
    for (const auto& [name, text] : texts) object[name] = text;
    return dump(object);
}

std::string json_of(const std::vector<std::string>& texts) {
    return dump(Json(texts));
}

Result<Amounts, std::string> amounts_of(std::string_view json) {
    Amounts amounts;
    if (json == "{}") return amounts;
    YK_TRY(object, parse(json, Json::value_t::object));
    for (const auto& [name, value] : object.items()) {
        if (!fits_amount(value)) return "the amount of " + name + " is no whole number of 64 bits";
        if (value.get<std::int64_t>() < 0) return "the amount of " + name + " is less than 0";
        amounts.emplace(name, value.get<std::int64_t>());
    }
    return amounts;
}

Result<Texts, std::string> texts_of(std::string_view json) {
    Texts texts;
    if (json == "{}") return texts;
    YK_TRY(object, parse(json, Json::value_t::object));
    for (const auto& [name, value] : object.items()) {
        if (!value.is_string()) return "the value of " + name + " is no text";
        texts.emplace(name, value.get<std::string>());
    }
    return texts;
}

Result<std::vector<std::string>, std::string> list_of(std::string_view json) {
    std::vector<std::string> texts;
    if (json == "[]") return texts;
    YK_TRY(list, parse(json, Json::value_t::array));
    for (const Json& value : list) {
        if (!value.is_string()) return std::string{"an entry of the list is no text"};
        texts.push_back(value.get<std::string>());
    }
    return texts;
}

std::optional<std::string> canonical_object(std::string_view json) {
    if (json == "{}") return std::string{json};
    const auto parsed = parse(json, Json::value_t::object);
    if (!parsed.ok()) return std::nullopt;
    return dump(*parsed);
}

} // namespace yk::mcs
