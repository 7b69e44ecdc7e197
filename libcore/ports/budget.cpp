// SPDX-License-Identifier: Apache-2.0
#include "libcore/ports/budget.h"

namespace yk {

namespace {

// Bytes of a text on the heap with its entry in a table; of a pair of texts in a list.
constexpr std::uint64_t kPerName = 48;
constexpr std::uint64_t kPerTag = 64;
constexpr std::uint64_t kFactor = 2; // by which the limit for facts is larger

struct Kind {
    std::string_view name, key, words;
    std::uint64_t Budget::*limit;
    double bytes; // that one takes, as measured at the limits (ykd.conf(5))
};
constexpr std::array<Kind, kAllHeld.size()> kKinds{
    {{"nodes", "rmMaxNodes", "nodes", &Budget::nodes, 3000},
     {"applications", "rmMaxApplications", "applications", &Budget::applications, 3400},
     {"asks", "rmMaxAsks", "asks and allocations", &Budget::asks, 1250},
     {"queues", "rmMaxQueues", "queues made by placement rules", &Budget::queues, 3200},
     {"names", "rmMaxNames", "bytes of names, tags and attributes", &Budget::names, 1.4}}};

const Kind& kind_of(Held what) noexcept {
    return kKinds[static_cast<std::size_t>(what)];
}

} // namespace

std::string_view name_of(Held what) noexcept {
    return kind_of(what).name;
}

std::string_view key_of(Held what) noexcept {
    return kind_of(what).key;
}

std::uint64_t limit_of(const Budget& budget, Held what) noexcept {
    return budget.*kind_of(what).limit;
}

std::uint64_t& limit_of(Budget& budget, Held what) noexcept {
    return budget.*kind_of(what).limit;
}

Holdings Holdings::plus(Held what, std::uint64_t count) const noexcept {
    Holdings sum = *this;
    sum.of(what) += count;
    return sum;
}

std::uint64_t memory_of(const Holdings& held) noexcept {
    double bytes = 0;
    for (const Held what : kAllHeld) bytes += kind_of(what).bytes * static_cast<double>(held.of(what));
    return static_cast<std::uint64_t>(bytes);
}

std::uint64_t bytes_of(std::string_view name) noexcept {
    return name.size() + kPerName;
}

std::uint64_t bytes_of_tag(std::string_view key, std::string_view value) noexcept {
    return key.size() + value.size() + kPerTag;
}

std::uint64_t bytes_of(const Tags& tags) noexcept {
    std::uint64_t bytes = 0;
    for (const Tag& tag : tags) bytes += bytes_of_tag(tag.key, tag.value);
    return bytes;
}

BudgetMeter::~BudgetMeter() {
    for (const Held what : kAllHeld) rm_.of(what) -= own_.of(what);
}

std::optional<BudgetMeter::Shortage> BudgetMeter::shortage(const Holdings& claim, bool fact) const {
    for (const Held what : kAllHeld) {
        const std::uint64_t limit = limit_of(budget_, what), wanted = claim.of(what), held = rm_.of(what);
        if (limit == 0 || wanted == 0) continue;
        const std::uint64_t most = fact && limit <= UINT64_MAX / kFactor ? limit * kFactor : limit;
        if (held <= most && wanted <= most - held) continue;
        std::string text = "the resource manager has " + std::to_string(held) + " of at most " + std::to_string(limit) +
                           " " + std::string{kind_of(what).words};
        if (wanted > 1) text += ", " + std::to_string(wanted) + " more are wanted";
        return Shortage{what, text + " (" + std::string{key_of(what)} + " of ykd.conf)"};
    }
    return std::nullopt;
}

bool BudgetMeter::has_too_many_names() const noexcept {
    return budget_.names > 0 && rm_.of(Held::Names) > budget_.names;
}

} // namespace yk
