#include "ykd/service/places.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace yk::service {
namespace {

constexpr std::size_t kNamed = 3; // holders that a message names

/// `uid 1000 has 120, uid 0 has 4`: those who have most.
std::string holders(const PlacesTaken& taken) {
    std::vector<std::pair<std::string, std::size_t>> all(taken.begin(), taken.end());
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
    std::string text;
    for (std::size_t i = 0; i < std::min(all.size(), kNamed); ++i)
        text += fmt::format("{}{} has {}", i == 0 ? "" : ", ", all[i].first, all[i].second);
    if (all.size() > kNamed) text += fmt::format(", and {} others", all.size() - kNamed);
    return text;
}

} // namespace

std::string Places::refusal(Shortage shortage, const PlaceTaker& taker, const PlacesTaken& taken,
                            std::string_view noun) const {
    if (shortage == Shortage::OfIdentity)
        return fmt::format("{} has {} of {} {}, more than half are not given to one identity", taker.identity,
                           most_of_one(), limit_, noun);
    if (taker.admin) return fmt::format("{} {} are in use, which is the limit: {}", limit_, noun, holders(taken));
    return fmt::format("{} {} are in use, {} more are kept for admins: {}", limit_ - kept(), noun, kept(),
                       holders(taken));
}

} // namespace yk::service
