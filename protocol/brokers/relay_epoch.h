// SPDX-License-Identifier: Apache-2.0
#pragma once
// RelayEpoch: which change log the events of a broker are of. Positions of two logs have nothing to do with each other,
// so events of another one than before are a gap, and what is read afterwards has another epoch (rs R-055).

#include <cstdint>
#include <string>

namespace yk::rs {

class RelayEpoch {
public:
    /// Whether an event with this epoch goes on with those before it. Messages of others than relays have none.
    [[nodiscard]] bool fits(const std::string& epoch) {
        if (epoch.empty() || epoch == epoch_) return true;
        const bool is_first = epoch_.empty();
        epoch_ = epoch;
        if (!is_first) ++changes_;
        return is_first;
    }
    /// How often it has changed.
    [[nodiscard]] std::string text() const { return std::to_string(changes_); }

private:
    std::string epoch_; // empty: no event of a relay was seen
    std::uint64_t changes_ = 0;
};

} // namespace yk::rs
