// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bodies as a Value, for kinds whose fields depend on one of them or have two forms: decode_value() and encode_value()
// move them between bytes and tree, BodyReader reads fields out of the tree with the errors of I-317.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/check.h"
#include "protocol/wire/error.h"
#include "protocol/wire/packer.h"
#include "protocol/wire/scan.h"
#include "protocol/wire/text.h"
#include "protocol/wire/value.h"

namespace yk::wire {

/// The whole body as a tree. Texts are not checked: BodyReader checks those that are read, and whoever prints a Value
/// uses nlohmann's error_handler_t::replace.
[[nodiscard]] Value decode_value(Body body);

/// Appends `value` in the shortest form. An object's null members are written as nil.
void encode_value(Packer& out, const Value& value);
[[nodiscard]] std::string encoded_value(const Value& value);

enum class Presence : std::uint8_t { Optional, Required };

/// Reads known fields of one map. The first fault sticks: later reads give the fallback, and the caller looks at
/// fault() once at the end. nil counts as absent. Views the map, which must outlive it.
class BodyReader {
public:
    explicit BodyReader(const Value& map) : map_(&map), fault_(&own_fault_) {
        YK_ASSUME(map.is_object(), "a BodyReader reads an object");
    }
    BodyReader(const BodyReader&) = delete;
    BodyReader& operator=(const BodyReader&) = delete;

    [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }
    /// A required text that is empty counts as missing.
    [[nodiscard]] std::string text(std::string_view key, Presence presence = Presence::Optional,
                                   TextRule rule = TextRule::Id, std::string_view fallback = {});
    [[nodiscard]] std::optional<std::string> optional_text(std::string_view key, TextRule rule = TextRule::Id);
    [[nodiscard]] std::uint64_t u64(std::string_view key, std::uint64_t fallback = 0);
    [[nodiscard]] std::uint32_t u32(std::string_view key, std::uint32_t fallback = 0);
    [[nodiscard]] std::int64_t i64(std::string_view key, std::int64_t fallback = 0);
    [[nodiscard]] bool flag(std::string_view key, bool fallback = false);
    [[nodiscard]] std::vector<std::string> texts(std::string_view key, TextRule rule = TextRule::Id);
    /// A map of texts in its order; nullopt when absent.
    [[nodiscard]] std::optional<std::vector<std::pair<std::string, std::string>>> text_map(std::string_view key);
    /// A nested map or list; nullptr when absent.
    [[nodiscard]] const Value* map(std::string_view key, Presence presence = Presence::Optional);
    [[nodiscard]] const Value* list(std::string_view key);
    /// A reader of the nested map `map(key)`. Its faults are those of this reader, with `key` in front of the path.
    [[nodiscard]] BodyReader nested(std::string_view key, const Value& map) { return {*this, key, map}; }

    /// Notes a fault that the caller found, unless there is one already.
    void fail(si::ErrorCode code, std::string_view key, std::string message);
    [[nodiscard]] const std::optional<WireError>& fault() const { return *fault_; }

private:
    BodyReader(BodyReader& parent, std::string_view key, const Value& map);
    [[nodiscard]] const Value* find(std::string_view key) const;
    [[nodiscard]] bool check(std::string_view key, std::string_view text, TextRule rule);
    [[nodiscard]] const Value* typed(std::string_view key, Presence presence, bool (Value::*is)() const noexcept,
                                     std::string_view expected);

    const Value* map_;
    std::string path_;
    std::optional<WireError> own_fault_;
    std::optional<WireError>* fault_;
};

} // namespace yk::wire
