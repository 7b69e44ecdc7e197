// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryDigest: what an RM and the core compare at the end of a recovery, to see whether both know the same nodes,
// applications and allocations (interface.md 3.4). A digest is a sum over objects, so their order does not matter and
// an object can be added or taken away at any time. Buckets are 256 such sums, by which the objects that differ are
// found without sending lists.
//
// Pure: no state but its own. Both sides make it: the core from its objects, an RM from its books.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace yk::recovery {

/// The hash of one line (I-232).
[[nodiscard]] std::uint64_t line_hash(std::string_view line) noexcept;

/// The amounts as they stand in a line; those of 0 are left out.
[[nodiscard]] std::string resources_text(const std::map<std::string, std::int64_t>& resources);

// The line of each kind (I-233). `partition` is the short name, `resources` a resources_text().
[[nodiscard]] std::string node_line(std::string_view partition, std::string_view node, std::string_view resources,
                                    bool schedulable);
[[nodiscard]] std::string application_line(std::string_view partition, std::string_view application);
/// `application` is empty for a foreign allocation.
[[nodiscard]] std::string allocation_line(std::string_view partition, std::string_view application,
                                          std::string_view key, std::string_view node, std::string_view resources,
                                          bool placeholder);

/// The bucket of an object (I-235). `id`: of a node or application.
[[nodiscard]] std::uint8_t bucket_of(std::string_view partition, std::string_view id);
/// The bucket of an allocation.
[[nodiscard]] std::uint8_t bucket_of(std::string_view partition, std::string_view application, std::string_view key);

/// Of one kind of objects. Costs 2 KiB.
class Digest {
public:
    void add(std::uint8_t bucket, std::uint64_t hash) noexcept {
        buckets_[bucket] += hash;
        ++count_;
    }
    /// Takes away what was added before.
    void remove(std::uint8_t bucket, std::uint64_t hash) noexcept {
        buckets_[bucket] -= hash;
        --count_;
    }

    /// Adds all that was added to the other one.
    void add(const Digest& other) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// The sum of all hashes modulo 2^64 (I-231).
    [[nodiscard]] std::uint64_t sum() const noexcept;
    /// 256 numbers of eight bytes, the highest byte first: as they go over the wire.
    [[nodiscard]] std::string bucket_bytes() const;

    friend bool operator==(const Digest&, const Digest&) = default;

private:
    std::array<std::uint64_t, 256> buckets_{};
    std::uint64_t count_ = 0;
};

} // namespace yk::recovery
