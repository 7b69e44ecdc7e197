// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the command wait waits for, as it was typed: an object, `app/a-1`, and a condition, `pending=0`.

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "ykctl/cli/failure.h"

namespace yk::cli {

/// `allocations>=3`
struct WantedCount {
    enum class Order : std::uint8_t { Equal, AtLeast, AtMost };

    std::string what; // `pending` asks, `allocations` or `apps`
    Order order = Order::Equal;
    std::int64_t number = 0;

    [[nodiscard]] bool holds(std::int64_t count) const {
        if (order == Order::Equal) return count == number;
        return order == Order::AtLeast ? count >= number : count <= number;
    }
};

struct Wanted {
    std::string noun, name;       // `daemon` and `idle` have no name
    std::string condition;        // `state`, `count`, or the word itself: `placed`, `gone`, `empty`, `present`
    std::set<std::string> states; // of `state`
    WantedCount count;            // of `count`
    std::optional<std::string> application;

    /// For people: `app a-1`, `the daemon`.
    [[nodiscard]] std::string text() const;
};

/// A usage error says what there is to choose from.
[[nodiscard]] Answer<Wanted> read_wanted(const std::string& object, const std::optional<std::string>& condition,
                                         const std::optional<std::string>& application);

} // namespace yk::cli
