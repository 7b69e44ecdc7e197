// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resource: amounts by type (scheduling.md section 1). A missing type counts as 0.
//
// A type is named by a ResourceId: the position of its name in the partition's ResourceNames, given in order of first
// sight. A Resource holds which types it names (so that empty, zero and missing stay apart, S-002) and one lane per id.
// "Absent" is std::optional<Resource> or a null pointer, never a state of this class.
// `Limit` (limit.h) has the same lanes and the opposite meaning of a missing type.

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/saturate.h"

namespace yk {

using ResourceId = std::uint32_t;

/// At most this many resource types per partition; the mask of a Resource is one word.
inline constexpr std::size_t kMaxResourceTypes = 64;

class Resource {
public:
    Resource() noexcept = default;
    Resource(const Resource& other) { *this = other; }
    Resource(Resource&&) noexcept = default;
    Resource& operator=(const Resource& other) {
        present_ = other.present_;
        inline_ = other.inline_;
        more_ = other.more_ ? std::make_unique<More>(*other.more_) : nullptr;
        return *this;
    }
    Resource& operator=(Resource&&) noexcept = default;

    // --- one type ---------------------------------------------------------------------------------------------------
    [[nodiscard]] std::int64_t get(ResourceId id) const noexcept {
        if (id < kInline) return inline_[id];
        return more_ ? (*more_)[id - kInline] : 0;
    }
    [[nodiscard]] bool has(ResourceId id) const noexcept { return (present_ >> id & 1) != 0; }
    void set(ResourceId id, std::int64_t value) {
        present_ |= std::uint64_t{1} << id;
        lane(id) = value;
    }
    void erase(ResourceId id) noexcept {
        if (!has(id)) return;
        lane(id) = 0;
        present_ &= ~(std::uint64_t{1} << id);
    }

    // --- all types --------------------------------------------------------------------------------------------------
    [[nodiscard]] std::uint64_t types() const noexcept { return present_; }
    [[nodiscard]] bool empty() const noexcept { return present_ == 0; }
    /// f(ResourceId, std::int64_t) for each type, by id.
    template <class F>
    void for_each(F&& f) const {
        for (std::uint64_t left = present_; left != 0; left &= left - 1) {
            const auto id = static_cast<ResourceId>(std::countr_zero(left));
            f(id, get(id));
        }
    }

    // --- arithmetic: saturating (S-004 to S-010) --------------------------------------------------------------------
    [[gnu::hot]] void add(const Resource& other) {
        if (other.more_ || !add_each(inline_, other.inline_)) return add_one_by_one(other);
        present_ |= other.present_;
    }
    [[gnu::hot]] void sub(const Resource& other) { // may go negative
        if (other.more_ || !sub_each(inline_, other.inline_)) return sub_one_by_one(other);
        present_ |= other.present_;
    }
    /// As sub(), then clamp() (S-006).
    void sub_clamped(const Resource& other);
    /// Amounts below 0 become 0.
    void clamp() noexcept;
    /// Drops the types whose amount is 0 (S-008).
    [[gnu::hot]] void prune() noexcept {
        std::uint64_t zero = 0;
        for (std::size_t i = 0; i < kInline; ++i) zero |= std::uint64_t{inline_[i] == 0} << i;
        present_ &= ~zero;
        if (more_) prune_more();
    }
    /// Per type the larger amount; a type that one side lacks counts as 0 there (S-010).
    void max_with(const Resource& other);

    // --- questions (S-012 to S-014) ---------------------------------------------------------------------------------
    [[nodiscard]] bool is_zero() const noexcept { return all_bits() == 0; }
    [[nodiscard]] bool gt_zero() const noexcept { return all_bits() > 0; } // one above 0, none below
    [[nodiscard]] bool has_negative() const noexcept { return all_bits() < 0; }
    [[nodiscard]] bool equals(const Resource& other) const noexcept; // missing counts as 0
    /// Same types and values.
    [[nodiscard]] bool deep_equals(const Resource& other) const noexcept;

private:
    friend class Limit;
    friend bool fits(const Resource& big, const Resource& small) noexcept;
    static constexpr std::size_t kInline = 4;
    using More = std::array<std::int64_t, kMaxResourceTypes - kInline>;

    std::int64_t& lane(ResourceId id) {
        if (id < kInline) return inline_[id];
        if (!more_) more_ = std::make_unique<More>();
        return (*more_)[id - kInline];
    }

    /// The OR of all amounts: negative when one of them is, 0 when all are 0, else positive.
    [[nodiscard]] std::int64_t all_bits() const noexcept {
        std::int64_t bits = more_ ? more_bits() : 0;
        for (const std::int64_t amount : inline_) bits |= amount;
        return bits;
    }
    [[nodiscard]] std::int64_t more_bits() const noexcept;
    void add_one_by_one(const Resource& other);
    void sub_one_by_one(const Resource& other);
    void prune_more() noexcept;

    std::uint64_t present_ = 0; // INVARIANT: a lane whose bit is off is 0
    std::array<std::int64_t, kInline> inline_{};
    std::unique_ptr<More> more_;
};

/// Whether each amount of `small` is at most that of `big`. What `big` lacks counts as 0, and so does a negative amount
/// in it (S-011).
[[nodiscard]] bool fits(const Resource& big, const Resource& small) noexcept;

/// The resource type names of a partition: append only, at most kMaxResourceTypes.
class ResourceNames {
public:
    static constexpr ResourceId npos = ~ResourceId{0};
    /// The id of `name`, made when it is new. npos: the table is full. Cost: O(size()), and so is find().
    ResourceId intern(std::string_view name);
    [[nodiscard]] ResourceId find(std::string_view name) const noexcept; // npos: unknown
    [[nodiscard]] const std::string& name(ResourceId id) const { return names_[id]; }
    [[nodiscard]] std::size_t size() const noexcept { return names_.size(); }
    /// Ids sorted by name, for output.
    [[nodiscard]] const std::vector<ResourceId>& by_name() const noexcept { return by_name_; }

private:
    std::vector<std::string> names_;
    std::vector<ResourceId> by_name_;
};

/// A resource with the names of its types, for output. Absent when default-made.
struct NamedResource {
    const Resource* amounts = nullptr;
    const ResourceNames* names = nullptr;

    [[nodiscard]] bool absent() const { return amounts == nullptr; }
    /// f(std::string_view name, std::int64_t value), sorted by name.
    template <class F>
    void for_each(F&& f) const {
        if (amounts == nullptr) return;
        for (const ResourceId id : names->by_name())
            if (amounts->has(id)) f(std::string_view{names->name(id)}, amounts->get(id));
    }
    /// `map[memory:10 vcore:5]`, `map[]`, `nil resource` when absent (S-032).
    [[nodiscard]] std::string text() const;
};

} // namespace yk
