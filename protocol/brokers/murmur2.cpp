// SPDX-License-Identifier: Apache-2.0
#include "protocol/brokers/murmur2.h"

namespace yk::rs {
namespace {

constexpr std::uint32_t kSeed = 0x9747b28cU, kMix = 0x5bd1e995U;

std::uint32_t byte_at(std::string_view key, std::size_t at) {
    return static_cast<unsigned char>(key[at]);
}

} // namespace

std::uint32_t murmur2(std::string_view key) {
    std::uint32_t hash = kSeed ^ static_cast<std::uint32_t>(key.size());
    const std::size_t whole = key.size() / 4 * 4;
    for (std::size_t at = 0; at < whole; at += 4) {
        std::uint32_t word =
            byte_at(key, at) | byte_at(key, at + 1) << 8U | byte_at(key, at + 2) << 16U | byte_at(key, at + 3) << 24U;
        word *= kMix;
        word ^= word >> 24U;
        word *= kMix;
        hash = (hash * kMix) ^ word;
    }
    const std::size_t rest = key.size() - whole;
    if (rest > 2) hash ^= byte_at(key, whole + 2) << 16U;
    if (rest > 1) hash ^= byte_at(key, whole + 1) << 8U;
    if (rest > 0) hash = (hash ^ byte_at(key, whole)) * kMix;
    hash = (hash ^ hash >> 13U) * kMix;
    return hash ^ hash >> 15U;
}

} // namespace yk::rs
