// SPDX-License-Identifier: Apache-2.0
#pragma once
// Node: a machine that the Scheduler registers with the core as its own. Only the front end that users reach writes
// these rows. Not to be mixed up with yk::Node, the core's object for any node.

#include <cstdint>
#include <string_view>

#include "libcore/mcs/kinds.h"

namespace yk::mcs {

struct Node {
    rs::ResourceMeta meta;
    Texts attributes;
    Amounts capacity;
    Amounts occupied; // by what the scheduler does not know
    bool is_schedulable = true;
    RowTimes times;
};

} // namespace yk::mcs

template <>
struct yk::rs::ResourceTraits<yk::mcs::Node> {
    static constexpr Kind kKind = mcs::kNodeKind;
    static constexpr std::string_view kName = mcs::name_of(mcs::kNodeKind);
    static constexpr std::string_view kOwner = mcs::kApiService;
    static const ResourceMeta& meta(const mcs::Node& row) { return row.meta; }
    static std::uint64_t content_hash(const mcs::Node& row);
};
