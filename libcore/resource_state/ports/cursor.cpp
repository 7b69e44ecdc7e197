// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/ports/cursor.h"

#include <algorithm>

#include "libcore/base/number.h"

namespace yk::rs {
std::string Position::text() const {
    return std::to_string(transaction) + '.' + std::to_string(sequence);
}

std::optional<Position> Position::parse(std::string_view text) {
    const auto point = text.find('.');
    if (point == std::string_view::npos) return std::nullopt;
    const auto transaction = to_number<std::uint64_t>(text.substr(0, point));
    const auto sequence = to_number<std::uint64_t>(text.substr(point + 1));
    if (!transaction || !sequence) return std::nullopt;
    return Position{*transaction, *sequence};
}

std::partial_ordering operator<=>(const Cursor& a, const Cursor& b) {
    if (a.epoch != b.epoch || a.lanes.size() != b.lanes.size()) return std::partial_ordering::unordered;
    bool less = false, more = false;
    for (std::size_t lane = 0; lane < a.lanes.size(); ++lane) {
        less = less || a.lanes[lane] < b.lanes[lane];
        more = more || a.lanes[lane] > b.lanes[lane];
    }
    if (less && more) return std::partial_ordering::unordered;
    if (less) return std::partial_ordering::less;
    return more ? std::partial_ordering::greater : std::partial_ordering::equivalent;
}

bool Cursor::covers(std::size_t lane, Position at) const {
    return lane < lanes.size() && at <= lanes[lane];
}

void Cursor::advance(std::size_t lane, Position at) {
    if (lane >= lanes.size()) lanes.resize(lane + 1);
    lanes[lane] = std::max(lanes[lane], at);
}

std::string Cursor::text() const {
    std::string line;
    for (const Position& lane : lanes) {
        if (!line.empty()) line += ',';
        line += lane.text();
    }
    return line + '@' + epoch;
}

std::optional<Cursor> Cursor::parse(std::string_view text) {
    const auto at = text.find('@');
    if (at == std::string_view::npos) return std::nullopt;
    Cursor cursor{std::string{text.substr(at + 1)}, {}};
    for (std::string_view rest = text.substr(0, at); !rest.empty();) {
        const auto comma = std::min(rest.find(','), rest.size());
        const auto position = Position::parse(rest.substr(0, comma));
        if (!position || comma + 1 == rest.size()) return std::nullopt;
        cursor.lanes.push_back(*position);
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return cursor;
}

} // namespace yk::rs
