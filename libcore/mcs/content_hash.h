// SPDX-License-Identifier: Apache-2.0
#pragma once
// ContentHash: one number for the content of a row, equal for equal content within a process.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/kinds.h"

namespace yk::mcs {

class ContentHash {
public:
    ContentHash& add(std::uint64_t number) {
        value_ = mix(value_ ^ number);
        return *this;
    }
    ContentHash& add(std::int64_t number) { return add(static_cast<std::uint64_t>(number)); }
    ContentHash& add(bool is_so) { return add(std::uint64_t{is_so ? 1U : 2U}); }
    /// The length belongs to a text, and the count to a list, so that two neighbours cannot trade characters or
    /// entries.
    ContentHash& add(std::string_view text) { return add(text.size()).add(std::hash<std::string_view>{}(text)); }
    ContentHash& add(const std::string& text) { return add(std::string_view{text}); }
    ContentHash& add(const char* text) { return add(std::string_view{text}); }
    ContentHash& add(const std::vector<std::string>& texts) {
        add(texts.size());
        for (const std::string& text : texts) add(text);
        return *this;
    }
    template <class Value>
    ContentHash& add(const std::map<std::string, Value, std::less<>>& entries) {
        add(entries.size());
        for (const auto& [name, value] : entries) add(name).add(value);
        return *this;
    }
    ContentHash& add(const Owner& owner) {
        return add(std::uint64_t{static_cast<std::uint32_t>(owner.kind)}).add(owner.id).add(owner.uid);
    }

    [[nodiscard]] std::uint64_t value() const { return value_; }

private:
    /// The last step of MurmurHash3: every bit of the input changes about half of the bits of the output.
    [[nodiscard]] static std::uint64_t mix(std::uint64_t bits) {
        bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdULL;
        bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ULL;
        return bits ^ (bits >> 33);
    }

    std::uint64_t value_ = 0x9e3779b97f4a7c15ULL;
};

} // namespace yk::mcs
