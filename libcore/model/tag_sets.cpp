// SPDX-License-Identifier: Apache-2.0
#include "libcore/model/tag_sets.h"

#include <utility>

namespace yk {

std::string TagSets::text_key(const Tags& tags) {
    std::string text;
    const auto append = [&text](std::string_view part) {
        const auto size = static_cast<std::uint32_t>(part.size());
        text.append(reinterpret_cast<const char*>(&size), sizeof size).append(part);
    };
    for (const Tag& tag : tags) {
        append(tag.key);
        append(tag.value);
    }
    return text;
}

TagSetId TagSets::acquire(const Tags& tags) noexcept {
    if (tags.empty()) return {};
    std::string text = text_key(tags);
    const auto known = by_text_.find(text);
    if (known != by_text_.end()) {
        ++sets_[known->second].uses;
        return known->second;
    }
    const TagSetId id = sets_.make();
    TagSet& set = sets_[id];
    set.bytes = std::move(text);
    set.uses = 1;
    meter_.add(Held::Names, bytes_of(tags));
    std::size_t at = 0;
    for (const Tag& tag : tags) {
        const std::string_view bytes = set.bytes;
        const std::size_t key_at = at + sizeof(std::uint32_t);
        const std::size_t value_at = key_at + tag.key.size() + sizeof(std::uint32_t);
        set.tags.push_back({bytes.substr(key_at, tag.key.size()), bytes.substr(value_at, tag.value.size())});
        at = value_at + tag.value.size();
    }
    by_text_.emplace(set.bytes, id);
    return id;
}

void TagSets::release(TagSetId id) noexcept {
    if (!id.valid() || --sets_[id].uses > 0) return;
    meter_.take(Held::Names, bytes_of(sets_[id].tags));
    by_text_.erase(sets_[id].bytes);
    sets_.destroy(id);
}

const Tags& TagSets::tags(TagSetId id) const noexcept {
    return id.valid() ? sets_[id].tags : none_;
}

std::uint64_t TagSets::bytes() const {
    std::uint64_t bytes = 0;
    sets_.for_each([&](TagSetId id) { bytes += bytes_of(sets_[id].tags); });
    return bytes;
}

std::string_view find_tag(const Tags& tags, std::string_view key) noexcept {
    for (const Tag& tag : tags)
        if (tag.key == key) return tag.value;
    return {};
}

} // namespace yk
