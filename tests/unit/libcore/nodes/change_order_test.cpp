// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

#include "libcore/nodes/change_order.h"
#include "tests/support/random_config.h"

namespace yk::testing {

namespace {

std::vector<std::size_t> since(const ChangeOrder& order, ChangeOrder::Moment moment) {
    std::vector<std::size_t> places;
    order.for_each_since(moment, [&places](std::size_t place) { places.push_back(place); });
    return places;
}

} // namespace

TEST_CASE("F-032 what changed since a moment is read once, the last change first") {
    ChangeOrder order;
    order.grow(4);
    CHECK(since(order, 0).empty());
    order.note(2);
    order.note(0);
    const ChangeOrder::Moment then = order.now();
    order.note(2);
    order.note(3);
    order.note(2);
    CHECK(since(order, then) == std::vector<std::size_t>{2, 3});
    CHECK(since(order, 0) == std::vector<std::size_t>{2, 3, 0});
    CHECK(since(order, order.now()).empty());
    order.grow(9);
    order.note(8);
    CHECK(since(order, then) == std::vector<std::size_t>{8, 2, 3});
    order.forget(3);
    CHECK(since(order, 0).empty());
    order.note(1);
    CHECK(since(order, then) == std::vector<std::size_t>{1});
}

TEST_CASE("F-032 many changes of many places: none is missed, whenever it was looked the last time") {
    Random random{5};
    ChangeOrder order;
    order.grow(50);
    std::vector<ChangeOrder::Moment> last(50, 0);
    for (int change = 0; change < 2000; ++change) {
        const auto place = static_cast<std::size_t>(random.between(0, 49));
        order.note(place);
        last[place] = order.now();
        const auto moment = static_cast<ChangeOrder::Moment>(random.between(0, static_cast<std::int64_t>(order.now())));
        std::vector<std::size_t> wanted;
        for (std::size_t each = 0; each < last.size(); ++each)
            if (last[each] > moment) wanted.push_back(each);
        std::sort(wanted.begin(), wanted.end(), [&last](std::size_t a, std::size_t b) { return last[a] > last[b]; });
        REQUIRE(since(order, moment) == wanted);
    }
}

} // namespace yk::testing
