// SPDX-License-Identifier: Apache-2.0
#include "libcore/digest/recovery_digest.h"

#include <numeric>

namespace yk::recovery {
namespace {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325;
constexpr std::uint64_t kFnvPrime = 0x100000001b3;

/// Spreads every bit of `z` over all others, so that sums of hashes do not cancel out.
constexpr std::uint64_t mix(std::uint64_t z) noexcept {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

std::string joined(std::initializer_list<std::string_view> fields) {
    std::string text;
    for (const std::string_view field : fields) (text += field) += '\t';
    text.pop_back();
    return text;
}

std::string line(std::initializer_list<std::string_view> fields) {
    return joined(fields) + '\n';
}

std::uint8_t top_byte(std::uint64_t hash) noexcept {
    return static_cast<std::uint8_t>(hash >> 56);
}

} // namespace

std::uint64_t line_hash(std::string_view line) noexcept {
    std::uint64_t hash = kFnvOffset;
    for (const char c : line) hash = (hash ^ static_cast<std::uint8_t>(c)) * kFnvPrime;
    return mix(hash);
}

std::string resources_text(const std::map<std::string, std::int64_t>& resources) { // the map is in byte order
    std::string text;
    for (const auto& [name, amount] : resources) {
        if (amount == 0) continue;
        if (!text.empty()) text += ',';
        text += name + '=' + std::to_string(amount);
    }
    return text;
}

std::string node_line(std::string_view partition, std::string_view node, std::string_view resources, bool schedulable) {
    return line({"N", partition, node, resources, schedulable ? "1" : "0"});
}

std::string application_line(std::string_view partition, std::string_view application) {
    return line({"A", partition, application});
}

std::string allocation_line(std::string_view partition, std::string_view application, std::string_view key,
                            std::string_view node, std::string_view resources, bool placeholder) {
    return line({"L", partition, application, key, node, resources, placeholder ? "1" : "0"});
}

std::uint8_t bucket_of(std::string_view partition, std::string_view id) {
    return top_byte(line_hash(joined({partition, id})));
}

std::uint8_t bucket_of(std::string_view partition, std::string_view application, std::string_view key) {
    return top_byte(line_hash(joined({partition, application, key})));
}

void Digest::add(const Digest& other) noexcept {
    for (std::size_t i = 0; i < buckets_.size(); ++i) buckets_[i] += other.buckets_[i];
    count_ += other.count_;
}

std::uint64_t Digest::sum() const noexcept {
    return std::accumulate(buckets_.begin(), buckets_.end(), std::uint64_t{0});
}

std::string Digest::bucket_bytes() const {
    std::string bytes;
    bytes.reserve(buckets_.size() * 8);
    for (const std::uint64_t sum : buckets_)
        for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(sum >> shift & 0xff);
    return bytes;
}

} // namespace yk::recovery
