// SPDX-License-Identifier: Apache-2.0
#include "protocol/wire/text.h"

#include <array>
#include <cstring>

#include "libcore/base/text.h"

namespace yk::wire {

namespace {

constexpr std::array<std::size_t, 5> kMaxBytes{256, 1024, 4096, std::size_t{64} << 10, std::size_t{4} << 20};

constexpr std::uint64_t kEach = 0x0101010101010101U; // a 1 in each byte
constexpr std::uint64_t kHigh = 0x8080808080808080U; // the highest bit of each byte

/// The highest bit of each byte of `word` that is at least 0x80, below 0x20, or 0x7f. Bytes behind such a byte may be
/// marked as well.
constexpr std::uint64_t suspicious(std::uint64_t word) noexcept {
    const std::uint64_t low = (word - 0x20 * kEach) & ~word;
    const std::uint64_t del = word ^ (0x7f * kEach);
    return (word | low | ((del - kEach) & ~del)) & kHigh;
}

template <class Word>
std::uint64_t load(const char* at) noexcept {
    Word word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

/// Whether all bytes are printable ASCII, as in the usual identifier. The last words overlap, so that every load has a
/// fixed size.
bool is_plain(std::string_view text) noexcept {
    const char* at = text.data();
    const std::size_t size = text.size();
    if (size >= 8) {
        std::uint64_t found = suspicious(load<std::uint64_t>(at + size - 8));
        for (std::size_t i = 0; i + 8 < size; i += 8) found |= suspicious(load<std::uint64_t>(at + i));
        return found == 0;
    }
    if (size >= 4) return suspicious(load<std::uint32_t>(at) << 32 | load<std::uint32_t>(at + size - 4)) == 0;
    std::uint64_t word = kEach * ' ';
    for (std::size_t i = 0; i < size; ++i) word = word << 8 | static_cast<unsigned char>(at[i]);
    return suspicious(word) == 0;
}

bool is_control(char c) noexcept {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
}

bool has_control(std::string_view text) noexcept {
    for (const char c : text)
        if (is_control(c)) return true;
    return false;
}

} // namespace

std::size_t max_bytes(TextRule rule) noexcept {
    return kMaxBytes[static_cast<std::size_t>(rule)];
}

TextFault check_text(std::string_view text, TextRule rule) noexcept {
    if (text.size() > max_bytes(rule)) return TextFault::TooLong;
    if (is_plain(text)) return TextFault::None;
    if (!is_utf8(text)) return TextFault::NotUtf8;
    if (rule == TextRule::Id && has_control(text)) return TextFault::ControlCharacter;
    return TextFault::None;
}

} // namespace yk::wire
