// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

namespace {

constexpr std::uint32_t kSpread = 0x9E3779B1U; // odd: a bijection of 32-bit numbers
constexpr std::string_view kDigits = "0123456789abcdef";

constexpr std::uint32_t inverse(std::uint32_t odd) {
    std::uint32_t x = odd;
    for (int i = 0; i < 5; ++i) x *= 2 - odd * x; // Newton: the number of correct bits doubles
    return x;
}
static_assert(kSpread * inverse(kSpread) == 1);

void put_hex(char* out, std::uint64_t value, int digits) {
    for (int i = digits; i-- > 0; value >>= 4) out[i] = kDigits[value & 15];
}

} // namespace

std::uint64_t Random::next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return z ^ z >> 31;
}

Key::Key(std::uint32_t i) {
    Random random{i};
    const std::uint64_t a = random.next();
    const std::uint64_t b = random.next();
    char* out = text_.data();
    put_hex(out, std::uint64_t{i * kSpread}, 8);
    put_hex(out + 9, a, 4);
    put_hex(out + 14, a >> 16, 4);
    put_hex(out + 19, a >> 32, 4);
    put_hex(out + 24, b, 12);
    for (const std::size_t dash : {8U, 13U, 18U, 23U}) text_[dash] = '-';
}

std::uint32_t Key::index_of(std::string_view key) {
    std::uint32_t value = 0;
    for (const char digit : key.substr(0, 8)) value = value << 4 | static_cast<std::uint32_t>(kDigits.find(digit));
    return value * inverse(kSpread);
}

} // namespace yk::bench
