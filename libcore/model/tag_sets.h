// SPDX-License-Identifier: Apache-2.0
#pragma once
// TagSets: the tags of asks and allocations, each distinct set once. Owner: PartitionContext.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "libcore/base/slab.h"
#include "libcore/ports/budget.h"

namespace yk {

struct TagSet;
using TagSetId = Id<TagSet>;

struct TagSet {
    std::string bytes; // all keys and values, one after the other
    std::vector<Tag> tags;
    std::uint32_t uses = 0;
};

class TagSets {
public:
    /// `meter` counts the names of distinct sets.
    explicit TagSets(BudgetMeter& meter) : meter_(meter) {}
    /// The same id for equal tags, valid until released as often as it was acquired; none for no tags.
    TagSetId acquire(const Tags& tags) noexcept;
    void release(TagSetId id) noexcept;
    /// To be called now and then: returns the memory when most sets were released.
    void give_back() { sets_.give_back(); }
    [[nodiscard]] const Tags& tags(TagSetId id) const noexcept;
    [[nodiscard]] std::size_t size() const noexcept { return sets_.size(); }
    /// What `meter` counts for them, added up again.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    [[nodiscard]] static std::string text_key(const Tags& tags);

    BudgetMeter& meter_;
    Slab<TagSet> sets_;
    std::unordered_map<std::string_view, TagSetId> by_text_; // views of the sets' bytes, which never move
    Tags none_;
};

/// The value of the tag with this exact key; empty when absent.
[[nodiscard]] std::string_view find_tag(const Tags& tags, std::string_view key) noexcept;

} // namespace yk
