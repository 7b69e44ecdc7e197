// SPDX-License-Identifier: Apache-2.0
#include "libcore/resources/lanes.h"

#include <limits>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace yk {

namespace {

constexpr float kFree = std::numeric_limits<float>::quiet_NaN(); // compares false with everything, infinity too

} // namespace

[[gnu::hot]] Lanes lanes_of(const Resource& amounts) noexcept {
    Lanes lanes{};
    for (ResourceId id = 0; id < kLanes; ++id) lanes[id] = lane_of(amounts.get(id));
    return lanes;
}

FitNeeds::FitNeeds() {
    for (auto& lane : needs_) lane.fill(kFree);
}

void FitNeeds::set(std::size_t bit, const Lanes& need) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) needs_[lane][bit] = need[lane];
}

void FitNeeds::clear(std::size_t bit) {
    for (auto& lane : needs_) lane[bit] = kFree;
}

Lanes FitNeeds::get(std::size_t bit) const noexcept {
    Lanes need{};
    for (std::size_t lane = 0; lane < kLanes; ++lane) need[lane] = needs_[lane][bit];
    return need;
}

#ifdef __SSE2__
std::uint64_t FitNeeds::within(const Lanes& available, std::size_t used) const noexcept {
    std::uint64_t mask = 0;
    for (std::size_t bit = 0; bit < used; bit += 4) {
        __m128 fit = _mm_cmple_ps(_mm_load_ps(&needs_[0][bit]), _mm_set1_ps(available[0]));
        for (std::size_t lane = 1; lane < kLanes; ++lane)
            fit = _mm_and_ps(fit, _mm_cmple_ps(_mm_load_ps(&needs_[lane][bit]), _mm_set1_ps(available[lane])));
        mask |= static_cast<std::uint64_t>(static_cast<unsigned>(_mm_movemask_ps(fit))) << bit;
    }
    return mask;
}
#else
std::uint64_t FitNeeds::within(const Lanes& available, std::size_t used) const noexcept {
    std::uint64_t mask = 0;
    for (std::size_t bit = 0; bit < used; ++bit) {
        bool fit = true;
        for (std::size_t lane = 0; lane < kLanes; ++lane) fit = fit && needs_[lane][bit] <= available[lane];
        if (fit) mask |= std::uint64_t{1} << bit;
    }
    return mask;
}
#endif

} // namespace yk
