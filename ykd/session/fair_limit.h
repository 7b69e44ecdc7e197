// SPDX-License-Identifier: Apache-2.0
#pragma once
// FairLimit: a limit on how many there are of something (sessions, RMs) that one identity cannot use up alone: some of
// them are kept for sessions of role admin, and any other identity may hold at most half of them. It only decides; the
// table that owns it counts.
//
// Thread: any, it never changes.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace yk::service {

/// Who asks for one of them, and holds it afterwards.
struct Claimant {
    std::string identity; // as Grant::name
    bool admin = false;   // a session of role admin
};

/// How many each identity holds.
using ClaimsHeld = std::map<std::string, std::size_t>;

class FairLimit {
public:
    explicit FairLimit(std::size_t limit) : limit_(limit) {}

    [[nodiscard]] std::size_t limit() const { return limit_; }
    /// How many only admins may take: the last ones.
    [[nodiscard]] std::size_t kept() const { return limit_ < 2 ? 0 : std::max<std::size_t>(1, limit_ / 16); }
    /// How many one identity that is no admin may hold.
    [[nodiscard]] std::size_t most_of_one() const { return (limit_ + 1) / 2; }

    enum class Shortage {
        None,
        OfIdentity, // this identity holds its half
        OfAll       // all that it may take are held
    };
    /// Whether the claimant may have one more. `held`: how many are held in all; `own`: how many its identity holds,
    /// without those that it holds as an admin.
    [[nodiscard]] Shortage shortage_for(const Claimant& claimant, std::size_t held, std::size_t own) const {
        if (!claimant.admin && own >= most_of_one()) return Shortage::OfIdentity;
        return held >= (claimant.admin ? limit_ : limit_ - kept()) ? Shortage::OfAll : Shortage::None;
    }
    /// A sentence for people: why the claimant gets none, and who holds them. `noun` in the plural.
    /// REQUIRES: there is a shortage.
    [[nodiscard]] std::string refusal(Shortage shortage, const Claimant& claimant, const ClaimsHeld& held,
                                      std::string_view noun) const;

private:
    const std::size_t limit_;
};

} // namespace yk::service
