// SPDX-License-Identifier: Apache-2.0
#include "ykd/session/fair_limit.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "libcore/base/check.h"

namespace yk::service {
namespace {

constexpr std::size_t kNamed = 3; // holders that a message names

/// `uid 1000 has 120, uid 0 has 4`: those who hold most.
std::string holders(const ClaimsHeld& held) {
    std::vector<std::pair<std::string, std::size_t>> all(held.begin(), held.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), kNamed); ++i)
        text += fmt::format("{}{} has {}", i == 0 ? "" : ", ", all[i].first, all[i].second);
    if (all.size() > kNamed) text += fmt::format(", and {} others", all.size() - kNamed);
    return text;
}

} // namespace

std::string FairLimit::refusal(Shortage shortage, const Claimant& claimant, const ClaimsHeld& held,
                               std::string_view noun) const {
    YK_ASSUME(shortage != Shortage::None, "there is a shortage");
    if (shortage == Shortage::OfIdentity)
        return fmt::format("{} has {} of {} {}, more than half are not given to one identity", claimant.identity,
                           most_of_one(), limit_, noun);
    if (claimant.admin) return fmt::format("{} {} are in use, which is the limit: {}", limit_, noun, holders(held));
    return fmt::format("{} {} are in use, {} more are kept for admins: {}", limit_ - kept(), noun, kept(),
                       holders(held));
}

} // namespace yk::service
