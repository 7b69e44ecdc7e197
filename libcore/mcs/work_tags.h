// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tags of a Deployment that say what its replicas run: where nodes of kind `local` are, the daemon starts for each
// replica what the tag `command` says. They belong to a replica, so another command restarts one replica after the
// other, while any other tag belongs to the application and begins all of it anew. Pure.

#include <string_view>

#include "libcore/mcs/kinds.h"

namespace yk::mcs {

inline constexpr std::string_view kCommandTag = "command";
inline constexpr std::string_view kVariableTags = "env."; // how tags begin that are variables of the command
inline constexpr std::string_view kRestartTag = "restart", kRestartsTag = "restarts";

/// Who gave the tags, as the daemon knows it: `uid 1000`. Only the daemon writes it.
inline constexpr std::string_view kSubmitterTag = "mcs.submittedBy";

/// The attribute of a node and its value: what is placed there runs as a command of the daemon.
inline constexpr std::string_view kNodeKindAttribute = "kind";
inline constexpr std::string_view kLocalKind = "local";

[[nodiscard]] constexpr bool is_work_tag(std::string_view tag) {
    return tag == kCommandTag || tag.substr(0, kVariableTags.size()) == kVariableTags || tag == kRestartTag ||
           tag == kRestartsTag || tag == kSubmitterTag;
}

/// Those of the tags that say what runs; without a command none.
[[nodiscard]] inline Texts work_tags_of(const Texts& tags) {
    Texts work;
    if (tags.find(kCommandTag) == tags.end()) return work;
    for (const auto& [tag, value] : tags)
        if (is_work_tag(tag)) work.emplace(tag, value);
    return work;
}

/// The others.
[[nodiscard]] inline Texts other_tags_of(const Texts& tags) {
    Texts others = tags;
    if (tags.find(kCommandTag) != tags.end())
        std::erase_if(others, [](const auto& each) { return is_work_tag(each.first); });
    return others;
}

[[nodiscard]] inline bool is_local(const Texts& attributes) {
    const auto kind = attributes.find(kNodeKindAttribute);
    return kind != attributes.end() && kind->second == kLocalKind;
}

} // namespace yk::mcs
