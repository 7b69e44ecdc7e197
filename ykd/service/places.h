#pragma once
// Places: how a bounded number of places (of sessions, of RMs) is shared out, so that nobody's flood keeps the others
// out (A8): some are kept for sessions of role admin, and nobody else has more than half of them.

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace yk::service {

/// Who wants a place, and has it then. `identity` as in Grant::name.
struct PlaceTaker {
    std::string identity;
    bool admin = false; // a session of role admin
};

/// How many places each identity has.
using PlacesTaken = std::map<std::string, std::size_t>;

class Places {
public:
    explicit Places(std::size_t limit) : limit_(limit) {}

    [[nodiscard]] std::size_t limit() const { return limit_; }
    /// Nobody but admins may take the last ones.
    [[nodiscard]] std::size_t kept() const { return limit_ < 2 ? 0 : std::max<std::size_t>(1, limit_ / 16); }
    [[nodiscard]] std::size_t most_of_one() const { return (limit_ + 1) / 2; }

    enum class Shortage {
        None,
        OfIdentity, // this identity has its half
        OfAll
    };
    /// Whether there is a place. `own`: what the identity has without the sessions or RMs of admins.
    [[nodiscard]] Shortage look(const PlaceTaker& taker, std::size_t taken, std::size_t own) const {
        if (!taker.admin && own >= most_of_one()) return Shortage::OfIdentity;
        return taken >= (taker.admin ? limit_ : limit_ - kept()) ? Shortage::OfAll : Shortage::None;
    }
    /// Why there is none, and who has them; `noun` in the plural.
    [[nodiscard]] std::string refusal(Shortage shortage, const PlaceTaker& taker, const PlacesTaken& taken,
                                      std::string_view noun) const;

private:
    const std::size_t limit_;
};

} // namespace yk::service
