// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/dead_letter_values.h"

#include "libcore/mcs/kinds.h"

namespace yk::service {

using wire::Value;

wire::Value value_of(const mcs::DeadLetter& letter) {
    return {{"kind", mcs::name_of(letter.key.kind)},
            {"id", letter.key.id},
            {"handler", letter.key.handler},
            {"attempts", letter.attempts},
            {"error", letter.error},
            {"firstMs", letter.first_ms},
            {"lastMs", letter.last_ms}};
}

std::string cursor_of(const mcs::DeadLetter& letter) {
    const Value parts{mcs::name_of(letter.key.kind), letter.key.id, letter.key.handler};
    return parts.dump(-1, ' ', false, Value::error_handler_t::replace);
}

std::optional<mcs::DeadLetterKey> dead_letter_after(const std::string& cursor) {
    if (cursor.empty()) return mcs::DeadLetterKey{};
    const Value parts = Value::parse(cursor, nullptr, false);
    if (!parts.is_array() || parts.size() != 3) return std::nullopt;
    for (const Value& each : parts)
        if (!each.is_string()) return std::nullopt;
    const auto kind = mcs::find_kind(parts[0].get_ref<const std::string&>());
    if (!kind) return std::nullopt;
    return mcs::DeadLetterKey{*kind, parts[1].get<std::string>(), parts[2].get<std::string>()};
}

} // namespace yk::service
