// SPDX-License-Identifier: Apache-2.0
#pragma once
// ChangeOrder: places in the order in which they changed, the last one first, so that whoever keeps something for each
// place reads only what changed since it looked. Each place stands there once, however often it changes.
//
// Owner: ShapeBoards. Thread: the partition's owner. Cost: a change or a place that is read a few instructions.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace yk {

class ChangeOrder {
public:
    /// How many changes there were before.
    using Moment = std::uint64_t;

    [[nodiscard]] Moment now() const noexcept { return now_; }
    /// More places at the end, which never changed.
    void grow(std::size_t places) { links_.resize(places + 1, kNever); }
    /// No place has ever changed, and there are so many.
    void forget(std::size_t places) {
        links_.assign(places + 1, kNever);
        links_[0] = {0, 0, 0};
    }
    void note(std::size_t place) noexcept {
        const auto at = static_cast<std::uint32_t>(place + 1);
        Link& link = links_[at];
        if (link.when != 0) {
            links_[link.newer].older = link.older;
            links_[link.older].newer = link.newer;
        }
        link = {0, links_[0].older, ++now_};
        links_[link.older].newer = at;
        links_[0].older = at;
    }
    /// f(place) for each place that changed since the moment.
    template <class F>
    void for_each_since(Moment moment, F&& f) const {
        for (std::uint32_t at = links_[0].older; links_[at].when > moment; at = links_[at].older)
            f(std::size_t{at} - 1);
    }

private:
    struct Link {
        std::uint32_t newer, older; // places + 1; 0: the end
        Moment when;                // of its last change; 0: never
    };
    static constexpr Link kNever{0, 0, 0};

    std::vector<Link> links_{kNever}; // the first one stands for the ends: the newest is behind it, the oldest before
    Moment now_ = 0;
};

} // namespace yk
